// Scatter, ScatterElements, ScatterND and TensorScatter: a copy of data with elements (or runs) replaced, or combined with
// updates. Where an index occurs twice, updates are applied in their row-major order.
#include <cmath>
#include <limits>
#include <type_traits>

#include "lppool/ops/contents.h"
#include "lppool/ops/indexing.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr std::string_view kElements = "data:T indices:Tind updates:T";
constexpr std::string_view kTuples = "data:T indices:int64 updates:T";

constexpr OpVersion kScatterVersions[] = {
    {9, kElements, "output:T", "axis:int=0", "T=all15; Tind=int32|int64"},
    {11, kElements, "output:T", "axis:int=0", "T=all15; Tind=int32|int64", true},
};

constexpr OpVersion kScatterElementsVersions[] = {
    {11, kElements, "output:T", "axis:int=0", "T=all15; Tind=int32|int64"},
    {13, kElements, "output:T", "axis:int=0", "T=all16; Tind=int32|int64"},
    {16, kElements, "output:T", "axis:int=0 reduction:string=none", "T=all16; Tind=int32|int64"},
    {18, kElements, "output:T", "axis:int=0 reduction:string=none", "T=all16; Tind=int32|int64"},
};

constexpr OpVersion kScatterNDVersions[] = {
    {11, kTuples, "output:T", "", "T=all15"},
    {13, kTuples, "output:T", "", "T=all16"},
    {16, kTuples, "output:T", "reduction:string=none", "T=all16"},
    {18, kTuples, "output:T", "reduction:string=none", "T=all16"},
};

constexpr OpVersion kTensorScatterVersions[] = {
    {24, "past_cache:T update:T write_indices?:int64", "present_cache:T", "axis:int=-2 mode:string=linear", "T=all24"},
};

// ---- combining ----

enum class Reduction { kNone, kAdd, kMul, kMin, kMax };

// "none", "add" and "mul" since version 16, "min" and "max" since 18.
Reduction reduction_of(const AttributeView& attributes) {
  const int since = attributes.schema().since_version;
  if (attributes.schema().find_attribute("reduction") == nullptr) return Reduction::kNone;
  const std::string word = attributes.s("reduction");
  if (word == "none") return Reduction::kNone;
  if (word == "add") return Reduction::kAdd;
  if (word == "mul") return Reduction::kMul;
  if (since >= 18 && word == "min") return Reduction::kMin;
  if (since >= 18 && word == "max") return Reduction::kMax;
  fail(ErrorKind::kRuntime, "reduction is '{}', expected none, add{}", word, since >= 18 ? ", mul, min or max" : " or mul");
}

// Integers wrap; a NaN on either side of min and max stays.
template <typename T>
T combine(T a, T b, Reduction how) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
    if (how == Reduction::kAdd) return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    if (how == Reduction::kMul) return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    if (how == Reduction::kAdd) return a + b;
    if (how == Reduction::kMul) return a * b;
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
  }
  return how == Reduction::kMin ? std::min(a, b) : std::max(a, b);
}

// `count` runs of `length` elements: run i of updates goes to position(i) of out.
template <typename T, typename F>
void combine_runs(std::span<T> out, std::span<const T> updates, std::int64_t count, std::int64_t length, const F& position,
                  Reduction how) {
  for (std::int64_t i = 0; i < count; ++i) {
    T* target = out.data() + position(i);
    const T* source = updates.data() + i * length;
    for (std::int64_t k = 0; k < length; ++k) target[k] = combine(target[k], source[k], how);
  }
}

// 16-bit floats are widened as a whole and rounded once, at the end: a sum of many updates loses nothing in between.
template <typename Half, typename F>
void combine_halves(Tensor& out, const Tensor& updates, std::int64_t count, std::int64_t length, const F& position,
                    Reduction how) {
  const auto widen = [](std::span<const Half> from, Tensor& to) {
    for (std::size_t i = 0; i < from.size(); ++i) to.mutable_data<float>()[i] = static_cast<float>(from[i]);
  };
  Tensor wide = Tensor::allocate(DataType::kFloat32, out.shape());
  Tensor wide_updates = Tensor::allocate(DataType::kFloat32, updates.shape());
  widen(out.data<Half>(), wide);
  widen(updates.data<Half>(), wide_updates);
  combine_runs(wide.mutable_data<float>(), std::span<const float>(wide_updates.data<float>()), count, length, position, how);
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.size()); ++i) {
    out.mutable_data<Half>()[i] = Half(wide.data<float>()[i]);
  }
}

