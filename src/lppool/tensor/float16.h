#pragma once

#include <bit>
#include <cstdint>

namespace lppool {

// 16-bit floats as bit patterns: converted to float32 or float64 for arithmetic and rounded once on the way back, to
// nearest even, with gradual underflow and NaN kept. Every conversion here is exact or correctly rounded.
struct Float16 {
  std::uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value);
  explicit Float16(double value);
  static constexpr Float16 from_bits(std::uint16_t b) {
    Float16 h;
    h.bits = b;
    return h;
  }
  explicit operator float() const;
  explicit operator double() const { return static_cast<float>(*this); }
};

struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit BFloat16(double value);
  static constexpr BFloat16 from_bits(std::uint16_t b) {
    BFloat16 h;
    h.bits = b;
    return h;
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
  explicit operator double() const { return static_cast<float>(*this); }
};

}  // namespace lppool
