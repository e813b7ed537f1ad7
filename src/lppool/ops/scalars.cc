#include "lppool/ops/scalars.h"

#include <limits>
#include <type_traits>
#include <utility>

#include "lppool/base/error.h"

namespace lppool {

Tensor number_of(DataType dtype, double value, std::string_view what) {
  switch (dtype) {
    case DataType::kFloat32: return Tensor::scalar(static_cast<float>(value));
    case DataType::kFloat64: return Tensor::scalar(value);
    case DataType::kFloat16: return Tensor::scalar(Float16(value));
    case DataType::kBFloat16: return Tensor::scalar(BFloat16(value));
    case DataType::kInt8: return Tensor::scalar(static_cast<std::int8_t>(value));
    case DataType::kInt16: return Tensor::scalar(static_cast<std::int16_t>(value));
    case DataType::kInt32: return Tensor::scalar(static_cast<std::int32_t>(value));
    case DataType::kInt64: return Tensor::scalar(static_cast<std::int64_t>(value));
    case DataType::kUInt8: return Tensor::scalar(static_cast<std::uint8_t>(value));
    case DataType::kUInt16: return Tensor::scalar(static_cast<std::uint16_t>(value));
    case DataType::kUInt32: return Tensor::scalar(static_cast<std::uint32_t>(value));
    case DataType::kUInt64: return Tensor::scalar(static_cast<std::uint64_t>(value));
    case DataType::kBool: return Tensor::scalar(value != 0);
    default: fail(ErrorKind::kUnsupported, "{} of type {}, supported for bool, integer and floating-point types", what, name(dtype));
  }
}

std::vector<std::int64_t> cast_to_int64(const Tensor& tensor, std::string_view what) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  std::vector<std::int64_t> result;
  result.reserve(static_cast<std::size_t>(tensor.size()));
  const auto take = [&](auto values) {
    for (const auto v : values) {
      using T = std::remove_cv_t<decltype(v)>;
      if constexpr (std::is_integral_v<T>) {
        result.push_back(std::in_range<std::int64_t>(v) ? static_cast<std::int64_t>(v) : kNone);
      } else {
        const auto number = static_cast<double>(v);
        result.push_back(number > -0x1p63 && number < 0x1p63 ? static_cast<std::int64_t>(number) : kNone);
      }
    }
  };
  switch (tensor.dtype()) {
    case DataType::kFloat32: take(tensor.data<float>()); break;
    case DataType::kFloat64: take(tensor.data<double>()); break;
    case DataType::kFloat16: take(tensor.data<Float16>()); break;
    case DataType::kBFloat16: take(tensor.data<BFloat16>()); break;
    case DataType::kInt8: take(tensor.data<std::int8_t>()); break;
    case DataType::kInt16: take(tensor.data<std::int16_t>()); break;
    case DataType::kInt32: take(tensor.data<std::int32_t>()); break;
    case DataType::kInt64: take(tensor.data<std::int64_t>()); break;
    case DataType::kUInt8: take(tensor.data<std::uint8_t>()); break;
    case DataType::kUInt16: take(tensor.data<std::uint16_t>()); break;
    case DataType::kUInt32: take(tensor.data<std::uint32_t>()); break;
    case DataType::kUInt64: take(tensor.data<std::uint64_t>()); break;
    default: fail(ErrorKind::kUnsupported, "{} is {}, supported for integer and floating-point types", what, name(tensor.dtype()));
  }
  return result;
}

}  // namespace lppool
