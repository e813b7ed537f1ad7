// ReverseSequence, DepthToSpace, SpaceToDepth and CenterCropPad.
#include <algorithm>
#include <array>

#include "lppool/base/checked.h"
#include "lppool/ops/contents.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/indexing.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

// ---- ReverseSequence ----

constexpr OpVersion kReverseSequenceVersions[] = {
    {10, "input:T sequence_lens:int64", "Y:T", "batch_axis:int=1 time_axis:int=0", "T=all15"}};

// True where time is axis 0 and the batch axis 1, false the other way round.
bool time_first(const AttributeView& attributes) {
  const std::int64_t batch = attributes.i("batch_axis"), time = attributes.i("time_axis");
  if (batch + time != 1 || batch < 0 || batch > 1) {
    fail(ErrorKind::kRuntime, "batch_axis is {} and time_axis {}, expected 0 and 1 in some order", batch, time);
  }
  return time == 0;
}

void infer_reverse_sequence(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  set_moved(ctx, shape ? std::optional(*shape) : std::nullopt);
  const bool first = time_first(ctx.attributes);
  if (shape == nullptr) return;
  if (shape->size() < 2) fail(ErrorKind::kRuntime, "input has shape {}, expected rank 2 or more", to_string(*shape));
  const std::vector<Dim>* lengths = ctx.shape(1);
  if (lengths != nullptr && lengths->size() == 1) agree((*shape)[first ? 1 : 0], (*lengths)[0], "number of sequence_lens");
}

void run_reverse_sequence(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  if (data.rank() < 2) fail(ErrorKind::kRuntime, "input has shape {}, expected rank 2 or more", to_string(data.shape()));
  const bool first = time_first(ctx.attributes);
  const std::int64_t times = data.shape()[first ? 0 : 1], batches = data.shape()[first ? 1 : 0];
  const auto lengths = int_values(ctx.input(1), "sequence_lens");
  if (std::ssize(lengths) != batches || ctx.input(1).rank() != 1) {
    fail(ErrorKind::kRuntime, "sequence_lens has shape {}, expected {}", to_string(ctx.input(1).shape()), batches);
  }
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > times) fail(ErrorKind::kRuntime, "a sequence length is {}, expected 0 to {}", length, times);
  }
  Tensor& out = ctx.output(0, data.dtype(), data.shape());
  if (out.size() == 0) return;
  const std::int64_t run = data.shape().elements(2, data.rank());
  const auto from = [&](std::int64_t i) {
    const std::int64_t time = first ? i / batches : i % times, batch = first ? i % batches : i / times;
    const std::int64_t length = lengths[static_cast<std::size_t>(batch)];
    const std::int64_t source = time < length ? length - 1 - time : time;
    return (first ? source * batches + batch : batch * times + source) * run;
  };
  copy_runs(data, out, times * batches, run, from, ctx.threads());
}

// ---- DepthToSpace, SpaceToDepth ----

constexpr OpVersion kDepthToSpaceVersions[] = {
    {1, "input:T", "output:T", "blocksize!:int", "T=all15"},
    {11, "input:T", "output:T", "blocksize!:int mode:string=DCR", "T=all15"},
    {13, "input:T", "output:T", "blocksize!:int mode:string=DCR", "T=all16"},
};
constexpr OpVersion kSpaceToDepthVersions[] = {
    {1, "input:T", "output:T", "blocksize!:int", "T=all15"},
    {13, "input:T", "output:T", "blocksize!:int", "T=all16"},
};

std::int64_t block_size(const AttributeView& attributes) {
  const std::int64_t size = attributes.i("blocksize");
  if (size < 1 || size > (std::int64_t{1} << 30)) fail(ErrorKind::kRuntime, "blocksize is {}, expected 1 to 2^30", size);
  return size;
}

bool depth_first(const AttributeView& attributes) {
  if (attributes.schema().since_version < 11) return true;
  const std::string mode = attributes.s("mode");
  if (mode != "DCR" && mode != "CRD") fail(ErrorKind::kRuntime, "mode is '{}', expected DCR or CRD", mode);
  return mode == "DCR";
}

