#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lppool/graph/model.h"
#include "lppool/ops/op.h"

// Between the model as stored and everything that computes with it: model-local functions are put in place of their calls
// and each node is tied to its operator and to the schema its opset selects.
namespace lppool {

struct BoundNode {
  Node node;                         // function attributes filled in, value names unique in the whole model
  std::string where;                 // for messages: node 'pool1' (LpPool), inside calls: call 'blk': node 'pool1' (LpPool)
  std::string label;                 // for people and files: the node's name, or its first output where it has none
  std::int64_t index = 0;            // position in the graph or function body it stands in
  std::string origin;                // path of that body in the model: "", "if1/then_branch", "function my.domain:Block"
  bool filled_in = false;            // the call of a function gave attributes
  std::int64_t opset = 0;            // what its domain is bound to; 0 where the domain is not imported
  const OpDef* op = nullptr;         // nullptr: not in the registry
  const OpSchema* schema = nullptr;  // nullptr: not in the registry, or not at this opset
};

struct BoundGraph {
  std::string path;  // "" for the main graph, "if1/then_branch" inside
  std::vector<BoundNode> nodes;
  std::vector<StoredTensor> initializers;
  std::vector<StoredSparseTensor> sparse_initializers;
  std::vector<ValueInfo> inputs, outputs, value_infos;
  // The bound form of each graph attribute of the nodes, by the pointer that AttributeView::graph() gives.
  std::unordered_map<const Graph*, std::shared_ptr<const BoundGraph>> subgraphs;
};

struct BindLimits {
  std::size_t max_depth = 100;          // nested calls and branches together
  std::size_t max_nodes = 1'000'000;    // after functions have been put in place
  std::size_t max_copies = 512u << 20;  // bytes that calls of functions may copy: names, which each call lengthens; attributes
};

// Throws kLimit where functions nest or grow past the limits (a recursive function always does), kRuntime where the model
// has no graph. Assumes nothing about validity: what cannot be resolved stays as it is, for later stages to refuse.
BoundGraph bind_model(const Model& model, const BindLimits& limits = {});

}  // namespace lppool