template <typename F>
void scatter_runs(Tensor& out, const Tensor& updates, std::int64_t count, std::int64_t length, const F& position,
                  Reduction how) {
  if (how == Reduction::kNone) {
    for (std::int64_t i = 0; i < count; ++i) copy_run(updates, i * length, out, position(i), length);
    return;
  }
  const auto run = [&](auto tag) {
    using T = decltype(tag);
    combine_runs(out.mutable_data<T>(), updates.data<T>(), count, length, position, how);
  };
  switch (out.dtype()) {
    case DataType::kFloat32: return run(float{});
    case DataType::kFloat64: return run(double{});
    case DataType::kFloat16: return combine_halves<Float16>(out, updates, count, length, position, how);
    case DataType::kBFloat16: return combine_halves<BFloat16>(out, updates, count, length, position, how);
    case DataType::kInt8: return run(std::int8_t{});
    case DataType::kInt16: return run(std::int16_t{});
    case DataType::kInt32: return run(std::int32_t{});
    case DataType::kInt64: return run(std::int64_t{});
    case DataType::kUInt8: return run(std::uint8_t{});
    case DataType::kUInt16: return run(std::uint16_t{});
    case DataType::kUInt32: return run(std::uint32_t{});
    case DataType::kUInt64: return run(std::uint64_t{});
    default:
      fail(ErrorKind::kUnsupported, "reduction of {} elements, supported for floating-point and integer types",
           name(out.dtype()));
  }
}

// Output 0 with the contents of input 0, in its storage where nobody else needs that.
Tensor& copied_output(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  Tensor& out = ctx.output_in_place(0, 0, data.dtype(), data.shape());
  if (out.storage_id() != data.storage_id()) copy_box(data, out, whole_box(data.shape()), ctx.threads());
  return out;
}

void check_same_type(const Tensor& data, const Tensor& updates) {
  if (data.dtype() != updates.dtype()) {
    fail(ErrorKind::kRuntime, "updates is {}, expected {} as data", name(updates.dtype()), name(data.dtype()));
  }
}

// ---- the operators ----

void infer_scatter_elements(InferContext& ctx) {
  const std::vector<Dim>* data = ctx.shape(0);
  const std::vector<Dim>* indices = ctx.shape(1);
  const std::vector<Dim>* updates = ctx.shape(2);
  set_moved(ctx, data == nullptr ? std::nullopt : std::optional(*data));
  if (data != nullptr) normalize_axis(ctx.attributes.i("axis"), data->size());
  for (const std::vector<Dim>* other : {indices, updates}) {
    if (data != nullptr && other != nullptr && other->size() != data->size()) {
      fail(ErrorKind::kRuntime, "{} has shape {}, expected rank {} as data", other == indices ? "indices" : "updates",
           to_string(*other), data->size());
    }
  }
}

void run_scatter_elements(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Tensor& indices = ctx.input(1);
  const Tensor& updates = ctx.input(2);
  check_same_type(data, updates);
  if (indices.shape() != updates.shape()) {
    fail(ErrorKind::kRuntime, "updates has shape {}, expected {} as indices", to_string(updates.shape()),
         to_string(indices.shape()));
  }
  const Reduction how = reduction_of(ctx.attributes);
  const ElementIndex index(indices, data.shape(), ctx.attributes.i("axis"));
  const auto position = [&](std::int64_t i) { return index.position(i); };
  scatter_runs(copied_output(ctx), updates, updates.size(), 1, position, how);
}

void infer_scatter_nd(InferContext& ctx) {
  const std::vector<Dim>* data = ctx.shape(0);
  set_moved(ctx, data == nullptr ? std::nullopt : std::optional(*data));
  const std::vector<Dim>* indices = ctx.shape(1);
  const std::vector<Dim>* updates = ctx.shape(2);
  if (data == nullptr || indices == nullptr || indices->empty() || !indices->back().value()) return;
  const std::int64_t depth = *indices->back().value(), rank = std::ssize(*data);
  if (depth < 0 || depth > rank) {
    fail(ErrorKind::kRuntime, "indices' last axis has size {}, expected 0 to {}", depth, rank);
  }
  const std::int64_t expected = std::ssize(*indices) - 1 + rank - depth;
  if (updates != nullptr && std::ssize(*updates) != expected) {
    fail(ErrorKind::kRuntime, "updates has shape {}, expected rank {}", to_string(*updates), expected);
  }
}

void run_scatter_nd(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Tensor& indices = ctx.input(1);
  const Tensor& updates = ctx.input(2);
  check_same_type(data, updates);
  const Reduction how = reduction_of(ctx.attributes);
  const TupleIndex index(indices, data.shape());
  Shape expected(std::vector<std::int64_t>(indices.shape().begin(), indices.shape().end() - 1));
  for (std::size_t k = index.depth(); k < data.rank(); ++k) expected.push_back(data.shape()[k]);
  if (updates.shape() != expected) {
    fail(ErrorKind::kRuntime, "updates has shape {}, expected {}", to_string(updates.shape()), to_string(expected));
  }
  const auto position = [&](std::int64_t i) { return index.position(i); };
  Tensor& out = copied_output(ctx);
  if (updates.size() > 0) scatter_runs(out, updates, index.count(), index.run(), position, how);
}

