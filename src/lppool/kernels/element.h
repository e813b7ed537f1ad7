#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "lppool/kernels/lp_pool.h"

// The four element types as numbers: bits <-> double. Every finite value of each type is exact in double.
namespace lppool::kernels {

// A binary format: sign, exponent, mantissa as IEEE 754 lays them out.
struct Format {
  int precision;     // significant bits of a normal number
  int min_exponent;  // of the smallest normal number, 2^min_exponent
  int max_exponent;  // of the largest finite number: below 2^(max_exponent + 1)
  std::uint64_t infinity;
  std::uint64_t quiet_nan;
};

constexpr Format kFormats[] = {
    {11, -14, 15, 0x7c00, 0x7e00},
    {8, -126, 127, 0x7f80, 0x7fc0},
    {24, -126, 127, 0x7f800000, 0x7fc00000},
    {53, -1022, 1023, 0x7ff0000000000000, 0x7ff8000000000000},
};

constexpr const Format& format_of(ElementType type) {
  return kFormats[static_cast<int>(type)];
}

inline double half_to_double(std::uint16_t bits) {
  const std::uint64_t sign = static_cast<std::uint64_t>(bits >> 15) << 63;
  const std::uint64_t magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) {  // infinity and NaN
    return std::bit_cast<double>(sign | 0x7ff0000000000000 | (magnitude & 0x3ff) << 42);
  }
  // The exponent field moves from bias 15 to bias 1023 by a product with a power of two, subnormals included.
  const double scaled = std::bit_cast<double>(sign | magnitude << 42);
  return scaled * 0x1p1008;
}

// The element at `index` of an array of `type`.
inline double load_element(ElementType type, const void* x, std::int64_t index) {
  const char* p = static_cast<const char*>(x) + index * element_size(type);
  switch (type) {
    case ElementType::kFloat64: {
      double v;
      std::memcpy(&v, p, sizeof v);
      return v;
    }
    case ElementType::kFloat32: {
      float v;
      std::memcpy(&v, p, sizeof v);
      return static_cast<double>(v);
    }
    case ElementType::kFloat16: {
      std::uint16_t v;
      std::memcpy(&v, p, sizeof v);
      return half_to_double(v);
    }
    case ElementType::kBFloat16: {
      std::uint16_t v;
      std::memcpy(&v, p, sizeof v);
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(v) << 16));
    }
  }
  return 0;
}

// Stores raw bits as the element at `index`.
inline void store_element(ElementType type, void* y, std::int64_t index, std::uint64_t bits) {
  std::memcpy(static_cast<char*>(y) + index * element_size(type), &bits, static_cast<std::size_t>(element_size(type)));
}

}  // namespace lppool::kernels
