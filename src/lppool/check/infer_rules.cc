// TY and SH, and attribute values that calls of functions fill in: what shows only when the model is bound and
// inferred.
#include <fmt/format.h>

#include "lppool/bind/bound_graph.h"
#include "lppool/check/portability.h"
#include "lppool/check/rules.h"
#include "lppool/infer/infer.h"

namespace lppool {
namespace {

// Codes after which names do not say what they should, so that inference would report consequences only.
constexpr const char* kBrokenNames[] = {"GR002", "GR003", "GR005", "GR006", "GR011",
                                        "GR022", "FN001", "FN002", "FN009"};

std::size_t count_nodes(const std::vector<Node>& nodes, std::size_t depth) {
  std::size_t count = nodes.size();
  if (depth > kMaxNesting) return count;
  for (const Node& node : nodes) {
    for (const Attribute& attribute : node.attributes) {
      if (attribute.g) count += count_nodes(attribute.g->nodes, depth + 1);
      for (const auto& graph : attribute.graphs) count += graph ? count_nodes(graph->nodes, depth + 1) : 0;
    }
  }
  return count;
}

// Functions in place of their calls can make a model grow without bound; the work of a check must not.
BindLimits limits_for(const Model& model) {
  std::size_t nodes = count_nodes(model.graph->nodes, 0);
  for (const Function& function : model.functions) nodes += count_nodes(function.nodes, 0);
  return {.max_depth = kMaxNesting, .max_nodes = 4 * nodes + 50'000};
}

// Nodes of functions whose attributes come from the call: only here are the values known.
void check_filled_in(CheckState& state, const BoundGraph& graph) {
  for (const BoundNode& node : graph.nodes) {
    const Place place{
        .graph = node.origin, .node = &node.node, .index = node.index, .schema = node.schema, .call = node.where};
    if (node.filled_in && node.schema != nullptr && !state.findings.has_errors(place)) check_attributes(state, place);
  }
  for (const auto& [key, branch] : graph.subgraphs) check_filled_in(state, *branch);
}

ValueType type_of(const InferResult& inferred, const std::string& tensor) {
  if (const TensorInfo* info = inferred.find(tensor)) return info->type;
  const auto inner = inferred.inner.find(tensor);
  return inner == inferred.inner.end() ? ValueType() : inner->second;
}

void check_portability(CheckState& state, const BoundGraph& graph, const InferResult& inferred) {
  for (const BoundNode& node : graph.nodes) {
    const Place place{.graph = node.origin, .node = &node.node, .index = node.index, .schema = node.schema};
    if (node.schema == nullptr || node.node.inputs.empty() || state.findings.has_errors(place)) continue;
    const auto facts = pool_facts(*node.op, AttributeView(node.node, *node.schema), node.opset,
                                  type_of(inferred, node.node.inputs[0]));
    if (!facts) continue;
    for (const PortabilityRule& rule : portability_rules()) {
      const std::string says = rule.says(*facts);
      if (says.empty()) continue;
      const std::string message = fmt::format("{} {}", to_string(rule.engine), says);
      const std::string once = fmt::format("{} {} {}", rule.code, message, rule.whole_operator ? "" : node.origin);
      // Calls of one function repeat themselves.
      const bool repeated = rule.whole_operator || !node.origin.empty();
      if (!repeated || state.reported_once.insert(once).second) state.findings.add(place, rule.code, message);
    }
  }
  for (const auto& [key, branch] : graph.subgraphs) check_portability(state, *branch, inferred);
}

}  // namespace

void check_types_and_shapes(CheckState& state, bool portability) {
  for (const char* code : kBrokenNames) {
    if (state.findings.count(code) != 0) return;
  }
  BoundGraph bound;
  InferResult result;
  try {
    bound = bind_model(state.model, limits_for(state.model));
    check_filled_in(state, bound);
    InferOptions options;
    options.inner = portability;
    result = infer_shapes(bound, options);
  } catch (const Error& error) {
    state.findings.add({}, "SH005", fmt::format("types and shapes are not checked: {}", error.what()));
    return;
  }
  for (const Diagnostic& finding : result.findings) {
    if (finding.code == "SH003") continue;  // OP007 and OP012 tell of unknown operators
    Node node;
    node.name = finding.node;
    node.op_type = finding.op_type;
    Place place{.graph = finding.graph};
    if (finding.node_index) {
      place.node = &node;
      place.index = *finding.node_index;
      if (state.findings.has_errors(place)) continue;  // a consequence
    }
    state.findings.adopt(place, finding).since_version = finding.since_version;
  }
  if (portability) check_portability(state, bound, result);
}

}  // namespace lppool
