#pragma once

#include <cstdint>

namespace lppool::testing {

// A binary interchange format, as much of it as the oracle needs. Written apart from src/ on purpose: a mistake in the
// library's conversions must not be repeated here.
struct FloatFormat {
  int storage_bits;
  int precision;         // significant bits of a normal number, the hidden one included
  int max_exponent;      // finite numbers are below 2^(max_exponent + 1)
  int quantum_exponent;  // 2^quantum_exponent is the least subnormal; every finite number is a multiple of it

  constexpr std::uint64_t sign_bit() const { return std::uint64_t{1} << (storage_bits - 1); }
  constexpr std::uint64_t infinity() const {
    return sign_bit() - (std::uint64_t{1} << (precision - 1));  // all exponent bits, no fraction bits
  }
  constexpr std::uint64_t quiet_nan() const { return infinity() | (std::uint64_t{1} << (precision - 2)); }
  constexpr std::uint64_t largest_finite() const { return infinity() - 1; }
  constexpr std::uint64_t least_normal() const { return std::uint64_t{1} << (precision - 1); }
  constexpr bool is_nan(std::uint64_t bits) const { return (bits & ~sign_bit()) > infinity(); }
  constexpr bool is_infinity(std::uint64_t bits) const { return (bits & ~sign_bit()) == infinity(); }
};

inline constexpr FloatFormat kFloat16{16, 11, 15, -24};
inline constexpr FloatFormat kBFloat16{16, 8, 127, -133};
inline constexpr FloatFormat kFloat32{32, 24, 127, -149};
inline constexpr FloatFormat kFloat64{64, 53, 1023, -1074};

// The number a bit pattern stands for; exact, since float64 contains the other formats.
double decode(const FloatFormat& format, std::uint64_t bits);

// The number halfway between the finite number `bits` (not negative) and the next one above it. The number above the
// largest finite one is taken to be 2^(max_exponent + 1), which makes its midpoint the overflow boundary. Needs one bit
// more than the format: `significand` * 2^`exponent`.
struct Midpoint {
  std::uint64_t significand;
  int exponent;
};
Midpoint midpoint_above(const FloatFormat& format, std::uint64_t bits);

}  // namespace lppool::testing
