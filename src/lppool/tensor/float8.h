#pragma once

#include <cstdint>

#include "lppool/tensor/dtype.h"

// Floating-point types of one byte or less. Codes are as a Tensor holds them: one byte each, a 4-bit code in the low
// bits.
//
//   float8e4m3fn    1 4 3, bias 7, no infinity, NaN 0x7f and 0xff, largest 448
//   float8e4m3fnuz  1 4 3, bias 8, no infinity, no -0, NaN 0x80, largest 240
//   float8e5m2      1 5 2, bias 15, infinities and NaN as IEEE 754, largest 57344
//   float8e5m2fnuz  1 5 2, bias 16, no infinity, no -0, NaN 0x80, largest 57344
//   float4e2m1      1 2 1, bias 1, finite values only: 0 0.5 1 1.5 2 3 4 6 and their negatives
//   float8e8m0      2^(code - 127), NaN 0xff; neither sign nor zero
// Source: ONNX Cast 19 to 25; OCP 8-bit floating point and Microscaling (MX) specifications.
namespace lppool {

constexpr bool is_float8(DataType type) {
  return type == DataType::kFloat8E4M3FN || type == DataType::kFloat8E4M3FNUZ || type == DataType::kFloat8E5M2 ||
         type == DataType::kFloat8E5M2FNUZ;
}

// One of the six types above.
constexpr bool is_small_float(DataType type) {
  return is_float8(type) || type == DataType::kFloat4E2M1 || type == DataType::kFloat8E8M0;
}

enum class ScaleRounding { kUp, kDown, kNearest };

// How values that a small float cannot hold are converted.
struct SmallFloatOptions {
  // Beyond the largest value: to the largest (true), or to NaN, for float8e5m2 to infinity (false). float4e2m1 always
  // saturates.
  bool saturate = true;
  // With `saturate`, infinity becomes the largest value; opsets 19 to 23 make it NaN in the two fnuz types.
  bool fnuz_infinity_saturates = true;
  // float8e8m0 only: away from zero, toward zero, or to the nearest power of two with ties away from zero.
  ScaleRounding scale_rounding = ScaleRounding::kUp;
};

// The value of a code: exact. `type` must be a small float.
double small_float_value(DataType type, std::uint8_t code);

// The code of a value, rounded once to nearest even (float8e8m0: as the options say). NaN becomes NaN, keeping its sign
// where the type has signed NaNs; in float4e2m1, which has none, -0. float8e8m0 has no code for what is below its
// smallest value 2^-127, zero included: that one where the options saturate, else NaN; values below zero give NaN.
std::uint8_t small_float_code(DataType type, double value, const SmallFloatOptions& options = {});

}  // namespace lppool
