#include "lppool/tensor/float8.h"

#include <array>
#include <cassert>
#include <cmath>
#include <limits>

namespace lppool {
namespace {

// A binary format with sign, exponent and mantissa, in that order from the top.
struct Layout {
  int mantissa_bits;
  int bias;
  std::uint8_t sign;     // the sign bit
  std::uint8_t largest;  // code of the largest finite value
  std::uint8_t nan;      // its code, without sign
  bool has_infinity;     // coded largest + 1
  bool unsigned_zero;    // the code of -0 is the only NaN
};

constexpr Layout layout_of(DataType type) {
  switch (type) {
    case DataType::kFloat8E4M3FN:
      return {3, 7, 0x80, 0x7e, 0x7f, false, false};
    case DataType::kFloat8E4M3FNUZ:
      return {3, 8, 0x80, 0x7f, 0x80, false, true};
    case DataType::kFloat8E5M2:
      return {2, 15, 0x80, 0x7b, 0x7e, true, false};
    case DataType::kFloat8E5M2FNUZ:
      return {2, 16, 0x80, 0x7f, 0x80, false, true};
    default:
      return {1, 1, 0x08, 0x07, 0x08, false, false};  // float4e2m1
  }
}

double decode(DataType type, std::uint8_t code) {
  const Layout layout = layout_of(type);
  const int magnitude = code & (layout.sign - 1);
  const bool negative = (code & layout.sign) != 0;
  if (layout.unsigned_zero && code == layout.nan) return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  if (magnitude > layout.largest) {
    value = layout.has_infinity && magnitude == layout.largest + 1 ? std::numeric_limits<double>::infinity()
                                                                   : std::numeric_limits<double>::quiet_NaN();
  } else {
    const int exponent = magnitude >> layout.mantissa_bits;
    const int mantissa = magnitude & ((1 << layout.mantissa_bits) - 1);
    const int significand = exponent == 0 ? mantissa : mantissa | 1 << layout.mantissa_bits;
    value = std::ldexp(significand, (exponent == 0 ? 1 : exponent) - layout.bias - layout.mantissa_bits);
  }
  return negative ? -value : value;
}

std::array<std::array<double, 256>, kLastDataType + 1> make_values() {
  std::array<std::array<double, 256>, kLastDataType + 1> values{};
  for (int number = 1; number <= kLastDataType; ++number) {
    const auto type = static_cast<DataType>(number);
    if (!is_small_float(type)) continue;
    for (int code = 0; code < 256; ++code) {
      double& value = values[static_cast<std::size_t>(number)][static_cast<std::size_t>(code)];
      if (type != DataType::kFloat8E8M0)
        value = decode(type, static_cast<std::uint8_t>(code));
      else
        value = code == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - 127);
    }
  }
  return values;
}

std::uint8_t scale_code(double value, const SmallFloatOptions& options) {
  constexpr std::uint8_t kNaN = 0xff, kLargest = 0xfe;
  if (std::isnan(value) || value < 0) return kNaN;
  if (std::isinf(value)) return options.saturate ? kLargest : kNaN;
  if (value < 0x1p-127) return options.saturate ? 0 : kNaN;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // value = fraction * 2^exponent, fraction in [0.5, 1)
  int code = exponent - 1 + 127;
  const bool up = options.scale_rounding == ScaleRounding::kUp        ? fraction > 0.5
                  : options.scale_rounding == ScaleRounding::kNearest ? fraction >= 0.75
                                                                      : false;
  if (up) ++code;
  if (code > kLargest) return options.saturate ? kLargest : kNaN;
  return static_cast<std::uint8_t>(code);
}

}  // namespace

double small_float_value(DataType type, std::uint8_t code) {
  assert(is_small_float(type));
  static const auto values = make_values();
  return values[static_cast<std::size_t>(type)][code];
}

std::uint8_t small_float_code(DataType type, double value, const SmallFloatOptions& options) {
  assert(is_small_float(type));
  if (type == DataType::kFloat8E8M0) return scale_code(value, options);
  const Layout layout = layout_of(type);
  const std::uint8_t sign = std::signbit(value) ? layout.sign : std::uint8_t{0};
  if (std::isnan(value)) return layout.nan | (layout.nan == layout.sign ? std::uint8_t{0} : sign);
  const double magnitude = std::fabs(value);
  const bool saturate = options.saturate || type == DataType::kFloat4E2M1;
  const auto beyond = [&]() -> std::uint8_t {
    const bool to_largest =
        saturate && !(std::isinf(value) && layout.unsigned_zero && !options.fnuz_infinity_saturates);
    if (to_largest) return layout.largest | sign;
    if (layout.unsigned_zero) return layout.nan;
    return static_cast<std::uint8_t>((layout.has_infinity ? layout.largest + 1 : layout.nan) | sign);
  };
  if (std::isinf(value)) return beyond();

  // Counted in units of the last mantissa bit at the value's exponent, the rounded significand and the exponent add up
  // to the code: a carry out of the mantissa lands in the exponent, as it should.
  const int smallest = 1 - layout.bias;
  const int exponent = magnitude == 0 ? smallest : std::max(std::ilogb(magnitude), smallest);
  if (exponent > 64) return beyond();
  const double units = std::nearbyint(std::ldexp(magnitude, layout.mantissa_bits - exponent));
  const int code = ((exponent - smallest) << layout.mantissa_bits) + static_cast<int>(units);
  if (code > layout.largest) return beyond();
  if (code == 0 && layout.unsigned_zero) return 0;
  return static_cast<std::uint8_t>(code | sign);
}

}  // namespace lppool
