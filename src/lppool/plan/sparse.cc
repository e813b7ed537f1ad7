#include "lppool/plan/sparse.h"

#include <cstring>

#include "lppool/base/error.h"

namespace lppool {

Tensor to_dense(const StoredSparseTensor& sparse) {
  const auto bad = [&](std::string_view what) { fail(ErrorKind::kParse, "sparse tensor '{}': {}", sparse.values.name, what); };
  for (const StoredTensor* part : {&sparse.values, &sparse.indices}) {
    if (part->problem) bad(part->problem->message);
  }
  const Tensor& values = sparse.values.value;
  const Tensor& indices = sparse.indices.value;
  const auto elements = checked_elements(sparse.dims);
  if (!elements) bad("its dims are negative or overflow");
  if (!values.defined() || values.rank() != 1 || values.dtype() == DataType::kString) bad("its values are not a 1-D tensor of numbers");
  const std::size_t rank = sparse.dims.size();
  const std::int64_t count = values.size();
  const bool linear = indices.defined() && indices.rank() == 1;
  const bool ok = indices.defined() && indices.dtype() == DataType::kInt64 && (linear || indices.rank() == 2) &&
                  indices.shape()[0] == count && (linear || indices.shape()[1] == static_cast<std::int64_t>(rank));
  if (!ok) bad("its indices are not an int64 tensor of shape [NNZ] or [NNZ, rank]");

  const Shape shape(sparse.dims);
  Tensor dense = Tensor::zeros(values.dtype(), shape);
  const auto strides = shape.strides();
  const auto index = indices.data<std::int64_t>();
  const std::size_t size = element_size(values.dtype());
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t at = 0;
    if (linear) {
      at = index[static_cast<std::size_t>(k)];
      if (at < 0 || at >= *elements) bad("an index is outside the tensor");
    } else {
      for (std::size_t axis = 0; axis < rank; ++axis) {
        const std::int64_t i = index[static_cast<std::size_t>(k) * rank + axis];
        if (i < 0 || i >= sparse.dims[axis]) bad("an index is outside the tensor");
        at += i * strides[axis];
      }
    }
    std::memcpy(dense.mutable_raw() + static_cast<std::size_t>(at) * size, values.raw() + static_cast<std::size_t>(k) * size, size);
  }
  return dense;
}

}  // namespace lppool
