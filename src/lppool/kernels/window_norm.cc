#include "lppool/kernels/window_norm.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "lppool/kernels/double_double.h"
#include "lppool/kernels/element.h"
#include "lppool/kernels/exact_compare.h"
#include "lppool/kernels/scalar_pow.h"

// The norm of one window. Values are scaled by a power of two so that the largest lies in [1, 2); powers, sum and root
// are carried in double-double with a bound on the error. Where that bound leaves open which side of a rounding
// boundary the norm lies on, a whole p asks exact arithmetic. A fractional p has no such judge; its error stays far
// below the contract.
namespace lppool::kernels {
namespace {

constexpr double kUnit = 0x1p-106;  // of the error bounds in double_double.h

// value * 2^exponent.
struct Scaled {
  DoubleDouble value;
  std::int64_t exponent = 0;
};

void normalise(Scaled& a) {
  const int e = std::ilogb(a.value.hi);
  a.value = {std::ldexp(a.value.hi, -e), std::ldexp(a.value.lo, -e)};
  a.exponent += e;
}

// base^p for base in [1, 2); error 8p units at most (p - 1 products of error 7, and the growth of what they carry).
Scaled power(DoubleDouble base, std::int64_t p) {
  Scaled r{base, 0};
  for (int bit = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(p))) - 2; bit >= 0; --bit) {
    r = {multiply(r.value, r.value), 2 * r.exponent};
    if (p >> bit & 1) r.value = multiply(r.value, base);
    if (r.value.hi >= 0x1p64) normalise(r);
  }
  return r;
}

// The norm, scaled: root * (1 + d), |d| <= error.
struct Root {
  DoubleDouble value;
  double error;
};

// values * 2^-scale lie in (0, 2), the largest in [1, 2). Below this p the root is corrected by its own power; above,
// the p-th root differs from the largest value so little that a logarithm in double is exact enough.
constexpr std::int64_t kLargePower = 1 << 20;

Root root_of_whole_power(std::span<const double> values, double largest, int scale, std::int64_t p) {
  const double n = static_cast<double>(values.size());
  const double sp = static_cast<double>(p);
  const double top = std::ldexp(largest, -scale);
  const Scaled top_power = power({top, 0}, p);
  // Sum of values^p as a multiple of 2^top_power.exponent.
  DoubleDouble sum;
  for (const double value : values) {
    if (value == 0) continue;
    if (value == largest) {
      sum = add(sum, top_power.value);
      continue;
    }
    // Terms below 2^-200 of the largest are left to the error bound.
    const int e = std::ilogb(value);
    if (static_cast<double>(scale - e - 1) * sp > 200) continue;
    Scaled term = power({std::ldexp(value, -e), 0}, p);
    term.exponent -= (scale - e) * p + top_power.exponent;
    if (term.exponent < -270) continue;
    const double shift = std::ldexp(1.0, static_cast<int>(term.exponent));
    sum = add(sum, {term.value.hi * shift, term.value.lo * shift});
  }
  const double sum_error = (3 * n + 8 * sp) * kUnit + n * 0x1p-190;

  if (p >= kLargePower) {
    // top * (sum / top^p)^(1/p) = top + top * expm1(L), L = ln(sum / top^p) / p below 2^-14.
    const DoubleDouble ratio = divide(sum, top_power.value);
    const double l = std::log(ratio.hi) / sp;
    const double growth = top * (l + l * l / 2 + l * l * l / 6);
    return {fast_two_sum(top, growth), (sum_error + 8 * sp * kUnit + 0x1p-49) / sp + l * 0x1p-49 + 0x1p-100};
  }
  // One Newton step on y^p = sum, evaluated with the residual in double-double.
  Scaled whole{sum, top_power.exponent};
  normalise(whole);
  const std::int64_t whole_part = whole.exponent / p;
  const double rest = static_cast<double>(whole.exponent % p);    // exponent >= 0: the largest value is at least 1
  double y = std::exp2((std::log2(whole.value.hi) + rest) / sp);  // in [1, 2), nearly
  if (p == 2) y = std::sqrt(whole.value.hi * (1 + rest));
  Scaled w = power({y, 0}, p);
  // Both sides to the exponent of w.
  const double shift = std::ldexp(1.0, static_cast<int>(static_cast<std::int64_t>(rest) - w.exponent));
  const DoubleDouble target = {whole.value.hi * shift, whole.value.lo * shift};
  const DoubleDouble residual = subtract(target, w.value);
  const double relative = residual.hi / w.value.hi;
  const double step = y * (relative / sp);
  const DoubleDouble r = fast_two_sum(y, step);
  // The step neglects (p-1)/2 (relative/p)^2; its own division is good to 2^-50.
  const double neglected = relative * relative / sp + std::fabs(relative) / sp * 0x1p-50;
  const double exponent = std::ldexp(1.0, static_cast<int>(whole_part));
  return {{r.hi * exponent, r.lo * exponent}, (sum_error + 8 * sp * kUnit) / sp * 1.01 + neglected + 4 * kUnit};
}

