#include "lppool/ops/quantized.h"

#include <algorithm>
#include <cmath>

#include "lppool/ops/numbers.h"

namespace lppool {
namespace {

template <typename T>
std::vector<std::int32_t> copy(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

template <typename T>
std::vector<T> spread(std::vector<T> values, std::int64_t count, std::string_view what) {
  if (values.size() == 1) values.assign(static_cast<std::size_t>(count), values.front());
  if (static_cast<std::int64_t>(values.size()) != count) {
    fail(ErrorKind::kRuntime, "{} has {} elements, expected 1 or {}", what, values.size(), count);
  }
  return values;
}

}  // namespace

std::vector<std::int32_t> as_int32(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DataType::kInt8: return copy<std::int8_t>(tensor);
    case DataType::kUInt8: return copy<std::uint8_t>(tensor);
    case DataType::kInt32: return copy<std::int32_t>(tensor);
    default:
      fail(ErrorKind::kUnsupported, "quantised type {} is not supported, expected int8 or uint8", name(tensor.dtype()));
  }
}

std::vector<double> read_scales(const Tensor& tensor) {
  const Tensor wide = as_float64(tensor);
  const auto data = wide.data<double>();
  return {data.begin(), data.end()};
}

std::vector<std::int32_t> zero_points(const KernelContext& context, std::size_t index, std::int64_t count,
                                      std::string_view what) {
  if (!context.has_input(index)) return std::vector<std::int32_t>(static_cast<std::size_t>(count), 0);
  return spread(as_int32(context.input(index)), count, what);
}

std::vector<double> scales(const KernelContext& context, std::size_t index, std::int64_t count, std::string_view what) {
  return spread(read_scales(context.input(index)), count, what);
}

void store_quantized(double value, std::int32_t zero_point, Tensor& out, std::int64_t index) {
  const bool is_signed = out.dtype() == DataType::kInt8;
  const double low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;
  // NaN (a scale of 0) becomes the zero point, as a conversion of nothing.
  const double rounded = std::isnan(value) ? 0 : std::nearbyint(value);
  const auto stored = static_cast<std::int32_t>(std::clamp(rounded + zero_point, low, high));
  if (is_signed) {
    out.mutable_data<std::int8_t>()[static_cast<std::size_t>(index)] = static_cast<std::int8_t>(stored);
  } else {
    out.mutable_data<std::uint8_t>()[static_cast<std::size_t>(index)] = static_cast<std::uint8_t>(stored);
  }
}

}  // namespace lppool
