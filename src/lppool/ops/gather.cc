// Gather, GatherElements and GatherND: elements (or whole runs of them) picked by index. Negative indices count from the
// end; indices outside the axis are refused, whatever the version's text says of them.
#include <algorithm>

#include "lppool/ops/contents.h"
#include "lppool/ops/indexing.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

// ---- Gather ----

constexpr OpVersion kGatherVersions[] = {
    {1, "data:T indices:Tind", "output:T", "axis:int=0", "T=all15; Tind=int32|int64"},
    {11, "data:T indices:Tind", "output:T", "axis:int=0", "T=all15; Tind=int32|int64"},
    {13, "data:T indices:Tind", "output:T", "axis:int=0", "T=all16; Tind=int32|int64"},
};

void infer_gather(InferContext& ctx) {
  const std::vector<Dim>* data = ctx.shape(0);
  const std::vector<Dim>* indices = ctx.shape(1);
  if (data == nullptr) return set_moved(ctx, std::nullopt);
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis"), data->size());
  const auto picks = known_ints(ctx, 1);
  if (const auto size = (*data)[axis].value(); size && picks) {
    for (const std::int64_t pick : *picks) checked_index(pick, *size, axis);
  }
  if (indices == nullptr) return set_moved(ctx, std::nullopt);
  const auto split = data->begin() + static_cast<std::ptrdiff_t>(axis);
  std::vector<Dim> result(data->begin(), split);
  result.insert(result.end(), indices->begin(), indices->end());
  result.insert(result.end(), split + 1, data->end());
  set_moved(ctx, std::move(result));
  const std::vector<Dim>* elements = ctx.elements(0);
  if (elements == nullptr || data->size() != 1 || indices->size() > 1 || !picks) return;
  std::vector<Dim> picked;
  for (const std::int64_t pick : *picks) {
    picked.push_back((*elements)[static_cast<std::size_t>(checked_index(pick, std::ssize(*elements), axis))]);
  }
  set_contents(ctx, std::move(picked));
}

void run_gather(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Tensor& indices = ctx.input(1);
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis"), data.rank());
  const std::int64_t size = data.shape()[axis];
  std::vector<std::int64_t> picks = int_values(indices, "indices");
  for (std::int64_t& pick : picks) pick = checked_index(pick, size, axis);
  const std::int64_t outer = data.shape().elements(0, axis), inner = data.shape().elements(axis + 1, data.rank());
  Shape shape;
  for (std::size_t k = 0; k < axis; ++k) shape.push_back(data.shape()[k]);
  for (const std::int64_t dim : indices.shape()) shape.push_back(dim);
  for (std::size_t k = axis + 1; k < data.rank(); ++k) shape.push_back(data.shape()[k]);
  Tensor& out = ctx.output(0, data.dtype(), std::move(shape));
  if (out.size() == 0) return;
  const auto count = std::ssize(picks);
  copy_runs(
      data, out, outer * count, inner,
      [&](std::int64_t i) { return (i / count * size + picks[static_cast<std::size_t>(i % count)]) * inner; }, ctx.threads());
}

// ---- GatherElements ----

constexpr OpVersion kGatherElementsVersions[] = {
    {11, "data:T indices:Tind", "output:T", "axis:int=0", "T=all15; Tind=int32|int64"},
    {13, "data:T indices:Tind", "output:T", "axis:int=0", "T=all16; Tind=int32|int64"},
};

void infer_gather_elements(InferContext& ctx) {
  const std::vector<Dim>* indices = ctx.shape(1);
  set_moved(ctx, indices == nullptr ? std::nullopt : std::optional(*indices));
  const std::vector<Dim>* data = ctx.shape(0);
  if (data == nullptr) return;
  normalize_axis(ctx.attributes.i("axis"), data->size());
  if (indices != nullptr && indices->size() != data->size()) {
    fail(ErrorKind::kRuntime, "indices has shape {}, expected rank {} as data", to_string(*indices), data->size());
  }
}

