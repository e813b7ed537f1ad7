#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lppool {

// Element types, numbered as TensorProto.DataType of ONNX 1.22.
enum class DataType : std::int32_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUInt2 = 25,
  kInt2 = 26,
};

inline constexpr std::int32_t kLastDataType = 26;

// True for the numbers 1 to 26, the element types of ONNX 1.22.
bool is_known(std::int32_t number);

// The name numpy (or ml_dtypes) gives the type: float32, int64, bool, bfloat16, float8e4m3fn, string.
std::string_view name(DataType type);
std::optional<DataType> parse_dtype(std::string_view name);

// Bytes one element takes in a Tensor. Types below a byte (int4, uint4, float4e2m1, int2, uint2) take a whole byte each,
// signed ones sign-extended: they are packed only in files. 0 for string and undefined.
std::size_t element_size(DataType type);

// Bits one element takes in a file; 0 for string and undefined.
int storage_bits(DataType type);

bool is_float(DataType type);     // any floating-point type, 4 to 64 bits
bool is_integer(DataType type);   // signed or unsigned, bool not included
bool is_signed_integer(DataType type);

}  // namespace lppool
