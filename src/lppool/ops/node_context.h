#pragma once

#include <functional>
#include <set>

#include "lppool/ops/op.h"

namespace lppool {

// A KernelContext for one call of one node outside an executor: constant folding, single-node tests, re-running a node on
// recorded inputs. Subgraph attributes are run by `subgraph` where given, else refused.
class NodeContext final : public KernelContext {
 public:
  using SubgraphRunner = std::function<std::vector<Value>(const Graph&, std::vector<Value>)>;
  NodeContext(const Node& node, const OpSchema& schema, std::int64_t node_opset, ThreadPool& pool, SubgraphRunner subgraph = {})
      : KernelContext(node, schema), subgraph_(std::move(subgraph)) {
    opset = node_opset;
    thread_pool = &pool;
    state_slot = &own_state_;
    for (const std::string& output : node.outputs) output_wanted.push_back(!output.empty());
    outputs.resize(output_wanted.size());
  }
  std::vector<Value> run_subgraph(const Graph& graph, std::vector<Value> arguments) override {
    if (!subgraph_) fail(ErrorKind::kUnsupported, "this operator's subgraph cannot be run here");
    return subgraph_(graph, std::move(arguments));
  }
  bool is_constant(std::size_t i) const override { return constant_inputs.contains(i); }

  std::set<std::size_t> constant_inputs;

 private:
  SubgraphRunner subgraph_;
  std::any own_state_;
};

}  // namespace lppool
