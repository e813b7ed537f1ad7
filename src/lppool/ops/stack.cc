#include "lppool/ops/stack.h"

#include <algorithm>

namespace lppool {

Shape Stack::shape_of(std::int64_t count) const {
  Shape shape{count};
  for (const std::int64_t dim : element_) shape.push_back(dim);
  return shape;
}

void Stack::append(const Tensor& element, std::string_view what, ThreadPool& threads) {
  if (count_ == 0) {
    element_ = element.shape();
    dtype_ = element.dtype();
  } else if (element.shape() != element_ || element.dtype() != dtype_) {
    fail(ErrorKind::kRuntime, "{} is {} {} in round {}, expected {} {} as in round 0", what, name(element.dtype()),
         to_string(element.shape()), count_, name(dtype_), to_string(element_));
  }
  if (count_ == capacity_) {
    // The hint is not trusted with more than a few megabytes: a trip count may be anything.
    const std::int64_t few = (std::int64_t{4} << 20) / std::max<std::int64_t>(1, static_cast<std::int64_t>(element.bytes()));
    capacity_ = count_ == 0 ? std::clamp<std::int64_t>(expected_, 1, std::max<std::int64_t>(few, 1)) : capacity_ * 2;
    Tensor larger = Tensor::allocate(dtype_, shape_of(capacity_));
    if (count_ > 0) copy_box(storage_, larger, whole_box(shape_of(count_)), threads);
    storage_ = std::move(larger);
  }
  Box box = whole_box(element_);
  box.out_offset = count_ * element.size();
  copy_box(element, storage_, std::move(box), threads);
  ++count_;
}

Tensor Stack::finish(std::int64_t axis, bool reversed, ThreadPool& threads) {
  const std::size_t place = normalize_axis(axis, element_.rank() + 1);
  if (place == 0 && !reversed && count_ == capacity_) return storage_;
  Box box = whole_box(shape_of(count_));
  if (reversed) {
    box.in_offset = (count_ - 1) * box.in_strides[0];
    box.in_strides[0] = -box.in_strides[0];
  }
  const auto move_axis = [&](std::vector<std::int64_t>& values) {
    std::rotate(values.begin(), values.begin() + 1, values.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  };
  move_axis(box.sizes);
  move_axis(box.in_strides);
  const Shape shape(box.sizes);
  box.out_strides = shape.strides();
  Tensor result = Tensor::allocate(dtype_, shape);
  copy_box(storage_, result, std::move(box), threads);
  return result;
}

Tensor empty_stack(const Type& declared, std::int64_t axis, std::string_view what) {
  if (declared.kind != Type::Kind::kTensor || declared.dtype == DataType::kUndefined) {
    fail(ErrorKind::kRuntime, "{}: no round was run and the body declares no element type for it", what);
  }
  std::vector<std::int64_t> dims;
  if (declared.shape) {
    for (const Dimension& dim : *declared.shape) dims.push_back(std::max<std::int64_t>(0, dim.value.value_or(0)));
  }
  const std::size_t place = declared.shape ? normalize_axis(axis, dims.size() + 1) : 0;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(place), 0);
  return Tensor::zeros(declared.dtype, Shape(std::move(dims)));
}

}  // namespace lppool