Dim divided(const Dim& size, std::int64_t parts, std::string_view what) {
  if (size.value() && *size.value() % parts != 0) {
    fail(ErrorKind::kRuntime, "{} is {}, expected a multiple of {}", what, *size.value(), parts);
  }
  return floor_div(size, Dim(parts));
}

std::vector<Dim> four_dims(const InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) return unknown_dims(4);
  if (shape->size() != 4) fail(ErrorKind::kRuntime, "input has shape {}, expected rank 4", to_string(*shape));
  return *shape;
}

const Tensor& four_axes(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  if (data.rank() != 4) fail(ErrorKind::kRuntime, "input has shape {}, expected rank 4", to_string(data.shape()));
  return data;
}

// Copies `data`, seen as the six axes `split`, into `out` with the axes in the given order.
void copy_permuted(const Tensor& data, const Shape& split, const std::array<std::size_t, 6>& order, Tensor& out,
                   ThreadPool& threads) {
  const auto strides = split.strides();
  Box box;
  for (const std::size_t axis : order) {
    box.sizes.push_back(split[axis]);
    box.in_strides.push_back(strides[axis]);
  }
  box.out_strides = Shape(box.sizes).strides();
  copy_box(data, out, std::move(box), threads);
}

void infer_depth_to_space(InferContext& ctx) {
  const std::int64_t block = block_size(ctx.attributes);
  depth_first(ctx.attributes);
  const auto in = four_dims(ctx);
  set_moved(ctx, std::vector<Dim>{in[0], divided(in[1], block * block, "the depth"), in[2] * Dim(block), in[3] * Dim(block)});
  if (!ctx.explaining) return;
  ctx.explain(0, 1, fmt::format("{}/({}*{})", term(in[1]), block, block));
  for (const std::size_t k : {2, 3}) ctx.explain(0, k, fmt::format("{}*{}", term(in[k]), block));
}

void run_depth_to_space(KernelContext& ctx) {
  const std::int64_t block = block_size(ctx.attributes);
  const bool deep = depth_first(ctx.attributes);
  const Tensor& data = four_axes(ctx);
  const Shape in = data.shape();
  if (in[1] % (block * block) != 0) {
    fail(ErrorKind::kRuntime, "the depth is {}, expected a multiple of {}", in[1], block * block);
  }
  const std::int64_t depth = in[1] / (block * block);
  const auto height = checked_mul(in[2], block), width = checked_mul(in[3], block);
  if (!height || !width) fail(ErrorKind::kLimit, "shape {} times {} leaves 63 bits", to_string(in), block);
  Tensor& out = ctx.output(0, data.dtype(), {in[0], depth, *height, *width});
  if (deep) copy_permuted(data, {in[0], block, block, depth, in[2], in[3]}, {0, 3, 4, 1, 5, 2}, out, ctx.threads());
  else copy_permuted(data, {in[0], depth, block, block, in[2], in[3]}, {0, 1, 4, 2, 5, 3}, out, ctx.threads());
}

void infer_space_to_depth(InferContext& ctx) {
  const std::int64_t block = block_size(ctx.attributes);
  const auto in = four_dims(ctx);
  set_moved(ctx, std::vector<Dim>{in[0], in[1] * Dim(block * block), divided(in[2], block, "the height"),
                                  divided(in[3], block, "the width")});
  if (!ctx.explaining) return;
  ctx.explain(0, 1, fmt::format("{}*{}*{}", term(in[1]), block, block));
  for (const std::size_t k : {2, 3}) ctx.explain(0, k, fmt::format("{}/{}", term(in[k]), block));
}

void run_space_to_depth(KernelContext& ctx) {
  const std::int64_t block = block_size(ctx.attributes);
  const Tensor& data = four_axes(ctx);
  const Shape in = data.shape();
  if (in[2] % block != 0 || in[3] % block != 0) {
    fail(ErrorKind::kRuntime, "height and width are {} and {}, expected multiples of {}", in[2], in[3], block);
  }
  const auto depth = checked_mul(in[1], block * block);
  if (!depth) fail(ErrorKind::kLimit, "shape {} times {} leaves 63 bits", to_string(in), block);
  Tensor& out = ctx.output(0, data.dtype(), {in[0], *depth, in[2] / block, in[3] / block});
  copy_permuted(data, {in[0], in[1], in[2] / block, block, in[3] / block, block}, {0, 3, 5, 1, 2, 4}, out, ctx.threads());
}

