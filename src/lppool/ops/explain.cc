#include "lppool/ops/explain.h"

#include <algorithm>

namespace lppool {

std::string size_name(const InferContext& ctx, std::size_t i, std::size_t axis) {
  return fmt::format("{}.shape[{}]", ctx.attributes.node().inputs.at(i), axis);
}

std::string term(const Dim& dim) { return dim.is_sum() ? fmt::format("({})", dim.to_string()) : dim.to_string(); }

std::string terms(std::span<const Dim> dims, std::string_view joint) {
  std::string text;
  for (const Dim& dim : dims) text += fmt::format("{}{}", text.empty() ? "" : joint, term(dim));
  return text.empty() ? "1" : text;
}

NamedSize named_size(const InferContext& ctx, std::size_t i, std::size_t axis) {
  return {size_name(ctx, i, axis), ctx.shape(i) != nullptr ? (*ctx.shape(i)).at(axis) : Dim()};
}

std::string broadcast_formula(std::span<const NamedSize> sizes) {
  std::vector<NamedSize> distinct;  // a tensor may be there twice
  for (const NamedSize& size : sizes) {
    if (std::ranges::none_of(distinct, [&](const NamedSize& other) { return other.name == size.name; })) distinct.push_back(size);
  }
  if (distinct.size() == 1) return distinct[0].name;
  const bool equal = std::ranges::all_of(distinct, [&](const NamedSize& size) { return same(size.size, distinct[0].size); });
  std::string text = equal ? "" : "broadcast of ";
  for (std::size_t k = 0; k < distinct.size(); ++k) {
    text += k == 0 ? "" : equal ? " = " : k + 1 < distinct.size() ? ", " : " and ";
    text += equal ? distinct[k].name : fmt::format("{} ({})", distinct[k].name, distinct[k].size.to_string());
  }
  return text;
}

void explain_each(InferContext& ctx, std::size_t output, std::string_view remark) {
  if (!ctx.explaining || output >= ctx.outputs.size() || !ctx.outputs[output].shape) return;
  const std::vector<Dim>& shape = *ctx.outputs[output].shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) ctx.explain(output, axis, fmt::format("{} ({})", shape[axis].to_string(), remark));
}

}  // namespace lppool
