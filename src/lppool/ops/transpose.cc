// Transpose: permutes the axes. The copying itself is copy_box(), which tiles real transpositions and copies runs whole.
#include <numeric>

#include "lppool/ops/contents.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr OpVersion kTransposeVersions[] = {
    {1, "data:T", "transposed:T", "perm:ints", "T=all15"},  {13, "data:T", "transposed:T", "perm:ints", "T=all16"},
    {21, "data:T", "transposed:T", "perm:ints", "T=all22"}, {23, "data:T", "transposed:T", "perm:ints", "T=all23"},
    {24, "data:T", "transposed:T", "perm:ints", "T=all24"}, {25, "data:T", "transposed:T", "perm:ints", "T=all26"},
};

// Axis k of the result is axis permutation()[k] of the input; the default reverses them. Axes count from the front: the
// operator's text knows no negative ones.
std::vector<std::size_t> permutation(const AttributeView& attributes, std::size_t rank) {
  std::vector<std::size_t> result(rank);
  if (!attributes.has("perm")) {
    std::iota(result.rbegin(), result.rend(), std::size_t{0});
    return result;
  }
  const auto perm = attributes.ints("perm");
  if (perm.size() != rank) fail(ErrorKind::kRuntime, "perm has {} values, but the input has rank {}", perm.size(), rank);
  std::vector<bool> seen(rank, false);
  for (std::size_t k = 0; k < rank; ++k) {
    if (perm[k] < 0 || perm[k] >= static_cast<std::int64_t>(rank) || seen[static_cast<std::size_t>(perm[k])]) {
      fail(ErrorKind::kRuntime, "perm is [{}], expected each axis from 0 to {} once", fmt::join(perm, ", "), rank - 1);
    }
    result[k] = static_cast<std::size_t>(perm[k]);
    seen[result[k]] = true;
  }
  return result;
}

void infer_transpose(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) {
    const auto perm = ctx.attributes.ints("perm");
    return set_moved(ctx, ctx.attributes.has("perm") ? std::optional(unknown_dims(perm.size())) : std::nullopt);
  }
  std::vector<Dim> result;
  for (const std::size_t axis : permutation(ctx.attributes, shape->size())) result.push_back((*shape)[axis]);
  set_moved(ctx, std::move(result));
  if (const std::vector<Dim>* elements = ctx.elements(0)) set_contents(ctx, *elements);
}

void run_transpose(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const auto perm = permutation(ctx.attributes, data.rank());
  const auto strides = data.shape().strides();
  Shape shape;
  Box box;
  bool in_order = true;  // axes of more than one element keep their order: nothing moves
  std::size_t last = 0;
  for (const std::size_t axis : perm) {
    shape.push_back(data.shape()[axis]);
    box.in_strides.push_back(strides[axis]);
    if (data.shape()[axis] != 1) {
      in_order = in_order && axis >= last;
      last = axis;
    }
  }
  if (in_order || data.size() <= 1) return ctx.set_output(0, Value(data.reshaped(std::move(shape))));
  box.sizes = shape.dims();
  box.out_strides = shape.strides();
  Tensor& out = ctx.output(0, data.dtype(), std::move(shape));
  copy_box(data, out, std::move(box), ctx.threads());
}

}  // namespace

extern const OpDef kTranspose;
const OpDef kTranspose = {
    .domain = "",
    .type = "Transpose",
    .summary = "Permutes the axes; without `perm` it reverses them.",
    .versions = kTransposeVersions,
    .infer = infer_transpose,
    .run = run_transpose,
};

}  // namespace lppool
