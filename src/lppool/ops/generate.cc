// Tensors made from little: Range, EyeLike, OneHot; and Trilu, which blanks a triangle.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lppool/base/checked.h"
#include "lppool/ops/contents.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/scalars.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

// ---- Range ----

constexpr OpVersion kRangeVersions[] = {
    {11, "start:T limit:T delta:T", "output:T", "", "T=float32|float64|int16|int32|int64"},
    {27, "start:T limit:T delta:T", "output:T", "stash_type:int=1", "T=floats|int16|int32|int64|bfloat16"},
};

// max(0, ceil((limit - start) / delta)), exact for integers.
std::int64_t range_count(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  if (delta == 0) fail(ErrorKind::kRuntime, "delta is 0, expected another number");
  if (delta > 0 ? start >= limit : start <= limit) return 0;
  // Differences of 64-bit numbers need 64 bits without sign.
  const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
  const std::uint64_t distance = delta > 0 ? u(limit) - u(start) : u(start) - u(limit);
  const std::uint64_t step = delta > 0 ? u(delta) : 0 - u(delta);
  const std::uint64_t count = distance / step + (distance % step != 0);
  if (!std::in_range<std::int64_t>(count)) fail(ErrorKind::kLimit, "a range of {} numbers", count);
  return static_cast<std::int64_t>(count);
}

// The same in the arithmetic of F, as the operator's function body and numpy have it.
template <typename F>
std::int64_t range_count(F start, F limit, F delta) {
  if (delta == 0) fail(ErrorKind::kRuntime, "delta is 0, expected another number");
  const F distance = limit - start;
  const F count = std::ceil(distance / delta);
  if (std::isnan(count)) fail(ErrorKind::kRuntime, "a range from {} to {} by {} has no size", start, limit, delta);
  if (count >= F(0x1p62)) fail(ErrorKind::kLimit, "a range of {} numbers", count);
  return count > 0 ? static_cast<std::int64_t>(count) : 0;
}

struct RangeInputs {
  const Tensor& start;
  const Tensor& limit;
  const Tensor& delta;
};

// T as stored; Stash is what halves are computed in. Calls use(start, delta, count).
template <typename T, typename Stash, typename F>
void with_range(const RangeInputs& in, F&& use) {
  const auto value = [](const Tensor& tensor) { return static_cast<Stash>(tensor.data<T>()[0]); };
  const Stash start = value(in.start), delta = value(in.delta);
  use(start, delta, range_count(start, value(in.limit), delta));
}

template <typename F>
void visit_range(const RangeInputs& in, std::int64_t stash_type, F&& use) {
  for (const Tensor* tensor : {&in.start, &in.limit, &in.delta}) {
    if (tensor->size() != 1 || tensor->dtype() != in.start.dtype()) {
      fail(ErrorKind::kRuntime, "start, limit or delta is {} {}, expected one {} each", name(tensor->dtype()),
           to_string(tensor->shape()), name(in.start.dtype()));
    }
  }
  const auto half = [&](auto tag) {
    using T = decltype(tag);
    if (stash_type == static_cast<std::int64_t>(DataType::kFloat32)) return with_range<T, float>(in, use);
    if (stash_type == static_cast<std::int64_t>(DataType::kFloat64)) return with_range<T, double>(in, use);
    fail(ErrorKind::kUnsupported, "stash_type {}, supported are 1 (float32) and 11 (float64)", stash_type);
  };
  switch (in.start.dtype()) {
    case DataType::kFloat32: return with_range<float, float>(in, use);
    case DataType::kFloat64: return with_range<double, double>(in, use);
    case DataType::kFloat16: return half(Float16{});
    case DataType::kBFloat16: return half(BFloat16{});
    case DataType::kInt16: return with_range<std::int16_t, std::int64_t>(in, use);
    case DataType::kInt32: return with_range<std::int32_t, std::int64_t>(in, use);
    case DataType::kInt64: return with_range<std::int64_t, std::int64_t>(in, use);
    default: fail(ErrorKind::kUnsupported, "a range of {}", name(in.start.dtype()));
  }
}

std::int64_t stash_type(const AttributeView& attributes) {
  return attributes.schema().since_version >= 27 ? attributes.i("stash_type") : 1;
}

