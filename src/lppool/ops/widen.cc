#include "lppool/ops/widen.h"

#include "lppool/base/error.h"

namespace lppool {
namespace {

template <typename Half>
void widen_elements(const Tensor& from, Tensor& to) {
  const auto in = from.data<Half>();
  const auto out = to.mutable_data<float>();
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = static_cast<float>(in[i]);
}

template <typename Half>
void narrow_elements(const Tensor& from, Tensor& to) {
  const auto in = from.data<float>();
  const auto out = to.mutable_data<Half>();
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = Half(in[i]);
}

}  // namespace

DataType wide_type(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16:
    case DataType::kBFloat16:
    case DataType::kFloat32: return DataType::kFloat32;
    case DataType::kFloat64: return DataType::kFloat64;
    default:
      fail(ErrorKind::kUnsupported, "element type {} is not supported, expected float16, bfloat16, float32 or float64",
           name(dtype));
  }
}

Tensor widened(const Tensor& tensor) {
  if (wide_type(tensor.dtype()) == tensor.dtype()) return tensor;
  Tensor wide = Tensor::allocate(DataType::kFloat32, tensor.shape());
  if (tensor.dtype() == DataType::kFloat16) {
    widen_elements<Float16>(tensor, wide);
  } else {
    widen_elements<BFloat16>(tensor, wide);
  }
  return wide;
}

void narrow_into(const Tensor& wide, Tensor& out) {
  if (out.dtype() == DataType::kFloat16) {
    narrow_elements<Float16>(wide, out);
  } else {
    narrow_elements<BFloat16>(wide, out);
  }
}

}  // namespace lppool
