#include "lppool/tensor/tensor.h"

#include <cstring>

#include "lppool/base/checked.h"
#include "lppool/base/error.h"
#include "lppool/tensor/memory.h"

namespace lppool {

Tensor Tensor::allocate(DataType dtype, Shape shape) {
  if (dtype == DataType::kUndefined) fail(ErrorKind::kUnsupported, "a tensor without element type");
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.size_ = shape.elements();
  tensor.shape_ = std::move(shape);
  if (dtype == DataType::kString) {
    const auto bytes = checked_mul(tensor.size_, static_cast<std::int64_t>(sizeof(std::string)));
    if (!bytes) fail(ErrorKind::kLimit, "{} strings needed for a tensor, more than memory allows", tensor.size_);
    tensor.strings_ = std::make_shared<Strings>();
    tensor.strings_->charge.add(static_cast<std::size_t>(*bytes));
    tensor.strings_->values.resize(static_cast<std::size_t>(tensor.size_));
    return tensor;
  }
  const auto bytes = checked_mul(tensor.size_, static_cast<std::int64_t>(element_size(dtype)));
  if (!bytes) {
    fail(ErrorKind::kLimit, "a {} tensor of shape {} needs more bytes than 63 bits can count", name(dtype),
         to_string(tensor.shape_));
  }
  tensor.data_ = memory::allocate(static_cast<std::size_t>(*bytes));
  return tensor;
}

Tensor Tensor::zeros(DataType dtype, Shape shape) {
  Tensor tensor = allocate(dtype, std::move(shape));
  if (dtype != DataType::kString) std::memset(tensor.mutable_raw(), 0, tensor.bytes());
  return tensor;
}

Tensor Tensor::wrap(DataType dtype, Shape shape, std::shared_ptr<const std::byte> data) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.size_ = shape.elements();
  tensor.shape_ = std::move(shape);
  tensor.data_ = std::move(data);
  tensor.read_only_ = true;
  return tensor;
}

Tensor Tensor::reshaped(Shape shape) const {
  if (shape.elements() != size_) {
    fail(ErrorKind::kRuntime, "shape {} has {} elements, expected {} as in {}", to_string(shape), shape.elements(), size_,
         to_string(shape_));
  }
  Tensor tensor = *this;
  tensor.shape_ = std::move(shape);
  return tensor;
}

Tensor Tensor::viewed_as(DataType dtype) const {
  assert(element_size(dtype) == element_size(dtype_));
  Tensor tensor = *this;
  tensor.dtype_ = dtype;
  return tensor;
}

}  // namespace lppool
