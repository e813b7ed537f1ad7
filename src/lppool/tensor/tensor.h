#pragma once

#include <cassert>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lppool/tensor/dtype.h"
#include "lppool/tensor/float16.h"
#include "lppool/tensor/memory.h"
#include "lppool/tensor/shape.h"

namespace lppool {

// A dense tensor: element type, shape and shared storage in row-major order. Copies share the storage; a value that others
// may see is never written (kernels write only tensors they allocated, or that is_unique()). Strings are stored as
// std::string. bool is one byte, 0 or 1.
//
// Thread safety: as std::shared_ptr — reading from many threads is fine.
class Tensor {
 public:
  Tensor() = default;  // no tensor: dtype kUndefined

  // New storage, contents unspecified (strings: empty). Throws kLimit before allocating where memory::limit() would be
  // passed, kUnsupported for kUndefined.
  static Tensor allocate(DataType dtype, Shape shape);
  // New storage filled with zero bytes (strings: empty).
  static Tensor zeros(DataType dtype, Shape shape);
  // Shares `data`, which must hold shape.elements() * element_size(dtype) bytes aligned for the type; never written.
  static Tensor wrap(DataType dtype, Shape shape, std::shared_ptr<const std::byte> data);
  // From a list of values: for tests and small constants. values.size() must be shape.elements().
  template <typename T>
  static Tensor of(Shape shape, const std::vector<T>& values);
  template <typename T>
  static Tensor scalar(T value) {
    return of<T>(Shape{}, std::vector<T>{value});
  }

  bool defined() const { return dtype_ != DataType::kUndefined; }
  DataType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::size_t rank() const { return shape_.rank(); }
  std::int64_t size() const { return size_; }  // number of elements
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * element_size(dtype_); }

  const std::byte* raw() const { return data_.get(); }
  std::byte* mutable_raw() {
    assert(!read_only_);
    return const_cast<std::byte*>(data_.get());
  }

  // Elements as T, whose size must be element_size(dtype()). T is the C++ type of type_of<T>(), or an integer of its size.
  template <typename T>
  std::span<const T> data() const {
    assert(sizeof(T) == element_size(dtype_));
    return {reinterpret_cast<const T*>(data_.get()), static_cast<std::size_t>(size_)};
  }
  template <typename T>
  std::span<T> mutable_data() {
    assert(sizeof(T) == element_size(dtype_) && !read_only_);
    return {reinterpret_cast<T*>(const_cast<std::byte*>(data_.get())), static_cast<std::size_t>(size_)};
  }
  std::span<const std::string> strings() const {
    assert(dtype_ == DataType::kString);
    return {strings_->values.data(), static_cast<std::size_t>(size_)};
  }
  std::span<std::string> mutable_strings() {
    assert(dtype_ == DataType::kString);
    return {strings_->values.data(), static_cast<std::size_t>(size_)};
  }
  // Counts characters that this tensor's strings hold (beyond the std::string objects) against memory::limit(), for as
  // long as the storage lives. Kernels that multiply or join strings call it before they do. Throws kLimit.
  void charge_characters(std::size_t bytes) {
    assert(dtype_ == DataType::kString);
    strings_->charge.add(bytes);
  }

  // The same storage under another shape of as many elements. Throws kRuntime if the counts differ.
  Tensor reshaped(Shape shape) const;
  // The same bytes seen as another type of the same element size.
  Tensor viewed_as(DataType dtype) const;
  // True if no other Tensor shares the storage and it may be written.
  bool is_unique() const { return !read_only_ && (data_ ? data_.use_count() == 1 : strings_ && strings_.use_count() == 1); }
  const void* storage_id() const { return data_ ? static_cast<const void*>(data_.get()) : strings_.get(); }

 private:
  DataType dtype_ = DataType::kUndefined;
  bool read_only_ = false;
  Shape shape_;
  std::int64_t size_ = 0;
  std::shared_ptr<const std::byte> data_;
  struct Strings {
    std::vector<std::string> values;
    memory::Charge charge;
  };
  std::shared_ptr<Strings> strings_;
};

// The DataType whose elements are stored as T.
template <typename T>
constexpr DataType type_of() {
  if constexpr (std::is_same_v<T, float>) return DataType::kFloat32;
  else if constexpr (std::is_same_v<T, double>) return DataType::kFloat64;
  else if constexpr (std::is_same_v<T, Float16>) return DataType::kFloat16;
  else if constexpr (std::is_same_v<T, BFloat16>) return DataType::kBFloat16;
  else if constexpr (std::is_same_v<T, std::int8_t>) return DataType::kInt8;
  else if constexpr (std::is_same_v<T, std::int16_t>) return DataType::kInt16;
  else if constexpr (std::is_same_v<T, std::int32_t>) return DataType::kInt32;
  else if constexpr (std::is_same_v<T, std::int64_t>) return DataType::kInt64;
  else if constexpr (std::is_same_v<T, std::uint8_t>) return DataType::kUInt8;
  else if constexpr (std::is_same_v<T, std::uint16_t>) return DataType::kUInt16;
  else if constexpr (std::is_same_v<T, std::uint32_t>) return DataType::kUInt32;
  else if constexpr (std::is_same_v<T, std::uint64_t>) return DataType::kUInt64;
  else if constexpr (std::is_same_v<T, bool>) return DataType::kBool;
  else if constexpr (std::is_same_v<T, std::string>) return DataType::kString;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return DataType::kComplex64;
  else if constexpr (std::is_same_v<T, std::complex<double>>) return DataType::kComplex128;
  else return DataType::kUndefined;
}

template <typename T>
Tensor Tensor::of(Shape shape, const std::vector<T>& values) {
  Tensor tensor = allocate(type_of<T>(), std::move(shape));
  assert(static_cast<std::size_t>(tensor.size()) == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_same_v<T, std::string>) tensor.mutable_strings()[i] = values[i];
    else tensor.mutable_data<T>()[i] = values[i];
  }
  return tensor;
}

}  // namespace lppool
