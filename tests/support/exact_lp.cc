#include "support/exact_lp.h"

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "support/multiprecision.h"

namespace lppool::testing {
namespace {

// The exact path for whole p builds integers of about p * (exponent range of the window) bits; beyond this many bits
// the interval path is quicker.
constexpr double kMaxExactBits = 1 << 17;
// Ties of fractional or very large p are decided with integers up to this size.
constexpr double kMaxTieBits = 1 << 27;
constexpr mpfr_prec_t kMaxPrecision = 1 << 16;

struct Scaled {
  std::uint64_t significand;  // odd, or 0 for zero
  int exponent;               // |x| = significand * 2^exponent
  int top;                    // |x| is in [2^top, 2^(top + 1))
};

Scaled take_apart(double x) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);
  if (fraction == 0) return {0, 0, 0};
  auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  const int zeros = __builtin_ctzll(significand);
  return {significand >> zeros, exponent - 53 + zeros, exponent - 1};
}

// Rounds (root + something) * 2^unit to the format, where the something is 0, or, if `inexact`, strictly between 0
// and 1. An inexact root must have at least one bit below the last bit of the result.
std::uint64_t round_to_format(const FloatFormat& format, const Integer& root, long unit, bool inexact) {
  if (mpz_sgn(root) == 0) {
    if (inexact) throw std::logic_error("oracle: an inexact root without bits");
    return 0;
  }
  const long top = static_cast<long>(mpz_sizeinbase(root, 2)) - 1 + unit;
  if (top > format.max_exponent) return format.infinity();
  const long lsb = std::max<long>(top - (format.precision - 1), format.quantum_exponent);
  const long shift = lsb - unit;
  if (inexact && shift < 1) throw std::logic_error("oracle: the root has too few bits to be rounded");
  Integer quotient;
  bool round_up = false;
  if (shift <= 0) {
    mpz_mul_2exp(quotient, root, static_cast<mp_bitcnt_t>(-shift));
  } else {
    const auto bits = static_cast<mp_bitcnt_t>(shift);
    mpz_tdiv_q_2exp(quotient, root, bits);
    const bool half = mpz_tstbit(root, bits - 1) != 0;
    const bool below_half = inexact || mpz_scan1(root, 0) < bits - 1;
    round_up = half && (below_half || mpz_odd_p(quotient));
  }
  // A significand that was rounded up to the next power of two carries into the exponent field by itself.
  const std::uint64_t significand = mpz_get_ui(quotient) + (round_up ? 1 : 0);
  const std::uint64_t bits =
      (static_cast<std::uint64_t>(lsb - format.quantum_exponent) << (format.precision - 1)) + significand;
  return std::min(bits, format.infinity());
}

// ---- Filter -------------------------------------------------------------------------------------------------------

long double power(long double x, unsigned p) {
  long double result = 1;
  for (bool first = true; p != 0; p >>= 1) {
    if ((p & 1) != 0) {
      result = first ? x : result * x;
      first = false;
    }
    if (p > 1) x *= x;
  }
  return result;
}

long double to_long_double(Midpoint midpoint) {
  return std::ldexp(static_cast<long double>(midpoint.significand), midpoint.exponent);
}

