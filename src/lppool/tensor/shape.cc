#include "lppool/tensor/shape.h"

#include <algorithm>

#include "lppool/base/checked.h"
#include "lppool/base/error.h"

namespace lppool {

std::optional<std::int64_t> checked_elements(std::span<const std::int64_t> dims) {
  if (std::ranges::any_of(dims, [](std::int64_t d) { return d < 0; })) return std::nullopt;
  if (std::ranges::any_of(dims, [](std::int64_t d) { return d == 0; })) return 0;
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) {
    const auto next = checked_mul(product, dim);
    if (!next) return std::nullopt;
    product = *next;
  }
  return product;
}

std::int64_t Shape::elements(std::size_t from, std::size_t to) const {
  const auto product = checked_elements(std::span(dims_).subspan(from, to - from));
  if (!product) fail(ErrorKind::kLimit, "shape {} has more elements than 63 bits can count", to_string(*this));
  return *product;
}

std::int64_t Shape::elements() const { return elements(0, dims_.size()); }

std::vector<std::int64_t> Shape::strides() const {
  std::vector<std::int64_t> result(dims_.size(), 1);
  for (std::size_t i = dims_.size(); i-- > 1;) {
    result[i - 1] = static_cast<std::int64_t>(static_cast<std::uint64_t>(result[i]) * static_cast<std::uint64_t>(dims_[i]));
  }
  return result;
}

std::string to_string(const Shape& shape) {
  return shape.rank() == 0 ? std::string("scalar") : fmt::format("{}", fmt::join(shape.dims(), "x"));
}

std::size_t normalize_axis(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) {
    fail(ErrorKind::kRuntime, "axis is {}, expected {} to {} for rank {}", axis, -signed_rank, signed_rank - 1, rank);
  }
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

}  // namespace lppool
