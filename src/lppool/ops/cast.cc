// Cast, CastLike and BitCast. The conversions themselves are in tensor/convert.h.
// Source: ONNX Cast-1 to 25. Opset 1 names the target by text ("FLOAT"), later ones by number.
#include <optional>

#include "lppool/ops/op.h"
#include "lppool/ops/shape_rules.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

constexpr OpVersion kCastVersions[] = {
    {1, "input:T1", "output:T2", "to!:string", "T1=num11|bool; T2=num11|bool"},
    {6, "input:T1", "output:T2", "to!:int", "T1=num11|bool; T2=num11|bool"},
    {9, "input:T1", "output:T2", "to!:int", "T1=num11|bool|string; T2=num11|bool|string"},
    {13, "input:T1", "output:T2", "to!:int", "T1=num12|bool|string; T2=num12|bool|string"},
    {19, "input:T1", "output:T2", "saturate:int=1 to!:int",
     "T1=num12|float8s|bool|string; T2=num12|float8s|bool|string"},
    {21, "input:T1", "output:T2", "saturate:int=1 to!:int",
     "T1=num12|float8s|bool|string|uint4|int4; T2=num12|float8s|bool|string|uint4|int4"},
    {23, "input:T1", "output:T2", "saturate:int=1 to!:int",
     "T1=num12|float8s|string|bool|uint4|int4|float4e2m1; T2=num12|float8s|string|bool|uint4|int4|float4e2m1"},
    {24, "input:T1", "output:T2", "round_mode:string=up saturate:int=1 to!:int",
     "T1=num12|float8s|string|bool|uint4|int4|float4e2m1|float8e8m0; "
     "T2=num12|float8s|string|bool|uint4|int4|float4e2m1|float8e8m0"},
    {25, "input:T1", "output:T2", "round_mode:string=up saturate:int=1 to!:int",
     "T1=num12|float8s|string|bool|uint4|int4|float4e2m1|float8e8m0|uint2|int2; "
     "T2=num12|float8s|string|bool|uint4|int4|float4e2m1|float8e8m0|uint2|int2"},
};
constexpr OpVersion kCastLikeVersions[] = {
    {15, "input:T1 target_type:T2", "output:T2", "", "T1=num12|bool|string; T2=num12|bool|string"},
    {19, "input:T1 target_type:T2", "output:T2", "saturate:int=1",
     "T1=num12|float8s|bool|string; T2=num12|float8s|bool|string"},
    {21, "input:T1 target_type:T2", "output:T2", "saturate:int=1",
     "T1=num12|float8s|string|bool|uint4|int4; T2=num12|float8s|string|bool|uint4|int4"},
    {23, "input:T1 target_type:T2", "output:T2", "saturate:int=1",
     "T1=num12|float8s|string|bool|uint4|int4|float4e2m1; T2=num12|float8s|string|bool|uint4|int4|float4e2m1"},
    {24, "input:T1 target_type:T2", "output:T2", "round_mode:string=up saturate:int=1",
     "T1=num12|float8s|string|bool|uint4|int4|float4e2m1|float8e8m0; "
     "T2=num12|float8s|string|bool|uint4|int4|float4e2m1|float8e8m0"},
    {25, "input:T1 target_type:T2", "output:T2", "round_mode:string=up saturate:int=1",
     "T1=num12|float8s|string|bool|uint4|int4|float4e2m1|float8e8m0|uint2|int2; "
     "T2=num12|float8s|string|bool|uint4|int4|float4e2m1|float8e8m0|uint2|int2"},
};
constexpr OpVersion kBitCastVersions[] = {
    {26, "input:T1", "output:T2", "to!:int",
     "T1=num12|float8s|bool|complex64|complex128|uint4|int4|float4e2m1|float8e8m0|uint2|int2; "
     "T2=num12|float8s|bool|complex64|complex128|uint4|int4|float4e2m1|float8e8m0|uint2|int2"}};

// The names of TensorProto.DataType, which opset 1 uses.
std::optional<DataType> type_by_proto_name(std::string_view text) {
  constexpr std::pair<std::string_view, DataType> kNames[] = {
      {"FLOAT", DataType::kFloat32},  {"UINT8", DataType::kUInt8},   {"INT8", DataType::kInt8},
      {"UINT16", DataType::kUInt16},  {"INT16", DataType::kInt16},   {"INT32", DataType::kInt32},
      {"INT64", DataType::kInt64},    {"BOOL", DataType::kBool},     {"FLOAT16", DataType::kFloat16},
      {"DOUBLE", DataType::kFloat64}, {"UINT32", DataType::kUInt32}, {"UINT64", DataType::kUInt64},
  };
  for (const auto& [known, type] : kNames) {
    if (known == text) return type;
  }
  return std::nullopt;
}

DataType cast_target(const AttributeView& attributes) {
  if (attributes.schema().since_version != 1) return dtype_attribute(attributes, "to");
  const std::string text = attributes.s("to");
  const auto type = type_by_proto_name(text);
  if (!type) fail(ErrorKind::kRuntime, "attribute 'to' is '{}', expected an element type such as FLOAT or INT64", text);
  return *type;
}

