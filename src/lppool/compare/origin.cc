#include "lppool/compare/origin.h"

#include <set>
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
  for (const BoundNode& node : graph_->nodes) {
    for (const std::string& output : node.node.outputs) {
      if (!output.empty()) producers_[output] = &node;
    }
  }
}

ErrorOrigin OriginFinder::find(const std::string& tensor, const Tensor& a, const Tensor& b, const Source& b_holds,
                               const ComparisonTolerance& tolerance) const {
  ErrorOrigin origin;
  const auto producer = producers_.find(tensor);
  if (producer == producers_.end()) {
    origin.problem = "no node of the model's main graph makes it";
    return origin;
  }
  const BoundNode& node = *producer->second;
  origin.node = node.where;

  // From the node's inputs upward, as far as B holds nothing.
  std::map<std::string, Value> given;
  std::set<std::string> fed, seen(node.node.outputs.begin(), node.node.outputs.end());
  std::vector<std::string> open;
  collect_reads(node.node, open);
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!seen.insert(name).second) continue;
    const auto maker = producers_.find(name);
    Value value = b_holds(name);
    if (!value.empty()) {
      given[name] = std::move(value);
      if (maker != producers_.end()) fed.insert(name);
    } else if (const auto input = inputs_.find(name); input != inputs_.end()) {
      given[name] = input->second;
    } else if (maker != producers_.end()) {
      collect_reads(maker->second->node, open);
    }
  }

  try {
    ExecutorOptions options;
    options.threads = threads_;
    options.request.outputs = {tensor};
    options.request.fed = std::move(fed);
    // What B holds of initializers is of no use here: the model has them.
    std::set<std::string> wanted = options.request.fed;
    for (const ValueInfo& input : graph_->inputs) wanted.insert(input.name);
    std::erase_if(given, [&wanted](const auto& entry) { return !wanted.contains(entry.first); });
    const std::vector<Value> outputs = Executor(graph_, std::move(options)).run(std::move(given));
    if (outputs.empty() || !outputs.front().is_tensor()) {
      origin.problem = "the node makes no tensor here";
      return origin;
    }
    origin.local = compare(outputs.front().tensor(), b, tolerance);
    origin.inherited = compare(a, outputs.front().tensor(), tolerance);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted) throw;
    origin.problem = error.what();
  }
  return origin;
}

}  // namespace lppool
