// QuantizeLinear and DequantizeLinear: y = saturate(round(x / scale) + zero point) and back,
// with one scale for the whole tensor, one for each slice along an axis, or one for each block of an axis. Source: ONNX
// QuantizeLinear-10 to 25, DequantizeLinear-10 to 25.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lppool/ops/element_types.h"
#include "lppool/ops/lines.h"
#include "lppool/ops/shape_rules.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

constexpr OpVersion kQuantizeVersions[] = {
    {10, "x:T1 y_scale:float32 y_zero_point?:T2", "y:T2", "", "T1=float32|int32; T2=int8|uint8"},
    {13, "x:T1 y_scale:float32 y_zero_point?:T2", "y:T2", "axis:int=1", "T1=float32|int32; T2=int8|uint8"},
    {19, "x:T1 y_scale:T1 y_zero_point?:T2", "y:T2", "axis:int=1 saturate:int=1",
     "T1=float32|float16|bfloat16|int32; T2=float8s|int8|uint8"},
    {21, "x:T1 y_scale:T1 y_zero_point?:T2", "y:T2", "axis:int=1 block_size:int=0 output_dtype:int=0 saturate:int=1",
     "T1=float32|float16|bfloat16|int32; T2=float8s|int8|uint8|int16|uint16|uint4|int4"},
    {23, "x:T1 y_scale:T2 y_zero_point?:T3", "y:T3",
     "axis:int=1 block_size:int=0 output_dtype:int=0 precision:int=0 saturate:int=1",
     "T1=float32|float16|bfloat16|int32; T2=float32|float16|bfloat16|int32; "
     "T3=float8s|int8|uint8|int16|uint16|uint4|int4|float4e2m1"},
    {24, "x:T1 y_scale:T2 y_zero_point?:T3", "y:T3",
     "axis:int=1 block_size:int=0 output_dtype:int=0 precision:int=0 saturate:int=1",
     "T1=float32|float16|bfloat16|int32; T2=float32|float16|bfloat16|int32|float8e8m0; "
     "T3=float8s|int8|uint8|int16|uint16|uint4|int4|float4e2m1"},
    {25, "x:T1 y_scale:T2 y_zero_point?:T3", "y:T3",
     "axis:int=1 block_size:int=0 output_dtype:int=0 precision:int=0 saturate:int=1",
     "T1=float32|float16|bfloat16|int32; T2=float32|float16|bfloat16|int32|float8e8m0; "
     "T3=float8s|int8|uint8|int16|uint16|uint4|int4|float4e2m1|uint2|int2"},
};
constexpr OpVersion kDequantizeVersions[] = {
    {10, "x:T x_scale:float32 x_zero_point?:T", "y:float32", "", "T=int8|uint8|int32"},
    {13, "x:T x_scale:float32 x_zero_point?:T", "y:float32", "axis:int=1", "T=int8|uint8|int32"},
    {19, "x:T1 x_scale:T2 x_zero_point?:T1", "y:T2", "axis:int=1",
     "T1=float8s|int8|uint8|int32; T2=float32|float16|bfloat16"},
    {21, "x:T1 x_scale:T2 x_zero_point?:T1", "y:T2", "axis:int=1 block_size:int=0",
     "T1=float8s|int8|uint8|int16|uint16|int32|uint4|int4; T2=float32|float16|bfloat16"},
    {23, "x:T1 x_scale:T2 x_zero_point?:T1", "y:T3", "axis:int=1 block_size:int=0 output_dtype:int=0",
     "T1=float8s|int8|uint8|int16|uint16|int32|uint4|int4|float4e2m1; T2=float32|float16|bfloat16; "
     "T3=float32|float16|bfloat16"},
    {24, "x:T1 x_scale:T2 x_zero_point?:T1", "y:T3", "axis:int=1 block_size:int=0 output_dtype:int=0",
     "T1=float8s|int8|uint8|int16|uint16|int32|uint4|int4|float4e2m1; T2=float32|float16|bfloat16|float8e8m0; "
     "T3=float32|float16|bfloat16"},
    {25, "x:T1 x_scale:T2 x_zero_point?:T1", "y:T3", "axis:int=1 block_size:int=0 output_dtype:int=0",
     "T1=float8s|int8|uint8|int16|uint16|int32|uint4|int4|float4e2m1|uint2|int2; "
     "T2=float32|float16|bfloat16|float8e8m0; T3=float32|float16|bfloat16"},
};

