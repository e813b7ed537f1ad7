#include "lppool/infer/infer.h"

#include <fmt/format.h>

#include <algorithm>

#include "lppool/infer/blame.h"
#include "lppool/infer/engine.h"

namespace lppool {

std::string_view name(TensorKind kind) {
  switch (kind) {
    case TensorKind::kInput:
      return "input";
    case TensorKind::kInitializer:
      return "initializer";
    case TensorKind::kIntermediate:
      return "intermediate";
    case TensorKind::kOutput:
      return "output";
  }
  return "";
}

std::string explained_size(const TensorInfo& info, std::size_t axis) {
  const std::string value = info.type.shape->at(axis).to_string();
  const std::string formula = axis < info.formulas.size() ? info.formulas[axis] : std::string();
  if (formula.empty() || formula == value) return value;
  // A remark comes with the value, anything else is what the value is equal to.
  return formula.starts_with(value + " (") ? formula : fmt::format("{} = {}", value, formula);
}

bool InferResult::ok() const {
  return std::ranges::none_of(findings, [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

const TensorInfo* InferResult::find(const std::string& tensor) const {
  const auto found = index.find(tensor);
  return found == index.end() ? nullptr : &tensors[found->second];
}

ValueType type_of(const Tensor& tensor) {
  return ValueType::tensor(tensor.dtype(), std::vector<Dim>(tensor.shape().begin(), tensor.shape().end()));
}
InferResult infer_shapes(const BoundGraph& graph, const InferOptions& options) {
  InferResult result;
  Engine engine(options, result);
  engine.main_graph(graph);
  if (!result.ok() && !engine.assumptions().empty()) blame_declarations(graph, options, engine.assumptions(), result);
  return result;
}

}  // namespace lppool
