#include "support/random.h"

#include <algorithm>
#include <cstdlib>

#include "support/multiprecision.h"

namespace lppool::testing {
namespace {

std::uint64_t random_in_fields(const FloatFormat& format, Random& random, int low_field, int high_field) {
  const auto field = static_cast<std::uint64_t>(random.between(low_field, high_field));
  const std::uint64_t hidden = format.least_normal();
  return (field << (format.precision - 1)) | (random.bits() & (hidden - 1));
}

int last_field(const FloatFormat& format) {
  return static_cast<int>(format.largest_finite() >> (format.precision - 1));
}

// The largest number of the format that is <= root * 2^unit, or 0; clears no bit it need not.
std::uint64_t truncate_to_format(const FloatFormat& format, const Integer& root, long unit) {
  if (mpz_sgn(root) == 0) return 0;
  const long top = static_cast<long>(mpz_sizeinbase(root, 2)) - 1 + unit;
  if (top > format.max_exponent) return format.largest_finite();
  const long lsb = std::max<long>(top - (format.precision - 1), format.quantum_exponent);
  Integer significand;
  if (lsb >= unit) {
    mpz_tdiv_q_2exp(significand, root, static_cast<mp_bitcnt_t>(lsb - unit));
  } else {
    mpz_mul_2exp(significand, root, static_cast<mp_bitcnt_t>(unit - lsb));
  }
  return (static_cast<std::uint64_t>(lsb - format.quantum_exponent) << (format.precision - 1)) +
         mpz_get_ui(significand);
}

// The p-th power of a number of the format, in units of 2^(p * unit), unit <= quantum_exponent.
void power_in_units(const FloatFormat& format, std::uint64_t bits, unsigned p, int unit, Integer& power) {
  const std::uint64_t field = bits >> (format.precision - 1);
  const std::uint64_t fraction = bits & (format.least_normal() - 1);
  const std::uint64_t lift = field == 0 ? 0 : field - 1;
  mpz_set_ui(power, field == 0 ? fraction : fraction | format.least_normal());
  mpz_pow_ui(power, power, p);
  mpz_mul_2exp(power, power, p * (lift + static_cast<std::uint64_t>(format.quantum_exponent - unit)));
}

}  // namespace

std::uint64_t test_seed() {
  static const std::uint64_t seed = [] {
    const char* text = std::getenv("LPPOOL_TEST_SEED");
    return text == nullptr ? std::uint64_t{20250101} : std::strtoull(text, nullptr, 0);
  }();
  return seed;
}

void random_window(const FloatFormat& format, Random& random, std::span<std::uint64_t> window) {
  const int last = last_field(format);
  const int precision = format.precision;
  switch (random.below(6)) {
    case 0:
      for (std::uint64_t& bits : window) bits = random.below(format.infinity());
      break;
    case 1: {
      const int width = random.between(0, std::min(last, precision * random.between(0, 2)));
      const int low = random.between(0, last - width);
      for (std::uint64_t& bits : window) bits = random_in_fields(format, random, low, low + width);
      break;
    }
    case 2:
      for (std::uint64_t& bits : window) bits = random_in_fields(format, random, 0, random.one_in(4) ? 2 : 0);
      break;
    case 3:
      for (std::uint64_t& bits : window) bits = random_in_fields(format, random, last - random.between(0, 4), last);
      break;
    case 4: {
      const int kept = random.between(1, 4);
      const int width = random.between(0, std::min(last - 1, precision));
      const int low = random.between(1, last - width);
      const std::uint64_t mask = ~((std::uint64_t{1} << (precision - kept)) - 1);
      for (std::uint64_t& bits : window) bits = random_in_fields(format, random, low, low + width) & mask;
      break;
    }
    default: {
      const std::uint64_t copied = random.below(format.infinity());
      const int field = static_cast<int>(copied >> (precision - 1));
      for (std::uint64_t& bits : window) {
        const std::uint64_t kind = random.below(8);
        if (kind < 5) {
          bits = copied;
        } else if (kind < 6) {
          bits = 0;
        } else {
          bits = random_in_fields(format, random, std::max(0, field - precision - 2), field);
        }
      }
    }
  }
  for (std::uint64_t& bits : window) bits |= (random.bits() & 1) != 0 ? format.sign_bit() : 0;
}

std::vector<std::uint64_t> near_midpoint_window(const FloatFormat& format, Random& random, unsigned p, int size,
                                                bool above) {
  std::uint64_t target = random.below(format.infinity());
  if (random.one_in(8)) target = format.largest_finite() - random.below(2);
  if (random.one_in(16)) target = random.below(format.least_normal() * 2);
  const int unit = format.quantum_exponent - 1;  // the midpoint is a whole number of these
  const Midpoint midpoint = midpoint_above(format, target);
  Integer rest(midpoint.significand);
  Integer power;
  Integer root;
  mpz_pow_ui(rest, rest, p);
  mpz_mul_2exp(rest, rest, p * static_cast<unsigned long>(midpoint.exponent - unit));

  std::vector<std::uint64_t> window;
  const int free_terms = size > 2 ? random.between(0, size - 2) : 0;
  for (int i = 0; i < size; ++i) {
    mpz_root(root, rest, p);
    std::uint64_t bits = truncate_to_format(format, root, unit);
    // Some terms are drawn freely below what is possible, so that windows differ in shape; the last ones do the work.
    if (i < free_terms && bits > 0) {
      const std::uint64_t span = format.least_normal() * static_cast<std::uint64_t>(random.between(1, 3));
      bits -= random.below(std::min(bits, span) + 1);
    } else if (i == 0 && size > 1 && bits > 0 && random.one_in(2)) {
      bits -= random.below(std::min<std::uint64_t>(bits, 16) + 1);
    }
    if (i == size - 1 && above && bits < format.largest_finite() && mpz_sgn(rest) != 0) ++bits;
    power_in_units(format, bits, p, unit, power);
    mpz_sub(rest, rest, power);
    window.push_back(bits | ((random.bits() & 1) != 0 ? format.sign_bit() : 0));
  }
  for (std::size_t i = window.size(); i > 1; --i) std::swap(window[i - 1], window[random.below(i)]);
  return window;
}

}  // namespace lppool::testing
