#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "lppool/base/thread_pool.h"
#include "lppool/tensor/float8.h"
#include "lppool/tensor/tensor.h"

// Conversion between all element types, as ONNX Cast defines it. What Cast leaves undefined - a float outside the range
// of an integer type - has a fixed result here, the one x86-64 compilers and numpy give: see convert_value().
namespace lppool {

// An integer as a double that keeps enough to be rounded once more: where it has more than 53 bits, to odd, so that no
// second rounding to a narrower type can go wrong.
template <typename I>
double to_double_for_rounding(I value) {
  const double nearest = static_cast<double>(value);
  if constexpr (sizeof(I) < 8) {
    return nearest;
  } else {
    const bool negative = value < 0;
    const std::uint64_t magnitude =
        negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    if (magnitude >> 53 == 0) return nearest;
    const int dropped = 11 - __builtin_clzll(magnitude);
    const std::uint64_t sticky =
        (magnitude & ((std::uint64_t{1} << dropped) - 1)) != 0 ? std::uint64_t{1} << dropped : 0;
    const double odd = static_cast<double>((magnitude >> dropped << dropped) | sticky);
    return negative ? -odd : odd;
  }
}

// A float as an integer: truncated toward zero. Out of range, or NaN: for int32 and int64 their lowest value; for the
// types of 8 and 16 bits the low bits of the int32, for uint32 those of the int64; for uint64 what lies above 2^63 is
// exact, the rest the bits of the int64.
template <typename To>
To truncate_to_integer(double value) {
  static_assert(std::is_integral_v<To>);
  const auto to_int64 = [](double v) {
    return v >= -0x1p63 && v < 0x1p63 ? static_cast<std::int64_t>(v) : std::numeric_limits<std::int64_t>::min();
  };
  if constexpr (std::is_same_v<To, std::int64_t>) {
    return to_int64(value);
  } else if constexpr (std::is_same_v<To, std::uint64_t>) {
    if (value >= 0x1p63 && value < 0x1p64) return static_cast<std::uint64_t>(value);
    return static_cast<std::uint64_t>(to_int64(value));
  } else if constexpr (std::is_same_v<To, std::uint32_t>) {
    return static_cast<std::uint32_t>(to_int64(value));
  } else {
    const std::int32_t whole = value > -0x1.00000002p31 && value < 0x1p31 ? static_cast<std::int32_t>(value)
                                                                          : std::numeric_limits<std::int32_t>::min();
    return static_cast<To>(whole);
  }
}

// One number as another type: floats round to nearest even, to infinity beyond the largest; integers keep their low
// bits; bool is whether the value differs from zero (NaN does).
template <typename To, typename From>
To convert_value(From value) {
  constexpr bool kFromHalf = std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>;
  constexpr bool kToHalf = std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>;
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (kFromHalf) {
    return convert_value<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_floating_point_v<From>) {
    if constexpr (std::is_floating_point_v<To> || kToHalf)
      return static_cast<To>(value);
    else
      return truncate_to_integer<To>(static_cast<double>(value));
  } else if constexpr (kToHalf) {
    if constexpr (std::is_same_v<From, bool>)
      return static_cast<To>(value ? 1.0f : 0.0f);
    else
      return static_cast<To>(to_double_for_rounding(value));
  } else {
    return static_cast<To>(value);
  }
}

struct ConvertOptions {
  SmallFloatOptions small_float;
};

// The tensor with its elements converted to `to`. Shares the storage where the type is the same already. Strings are
// read as decimal numbers, "inf", "+inf", "-inf" and "nan" in any case; numbers are written with as few digits as name
// them uniquely, without exponent, as INF, -INF and NaN. Throws kRuntime for a string that is no number, kUnsupported
// for complex types. `threads` may be null.
Tensor convert(const Tensor& tensor, DataType to, const ConvertOptions& options = {}, ThreadPool* threads = nullptr);

// Element `index` of a tensor of numbers or bool as a double (64-bit integers rounded). Throws kUnsupported for others.
double element_as_double(const Tensor& tensor, std::int64_t index);

// Element `index` of an integer or bool tensor. Throws kRuntime for uint64 values past 2^63 - 1, kUnsupported for other
// types.
std::int64_t element_as_int64(const Tensor& tensor, std::int64_t index);

}  // namespace lppool