// Guesses the result, then proves it by comparing the sum of powers with the powers of the two midpoints around the
// guess. With u = 2^-64, a power by products is within a factor (1 + u)^(p - 1) of the true one and a sum of n of them
// within (1 + u)^(p + n - 2), so a quotient of at least 1 + 2 u (2 p + n + 8) between the two computed numbers decides,
// with a factor of two to spare. Nothing over- or underflows within the stated range. The guess may be anything.
std::optional<std::uint64_t> filter(const FloatFormat& format, std::span<const double> values, double p) {
  if constexpr (LDBL_MANT_DIG < 64 || LDBL_MAX_EXP < 16384) return std::nullopt;
  if (p != std::floor(p) || p * (2 - format.quantum_exponent) > 16000 || values.size() > 100000) return std::nullopt;
  const auto whole_p = static_cast<unsigned>(p);
  long double sum = 0;
  for (const double x : values) sum += power(std::fabs(static_cast<long double>(x)), whole_p);

  const long double guess = whole_p == 1   ? sum
                            : whole_p == 2 ? std::sqrt(sum)
                            : whole_p == 3 ? std::cbrt(sum)
                                           : std::pow(sum, 1.0L / static_cast<long double>(p));
  const int top = std::ilogb(guess);
  std::uint64_t bits = format.infinity();
  if (top <= format.max_exponent) {
    const int lsb = std::max(top - (format.precision - 1), format.quantum_exponent);
    const auto significand = static_cast<std::uint64_t>(std::llrint(std::ldexp(guess, -lsb)));
    bits = (static_cast<std::uint64_t>(lsb - format.quantum_exponent) << (format.precision - 1)) + significand;
    bits = std::min(bits, format.infinity());
  }

  const long double margin =
      1 + std::ldexp(2 * static_cast<long double>(p) + static_cast<long double>(values.size()) + 8, -63);
  if (bits != 0) {
    const long double below = power(to_long_double(midpoint_above(format, bits - 1)), whole_p);
    if (!(sum > below * margin)) return std::nullopt;
  }
  if (bits != format.infinity()) {
    const long double above = power(to_long_double(midpoint_above(format, bits)), whole_p);
    if (!(sum * margin < above)) return std::nullopt;
  }
  return bits;
}

// ---- Whole p, exact integers --------------------------------------------------------------------------------------

struct Window {
  std::vector<Scaled> terms;  // the nonzero ones
  int lowest = 0;             // least exponent
  int top = 0;                // of the largest term
  double largest = 0;
};

Window take_apart(std::span<const double> values) {
  Window window;
  for (const double x : values) {
    if (x == 0) continue;
    const Scaled term = take_apart(x);
    window.lowest = window.terms.empty() ? term.exponent : std::min(window.lowest, term.exponent);
    window.top = window.terms.empty() ? term.top : std::max(window.top, term.top);
    window.largest = std::max(window.largest, std::fabs(x));
    window.terms.push_back(term);
  }
  return window;
}

// Every term is an integer number of units of 2^unit, and so the sum of powers an integer number of units^p, whose
// integer root, with the knowledge whether it is exact, is all that rounding needs. The norm is at least the largest
// term, so the unit chosen leaves a bit below the last bit of the result.
std::uint64_t by_integers(const FloatFormat& format, const Window& window, unsigned long p) {
  const int unit = std::min(window.lowest, window.top - format.precision);
  Integer sum;
  Integer term;
  for (const Scaled& x : window.terms) {
    mpz_set_ui(term, x.significand);
    mpz_pow_ui(term, term, p);
    mpz_mul_2exp(term, term, p * static_cast<unsigned long>(x.exponent - unit));
    mpz_add(sum, sum, term);
  }
  Integer root;
  const bool exact = mpz_root(root, sum, p) != 0;
  return round_to_format(format, root, unit, !exact);
}

// ---- Any p, intervals ---------------------------------------------------------------------------------------------

// [low, high] contains the norm divided by 2^window.top. Dividing by a power of two keeps what is exact exact, and
// makes the sum at least 1, so that a larger 1/p always gives a larger root.
void enclose(const Window& window, double p, BigFloat& low, BigFloat& high) {
  const mpfr_prec_t precision = mpfr_get_prec(low);
  const bool whole = p == std::floor(p) && p < 0x1p31;
  BigFloat exponent(53), x(64), term(precision);
  mpfr_set_d(exponent, p, MPFR_RNDN);
  for (const mpfr_rnd_t direction : {MPFR_RNDD, MPFR_RNDU}) {
    BigFloat& bound = direction == MPFR_RNDD ? low : high;
    mpfr_set_zero(bound, 1);
    for (const Scaled& part : window.terms) {
      mpfr_set_ui_2exp(x, part.significand, part.exponent - window.top, MPFR_RNDN);
      if (whole) {
        mpfr_pow_ui(term, x, static_cast<unsigned long>(p), direction);
      } else {
        mpfr_pow(term, x, exponent, direction);
      }
      mpfr_add(bound, bound, term, direction);
    }
    if (whole) {
      mpfr_rootn_ui(bound, bound, static_cast<unsigned long>(p), direction);
    } else {
      mpfr_ui_div(term, 1, exponent, direction);
      mpfr_pow(bound, bound, term, direction);
    }
  }
}