void infer_range(InferContext& ctx) {
  ctx.set_output(0, ctx.input(0).dtype, unknown_dims(1));
  const Tensor *start = ctx.constant(0), *limit = ctx.constant(1), *delta = ctx.constant(2);
  if (start != nullptr && limit != nullptr && delta != nullptr) {
    visit_range({*start, *limit, *delta}, stash_type(ctx.attributes),
                [&](auto, auto, std::int64_t count) {
                  ctx.set_output(0, start->dtype(), std::vector<Dim>{Dim(count)});
                  ctx.explain(0, 0, fmt::format("{} (steps from start to limit)", count));
                });
    return;
  }
  const std::vector<Dim> *from = ctx.elements(0), *to = ctx.elements(1), *by = ctx.elements(2);
  if (from == nullptr || to == nullptr || by == nullptr || from->size() != 1 || to->size() != 1 || by->size() != 1) return;
  const auto step = (*by)[0].value();
  if (!step || *step == 0 || *step == std::numeric_limits<std::int64_t>::min()) return;
  const Dim distance = *step > 0 ? (*to)[0] - (*from)[0] : (*from)[0] - (*to)[0];
  const Dim count = ceil_div(distance, Dim(std::abs(*step)));
  ctx.set_output(0, ctx.input(0).dtype, std::vector<Dim>{nonnegative(count) ? count : max(Dim(0), count)});
  if (ctx.explaining) {
    const std::string quotient = fmt::format("ceil(({} - {})/{})", term((*to)[0]), term((*from)[0]), *step);
    ctx.explain(0, 0, nonnegative(count) ? quotient : fmt::format("max(0, {})", quotient));
  }
}

void run_range(KernelContext& ctx) {
  const RangeInputs in{ctx.input(0), ctx.input(1), ctx.input(2)};
  const DataType dtype = in.start.dtype();
  visit_range(in, stash_type(ctx.attributes), [&](auto start, auto delta, std::int64_t count) {
    Tensor& out = ctx.output(0, dtype, Shape{count});
    const auto write = [&](auto tag, auto element) {
      using T = decltype(tag);
      auto values = out.mutable_data<T>();
      for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = element(i);
    };
    // In double a float32 result is rounded once; integers cannot leave the range between start and limit.
    const auto real = [&](std::int64_t i) { return static_cast<double>(start) + static_cast<double>(i) * static_cast<double>(delta); };
    const auto whole = [&](std::int64_t i) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(start) + static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(delta));
    };
    switch (dtype) {
      case DataType::kFloat32: return write(float{}, [&](std::int64_t i) { return static_cast<float>(real(i)); });
      case DataType::kFloat64: return write(double{}, real);
      case DataType::kFloat16: return write(Float16{}, [&](std::int64_t i) { return Float16(real(i)); });
      case DataType::kBFloat16: return write(BFloat16{}, [&](std::int64_t i) { return BFloat16(real(i)); });
      case DataType::kInt16: return write(std::int16_t{}, [&](std::int64_t i) { return static_cast<std::int16_t>(whole(i)); });
      case DataType::kInt32: return write(std::int32_t{}, [&](std::int64_t i) { return static_cast<std::int32_t>(whole(i)); });
      default: return write(std::int64_t{}, whole);
    }
  });
}

// ---- EyeLike ----

constexpr OpVersion kEyeLikeVersions[] = {
    {9, "input:T1", "output:T2", "dtype:int k:int=0", "T1=num11|bool; T2=num11|bool"},
    {22, "input:T1", "output:T2", "dtype:int k:int=0", "T1=num12|bool; T2=num12|bool"},
};

DataType eye_dtype(const AttributeView& attributes, DataType input) {
  return attributes.has("dtype") ? dtype_attribute(attributes.i("dtype"), "dtype") : input;
}

void infer_eye_like(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, eye_dtype(ctx.attributes, ctx.input(0).dtype), shape ? *shape : unknown_dims(2));
  if (shape != nullptr && shape->size() != 2) {
    fail(ErrorKind::kRuntime, "input has shape {}, expected rank 2", to_string(*shape));
  }
}

void run_eye_like(KernelContext& ctx) {
  const Shape shape = ctx.input(0).shape();
  if (shape.rank() != 2) fail(ErrorKind::kRuntime, "input has shape {}, expected rank 2", to_string(shape));
  const DataType dtype = eye_dtype(ctx.attributes, ctx.input(0).dtype());
  const Tensor one = number_of(dtype, 1, "an identity matrix");
  Tensor& out = ctx.output(0, dtype, shape);
  std::fill_n(out.mutable_raw(), out.bytes(), std::byte{0});
  const std::int64_t rows = shape[0], columns = shape[1];
  const std::int64_t k = std::clamp(ctx.attributes.i("k"), -rows, columns);
  for (std::int64_t r = std::max<std::int64_t>(0, -k); r < rows && r + k < columns; ++r) {
    copy_run(one, 0, out, r * columns + r + k, 1);
  }
}

// ---- OneHot ----

constexpr OpVersion kOneHotVersions[] = {
    {9, "indices:T1 depth:T2 values:T3", "output:T3", "axis:int=-1", "T1=num11; T2=num11; T3=all15"},
    {11, "indices:T1 depth:T2 values:T3", "output:T3", "axis:int=-1", "T1=num11; T2=num11; T3=all15"},
};

std::int64_t checked_depth(const Tensor& depth) {
  if (depth.size() != 1) fail(ErrorKind::kRuntime, "depth has shape {}, expected one element", to_string(depth.shape()));
  const std::int64_t value = cast_to_int64(depth, "depth")[0];
  if (value < 0) fail(ErrorKind::kRuntime, "depth is {}, expected 0 or more", value);
  return value;
}

