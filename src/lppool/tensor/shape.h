#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lppool {

// The sizes of a tensor, outermost first. Rank 0 is a scalar (one element). Sizes are never negative.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}
  explicit Shape(std::span<const std::int64_t> dims) : dims_(dims.begin(), dims.end()) {}

  std::size_t rank() const { return dims_.size(); }
  std::int64_t operator[](std::size_t axis) const { return dims_[axis]; }
  std::int64_t& operator[](std::size_t axis) { return dims_[axis]; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  void push_back(std::int64_t dim) { dims_.push_back(dim); }

  // Product of the sizes. Throws kLimit where it leaves 63 bits.
  std::int64_t elements() const;
  // Product of the sizes from axis `from` up to, not including, `to`. Throws as elements() does.
  std::int64_t elements(std::size_t from, std::size_t to) const;
  // Row-major strides in elements.
  std::vector<std::int64_t> strides() const;

  bool operator==(const Shape&) const = default;

 private:
  std::vector<std::int64_t> dims_;
};

// "1x3x224x224"; "scalar" for rank 0.
std::string to_string(const Shape& shape);

// Product without overflow; empty where a size is negative or the product leaves 63 bits. A zero size gives zero even
// where the other sizes alone would overflow.
std::optional<std::int64_t> checked_elements(std::span<const std::int64_t> dims);

// The axis counted from the front. Throws kRuntime if `axis` is not in [-rank, rank).
std::size_t normalize_axis(std::int64_t axis, std::size_t rank);

}  // namespace lppool