std::optional<ScaleRounding> scale_rounding(std::string_view mode) {
  if (mode == "up") return ScaleRounding::kUp;
  if (mode == "down") return ScaleRounding::kDown;
  if (mode == "nearest") return ScaleRounding::kNearest;
  return std::nullopt;
}

ConvertOptions options_of(const AttributeView& attributes) {
  ConvertOptions options;
  options.small_float.saturate = attributes.i("saturate", 1) != 0;
  options.small_float.fnuz_infinity_saturates = attributes.schema().since_version >= 24;
  const std::string mode = attributes.s("round_mode", "up");
  const auto rounding = scale_rounding(mode);
  if (!rounding) fail(ErrorKind::kRuntime, "attribute 'round_mode' is '{}', expected up, down or nearest", mode);
  options.small_float.scale_rounding = *rounding;
  return options;
}

void run_cast(KernelContext& ctx) {
  const DataType to = cast_target(ctx.attributes);
  ctx.set_output(0, convert(ctx.input(0), to, options_of(ctx.attributes), &ctx.threads()));
}

void run_cast_like(KernelContext& ctx) {
  ctx.set_output(0, convert(ctx.input(0), ctx.input(1).dtype(), options_of(ctx.attributes), &ctx.threads()));
}

void infer_to(InferContext& ctx, DataType to) {
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, to, shape ? std::optional(*shape) : std::nullopt);
  const std::vector<Dim>* elements = ctx.elements(0);
  if (elements == nullptr || !(is_integer(to) || to == DataType::kBool)) return;
  std::vector<Dim> result;
  for (const Dim& element : *elements) {
    const auto number = element.value();
    if (to == DataType::kBool)
      result.push_back(number ? Dim(*number != 0) : Dim());
    else
      result.push_back(fits(element, to));
  }
  ctx.set_elements(0, std::move(result));
}

void infer_cast(InferContext& ctx) {
  infer_to(ctx, cast_target(ctx.attributes));
}
void infer_cast_like(InferContext& ctx) {
  infer_to(ctx, input_dtype(ctx, 1));
}

void check_cast(CheckContext& ctx) {
  const std::string mode = ctx.attributes.s("round_mode", "up");
  if (!scale_rounding(mode)) {
    ctx.error(kBadValue, "round_mode", "attribute 'round_mode' is '" + mode + "', expected up, down or nearest");
  }
  if (!ctx.attributes.has("to")) return;
  try {
    cast_target(ctx.attributes);
  } catch (const Error& error) {
    ctx.error(kBadValue, "to", error.what());
  }
}

DataType bit_cast_target(const AttributeView& attributes, DataType from) {
  const DataType to = dtype_attribute(attributes, "to");
  if (from != DataType::kUndefined && (storage_bits(from) != storage_bits(to) || storage_bits(from) == 0)) {
    fail(ErrorKind::kRuntime, "attribute 'to' is {} of {} bits, but the input is {} of {} bits: they must be equal",
         name(to), storage_bits(to), name(from), storage_bits(from));
  }
  return to;
}

// Types below a byte are held sign- or zero-extended, one a byte: their bits move, the extension follows the new type.
void run_bit_cast(KernelContext& ctx) {
  const Tensor x = ctx.input(0);
  const DataType to = bit_cast_target(ctx.attributes, x.dtype());
  const int bits = storage_bits(to);
  if (bits >= 8) {
    ctx.set_output(0, x.viewed_as(to));
    return;
  }
  const bool extends_sign = is_signed_integer(to);
  const unsigned mask = (1u << bits) - 1, top = 1u << (bits - 1);
  const auto from = x.data<std::uint8_t>();
  const auto out = ctx.output_in_place(0, 0, to, x.shape()).mutable_data<std::uint8_t>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const unsigned low = from[i] & mask;
    out[i] = static_cast<std::uint8_t>(extends_sign ? (low ^ top) - top : low);
  }
}

void infer_bit_cast(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, bit_cast_target(ctx.attributes, input_dtype(ctx, 0)), shape ? std::optional(*shape) : std::nullopt);
}

}  // namespace

extern const OpDef kCast;
const OpDef kCast = {.domain = "",
                     .type = "Cast",
                     .summary = "Converts each element to the type that `to` names.",
                     .versions = kCastVersions,
                     .infer = infer_cast,
                     .run = run_cast,
                     .check = check_cast};

extern const OpDef kCastLike;
const OpDef kCastLike = {.domain = "",
                         .type = "CastLike",
                         .summary = "Converts each element of the first input to the element type of the second.",
                         .versions = kCastLikeVersions,
                         .infer = infer_cast_like,
                         .run = run_cast_like,
                         .check = check_cast,
                         .facts = {.function = true}};

extern const OpDef kBitCast;
const OpDef kBitCast = {.domain = "",
                        .type = "BitCast",
                        .summary = "Reads the bits of each element as another type of the same width.",
                        .versions = kBitCastVersions,
                        .infer = infer_bit_cast,
                        .run = run_bit_cast};

}  // namespace lppool