// ---- CenterCropPad ----

constexpr OpVersion kCenterCropPadVersions[] = {
    {18, "input_data:T shape:Tind", "output_data:T", "axes:ints", "T=all16; Tind=int32|int64"}};

std::vector<std::size_t> crop_axes(const AttributeView& attributes, std::size_t rank) {
  if (attributes.has("axes")) return normalize_axes(attributes.ints("axes"), rank);
  std::vector<std::size_t> all(rank);
  for (std::size_t k = 0; k < rank; ++k) all[k] = k;
  return all;
}

void infer_center_crop_pad(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) return set_moved(ctx, std::nullopt);
  const auto axes = crop_axes(ctx.attributes, shape->size());
  auto target = elements_or_unknown(ctx, 1);
  if (!target) target = unknown_dims(axes.size());
  if (target->size() != axes.size()) {
    fail(ErrorKind::kRuntime, "shape has {} values, expected {}", target->size(), axes.size());
  }
  std::vector<Dim> result = *shape;
  for (std::size_t i = 0; i < axes.size(); ++i) result[axes[i]] = (*target)[i];
  set_moved(ctx, std::move(result));
}

void run_center_crop_pad(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const auto axes = crop_axes(ctx.attributes, data.rank());
  const auto target = int_values(ctx.input(1), "shape");
  if (target.size() != axes.size()) {
    fail(ErrorKind::kRuntime, "shape has {} values, expected {}", target.size(), axes.size());
  }
  Shape shape = data.shape();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (target[i] < 0) fail(ErrorKind::kRuntime, "shape has a size of {}, expected 0 or more", target[i]);
    shape[axes[i]] = target[i];
  }
  // An odd rest goes to the end on both sides: halves are rounded down.
  Box box;
  box.in_strides = data.shape().strides();
  box.out_strides = shape.strides();
  for (std::size_t k = 0; k < shape.rank(); ++k) {
    const std::int64_t have = data.shape()[k], want = shape[k];
    box.sizes.push_back(std::min(have, want));
    box.in_offset += have > want ? (have - want) / 2 * box.in_strides[k] : 0;
    box.out_offset += want > have ? (want - have) / 2 * box.out_strides[k] : 0;
  }
  const bool padded = Shape(box.sizes) != shape;
  Tensor& out = ctx.output(0, data.dtype(), std::move(shape));
  if (padded && data.dtype() != DataType::kString) std::fill_n(out.mutable_raw(), out.bytes(), std::byte{0});
  copy_box(data, out, std::move(box), ctx.threads());
}

}  // namespace

extern const OpDef kReverseSequence;
const OpDef kReverseSequence = {
    .domain = "",
    .type = "ReverseSequence",
    .summary = "Reverses the first positions of each sequence of a batch, as many as its length says.",
    .versions = kReverseSequenceVersions,
    .infer = infer_reverse_sequence,
    .run = run_reverse_sequence,
};

extern const OpDef kDepthToSpace;
const OpDef kDepthToSpace = {
    .domain = "",
    .type = "DepthToSpace",
    .summary = "Moves channels into square blocks of space.",
    .versions = kDepthToSpaceVersions,
    .infer = infer_depth_to_space,
    .run = run_depth_to_space,
};

extern const OpDef kSpaceToDepth;
const OpDef kSpaceToDepth = {
    .domain = "",
    .type = "SpaceToDepth",
    .summary = "Moves square blocks of space into channels.",
    .versions = kSpaceToDepthVersions,
    .infer = infer_space_to_depth,
    .run = run_space_to_depth,
};

extern const OpDef kCenterCropPad;
const OpDef kCenterCropPad = {
    .domain = "",
    .type = "CenterCropPad",
    .summary = "Cuts or zero-pads axes to the given sizes, keeping the middle.",
    .versions = kCenterCropPadVersions,
    .infer = infer_center_crop_pad,
    .run = run_center_crop_pad,
    .facts = {.function = true},
};

}  // namespace lppool
