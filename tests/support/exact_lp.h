#pragma once

#include <cstdint>
#include <span>

#include "support/float_format.h"

namespace lppool::testing {

// The oracle: (sum |x|^p)^(1/p), rounded once, to nearest with ties to even, into `format`; independent of src/.
//
// `values` must be numbers of `format` (see decode), in any order, signs ignored; p > 0 and finite. Any NaN gives the
// quiet NaN pattern, else any infinity gives infinity, else the rounding of the exact norm, with gradual underflow, and
// infinity from the overflow boundary on. No values, or only zeros, give 0.
//
// How it decides: an extended-precision filter with a proved error bound, which never trusts a root or a power
// function; where that cannot tell, for whole p the integer p-th root of the exact integer sum, and for fractional or
// very large p MPFR intervals of growing precision. Intervals cannot settle an exact tie, so ties are recognised by
// exact rational arithmetic. Throws std::logic_error rather than answer without proof. Thread safe.
std::uint64_t exact_lp(const FloatFormat& format, std::span<const double> values, double p);

// The same by the slow ways only. The filter is tested against it.
std::uint64_t exact_lp_unfiltered(const FloatFormat& format, std::span<const double> values, double p);

// |got - exact norm| in units of the format's spacing at the exact norm, to within 2^-40 of a unit. An infinite `got`
// counts as 2^(max_exponent + 1) when the norm is finite. 0 where NaN or infinity is right, infinity where NaN is wrong
// or missing.
double ulp_error(const FloatFormat& format, std::uint64_t got, std::span<const double> values, double p);

}  // namespace lppool::testing