void infer_one_hot(InferContext& ctx) {
  const DataType dtype = ctx.input(2).dtype;
  const std::vector<Dim>* indices = ctx.shape(0);
  if (indices == nullptr) return ctx.set_output(0, dtype, std::nullopt);
  Dim depth;
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis"), indices->size() + 1);
  ctx.explain(0, axis, fmt::format("{} (the depth)", ctx.attributes.node().inputs[1]));
  if (const Tensor* constant = ctx.constant(1)) depth = Dim(checked_depth(*constant));
  else if (const auto* elements = ctx.elements(1); elements != nullptr && elements->size() == 1) depth = (*elements)[0];
  std::vector<Dim> result = *indices;
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  ctx.set_output(0, dtype, std::move(result));
}

void run_one_hot(KernelContext& ctx) {
  const Tensor& indices = ctx.input(0);
  const Tensor& values = ctx.input(2);
  if (values.size() != 2) fail(ErrorKind::kRuntime, "values has shape {}, expected two elements", to_string(values.shape()));
  const std::int64_t depth = checked_depth(ctx.input(1));
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis"), indices.rank() + 1);
  std::vector<std::int64_t> dims = indices.shape().dims();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  const std::int64_t inner = indices.shape().elements(axis, indices.rank());
  const auto places = cast_to_int64(indices, "indices");
  Tensor& out = ctx.output(0, values.dtype(), Shape(std::move(dims)));
  fill(out, values, 0, ctx.threads());
  visit_storage(values.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto& on = stored<T>(values)[1];
    const auto target = mutable_stored<T>(out);
    for (std::int64_t i = 0; i < std::ssize(places); ++i) {
      std::int64_t place = places[static_cast<std::size_t>(i)];
      if (place < -depth || place >= depth) continue;  // all off, as the text says
      if (place < 0) place += depth;
      target[static_cast<std::size_t>((i / inner * depth + place) * inner + i % inner)] = on;
    }
  });
}

// ---- Trilu ----

constexpr OpVersion kTriluVersions[] = {{14, "input:T k?:int64", "output:T", "upper:int=1", "T=all16"}};

void infer_trilu(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  set_moved(ctx, shape ? std::optional(*shape) : std::nullopt);
  if (shape != nullptr && shape->size() < 2) {
    fail(ErrorKind::kRuntime, "input has shape {}, expected rank 2 or more", to_string(*shape));
  }
}

void run_trilu(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  if (data.rank() < 2) fail(ErrorKind::kRuntime, "input has shape {}, expected rank 2 or more", to_string(data.shape()));
  const bool upper = ctx.attributes.i("upper") != 0;
  const std::int64_t rows = data.shape()[data.rank() - 2], columns = data.shape()[data.rank() - 1];
  std::int64_t k = ctx.has_input(1) ? int_value(ctx.input(1), "k") : 0;
  k = std::clamp(k, -rows, columns);
  Tensor& out = ctx.output(0, data.dtype(), data.shape());
  if (out.size() == 0) return;
  visit_storage(data.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = stored<T>(data).data();
    T* to = mutable_stored<T>(out).data();
    for (std::int64_t line = 0; line < out.size() / columns; ++line) {
      const std::int64_t row = line % rows;
      // The part that stays: [begin, end) of this line.
      const std::int64_t begin = upper ? std::clamp<std::int64_t>(row + k, 0, columns) : 0;
      const std::int64_t end = upper ? columns : std::clamp<std::int64_t>(row + k + 1, 0, columns);
      const T* source = from + line * columns;
      T* target = to + line * columns;
      std::fill_n(target, begin, T{});
      std::copy_n(source + begin, end - begin, target + begin);
      std::fill_n(target + end, columns - end, T{});
    }
  });
}

}  // namespace

extern const OpDef kRange;
const OpDef kRange = {
    .domain = "",
    .type = "Range",
    .summary = "Numbers from start on, by delta, up to but not including limit.",
    .versions = kRangeVersions,
    .infer = infer_range,
    .run = run_range,
    .facts = {.function = true},
};

extern const OpDef kEyeLike;
const OpDef kEyeLike = {
    .domain = "",
    .type = "EyeLike",
    .summary = "A matrix of the input's shape with ones on one diagonal and zeros elsewhere.",
    .versions = kEyeLikeVersions,
    .infer = infer_eye_like,
    .run = run_eye_like,
};

extern const OpDef kOneHot;
const OpDef kOneHot = {
    .domain = "",
    .type = "OneHot",
    .summary = "A new axis with one value at the place each index names and another value elsewhere.",
    .versions = kOneHotVersions,
    .infer = infer_one_hot,
    .run = run_one_hot,
};

extern const OpDef kTrilu;
const OpDef kTrilu = {
    .domain = "",
    .type = "Trilu",
    .summary = "The upper or lower triangle of each matrix, zeros elsewhere.",
    .versions = kTriluVersions,
    .infer = infer_trilu,
    .run = run_trilu,
};

}  // namespace lppool
