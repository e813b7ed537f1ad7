#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "lppool/infer/infer.h"
#include "lppool/infer/known.h"

namespace lppool {

// A declaration that filled in what the rule of the node left open.
struct Assumption {
  std::string tensor;
  const BoundNode* node;
  ValueType declared, inferred;
};

// Whether the declaration of a tensor may fill in what a rule leaves open. Empty: every one may.
using Belief = std::function<bool(const std::string& tensor)>;

// One inference of one graph. Internal to infer: infer_shapes() is the way in.
class Engine {
 public:
  // Writes into `result`; keeps references to it and to `options`.
  Engine(const InferOptions& options, InferResult& result, Belief believes = {});

  // Throws as infer_shapes(). Once only.
  void main_graph(const BoundGraph& graph);

  // In the order of the nodes whose outputs they are about.
  const std::vector<Assumption>& assumptions() const { return assumptions_; }

  // Adds a finding about `node`, or where that is null about the graph `path`.
  void report(Severity severity, std::string code, const BoundNode* node, const std::string& tensor,
              std::string message, const std::string& path);

 private:
  using Declarations = std::unordered_map<std::string, const Type*>;

  // Formulas are kept for the main graph only.
  bool explaining() const { return options_.explain && depth_ == 0; }
  static Declarations declarations(const BoundGraph& graph);
  void check_options(const BoundGraph& graph) const;
  ValueType bind_dims(ValueType type) const;
  ValueType override_shape(const std::string& name, ValueType type, const std::vector<Dim>& shape) const;
  bool all_fed(const Node& node) const;

  // `record`: the main graph, whose tensors go into the result.
  void add_initializers(const BoundGraph& graph, const std::set<std::string>& inputs, Scope& scope, bool record);
  void run_nodes(const BoundGraph& graph, Scope& scope, const std::set<std::string>& outputs, bool record);
  std::vector<Known> infer_node(const BoundGraph& graph, const BoundNode& node, const Scope& scope);
  std::vector<ValueType> subgraph(const BoundGraph& graph, const std::vector<ValueType>& arguments, const Scope& outer);
  ValueType compare(const std::string& tensor, const ValueType& inferred, const ValueType& declared,
                    const BoundNode* node, const BoundGraph& graph);

  void add_tensor(const std::string& name, TensorKind kind, const ValueType& type, const std::string& producer,
                  std::int64_t node_index, std::optional<ValueType> declared);
  void keep_formulas(const std::string& tensor, std::size_t output, const std::optional<std::vector<Dim>>& inferred,
                     bool declared);
  void keep_contents(const std::string& tensor, const Known& known);

  const InferOptions& options_;
  InferResult& result_;
  Belief believes_;
  std::vector<Assumption> assumptions_;
  std::set<std::string> assumed_;
  ThreadPool pool_;
  std::map<std::string, Dim> substitution_;
  Declarations declared_;  // of the graph being walked
  std::set<std::string> warned_;
  std::vector<InferContext::Formula> formulas_;  // of the node at hand
  bool folded_ = false;                          // the node at hand was run on constants
  int depth_ = 0;
};

}  // namespace lppool