std::uint64_t round_to_format(const FloatFormat& format, BigFloat& value, int scale) {
  if (mpfr_inf_p(value) != 0) return format.infinity();  // beyond 2^(2^62), for p near 0
  Integer significand;
  const long exponent = mpfr_get_z_2exp(significand, value);
  return round_to_format(format, significand, exponent + scale, false);
}

// Takes the 2^k-th root of an integer if it is one exactly.
bool take_roots(mpz_ptr x, int k) {
  for (; k > 0 && mpz_cmp_ui(x, 1) != 0; --k) {
    if (!mpz_perfect_square_p(x)) return false;
    mpz_sqrt(x, x);
  }
  return true;
}

// Whether the norm equals `tie` exactly. p is a/2^k with a odd or k = 0. The question is whether the terms (x/tie)^p
// add up to 1. Real positive radicals that are no rational multiples of each other are linearly independent over the
// rationals (Besicovitch 1940), and nothing cancels here, so every term must be rational: the 2^k-th root of x/tie is.
bool is_exact_tie(const Window& window, Midpoint tie, double p) {
  int k = 0;
  double a = p;
  while (a != std::floor(a)) {
    a *= 2;
    ++k;
  }
  Rational sum, ratio, one;
  mpq_set_ui(one, 1, 1);
  for (const Scaled& x : window.terms) {
    mpz_set_ui(ratio.numerator(), x.significand);
    mpz_set_ui(ratio.denominator(), tie.significand);
    mpq_canonicalize(ratio);
    const int shift = x.exponent - tie.exponent;
    if (shift >= 0) {
      mpq_mul_2exp(ratio, ratio, static_cast<mp_bitcnt_t>(shift));
    } else {
      mpq_div_2exp(ratio, ratio, static_cast<mp_bitcnt_t>(-shift));
    }
    mpz_ptr numerator = ratio.numerator();
    mpz_ptr denominator = ratio.denominator();
    if (!take_roots(numerator, k) || !take_roots(denominator, k)) return false;
    const auto bits = static_cast<double>(mpz_sizeinbase(numerator, 2) + mpz_sizeinbase(denominator, 2));
    if (a * bits > kMaxTieBits) throw std::logic_error("oracle: cannot prove or refute a tie");
    mpz_pow_ui(numerator, numerator, static_cast<unsigned long>(a));
    mpz_pow_ui(denominator, denominator, static_cast<unsigned long>(a));
    mpq_add(sum, sum, ratio);
  }
  return mpq_equal(sum, one) != 0;
}

std::uint64_t by_intervals(const FloatFormat& format, const Window& window, double p) {
  bool tie_refuted = false;
  for (mpfr_prec_t precision = format.precision + 43; precision <= kMaxPrecision; precision *= 2) {
    BigFloat low(precision), high(precision);
    enclose(window, p, low, high);
    const std::uint64_t low_bits = round_to_format(format, low, window.top);
    const std::uint64_t high_bits = round_to_format(format, high, window.top);
    if (low_bits == high_bits) return low_bits;
    if (precision < 200 || tie_refuted || high_bits != low_bits + 1) continue;
    if (is_exact_tie(window, midpoint_above(format, low_bits), p)) return low_bits + (low_bits & 1);
    tie_refuted = true;
  }
  throw std::logic_error("oracle: intervals do not decide");
}

