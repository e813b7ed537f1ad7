#include "lppool/ops/numbers.h"

#include <cmath>
#include <limits>

#include "lppool/base/error.h"

namespace lppool {
namespace {

// Calls f with a null pointer of the C++ type of `dtype`. False where the type is not numeric in the sense of the
// header.
template <typename F>
bool with_type(DataType dtype, F&& f) {
  switch (dtype) {
    case DataType::kFloat32:
      f(static_cast<float*>(nullptr));
      return true;
    case DataType::kFloat64:
      f(static_cast<double*>(nullptr));
      return true;
    case DataType::kFloat16:
      f(static_cast<Float16*>(nullptr));
      return true;
    case DataType::kBFloat16:
      f(static_cast<BFloat16*>(nullptr));
      return true;
    case DataType::kInt8:
      f(static_cast<std::int8_t*>(nullptr));
      return true;
    case DataType::kInt16:
      f(static_cast<std::int16_t*>(nullptr));
      return true;
    case DataType::kInt32:
      f(static_cast<std::int32_t*>(nullptr));
      return true;
    case DataType::kInt64:
      f(static_cast<std::int64_t*>(nullptr));
      return true;
    case DataType::kUInt8:
      f(static_cast<std::uint8_t*>(nullptr));
      return true;
    case DataType::kUInt16:
      f(static_cast<std::uint16_t*>(nullptr));
      return true;
    case DataType::kUInt32:
      f(static_cast<std::uint32_t*>(nullptr));
      return true;
    case DataType::kUInt64:
      f(static_cast<std::uint64_t*>(nullptr));
      return true;
    case DataType::kBool:
      f(static_cast<bool*>(nullptr));
      return true;
    default:
      return false;
  }
}

[[noreturn]] void refuse(DataType dtype) {
  fail(ErrorKind::kUnsupported,
       "elements of type {} are not supported here, only bool, integers of 8 to 64 bits and floats "
       "of 16 to 64 bits",
       name(dtype));
}

template <typename T>
Tensor converted(const Tensor& tensor) {
  if (tensor.dtype() == type_of<T>()) return tensor;
  Tensor result = Tensor::allocate(type_of<T>(), tensor.shape());
  const auto to = result.mutable_data<T>();
  const bool known = with_type(tensor.dtype(), [&](auto* type) {
    const auto from = tensor.data<std::remove_pointer_t<decltype(type)>>();
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<T>(from[i]);
  });
  if (!known) refuse(tensor.dtype());
  return result;
}

template <typename To, typename From>
To to_integer(From value, Fraction fraction) {
  if (std::isnan(value)) return 0;
  const From whole = fraction == Fraction::kTruncate ? std::trunc(value) : std::nearbyint(value);
  // max() may round up on the way to From, so the comparison is with the first power of two out of range.
  const From limit = std::ldexp(From{1}, std::numeric_limits<To>::digits);
  if (whole >= limit) return std::numeric_limits<To>::max();
  if (whole < static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  return static_cast<To>(whole);
}

template <typename From>
void store_all(std::span<const From> values, Tensor& out, std::int64_t first, Fraction fraction) {
  const bool known = with_type(out.dtype(), [&](auto* type) {
    using To = std::remove_pointer_t<decltype(type)>;
    const auto to = out.mutable_data<To>().subspan(static_cast<std::size_t>(first), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<To, bool>)
        to[i] = values[i] != 0;
      else if constexpr (std::is_integral_v<To>)
        to[i] = to_integer<To>(values[i], fraction);
      else
        to[i] = static_cast<To>(values[i]);
    }
  });
  if (!known) refuse(out.dtype());
}

}  // namespace

Tensor as_float32(const Tensor& tensor) {
  return converted<float>(tensor);
}
Tensor as_float64(const Tensor& tensor) {
  return converted<double>(tensor);
}

void store(std::span<const float> values, Tensor& out, std::int64_t first, Fraction fraction) {
  store_all(values, out, first, fraction);
}
void store(std::span<const double> values, Tensor& out, std::int64_t first, Fraction fraction) {
  store_all(values, out, first, fraction);
}

std::vector<std::int64_t> read_integers(const Tensor& tensor, std::string_view what) {
  if (tensor.dtype() == DataType::kInt64) {
    const auto data = tensor.data<std::int64_t>();
    return {data.begin(), data.end()};
  }
  if (tensor.dtype() == DataType::kInt32) {
    const auto data = tensor.data<std::int32_t>();
    return {data.begin(), data.end()};
  }
  fail(ErrorKind::kRuntime, "{} has type {}, expected int32 or int64", what, name(tensor.dtype()));
}

std::int64_t read_integer(const Tensor& tensor, std::string_view what) {
  if (tensor.size() != 1) fail(ErrorKind::kRuntime, "{} has {} elements, expected one", what, tensor.size());
  return read_integers(tensor, what).front();
}

double read_number(const Tensor& tensor, std::string_view what) {
  if (tensor.size() != 1) fail(ErrorKind::kRuntime, "{} has {} elements, expected one", what, tensor.size());
  return as_float64(tensor).data<double>()[0];
}

}  // namespace lppool
