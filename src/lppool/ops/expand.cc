// Expand and Tile: a tensor repeated. Both read their input with strides of zero.
#include <algorithm>

#include "lppool/base/checked.h"
#include "lppool/ops/contents.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

// ---- Expand ----

constexpr OpVersion kExpandVersions[] = {
    {8, "input:T shape:int64", "output:T", "", "T=all15"},
    {13, "input:T shape:int64", "output:T", "", "T=all16"},
};

void infer_expand(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  const auto target = elements_or_unknown(ctx, 1);
  if (shape == nullptr || !target) return set_moved(ctx, std::nullopt);
  for (const Dim& dim : *target) {
    if (dim.value().value_or(0) < 0) fail(ErrorKind::kRuntime, "shape {} has a negative size", to_string(*target));
  }
  std::vector<Dim> result = broadcast_shape(*shape, *target);
  if (ctx.explaining) {
    for (std::size_t axis = 0; axis < result.size(); ++axis) {
      std::vector<NamedSize> sizes;
      if (shape->size() + axis >= result.size()) sizes.push_back(named_size(ctx, 0, shape->size() + axis - result.size()));
      if (target->size() + axis >= result.size()) {
        const std::size_t k = target->size() + axis - result.size();
        sizes.push_back({fmt::format("{}[{}]", ctx.attributes.node().inputs[1], k), (*target)[k]});
      }
      ctx.explain(0, axis, broadcast_formula(sizes));
    }
  }
  const std::vector<Dim>* elements = ctx.elements(0);
  const std::size_t rank = result.size();
  const auto count = rank == 1 ? result[0].value() : std::optional<std::int64_t>(1);
  set_moved(ctx, std::move(result));
  if (elements == nullptr || rank > 1 || !count || *count > static_cast<std::int64_t>(kMaxFollowed)) return;
  if (elements->size() == 1) set_contents(ctx, std::vector<Dim>(static_cast<std::size_t>(*count), (*elements)[0]));
  else set_contents(ctx, *elements);
}

void run_expand(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Shape target(int_values(ctx.input(1), "the shape"));
  const std::size_t rank = std::max(data.rank(), target.rank());
  Shape shape(std::vector<std::int64_t>(rank, 1));
  const auto strides = data.shape().strides();
  Box box;
  box.in_strides.assign(rank, 0);
  for (std::size_t k = 0; k < rank; ++k) {
    const std::size_t data_shift = rank - data.rank(), target_shift = rank - target.rank();
    const std::int64_t have = k < data_shift ? 1 : data.shape()[k - data_shift];
    const std::int64_t want = k < target_shift ? 1 : target[k - target_shift];
    if (want < 0 || (have != want && have != 1 && want != 1)) {
      fail(ErrorKind::kRuntime, "shape {} cannot be expanded to {}", to_string(data.shape()), to_string(target));
    }
    shape[k] = have == 1 ? want : have;
    if (have != 1) box.in_strides[k] = strides[k - data_shift];
  }
  if (shape.elements() == data.size()) return ctx.set_output(0, Value(data.reshaped(std::move(shape))));
  box.sizes = shape.dims();
  box.out_strides = shape.strides();
  copy_box(data, ctx.output(0, data.dtype(), std::move(shape)), std::move(box), ctx.threads());
}

// ---- Tile ----

constexpr OpVersion kTileVersions[] = {
    {1, "input:T tiles:T axis:T", "output:T", "", "T=floats"},
    {6, "input:T repeats:T1", "output:T", "", "T=all15; T1=int64"},
    {13, "input:T repeats:T1", "output:T", "", "T=all16; T1=int64"},
};