// Which scale belongs to which element: that of element i of line (o, k) is number
// (o * groups + i / block) * inner + k if `blocked`, else i / block, with block >= 1.
struct Granularity {
  Lines lines;
  std::int64_t groups = 1, block = 1;
  bool blocked = false;
  std::int64_t index(std::int64_t o, std::int64_t i, std::int64_t k) const {
    return blocked ? (o * groups + i / block) * lines.inner + k : i / block;
  }
};

Granularity granularity_of(const KernelContext& ctx) {
  const Shape &x = ctx.input(0).shape(), &scale = ctx.input(1).shape();
  const std::int64_t block_size = ctx.attributes.i("block_size", 0);
  if (const Tensor* zero_point = ctx.optional_input(2);
      zero_point != nullptr && zero_point->shape() != scale && !(zero_point->size() == 1 && scale.elements() == 1)) {
    fail(ErrorKind::kRuntime, "the zero point has shape {}, expected that of the scale, {}",
         to_string(zero_point->shape()), to_string(scale));
  }
  Granularity result;
  if (scale.elements() == 1 &&
      (scale.rank() <= 1 || block_size == 0)) {  // one for all, even if written as a list of one
    result.lines.length = x.elements();
    result.block = std::max<std::int64_t>(result.lines.length, 1);
    return result;
  }
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis", 1), x.rank());
  result.lines = lines_along(x, axis);
  if (block_size == 0) {
    if (scale.rank() != 1 || scale[0] != x[axis]) {
      fail(ErrorKind::kRuntime, "the scale has shape {}, expected one scale or {} for axis {} of {}", to_string(scale),
           x[axis], axis, to_string(x));
    }
    return result;
  }
  if (block_size < 0) fail(ErrorKind::kRuntime, "attribute 'block_size' is {}, expected 0 or more", block_size);
  std::vector<std::int64_t> expected = x.dims();
  expected[axis] = expected[axis] / block_size + (expected[axis] % block_size != 0);
  if (scale.dims() != expected) {
    fail(ErrorKind::kRuntime, "the scale has shape {}, expected {} for blocks of {} along axis {} of {}",
         to_string(scale), to_string(Shape(expected)), block_size, axis, to_string(x));
  }
  result.blocked = true;
  result.groups = expected[axis];
  result.block = block_size;
  return result;
}

// Elements as doubles: exact for every type that meets here.
std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.size()));
  const Tensor doubles = convert(tensor, DataType::kFloat64);
  std::ranges::copy(doubles.data<double>(), values.begin());
  return values;
}

std::vector<double> zero_points_of(const KernelContext& ctx) {
  const Tensor* tensor = ctx.optional_input(2);
  return tensor != nullptr ? values_of(*tensor)
                           : std::vector<double>(static_cast<std::size_t>(ctx.input(1).size()), 0.0);
}

// Calls body(element index, scale index) for every element, ranges on several threads.
template <typename Body>
void for_elements(ThreadPool& threads, const Granularity& g, Body body) {
  const Lines& lines = g.lines;
  const std::int64_t total = lines.outer * lines.length * lines.inner;
  if (total == 0) return;
  threads.parallel_for(lines.outer * lines.length, std::max<std::int64_t>(1, 16384 / lines.inner),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                           const std::int64_t o = row / lines.length, i = row % lines.length;
                           const std::int64_t first = g.index(o, i, 0), step = g.blocked ? 1 : 0;
                           for (std::int64_t k = 0; k < lines.inner; ++k) {
                             body(row * lines.inner + k, static_cast<std::size_t>(first + k * step));
                           }
                         }
                       });
}

// ---- quantize ----

DataType quantized_type(const AttributeView& attributes, std::optional<DataType> zero_point) {
  const std::int64_t number = attributes.i("output_dtype", 0);
  if (number == 0) return zero_point.value_or(DataType::kUInt8);
  const DataType wanted = dtype_attribute(attributes, "output_dtype");
  if (zero_point && *zero_point != DataType::kUndefined && *zero_point != wanted) {
    fail(ErrorKind::kRuntime, "attribute 'output_dtype' is {}, but the zero point is {}", name(wanted),
         name(*zero_point));
  }
  return wanted;
}

