#include "lppool/ops/sparse.h"

#include "lppool/base/error.h"
#include "lppool/ops/movement.h"

namespace lppool {
namespace {

const Tensor& sound(const StoredTensor& part, std::string_view what) {
  if (part.problem) fail(ErrorKind::kParse, "sparse tensor '{}': {}", what, part.problem->message);
  if (!part.value.defined()) fail(ErrorKind::kParse, "sparse tensor without its {}", what);
  return part.value;
}

}  // namespace

Tensor to_dense(const StoredSparseTensor& sparse) {
  const Tensor& values = sound(sparse.values, "values");
  const Tensor& indices = sound(sparse.indices, "indices");
  for (const std::int64_t dim : sparse.dims) {
    if (dim < 0) fail(ErrorKind::kParse, "sparse tensor has a dimension of {}, expected 0 or more", dim);
  }
  if (indices.dtype() != DataType::kInt64) {
    fail(ErrorKind::kParse, "sparse tensor has {} indices, expected int64", name(indices.dtype()));
  }
  const std::int64_t count = values.size();
  const Shape shape(sparse.dims);
  const bool linear = indices.rank() == 1;
  const Shape expected = linear ? Shape{count} : Shape{count, static_cast<std::int64_t>(shape.rank())};
  if (values.rank() != 1 || indices.shape() != expected) {
    fail(ErrorKind::kParse, "sparse tensor has values of shape {} and indices of shape {}, expected {} and {} or {}x{}",
         to_string(values.shape()), to_string(indices.shape()), count, count, count, shape.rank());
  }
  Tensor dense = Tensor::zeros(values.dtype(), shape);
  const auto strides = shape.strides();
  const auto index = indices.data<std::int64_t>();
  const auto inside = [](std::int64_t i, std::int64_t size) {
    if (i < 0 || i >= size) fail(ErrorKind::kParse, "sparse tensor has index {}, expected 0 to {}", i, size - 1);
    return i;
  };
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t position = 0;
    if (linear) {
      position = inside(index[static_cast<std::size_t>(k)], dense.size());
    } else {
      for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        position += inside(index[static_cast<std::size_t>(k) * shape.rank() + axis], shape[axis]) * strides[axis];
      }
    }
    copy_run(values, k, dense, position, 1);
  }
  return dense;
}

}  // namespace lppool
