#include "lppool/compare/origin.h"

#include <tuple>
#include <vector>

#include "lppool/base/error.h"
#include "lppool/run/executor.h"

namespace lppool {
namespace {

// Every name a node reads, those its branches and bodies read included (some of which are their own).
void collect_reads(const Node& node, std::vector<std::string>& names) {
  for (const std::string& input : node.inputs) {
    if (!input.empty()) names.push_back(input);
  }
  const auto inside = [&names](const Graph& graph) {
    for (const Node& inner : graph.nodes) collect_reads(inner, names);
    for (const ValueInfo& output : graph.outputs) names.push_back(output.name);
  };
  for (const Attribute& attribute : node.attributes) {
    if (attribute.g) inside(*attribute.g);
    for (const auto& graph : attribute.graphs) inside(*graph);
  }
}

}  // namespace

OriginFinder::OriginFinder(const Model& model, std::map<std::string, Value> inputs, int threads)
    : graph_(std::make_shared<const BoundGraph>(bind_model(model))), inputs_(std::move(inputs)), threads_(threads) {
  for (const ValueInfo& input : graph_->inputs) input_names_.insert(input.name);
  for (const BoundNode& node : graph_->nodes) {
    for (const std::string& output : node.node.outputs) {
      if (!output.empty()) producers_[output] = &node;
    }
  }
}

Tensor OriginFinder::rerun(const BoundNode& node, const std::string& tensor, const Source& holds) const {
  // From the node's inputs upward, as far as this side holds nothing.
  ExecutorOptions options;
  options.threads = threads_;
  options.request.outputs = {tensor};
  std::map<std::string, Value> given;
  std::set<std::string> seen(node.node.outputs.begin(), node.node.outputs.end());
  std::vector<std::string> open;
  collect_reads(node.node, open);
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    // What a side holds of initializers is of no use here: the model has them.
    const auto maker = producers_.find(name);
    const bool is_input = input_names_.contains(name);
    if (!seen.insert(name).second || (maker == producers_.end() && !is_input)) continue;
    Value value = holds(name);
    if (!value.empty()) {
      given[name] = std::move(value);
      if (maker != producers_.end()) options.request.fed.insert(name);
    } else if (const auto input = inputs_.find(name); input != inputs_.end()) {
      given[name] = input->second;
    } else if (maker != producers_.end()) {
      collect_reads(maker->second->node, open);
    }
  }
  const std::vector<Value> outputs = Executor(graph_, std::move(options)).run(std::move(given));
  if (outputs.empty() || !outputs.front().is_tensor()) fail(ErrorKind::kUnsupported, "the node makes no tensor here");
  return outputs.front().tensor();
}

ErrorOrigin OriginFinder::find(const std::string& tensor, const Tensor& a, const Tensor& b, const Source& a_holds,
                               const Source& b_holds, const ComparisonTolerance& tolerance) const {
  ErrorOrigin origin;
  const auto producer = producers_.find(tensor);
  if (producer == producers_.end()) {
    origin.problem = "no node of the model's main graph makes it";
    return origin;
  }
  origin.node = producer->second->where;
  std::optional<Tensor> from_a, from_b;
  for (const auto& [side, holds, result] : {std::tuple{"A", &a_holds, &from_a}, {"B", &b_holds, &from_b}}) {
    try {
      *result = rerun(*producer->second, tensor, *holds);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kInterrupted) throw;
      origin.problem += fmt::format("{}with the inputs of {}: {}", origin.problem.empty() ? "" : "; ", side, error.what());
    }
  }
  if (from_a) origin.own_a = compare(a, *from_a, tolerance);
  if (from_b) origin.own_b = compare(b, *from_b, tolerance);
  if (from_a && from_b) origin.inherited = compare(*from_a, *from_b, tolerance);
  return origin;
}

}  // namespace lppool