void run_gather_elements(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const ElementIndex index(ctx.input(1), data.shape(), ctx.attributes.i("axis"));
  Tensor& out = ctx.output(0, data.dtype(), ctx.input(1).shape());
  copy_runs(data, out, out.size(), 1, [&](std::int64_t i) { return index.position(i); }, ctx.threads());
}

// ---- GatherND ----

constexpr OpVersion kGatherNDVersions[] = {
    {11, "data:T indices:int64", "output:T", "", "T=all15"},
    {12, "data:T indices:int64", "output:T", "batch_dims:int=0", "T=all15"},
    {13, "data:T indices:int64", "output:T", "batch_dims:int=0", "T=all16"},
};

// The leading axes that data and indices share.
std::size_t batch_axes(const AttributeView& attributes, std::size_t data_rank, std::size_t indices_rank) {
  const std::int64_t batch = attributes.schema().since_version < 12 ? 0 : attributes.i("batch_dims");
  const auto least = static_cast<std::int64_t>(std::min(data_rank, indices_rank));
  if (batch < 0 || batch >= least) {
    fail(ErrorKind::kRuntime, "batch_dims is {}, expected 0 to {} for ranks {} and {}", batch, least - 1, data_rank,
         indices_rank);
  }
  return static_cast<std::size_t>(batch);
}

void infer_gather_nd(InferContext& ctx) {
  const std::vector<Dim>* data = ctx.shape(0);
  const std::vector<Dim>* indices = ctx.shape(1);
  if (data == nullptr || indices == nullptr) return set_moved(ctx, std::nullopt);
  const std::size_t batch = batch_axes(ctx.attributes, data->size(), indices->size());
  for (std::size_t k = 0; k < batch; ++k) agree((*data)[k], (*indices)[k], fmt::format("indices: size of batch axis {}", k));
  const auto depth = indices->back().value();
  if (!depth) return set_moved(ctx, std::nullopt);
  if (*depth < 0 || *depth > static_cast<std::int64_t>(data->size() - batch)) {
    fail(ErrorKind::kRuntime, "indices' last axis has size {}, expected 0 to {}", *depth, data->size() - batch);
  }
  std::vector<Dim> result(indices->begin(), indices->end() - 1);
  result.insert(result.end(), data->begin() + static_cast<std::ptrdiff_t>(batch) + *depth, data->end());
  set_moved(ctx, std::move(result));
}

void run_gather_nd(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Tensor& indices = ctx.input(1);
  const std::size_t batch = batch_axes(ctx.attributes, data.rank(), indices.rank());
  const TupleIndex index(indices, data.shape(), batch);
  Shape shape(std::vector<std::int64_t>(indices.shape().begin(), indices.shape().end() - 1));
  for (std::size_t k = batch + index.depth(); k < data.rank(); ++k) shape.push_back(data.shape()[k]);
  Tensor& out = ctx.output(0, data.dtype(), std::move(shape));
  if (out.size() == 0) return;
  copy_runs(data, out, index.count(), index.run(), [&](std::int64_t i) { return index.position(i); }, ctx.threads());
}

}  // namespace

extern const OpDef kGather;
const OpDef kGather = {
    .domain = "",
    .type = "Gather",
    .summary = "Picks positions along one axis: the axis is replaced by the shape of the indices.",
    .versions = kGatherVersions,
    .infer = infer_gather,
    .run = run_gather,
};

extern const OpDef kGatherElements;
const OpDef kGatherElements = {
    .domain = "",
    .type = "GatherElements",
    .summary = "Picks one element for each index; the index replaces the element's own coordinate along the axis.",
    .versions = kGatherElementsVersions,
    .infer = infer_gather_elements,
    .run = run_gather_elements,
};

extern const OpDef kGatherND;
const OpDef kGatherND = {
    .domain = "",
    .type = "GatherND",
    .summary = "Picks elements or slices by index tuples, the last axis of the indices.",
    .versions = kGatherNDVersions,
    .infer = infer_gather_nd,
    .run = run_gather_nd,
};

}  // namespace lppool
