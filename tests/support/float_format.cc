#include "support/float_format.h"

#include <cassert>
#include <cmath>
#include <limits>

namespace lppool::testing {

double decode(const FloatFormat& format, std::uint64_t bits) {
  const std::uint64_t magnitude = bits & ~format.sign_bit();
  const double sign = (bits & format.sign_bit()) != 0 ? -1.0 : 1.0;
  if (magnitude > format.infinity()) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == format.infinity()) return sign * std::numeric_limits<double>::infinity();
  const std::uint64_t hidden = format.least_normal();
  const std::uint64_t fraction = magnitude & (hidden - 1);
  const int field = static_cast<int>(magnitude >> (format.precision - 1));
  const double significand = static_cast<double>(field == 0 ? fraction : fraction | hidden);
  return sign * std::ldexp(significand, format.quantum_exponent + (field == 0 ? 0 : field - 1));
}

Midpoint midpoint_above(const FloatFormat& format, std::uint64_t bits) {
  assert(bits < format.infinity());
  const std::uint64_t hidden = format.least_normal();
  const std::uint64_t fraction = bits & (hidden - 1);
  const int field = static_cast<int>(bits >> (format.precision - 1));
  const std::uint64_t significand = field == 0 ? fraction : fraction | hidden;
  return {2 * significand + 1, format.quantum_exponent + (field == 0 ? 0 : field - 1) - 1};
}

}  // namespace lppool::testing
