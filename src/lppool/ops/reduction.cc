#include "lppool/ops/reduction.h"

namespace lppool {

ReductionPlan plan_reduction(const Shape& shape, const std::vector<bool>& reduces, bool keepdims) {
  ReductionPlan plan;
  std::vector<std::int64_t> kept_dims, reduced_dims;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (!reduces[axis] || keepdims) plan.out.push_back(reduces[axis] ? 1 : shape[axis]);
    (reduces[axis] ? reduced_dims : kept_dims).push_back(shape[axis]);
  }
  plan.outputs = Shape(kept_dims).elements();
  plan.reduced = Shape(reduced_dims).elements();
  if (plan.outputs == 0 || plan.reduced == 0) return plan;

  // Neighbours of one kind become one axis; axes of size 1 vanish.
  struct Axis {
    std::int64_t size, stride;
    bool reduced;
  };
  std::vector<Axis> axes;  // innermost first
  std::int64_t stride = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    if (shape[axis] == 1) continue;
    if (!axes.empty() && axes.back().reduced == reduces[axis])
      axes.back().size *= shape[axis];
    else
      axes.push_back({shape[axis], stride, reduces[axis]});
    stride *= shape[axis];
  }
  if (axes.empty()) return plan;
  plan.inner = axes.front().size;
  plan.inner_reduced = axes.front().reduced;
  for (std::size_t i = axes.size(); i-- > 1;) {
    (axes[i].reduced ? plan.reduced_sizes : plan.kept_sizes).push_back(axes[i].size);
    (axes[i].reduced ? plan.reduced_strides : plan.kept_strides).push_back(axes[i].stride);
  }
  return plan;
}

}  // namespace lppool
