#include "lppool/kernels/window_norm.h"

#include <cmath>

#include "lppool/kernels/element.h"

namespace lppool::kernels {

std::uint64_t window_norm(ElementType type, std::span<const double> values, const LpNorm& norm) {
  const Format& format = format_of(type);
  double largest = 0;
  for (const double v : values) {
    if (std::isnan(v)) return format.quiet_nan;
    largest = std::fmax(largest, v);
  }
  if (std::isinf(largest)) return format.infinity;
  if (largest == 0) return 0;
  const long double p = norm.whole != 0 ? static_cast<long double>(norm.whole) : static_cast<long double>(norm.fraction);
  long double sum = 0;
  for (const double v : values) sum += std::pow(static_cast<long double>(v) / static_cast<long double>(largest), p);
  const long double y = static_cast<long double>(largest) * std::pow(sum, 1 / p);
  if (type == ElementType::kFloat64) return std::bit_cast<std::uint64_t>(static_cast<double>(y));
  if (type == ElementType::kFloat32) return std::bit_cast<std::uint32_t>(static_cast<float>(y));
  // To the spacing of the type at y, then to bits.
  int e;
  std::frexp(y, &e);
  const int spacing = (e - 1 < format.min_exponent ? format.min_exponent : e - 1) - format.precision + 1;
  const auto units = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(y, -spacing)));
  const std::uint64_t bits =
      units + (static_cast<std::uint64_t>(spacing - (format.min_exponent - format.precision + 1)) << (format.precision - 1));
  return bits < format.infinity ? bits : format.infinity;
}

}  // namespace lppool::kernels
