// Shape and Size: what a tensor's sizes are, as a tensor. Inference follows their results as symbols.
#include <algorithm>

#include "lppool/ops/contents.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr OpVersion kShapeVersions[] = {
    {1, "data:T", "shape:T1", "", "T=all15; T1=int64"},
    {13, "data:T", "shape:T1", "", "T=all16; T1=int64"},
    {15, "data:T", "shape:T1", "end:int start:int=0", "T=all16; T1=int64"},
    {19, "data:T", "shape:T1", "end:int start:int=0", "T=all20; T1=int64"},
    {21, "data:T", "shape:T1", "end:int start:int=0", "T=all22; T1=int64"},
    {23, "data:T", "shape:T1", "end:int start:int=0", "T=all23; T1=int64"},
    {24, "data:T", "shape:T1", "end:int start:int=0", "T=all24; T1=int64"},
    {25, "data:T", "shape:T1", "end:int start:int=0", "T=all26; T1=int64"},
};

// The axes [first, second) asked for. Positions count from the end where negative and are clamped (since version 15).
std::pair<std::size_t, std::size_t> range(const AttributeView& attributes, std::size_t rank) {
  if (attributes.schema().since_version < 15) return {0, rank};
  const auto r = static_cast<std::int64_t>(rank);
  const auto place = [r](std::int64_t position) { return std::clamp<std::int64_t>(position < 0 ? position + r : position, 0, r); };
  const std::int64_t begin = place(attributes.i("start"));
  const std::int64_t end = place(attributes.i("end", r));
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(std::max(begin, end))};
}

void infer_shape(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) {
    ctx.set_output(0, DataType::kInt64, unknown_dims(1));
    return;
  }
  const auto [begin, end] = range(ctx.attributes, shape->size());
  ctx.set_output(0, DataType::kInt64, std::vector<Dim>{static_cast<std::int64_t>(end - begin)});
  const auto length = static_cast<std::int64_t>(end - begin), rank = static_cast<std::int64_t>(shape->size());
  if (ctx.explaining) {
    const std::string& x = ctx.attributes.node().inputs[0];
    ctx.explain(0, 0, length == rank ? fmt::format("{} (the rank of {})", rank, x)
                                     : fmt::format("{} - {} (axes {} to {} of {})", end, begin, begin, end, x));
  }
  set_contents(ctx, {shape->begin() + static_cast<std::ptrdiff_t>(begin), shape->begin() + static_cast<std::ptrdiff_t>(end)});
}

void run_shape(KernelContext& ctx) {
  const Shape& shape = ctx.input(0).shape();
  const auto [begin, end] = range(ctx.attributes, shape.rank());
  Tensor& out = ctx.output(0, DataType::kInt64, Shape{static_cast<std::int64_t>(end - begin)});
  std::copy_n(shape.dims().data() + begin, end - begin, out.mutable_data<std::int64_t>().data());
}

constexpr OpVersion kSizeVersions[] = {
    {1, "data:T", "size:T1", "", "T=all15; T1=int64"},  {13, "data:T", "size:T1", "", "T=all16; T1=int64"},
    {19, "data:T", "size:T1", "", "T=all20; T1=int64"}, {21, "data:T", "size:T1", "", "T=all22; T1=int64"},
    {23, "data:T", "size:T1", "", "T=all23; T1=int64"}, {24, "data:T", "size:T1", "", "T=all24; T1=int64"},
    {25, "data:T", "size:T1", "", "T=all26; T1=int64"},
};

void infer_size(InferContext& ctx) {
  ctx.set_output(0, DataType::kInt64, std::vector<Dim>{});
  if (const std::vector<Dim>* shape = ctx.shape(0)) set_contents(ctx, {product(*shape)});
}

void run_size(KernelContext& ctx) { ctx.set_output(0, Value(Tensor::scalar<std::int64_t>(ctx.input(0).size()))); }

}  // namespace

extern const OpDef kShape;
const OpDef kShape = {
    .domain = "",
    .type = "Shape",
    .summary = "The sizes of the input as a list of integers; since version 15, of a range of its axes.",
    .versions = kShapeVersions,
    .infer = infer_shape,
    .run = run_shape,
};

extern const OpDef kSize;
const OpDef kSize = {
    .domain = "",
    .type = "Size",
    .summary = "The number of elements of the input, as a scalar.",
    .versions = kSizeVersions,
    .infer = infer_size,
    .run = run_size,
};

}  // namespace lppool