void infer_tile(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) return set_moved(ctx, std::nullopt);
  // Version 1 gives repeats and axis as floating-point tensors: only their contents at run time tell.
  if (ctx.since_version() < 6) return set_moved(ctx, unknown_dims(shape->size()));
  const auto repeats = elements_or_unknown(ctx, 1);
  if (!repeats) return set_moved(ctx, unknown_dims(shape->size()));
  if (repeats->size() != shape->size()) {
    fail(ErrorKind::kRuntime, "repeats has {} values, expected {} for shape {}", repeats->size(), shape->size(),
         to_string(*shape));
  }
  std::vector<Dim> result;
  for (std::size_t k = 0; k < shape->size(); ++k) {
    const auto count = (*repeats)[k].value();
    if (count && *count < 0) fail(ErrorKind::kRuntime, "repeats has {}, expected 0 or more", *count);
    result.push_back((*shape)[k] * (*repeats)[k]);
    if (ctx.explaining) ctx.explain(0, k, fmt::format("{}*{}", term((*shape)[k]), term((*repeats)[k])));
  }
  set_moved(ctx, std::move(result));
  const std::vector<Dim>* elements = ctx.elements(0);
  const auto count = shape->size() == 1 ? (*repeats)[0].value() : std::nullopt;
  if (elements == nullptr || !count) return;
  if (*count > 0 && elements->size() > kMaxFollowed / static_cast<std::size_t>(*count)) return;
  std::vector<Dim> tiled;
  for (std::int64_t i = 0; i < *count; ++i) tiled.insert(tiled.end(), elements->begin(), elements->end());
  set_contents(ctx, std::move(tiled));
}

std::vector<std::int64_t> repeats_of(KernelContext& ctx, std::size_t rank) {
  if (ctx.since_version() >= 6) return int_values(ctx.input(1), "repeats");
  std::vector<std::int64_t> repeats(rank, 1);
  const auto tiles = whole_values(ctx.input(1), "tiles"), axis = whole_values(ctx.input(2), "axis");
  if (tiles.size() != 1 || axis.size() != 1) {
    fail(ErrorKind::kRuntime, "tiles has {} values and axis {}, expected one each", tiles.size(), axis.size());
  }
  repeats[normalize_axis(axis[0], rank)] = tiles[0];
  return repeats;
}

void run_tile(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const auto repeats = repeats_of(ctx, data.rank());
  if (repeats.size() != data.rank()) {
    fail(ErrorKind::kRuntime, "repeats has {} values, expected {} for shape {}", repeats.size(), data.rank(),
         to_string(data.shape()));
  }
  // Each axis becomes two, the repetition and the size: the input does not move along the first.
  Shape shape = data.shape();
  Shape split;
  Box box;
  const auto strides = data.shape().strides();
  for (std::size_t k = 0; k < data.rank(); ++k) {
    if (repeats[k] < 0) fail(ErrorKind::kRuntime, "repeats has {}, expected 0 or more", repeats[k]);
    const auto size = checked_mul(shape[k], repeats[k]);
    if (!size) fail(ErrorKind::kLimit, "axis {} repeated {} times is longer than 63 bits can count", k, repeats[k]);
    shape[k] = *size;
    split.push_back(repeats[k]);
    split.push_back(data.shape()[k]);
    box.in_strides.push_back(0);
    box.in_strides.push_back(strides[k]);
  }
  if (shape == data.shape()) return ctx.set_output(0, Value(data));
  Tensor& out = ctx.output(0, data.dtype(), std::move(shape));
  box.out_strides = split.strides();
  box.sizes = split.dims();
  copy_box(data, out, std::move(box), ctx.threads());
}

}  // namespace

extern const OpDef kExpand;
const OpDef kExpand = {
    .domain = "",
    .type = "Expand",
    .summary = "Repeats axes of size 1, and adds leading ones, as broadcasting to the given shape does.",
    .versions = kExpandVersions,
    .infer = infer_expand,
    .run = run_expand,
};

extern const OpDef kTile;
const OpDef kTile = {
    .domain = "",
    .type = "Tile",
    .summary = "Repeats the whole tensor a number of times along each axis.",
    .versions = kTileVersions,
    .infer = infer_tile,
    .run = run_tile,
};

}  // namespace lppool
