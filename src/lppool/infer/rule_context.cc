#include "lppool/infer/rule_context.h"

#include <fmt/format.h>

#include <algorithm>

namespace lppool {

RuleContext::RuleContext(const BoundNode& node, const Scope& scope, SubgraphRule subgraph, bool explain)
    : InferContext(node.node, *node.schema), subgraph_(subgraph) {
  opset = node.opset;
  explaining = explain;
  for (const std::string& input : node.node.inputs) {
    const auto found = scope.find(input);
    present.push_back(!input.empty());
    known_.push_back(input.empty() || found == scope.end() ? nullptr : &found->second);
    inputs.push_back(known_.back() ? known_.back()->type : ValueType());
    if (explaining) mark(known_.back());
  }
  outputs.resize(node.node.outputs.size());
  output_elements.resize(node.node.outputs.size());
}

const Tensor* RuleContext::constant(std::size_t i) const {
  return constants_ && i < known_.size() && known_[i] && known_[i]->constant.defined() ? &known_[i]->constant : nullptr;
}

const std::vector<Dim>* RuleContext::elements(std::size_t i) const {
  if (explaining) return i < elements_.size() && elements_[i] ? &*elements_[i] : nullptr;
  return i < known_.size() && known_[i] && known_[i]->elements ? &*known_[i]->elements : nullptr;
}

void RuleContext::explain_copies() {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k].is_tensor() || !outputs[k].shape) continue;
    for (std::size_t axis = 0; axis < outputs[k].shape->size(); ++axis) {
      const bool explained =
          std::ranges::any_of(formulas, [&](const Formula& f) { return f.output == k && f.axis == axis; });
      if (!explained) explain(k, axis, origin((*outputs[k].shape)[axis]));
    }
  }
}

// Gives every size and element of the newest input an identity of its own.
void RuleContext::mark(const Known* known) {
  if (inputs.back().shape) {
    for (Dim& dim : *inputs.back().shape) dim = dim.with_own_identity();
  }
  elements_.push_back(known != nullptr ? known->elements : std::nullopt);
  if (!elements_.back()) return;
  for (Dim& element : *elements_.back()) element = element.with_own_identity();
}

// The size or element of an input that `dim` is a copy of, as "x.shape[1]" or "shape[0]"; empty where it is none.
std::string RuleContext::origin(const Dim& dim) const {
  const auto place = [&](const std::vector<Dim>& list) {
    return std::ranges::find_if(list, [&](const Dim& other) { return dim.is_copy_of(other); }) - list.begin();
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = attributes.node().inputs[i];
    if (inputs[i].shape) {
      const auto k = place(*inputs[i].shape);
      if (k < std::ssize(*inputs[i].shape)) return fmt::format("{}.shape[{}]", name, k);
    }
    if (elements_[i]) {
      const auto k = place(*elements_[i]);
      if (k < std::ssize(*elements_[i])) return elements_[i]->size() == 1 ? name : fmt::format("{}[{}]", name, k);
    }
  }
  return {};
}

}  // namespace lppool