struct Range {
  double low, high;
};
std::optional<Range> integer_range(DataType type) {
  switch (type) {
    case DataType::kUInt8:
      return Range{0, 255};
    case DataType::kInt8:
      return Range{-128, 127};
    case DataType::kUInt16:
      return Range{0, 65535};
    case DataType::kInt16:
      return Range{-32768, 32767};
    case DataType::kUInt4:
      return Range{0, 15};
    case DataType::kInt4:
      return Range{-8, 7};
    case DataType::kUInt2:
      return Range{0, 3};
    case DataType::kInt2:
      return Range{-2, 1};
    default:
      return std::nullopt;
  }
}

// x / scale, rounded to the type that ONNX divides in: that of the scale, or what `precision` names. Integer scales,
// and float8e8m0, which divides exactly, leave it to float32.
template <typename P>
double divide(double x, double scale) {
  const auto a = static_cast<double>(convert_value<P>(x)), b = static_cast<double>(convert_value<P>(scale));
  return static_cast<double>(convert_value<P>(a / b));
}

template <typename Body>
void with_precision(DataType type, Body body) {
  switch (type) {
    case DataType::kFloat16:
      body(TypeTag<Float16>{});
      break;
    case DataType::kBFloat16:
      body(TypeTag<BFloat16>{});
      break;
    case DataType::kFloat64:
      body(TypeTag<double>{});
      break;
    default:
      body(TypeTag<float>{});
      break;
  }
}

template <typename P, typename X, typename Y>
void quantize_to_integers(KernelContext& ctx, const Granularity& g, Range range, const X* x, Y* y) {
  const std::vector<double> scales = values_of(ctx.input(1)), zero_points = zero_points_of(ctx);
  for_elements(ctx.threads(), g, [&](std::int64_t at, std::size_t s) {
    const double quotient = divide<P>(static_cast<double>(x[at]), scales[s]);
    const double level = std::nearbyint(quotient) + zero_points[s];
    // Written so that NaN ends at the lower bound.
    y[at] = static_cast<Y>(level > range.low ? std::min(level, range.high) : range.low);
  });
}

template <typename P, typename X>
void quantize_to_small_floats(KernelContext& ctx, const Granularity& g, DataType type, const X* x, std::uint8_t* y) {
  const std::vector<double> scales = values_of(ctx.input(1)), zero_points = zero_points_of(ctx);
  SmallFloatOptions options;
  options.saturate = ctx.attributes.i("saturate", 1) != 0;
  for_elements(ctx.threads(), g, [&](std::int64_t at, std::size_t s) {
    const double quotient = divide<P>(static_cast<double>(x[at]), scales[s]);
    y[at] = small_float_code(type, quotient + zero_points[s], options);
  });
}

void run_quantize(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor* zero_point = ctx.optional_input(2);
  const DataType type =
      quantized_type(ctx.attributes, zero_point != nullptr ? std::optional(zero_point->dtype()) : std::nullopt);
  const auto range = integer_range(type);
  if (!range && !is_float8(type) && type != DataType::kFloat4E2M1) {
    fail(ErrorKind::kUnsupported, "quantization to {} is not defined", name(type));
  }
  const Granularity g = granularity_of(ctx);
  DataType precision = ctx.input(1).dtype();
  if (ctx.attributes.i("precision", 0) != 0) precision = dtype_attribute(ctx.attributes, "precision");
  Tensor& y = ctx.output(0, type, x.shape());
  with_precision(precision, [&](auto precision_tag) {
    using P = typename decltype(precision_tag)::type;
    for_type(Types<float, Float16, BFloat16, std::int32_t>{}, x.dtype(), [&](auto tag) {
      using X = typename decltype(tag)::type;
      const X* from = x.data<X>().data();
      if (!range) {
        quantize_to_small_floats<P>(ctx, g, type, from, y.mutable_data<std::uint8_t>().data());
      } else if (element_size(type) == 1) {
        if (range->low < 0)
          quantize_to_integers<P>(ctx, g, *range, from, y.mutable_data<std::int8_t>().data());
        else
          quantize_to_integers<P>(ctx, g, *range, from, y.mutable_data<std::uint8_t>().data());
      } else if (range->low < 0) {
        quantize_to_integers<P>(ctx, g, *range, from, y.mutable_data<std::int16_t>().data());
      } else {
        quantize_to_integers<P>(ctx, g, *range, from, y.mutable_data<std::uint16_t>().data());
      }
    });
  });
}

// ---- dequantize ----

