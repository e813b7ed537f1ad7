#include "lppool/ops/contents.h"

#include <algorithm>

namespace lppool {

std::optional<std::vector<std::int64_t>> known_ints(const InferContext& ctx, std::size_t i) {
  const std::vector<Dim>* elements = ctx.elements(i);
  if (elements == nullptr) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const Dim& element : *elements) {
    const auto value = element.value();
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<std::size_t> known_length(const InferContext& ctx, std::size_t i) {
  if (const std::vector<Dim>* elements = ctx.elements(i)) return elements->size();
  const std::vector<Dim>* shape = ctx.shape(i);
  if (shape == nullptr || shape->size() > 1) return std::nullopt;
  if (shape->empty()) return 1;
  const auto count = (*shape)[0].value();
  if (!count || *count < 0 || *count > static_cast<std::int64_t>(kMaxFollowed)) return std::nullopt;
  return static_cast<std::size_t>(*count);
}

std::optional<std::vector<Dim>> elements_or_unknown(const InferContext& ctx, std::size_t i) {
  if (const std::vector<Dim>* elements = ctx.elements(i)) return *elements;
  const auto count = known_length(ctx, i);
  if (!count) return std::nullopt;
  return unknown_dims(*count);
}

Dim product(std::span<const Dim> dims) {
  Dim result(1);
  for (const Dim& dim : dims) result = result * dim;
  return result;
}

std::vector<Dim> unknown_dims(std::size_t rank) { return std::vector<Dim>(rank); }

Dim agree(const Dim& a, const Dim& b, std::string_view what) {
  const auto x = a.value(), y = b.value();
  if (x && y && *x != *y) fail(ErrorKind::kRuntime, "{} is {}, expected {}", what, *y, *x);
  if (x) return a;
  if (y) return b;
  return a.known() ? a : b;
}

std::vector<Dim> broadcast_shape(std::span<const Dim> a, std::span<const Dim> b) {
  if (a.size() < b.size()) std::swap(a, b);
  std::vector<Dim> result(a.begin(), a.end());
  const std::size_t shift = a.size() - b.size();
  for (std::size_t k = 0; k < b.size(); ++k) result[shift + k] = broadcast_dim(a[shift + k], b[k]);
  return result;
}

void set_moved(InferContext& ctx, std::optional<std::vector<Dim>> shape) {
  ctx.set_output(0, ctx.input(0).dtype, std::move(shape));
}

void set_contents(InferContext& ctx, std::vector<Dim> elements) {
  if (elements.size() <= kMaxFollowed) ctx.set_elements(0, std::move(elements));
}

DataType dtype_attribute(std::int64_t number, std::string_view attribute) {
  if (number < 1 || number > kLastDataType) {
    fail(ErrorKind::kUnsupported, "attribute '{}' is {}, expected a TensorProto data type (1 to {})", attribute, number,
         kLastDataType);
  }
  return static_cast<DataType>(number);
}

}  // namespace lppool
