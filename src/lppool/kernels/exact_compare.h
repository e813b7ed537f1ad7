#pragma once

#include <cstdint>
#include <span>

namespace lppool::kernels {

// mantissa * 2^exponent, exactly.
struct ExactNumber {
  std::uint64_t mantissa = 0;
  int exponent = 0;
};

// The sign (-1, 0 or 1) of (sum of values^p) - bound^p, decided without any rounding error. Values are
// finite and not negative, at least one of them not 0; the bound is not 0; p >= 1.
//
// p = 1 and 2 use floating-point expansions (cheap: these are the exponents at which real data does hit midpoints).
// Other exponents use truncated big integers with an error bound, 256 bits wide at first and wider until the sign is
// certain; at the last width nothing is truncated, so the search ends.
int compare_power_sum(std::span<const double> values, std::int64_t p, const ExactNumber& bound);

}  // namespace lppool::kernels
