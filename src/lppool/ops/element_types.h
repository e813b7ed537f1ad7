#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "lppool/base/error.h"
#include "lppool/tensor/dtype.h"
#include "lppool/tensor/tensor.h"

// From a run-time element type to a C++ type, and arithmetic that never meets undefined behaviour.
namespace lppool {

template <typename T>
struct TypeTag {
  using type = T;
};

// A list of element types that a kernel supports.
template <typename... Ts>
struct Types {};

template <typename... A, typename... B>
constexpr Types<A..., B...> operator+(Types<A...>, Types<B...>) {
  return {};
}

using Floats = Types<float, double, Float16, BFloat16>;
using SignedInts = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using UnsignedInts = Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using Ints = decltype(SignedInts{} + UnsignedInts{});
using Numbers = decltype(Floats{} + Ints{});

// Calls body(TypeTag<T>{}) for the T of the list whose tensors have element type `dtype`. Throws kUnsupported, naming
// the types of the list, where there is none.
template <typename... Ts, typename Body>
void for_type(Types<Ts...>, DataType dtype, Body&& body) {
  const bool found = ((dtype == type_of<Ts>() ? (body(TypeTag<Ts>{}), true) : false) || ...);
  if (found) return;
  std::string supported;
  ((supported += supported.empty() ? "" : ", ", supported += name(type_of<Ts>())), ...);
  fail(ErrorKind::kUnsupported, "element type {} is not supported here; supported are {}", name(dtype), supported);
}

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || kIsHalf<T>;

// The type arithmetic on elements of type T is done in; a result is rounded once, when it is stored as T again. For the
// 16-bit types double rather than float32, so that a chain of operations inside one kernel rounds once as well.
template <typename T>
using Arithmetic = std::conditional_t<kIsHalf<T>, double, T>;

// The same where float32 is computed in double, too: for functions that have no exactly rounded float32 form.
template <typename T>
using WideArithmetic = std::conditional_t<kIsFloat<T>, double, T>;

// Integer arithmetic modulo 2^n, as two's complement wraps, without signed overflow; floats as they are.
template <typename T>
constexpr T wrap_add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <typename T>
constexpr T wrap_sub(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else
    return a - b;
}
template <typename T>
constexpr T wrap_mul(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}
template <typename T>
constexpr T wrap_neg(T a) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(a));
  else
    return -a;
}

}  // namespace lppool