// The root * 2^`exponent`; exponent may be far out of double's range for a small p.
Root root_of_fractional_power(std::span<const double> values, double largest, int scale, double p, int& exponent) {
  const DoubleDouble top = {std::ldexp(largest, -scale), 0};
  const DoubleDouble ln_top = ln_dd(top);
  DoubleDouble sum;  // of (value / largest)^p
  for (const double value : values) {
    if (value == 0) continue;
    if (value == largest) {
      sum = add(sum, {1, 0});
      continue;
    }
    const int e = std::ilogb(value);
    const DoubleDouble ln_value =
        subtract(ln_dd({std::ldexp(value, -e), 0}), multiply(kLn2, {static_cast<double>(scale - e), 0}));
    const DoubleDouble ln_term = multiply(subtract(ln_value, ln_top), {p, 0});
    if (ln_term.hi < -700) continue;
    sum = add(sum, exp_dd(ln_term));
  }
  if (sum.hi == 1 && sum.lo == 0) return {top, 0};
  const DoubleDouble l = divide(ln_dd(sum), {p, 0});
  exponent = static_cast<int>(std::min(l.hi / kLn2.hi, 1e6));  // 2^1e6 is beyond every type
  if (exponent == 1000000) return {top, 0};
  return {multiply(top, exp_dd(subtract(l, multiply(kLn2, {static_cast<double>(exponent), 0})))), 0};
}

// The same in plain double, for types it is accurate enough for. Within 4 units of 2^-53 of a power each (the bound
// covers C libraries worse than any in use), more for what the quotient and 1/p lose.
Root rough_root_of_fractional_power(std::span<const double> values, double largest, int scale, double p) {
  double sum = 0;
  for (const double value : values) {
    if (value != 0) sum += value == largest ? 1 : std::pow(value / largest, p);
  }
  const auto n = static_cast<double>(values.size());
  const double error = ((n + p + 8 + std::log2(n) * 2) / p + 8) * 0x1p-52;
  return {{std::ldexp(largest, -scale) * std::pow(sum, 1 / p), 0}, error};
}

// Rounds root * 2^scale to `format`, asking `above(midpoint)` (the sign of norm - midpoint) where the bound cannot
// tell.
template <typename Above>
std::uint64_t round_to(const Format& format, const Root& root, int scale, Above above) {
  double hi = root.value.hi, lo = root.value.lo;
  int e = std::ilogb(hi);
  if (std::ldexp(1.0, e) == hi && lo < 0) --e;
  // Everything in units of the spacing of the format at the result.
  const int spacing = std::max(e + scale, format.min_exponent) - format.precision + 1;
  if (e + scale > format.max_exponent) return format.infinity;
  hi = std::ldexp(hi, scale - spacing);
  lo = std::ldexp(lo, scale - spacing);
  double units = std::floor(hi);
  const double error = hi * root.error;
  const double up = (hi - units - 0.5) + lo, down = (hi - units + 0.5) + lo;
  int side = 0;  // of the midpoint at units + 0.5 or units - 0.5
  if (up > error) {
    units += 1;
  } else if (up >= -error) {
    side = 1;
  } else if (down < -error) {
    units -= 1;
  } else if (down <= error) {
    units -= 1;
    side = 1;
  }
  auto n = static_cast<std::uint64_t>(units);
  if (side != 0) {
    const int sign = above(ExactNumber{2 * n + 1, spacing - 1});
    if (sign > 0 || (sign == 0 && (n & 1) != 0)) ++n;
  }
  // The mantissa's hidden bit adds 1 to the exponent field, and so does a carry out of the mantissa.
  const auto field = static_cast<std::uint64_t>(spacing - (format.min_exponent - format.precision + 1));
  const std::uint64_t bits = n + (field << (format.precision - 1));
  return std::min(bits, format.infinity);
}

}  // namespace

std::uint64_t window_norm(ElementType type, std::span<const double> values, const LpNorm& norm) {
  const Format& format = format_of(type);
  double largest = 0;
  std::size_t nonzero = 0;
  for (const double v : values) {
    if (std::isnan(v)) return format.quiet_nan;
    largest = std::max(largest, v);
    nonzero += v != 0;
  }
  if (std::isinf(largest)) return format.infinity;
  if (largest == 0) return 0;
  const int scale = std::ilogb(largest);
  const double p = norm.whole != 0 ? static_cast<double>(norm.whole) : norm.fraction;
  // n^(1/p) < 1 + 2^-(precision + 1): the norm rounds to the largest value, which the type holds.
  const double ln_n = std::log2(static_cast<double>(nonzero)) + 1;
  if (nonzero == 1 || p > ln_n * std::ldexp(1.0, format.precision + 2)) {
    return round_to(format, {{std::ldexp(largest, -scale), 0}, 0}, scale, [](const ExactNumber&) { return 0; });
  }
  if (norm.whole == 0) {
    if (format.precision <= 24) {
      // Bits do not depend on the C library: what its errors could change is left to double-double.
      const Root rough = rough_root_of_fractional_power(values, largest, scale, norm.fraction);
      bool certain = rough.value.hi < 0x1p900 && rough.error < 0x1p-30;
      const std::uint64_t bits = !certain ? 0 : round_to(format, rough, scale, [&](const ExactNumber&) {
        certain = false;
        return 0;
      });
      if (certain) return bits;
    }
    int exponent = 0;
    const Root root = root_of_fractional_power(values, largest, scale, norm.fraction, exponent);
    return round_to(format, root, scale + exponent, [](const ExactNumber&) { return 0; });
  }
  const Root root = root_of_whole_power(values, largest, scale, norm.whole);
  return round_to(format, root, scale,
                  [&](const ExactNumber& midpoint) { return compare_power_sum(values, norm.whole, midpoint); });
}

}  // namespace lppool::kernels