// (x - zero point) * scale: the difference is exact in double and the product rounded once to the output's type.
void run_dequantize(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  DataType type = ctx.input(1).dtype();
  if (ctx.attributes.i("output_dtype", 0) != 0) type = dtype_attribute(ctx.attributes, "output_dtype");
  if (const Tensor* zero_point = ctx.optional_input(2); zero_point != nullptr && zero_point->dtype() != x.dtype()) {
    fail(ErrorKind::kRuntime, "the zero point is {}, expected {} as the input", name(zero_point->dtype()),
         name(x.dtype()));
  }
  const Granularity g = granularity_of(ctx);
  const std::vector<double> scales = values_of(ctx.input(1)), zero_points = zero_points_of(ctx);
  for_type(Types<float, Float16, BFloat16>{}, type, [&](auto tag) {
    using Y = typename decltype(tag)::type;
    Y* y = ctx.output(0, type, x.shape()).template mutable_data<Y>().data();
    const auto write = [&](auto value_of) {
      for_elements(ctx.threads(), g, [&](std::int64_t at, std::size_t s) {
        y[at] = static_cast<Y>((value_of(at) - zero_points[s]) * scales[s]);
      });
    };
    const auto write_integers = [&](const auto* from) {
      write([=](std::int64_t at) { return static_cast<double>(from[at]); });
    };
    if (is_small_float(x.dtype())) {
      const std::uint8_t* codes = x.data<std::uint8_t>().data();
      write([&](std::int64_t at) { return small_float_value(x.dtype(), codes[at]); });
      return;
    }
    switch (x.dtype()) {
      case DataType::kInt8:
      case DataType::kInt4:
      case DataType::kInt2:
        write_integers(x.data<std::int8_t>().data());
        break;
      case DataType::kUInt8:
      case DataType::kUInt4:
      case DataType::kUInt2:
        write_integers(x.data<std::uint8_t>().data());
        break;
      case DataType::kInt16:
        write_integers(x.data<std::int16_t>().data());
        break;
      case DataType::kUInt16:
        write_integers(x.data<std::uint16_t>().data());
        break;
      case DataType::kInt32:
        write_integers(x.data<std::int32_t>().data());
        break;
      default:
        fail(ErrorKind::kUnsupported, "dequantization of {} is not defined", name(x.dtype()));
    }
  });
}

// ---- inference and checks ----

void infer_to(InferContext& ctx, DataType type) {
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, type, shape ? std::optional(*shape) : std::nullopt);
}

void infer_quantize(InferContext& ctx) {
  std::optional<DataType> zero_point;
  if (ctx.has_input(2)) zero_point = input_dtype(ctx, 2);
  infer_to(ctx, quantized_type(ctx.attributes, zero_point));
}

void infer_dequantize(InferContext& ctx) {
  const bool named = ctx.attributes.i("output_dtype", 0) != 0;
  infer_to(ctx, named ? dtype_attribute(ctx.attributes, "output_dtype") : input_dtype(ctx, 1));
}

void check(CheckContext& ctx) {
  const std::int64_t block_size = ctx.attributes.i("block_size", 0);
  if (block_size < 0) {
    ctx.error(kBadValue, "block_size", fmt::format("attribute 'block_size' is {}, expected 0 or more", block_size));
  }
  for (const char* attribute : {"output_dtype", "precision"}) {
    const std::int64_t number = ctx.attributes.i(attribute, 0);
    if (number < 0 || number > kLastDataType) {
      ctx.error(kBadValue, attribute,
                fmt::format("attribute '{}' is {}, expected the number of an element type, or 0", attribute, number));
    }
  }
}

}  // namespace

extern const OpDef kQuantizeLinear;
const OpDef kQuantizeLinear = {
    .domain = "",
    .type = "QuantizeLinear",
    .summary = "Divides by a scale, rounds halves to even, adds a zero point and saturates to a narrow type.",
    .versions = kQuantizeVersions,
    .infer = infer_quantize,
    .run = run_quantize,
    .check = check};

extern const OpDef kDequantizeLinear;
const OpDef kDequantizeLinear = {
    .domain = "",
    .type = "DequantizeLinear",
    .summary = "Subtracts a zero point and multiplies by a scale: back from a narrow type.",
    .versions = kDequantizeVersions,
    .infer = infer_dequantize,
    .run = run_dequantize,
    .check = check};

}  // namespace lppool
