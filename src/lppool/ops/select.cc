// NonZero and Compress: what passes a test is kept; only run time shows how much that is.
#include <algorithm>

#include "lppool/ops/contents.h"
#include "lppool/ops/indexing.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

// ---- NonZero ----

constexpr OpVersion kNonZeroVersions[] = {
    {9, "X:T", "Y:int64", "", "T=all15"},
    {13, "X:T", "Y:int64", "", "T=all16"},
};

void infer_non_zero(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, DataType::kInt64, std::vector<Dim>{shape ? Dim(std::ssize(*shape)) : Dim(), Dim()});
  if (shape != nullptr && ctx.explaining) {
    ctx.explain(0, 0, fmt::format("{} (the rank of {})", shape->size(), ctx.attributes.node().inputs[0]));
  }
  ctx.explain(0, 1, "? (as many as elements are not 0)");
}

// Positions of the elements that differ from zero; of strings, those that are not empty.
std::vector<std::int64_t> non_zero_positions(const Tensor& tensor) {
  std::vector<std::int64_t> positions;
  const auto scan = [&](auto values, auto differs) {
    for (std::int64_t i = 0; i < std::ssize(values); ++i) {
      if (differs(values[static_cast<std::size_t>(i)])) positions.push_back(i);
    }
  };
  const auto number = [](auto v) { return v != 0; };
  switch (tensor.dtype()) {
    case DataType::kString: scan(tensor.strings(), [](const std::string& s) { return !s.empty(); }); break;
    case DataType::kFloat32: scan(tensor.data<float>(), number); break;
    case DataType::kFloat64: scan(tensor.data<double>(), number); break;
    case DataType::kFloat16:  // both zeros are zero
    case DataType::kBFloat16: scan(tensor.data<std::uint16_t>(), [](std::uint16_t v) { return (v & 0x7fff) != 0; }); break;
    case DataType::kComplex64: scan(tensor.data<std::complex<float>>(), [](auto v) { return v.real() != 0 || v.imag() != 0; }); break;
    case DataType::kComplex128: scan(tensor.data<std::complex<double>>(), [](auto v) { return v.real() != 0 || v.imag() != 0; }); break;
    case DataType::kBool:
    case DataType::kInt8:
    case DataType::kUInt8: scan(tensor.data<std::uint8_t>(), number); break;
    case DataType::kInt16:
    case DataType::kUInt16: scan(tensor.data<std::uint16_t>(), number); break;
    case DataType::kInt32:
    case DataType::kUInt32: scan(tensor.data<std::uint32_t>(), number); break;
    case DataType::kInt64:
    case DataType::kUInt64: scan(tensor.data<std::uint64_t>(), number); break;
    default: fail(ErrorKind::kUnsupported, "NonZero of {}, supported for integer, 16- to 64-bit float, complex and string types",
                  name(tensor.dtype()));
  }
  return positions;
}

void run_non_zero(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  auto positions = non_zero_positions(data);
  const auto count = std::ssize(positions);
  // A scalar has no coordinates: 0 x count.
  Tensor& out = ctx.output(0, DataType::kInt64, {static_cast<std::int64_t>(data.rank()), count});
  auto target = out.mutable_data<std::int64_t>();
  for (std::size_t k = data.rank(); k-- > 0;) {
    const std::int64_t size = data.shape()[k];
    for (std::int64_t i = 0; i < count; ++i) {
      auto& rest = positions[static_cast<std::size_t>(i)];
      target[k * static_cast<std::size_t>(count) + static_cast<std::size_t>(i)] = rest % size;
      rest /= size;
    }
  }
}

// ---- Compress ----

constexpr OpVersion kCompressVersions[] = {
    {9, "input:T condition:T1", "output:T", "axis:int", "T=all15; T1=bool"},
    {11, "input:T condition:T1", "output:T", "axis:int", "T=all15; T1=bool"},
};

void infer_compress(InferContext& ctx) {
  if (!ctx.attributes.has("axis")) return set_moved(ctx, unknown_dims(1));
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) return set_moved(ctx, std::nullopt);
  std::vector<Dim> result = *shape;
  result[normalize_axis(ctx.attributes.i("axis"), shape->size())] = Dim();
  set_moved(ctx, std::move(result));
}

void run_compress(KernelContext& ctx) {
  Tensor data = ctx.input(0);
  const Tensor& condition = ctx.input(1);
  if (condition.rank() != 1 || condition.dtype() != DataType::kBool) {
    fail(ErrorKind::kRuntime, "condition is {} {}, expected bool of rank 1", name(condition.dtype()), to_string(condition.shape()));
  }
  if (!ctx.attributes.has("axis")) data = data.reshaped({data.size()});
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis", 0), data.rank());
  const std::int64_t size = data.shape()[axis];
  const auto flags = condition.data<std::uint8_t>();
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < std::ssize(flags); ++i) {
    if (flags[static_cast<std::size_t>(i)] == 0) continue;
    if (i >= size) fail(ErrorKind::kRuntime, "condition keeps position {} of an axis of size {}", i, size);
    kept.push_back(i);
  }
  Shape shape = data.shape();
  shape[axis] = std::ssize(kept);
  const std::int64_t inner = shape.elements(axis + 1, shape.rank()), outer = shape.elements(0, axis);
  Tensor& out = ctx.output(0, data.dtype(), std::move(shape));
  if (out.size() == 0) return;
  const std::int64_t count = std::ssize(kept);
  copy_runs(
      data, out, outer * count, inner,
      [&](std::int64_t i) { return (i / count * size + kept[static_cast<std::size_t>(i % count)]) * inner; }, ctx.threads());
}

}  // namespace

extern const OpDef kNonZero;
const OpDef kNonZero = {
    .domain = "",
    .type = "NonZero",
    .summary = "The coordinates of the elements that are not zero, one column each.",
    .versions = kNonZeroVersions,
    .infer = infer_non_zero,
    .run = run_non_zero,
};

extern const OpDef kCompress;
const OpDef kCompress = {
    .domain = "",
    .type = "Compress",
    .summary = "Keeps the positions of an axis (or of the flattened tensor) where the condition holds.",
    .versions = kCompressVersions,
    .infer = infer_compress,
    .run = run_compress,
};

}  // namespace lppool