// NaN, infinity, and windows with a plain answer.
std::optional<std::uint64_t> special_case(const FloatFormat& format, std::span<const double> values) {
  bool infinite = false;
  bool nonzero = false;
  for (const double x : values) {
    if (std::isnan(x)) return format.quiet_nan();
    infinite = infinite || std::isinf(x);
    nonzero = nonzero || x != 0;
  }
  if (infinite) return format.infinity();
  if (!nonzero) return 0;
  return std::nullopt;
}

void use_widest_exponents() {
  // MPFR keeps its exponent range per thread; the default is too small for 2^p.
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
}

// True if the norm is the largest term to within less than half a unit: it exceeds it by a factor of at most n^(1/p).
bool is_maximum_norm(const Window& window, double p, int precision) {
  return p > std::ldexp(std::log(static_cast<double>(window.terms.size())) + 1, precision + 1);
}

}  // namespace

std::uint64_t exact_lp_unfiltered(const FloatFormat& format, std::span<const double> values, double p) {
  assert(p > 0 && std::isfinite(p));
  if (const auto known = special_case(format, values)) return *known;
  const Window window = take_apart(values);
  if (window.terms.size() == 1 || is_maximum_norm(window, p, format.precision)) {
    const Scaled largest = take_apart(window.largest);
    return round_to_format(format, Integer(largest.significand), largest.exponent, false);
  }
  const double range = window.top + 1 - std::min(window.lowest, window.top - format.precision);
  if (p == std::floor(p) && p * range <= kMaxExactBits) {
    return by_integers(format, window, static_cast<unsigned long>(p));
  }
  use_widest_exponents();
  return by_intervals(format, window, p);
}

std::uint64_t exact_lp(const FloatFormat& format, std::span<const double> values, double p) {
  assert(p > 0 && std::isfinite(p));
  if (const auto known = special_case(format, values)) return *known;
  if (const auto proved = filter(format, values, p)) return *proved;
  return exact_lp_unfiltered(format, values, p);
}

double ulp_error(const FloatFormat& format, std::uint64_t got, std::span<const double> values, double p) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (const auto known = special_case(format, values)) {
    if (format.is_nan(got) || format.is_nan(*known)) return format.is_nan(got) == format.is_nan(*known) ? 0 : kInfinity;
    if (got == *known) return 0;
    if (format.is_infinity(*known) || (got & format.sign_bit()) != 0) return kInfinity;
  }
  if (format.is_nan(got) || (got & format.sign_bit()) != 0) return kInfinity;
  const Window window = take_apart(values);
  const mpfr_prec_t precision = format.precision + 75;
  use_widest_exponents();
  BigFloat low(precision), high(precision), result(precision);
  if (window.terms.empty()) {
    mpfr_set_zero(low, 1);
  } else if (is_maximum_norm(window, p, format.precision + 45)) {
    mpfr_set_d(low, window.largest, MPFR_RNDN);
  } else {
    enclose(window, p, low, high);
    mpfr_mul_2si(low, low, window.top, MPFR_RNDN);
  }
  const long exponent = mpfr_zero_p(low) ? format.quantum_exponent : mpfr_get_exp(low) - 1;
  const long spacing = std::max<long>(exponent - (format.precision - 1), format.quantum_exponent);
  if (got == format.infinity()) {
    if (exponent > format.max_exponent) return 0;
    mpfr_set_ui_2exp(result, 1, format.max_exponent + 1, MPFR_RNDN);
  } else {
    mpfr_set_d(result, decode(format, got), MPFR_RNDN);
  }
  mpfr_sub(result, result, low, MPFR_RNDA);
  mpfr_mul_2si(result, result, -spacing, MPFR_RNDN);
  return std::fabs(mpfr_get_d(result, MPFR_RNDA));
}

}  // namespace lppool::testing