// The axis of the sequence, which is not the batch axis.
std::size_t sequence_axis(const AttributeView& attributes, std::size_t rank) {
  const std::size_t axis = normalize_axis(attributes.i("axis"), rank);
  if (axis == 0) fail(ErrorKind::kRuntime, "axis is the batch axis, expected another");
  return axis;
}

void infer_tensor_scatter(InferContext& ctx) {
  const std::vector<Dim>* cache = ctx.shape(0);
  set_moved(ctx, cache == nullptr ? std::nullopt : std::optional(*cache));
  if (cache != nullptr) sequence_axis(ctx.attributes, cache->size());
}

void run_tensor_scatter(KernelContext& ctx) {
  const Tensor& cache = ctx.input(0);
  const Tensor& update = ctx.input(1);
  check_same_type(cache, update);
  const std::string mode = ctx.attributes.s("mode");
  if (mode != "linear" && mode != "circular") fail(ErrorKind::kRuntime, "mode is '{}', expected linear or circular", mode);
  const std::size_t axis = sequence_axis(ctx.attributes, cache.rank());
  bool fits = update.rank() == cache.rank();
  for (std::size_t k = 0; fits && k < cache.rank(); ++k) {
    fits = k == axis ? update.shape()[k] <= cache.shape()[k] : update.shape()[k] == cache.shape()[k];
  }
  if (!fits) {
    fail(ErrorKind::kRuntime, "update has shape {}, expected {}, at most so long on axis {}", to_string(update.shape()),
         to_string(cache.shape()), axis);
  }
  const std::int64_t batches = cache.shape()[0], capacity = cache.shape()[axis], length = update.shape()[axis];
  std::vector<std::int64_t> starts(static_cast<std::size_t>(batches), 0);
  if (const Tensor* given = ctx.optional_input(2)) {
    if (given->shape() != Shape{batches}) {
      fail(ErrorKind::kRuntime, "write_indices has shape {}, expected {}", to_string(given->shape()), batches);
    }
    starts = int_values(*given, "write_indices");
  }
  for (const std::int64_t start : starts) {
    const bool inside = mode == "circular" ? start >= 0 : start >= 0 && start <= capacity - length;
    if (!inside) {
      fail(ErrorKind::kRuntime, "write index {} is outside the cache: {} positions written, {} there", start, length, capacity);
    }
  }
  Tensor& out = copied_output(ctx);
  if (update.size() == 0) return;
  const std::int64_t run = cache.shape().elements(axis + 1, cache.rank());
  const std::int64_t per_batch = cache.shape().elements(1, axis);
  const auto position = [&](std::int64_t i) {  // of the i-th run of the update
    const std::int64_t step = i % length, outer = i / length;
    const std::int64_t start = starts[static_cast<std::size_t>(outer / per_batch)];
    return (outer * capacity + (start % capacity + step) % capacity) * run;
  };
  scatter_runs(out, update, update.size() / run, run, position, Reduction::kNone);
}

}  // namespace

extern const OpDef kScatter;
const OpDef kScatter = {
    .domain = "",
    .type = "Scatter",
    .summary = "A copy of data with single elements replaced; renamed to ScatterElements in version 11.",
    .versions = kScatterVersions,
    .infer = infer_scatter_elements,
    .run = run_scatter_elements,
};

extern const OpDef kScatterElements;
const OpDef kScatterElements = {
    .domain = "",
    .type = "ScatterElements",
    .summary = "A copy of data with single elements replaced or combined; the index stands for the coordinate along the axis.",
    .versions = kScatterElementsVersions,
    .infer = infer_scatter_elements,
    .run = run_scatter_elements,
};

extern const OpDef kScatterND;
const OpDef kScatterND = {
    .domain = "",
    .type = "ScatterND",
    .summary = "A copy of data with elements or slices, named by index tuples, replaced or combined with updates.",
    .versions = kScatterNDVersions,
    .infer = infer_scatter_nd,
    .run = run_scatter_nd,
};

extern const OpDef kTensorScatter;
const OpDef kTensorScatter = {
    .domain = "",
    .type = "TensorScatter",
    .summary = "Writes an update into a key-value cache, for each batch from its own position on.",
    .versions = kTensorScatterVersions,
    .infer = infer_tensor_scatter,
    .run = run_tensor_scatter,
};

}  // namespace lppool
