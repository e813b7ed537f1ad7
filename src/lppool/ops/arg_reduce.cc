// ArgMax and ArgMin. Source: ONNX ArgMax-1, 11, 12 (select_last_index), 13. A NaN counts as the extreme value, as in
// numpy.
#include <algorithm>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/element_types.h"
#include "lppool/ops/op.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "data:T", "reduced:int64", "axis:int=0 keepdims:int=1", "T=num11"},
    {11, "data:T", "reduced:int64", "axis:int=0 keepdims:int=1", "T=num11"},
    {12, "data:T", "reduced:int64", "axis:int=0 keepdims:int=1 select_last_index:int=0", "T=num11"},
    {13, "data:T", "reduced:int64", "axis:int=0 keepdims:int=1 select_last_index:int=0", "T=num12"},
};

// wins(best, v): v is strictly better.
template <typename Wins>
void run(KernelContext& ctx, Wins wins) {
  const Tensor& x = ctx.input(0);
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis"), x.rank());
  const bool last = ctx.attributes.i("select_last_index", 0) != 0;
  Shape shape;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (i != axis)
      shape.push_back(x.shape()[i]);
    else if (ctx.attributes.i("keepdims") != 0)
      shape.push_back(1);
  }
  const std::int64_t length = x.shape()[axis], inner = x.shape().elements(axis + 1, x.rank());
  std::int64_t* out = ctx.output(0, DataType::kInt64, shape).mutable_data<std::int64_t>().data();
  const std::int64_t lines = shape.elements();
  if (lines == 0) return;
  if (length == 0) fail(ErrorKind::kRuntime, "axis {} has no elements: there is no extreme one", axis);
  for_type(Numbers{}, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = Arithmetic<T>;
    const T* from = x.data<T>().data();
    ctx.threads().parallel_for(lines, std::max<std::int64_t>(1, 16384 / length),
                               [&](std::int64_t begin, std::int64_t end) {
                                 for (std::int64_t line = begin; line < end; ++line) {
                                   const T* start = from + line / inner * length * inner + line % inner;
                                   std::int64_t best = 0;
                                   A value = static_cast<A>(*start);
                                   for (std::int64_t i = 1; i < length; ++i) {
                                     const A v = static_cast<A>(start[i * inner]);
                                     const bool v_nan = v != v, value_nan = value != value;
                                     const bool better = value_nan ? false : v_nan || wins(value, v);
                                     const bool equal = v == value || (v_nan && value_nan);
                                     if (better || (last && equal)) {
                                       best = i;
                                       value = v;
                                     }
                                   }
                                   out[line] = best;
                                 }
                               });
  });
}

void run_max(KernelContext& ctx) {
  run(ctx, [](auto best, auto v) { return v > best; });
}
void run_min(KernelContext& ctx) {
  run(ctx, [](auto best, auto v) { return v < best; });
}

void infer(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) {
    ctx.set_output(0, DataType::kInt64, std::nullopt);
    return;
  }
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis"), shape->size());
  std::vector<Dim> out = *shape;
  if (ctx.attributes.i("keepdims") != 0) {
    out[axis] = Dim(1);
    ctx.explain(0, axis, "1 (reduced)");
  } else
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
  ctx.set_output(0, DataType::kInt64, std::move(out));
}

}  // namespace

extern const OpDef kArgMax;
const OpDef kArgMax = {.domain = "",
                       .type = "ArgMax",
                       .summary = "Index of the first (or last) largest element along an axis.",
                       .versions = kVersions,
                       .infer = infer,
                       .run = run_max};

extern const OpDef kArgMin;
const OpDef kArgMin = {.domain = "",
                       .type = "ArgMin",
                       .summary = "Index of the first (or last) smallest element along an axis.",
                       .versions = kVersions,
                       .infer = infer,
                       .run = run_min};

}  // namespace lppool
