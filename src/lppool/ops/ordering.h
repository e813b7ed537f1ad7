#pragma once

#include <cmath>
#include <string>
#include <type_traits>

#include "lppool/base/error.h"
#include "lppool/tensor/tensor.h"

// A total order on elements, as numpy sorts: NaN comes after every number and equals itself; both zeros are equal.
namespace lppool {

// Three-way: negative where a comes before b.
template <typename T>
int order(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return order(static_cast<float>(a), static_cast<float>(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
    return a < b ? -1 : a > b ? 1 : 0;
  } else {
    return a < b ? -1 : b < a ? 1 : 0;
  }
}

// Calls f(std::span<const T>) with the elements of a tensor whose type has an order. Throws kUnsupported else; `what` names
// the operator.
template <typename F>
void visit_ordered(const Tensor& tensor, std::string_view what, F&& f) {
  switch (tensor.dtype()) {
    case DataType::kFloat32: return f(tensor.data<float>());
    case DataType::kFloat64: return f(tensor.data<double>());
    case DataType::kFloat16: return f(tensor.data<Float16>());
    case DataType::kBFloat16: return f(tensor.data<BFloat16>());
    case DataType::kInt8: return f(tensor.data<std::int8_t>());
    case DataType::kInt16: return f(tensor.data<std::int16_t>());
    case DataType::kInt32: return f(tensor.data<std::int32_t>());
    case DataType::kInt64: return f(tensor.data<std::int64_t>());
    case DataType::kBool:
    case DataType::kUInt8: return f(tensor.data<std::uint8_t>());
    case DataType::kUInt16: return f(tensor.data<std::uint16_t>());
    case DataType::kUInt32: return f(tensor.data<std::uint32_t>());
    case DataType::kUInt64: return f(tensor.data<std::uint64_t>());
    case DataType::kString: return f(tensor.strings());
    default:
      fail(ErrorKind::kUnsupported, "{} of {}, supported for bool, integer, 16- to 64-bit float and string types", what,
           name(tensor.dtype()));
  }
}

}  // namespace lppool
