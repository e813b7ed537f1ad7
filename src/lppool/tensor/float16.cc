#include "lppool/tensor/float16.h"

namespace lppool {
namespace {

// Rounds a double to a small binary format with `kExponent` exponent and `kMantissa` mantissa bits (IEEE layout), to
// nearest even straight from the double's bits: going through float32 would round twice.
template <int kExponent, int kMantissa>
std::uint16_t narrow(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 63) << (kExponent + kMantissa));
  const std::uint64_t magnitude = bits & 0x7fffffffffffffffu;
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  constexpr std::uint16_t kInfinity = static_cast<std::uint16_t>(((1 << kExponent) - 1) << kMantissa);
  if (magnitude > 0x7ff0000000000000u) {  // NaN: quiet, upper payload kept
    const auto payload = static_cast<std::uint16_t>((magnitude >> (52 - kMantissa)) & ((1u << kMantissa) - 1));
    return static_cast<std::uint16_t>(sign | kInfinity | payload | (1u << (kMantissa - 1)));
  }
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent > kBias) return static_cast<std::uint16_t>(sign | kInfinity);
  if (exponent < 1 - kBias - kMantissa - 1) return sign;  // below half the smallest subnormal
  const std::uint64_t mantissa = (magnitude & 0xfffffffffffffu) | (std::uint64_t{1} << 52);
  const bool subnormal = exponent < 1 - kBias;
  const int drop = 52 - kMantissa + (subnormal ? 1 - kBias - exponent : 0);
  std::uint64_t kept = mantissa >> drop;
  const std::uint64_t rest = mantissa & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // The hidden bit of a normal number adds one to the exponent field, so a carry out of the mantissa is right as well.
  const std::uint64_t field = subnormal ? 0 : static_cast<std::uint64_t>(exponent + kBias - 1) << kMantissa;
  return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(field + kept));
}

}  // namespace

Float16::Float16(double value) : bits(narrow<5, 10>(value)) {}
Float16::Float16(float value) : bits(narrow<5, 10>(static_cast<double>(value))) {}
BFloat16::BFloat16(double value) : bits(narrow<8, 7>(value)) {}

BFloat16::BFloat16(float value) {
  const auto b = std::bit_cast<std::uint32_t>(value);
  if ((b & 0x7fffffffu) > 0x7f800000u) {
    bits = static_cast<std::uint16_t>((b >> 16) | 0x40u);
  } else {
    bits = static_cast<std::uint16_t>((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
  }
}

Float16::operator float() const {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // exact: a subnormal half is normal in float32
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

}  // namespace lppool
