#include "lppool/ops/indexing.h"

namespace lppool {

std::int64_t checked_index(std::int64_t index, std::int64_t size, std::size_t axis) {
  if (index < -size || index >= size) {
    fail(ErrorKind::kRuntime, "index {} is outside axis {} of size {}", index, axis, size);
  }
  return index < 0 ? index + size : index;
}

ElementIndex::ElementIndex(const Tensor& indices, const Shape& data, std::int64_t axis)
    : axis_(normalize_axis(axis, data.rank())), values_(int_values(indices, "indices")), sizes_(indices.shape().dims()),
      data_strides_(data.strides()) {
  bool fits = indices.rank() == data.rank();
  for (std::size_t k = 0; fits && k < data.rank(); ++k) fits = k == axis_ || indices.shape()[k] <= data[k];
  if (!fits) {
    fail(ErrorKind::kRuntime, "indices has shape {}, expected at most {} but for axis {}", to_string(indices.shape()),
         to_string(data), axis_);
  }
  for (std::int64_t& value : values_) value = checked_index(value, data[axis_], axis_);
}

TupleIndex::TupleIndex(const Tensor& indices, const Shape& data, std::size_t batch) {
  const Shape& shape = indices.shape();
  if (shape.rank() == 0) fail(ErrorKind::kRuntime, "indices is a scalar, expected rank 1 or more");
  const std::int64_t depth = shape[shape.rank() - 1];
  if (depth > static_cast<std::int64_t>(data.rank() - batch)) {
    fail(ErrorKind::kRuntime, "indices has shape {}, expected a last size of {} at most for data {}", to_string(shape),
         data.rank() - batch, to_string(data));
  }
  for (std::size_t k = 0; k < batch; ++k) {
    if (shape[k] != data[k]) {
      fail(ErrorKind::kRuntime, "indices has shape {}, data {}: batch axis {} differs", to_string(shape), to_string(data), k);
    }
  }
  depth_ = static_cast<std::size_t>(depth);
  run_ = data.elements(batch + depth_, data.rank());
  const auto strides = data.strides();
  const std::int64_t batches = data.elements(0, batch);
  const std::int64_t batch_size = data.elements(batch, data.rank());
  count_ = shape.elements(0, shape.rank() - 1);
  per_batch_ = batches == 0 ? 0 : count_ / batches;
  if (depth_ == 0) return;
  const auto values = int_values(indices, "indices");
  positions_.resize(static_cast<std::size_t>(count_));
  for (std::int64_t i = 0; i < count_; ++i) {
    std::int64_t position = i / per_batch_ * batch_size;
    for (std::size_t k = 0; k < depth_; ++k) {
      const std::int64_t value = values[static_cast<std::size_t>(i) * depth_ + k];
      position += checked_index(value, data[batch + k], batch + k) * strides[batch + k];
    }
    positions_[static_cast<std::size_t>(i)] = position;
  }
}

}  // namespace lppool
