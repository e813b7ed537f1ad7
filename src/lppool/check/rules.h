#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lppool/check/findings.h"
#include "lppool/check/scope.h"
#include "lppool/graph/model.h"
#include "lppool/ops/op.h"

// The rules behind check_model, one file an area. Internal to this folder.
namespace lppool {

// Functions of a model by what identifies them.
class FunctionTable {
 public:
  explicit FunctionTable(const Model& model);
  // The function a node calls; nullptr where it calls none.
  const Function* called_by(const Node& node) const;
  // The first function with the same identity.
  const Function* first_of(const Function& function) const;

 private:
  static std::string key(std::string_view domain, std::string_view name, std::string_view overload);
  std::unordered_map<std::string, const Function*> functions_;
};

// What the rules know of the model while they walk it.
struct CheckState {
  const Model& model;
  std::int64_t ir_version;
  const FunctionTable& functions;
  Findings& findings;
  std::set<std::string> reported_once;  // what is said once for a model
};

// The body a node stands in: the main graph or a function, branches included.
struct Body {
  const std::vector<OpsetImport>* imports = nullptr;
  const Function* function = nullptr;  // nullptr: the main graph
};

constexpr std::size_t kMaxNesting = 100;

// "name 'x'" for messages; long names are cut.
std::string quoted(std::string_view name);

// model_rules.cc
void check_model_fields(CheckState& state);
void check_imports(CheckState& state, const std::vector<OpsetImport>& imports, std::string_view graph);

// function_rules.cc
void check_functions(CheckState& state);
void check_call(CheckState& state, const Place& place, const Function& function);

// graph_rules.cc
void check_main_graph(CheckState& state, const Graph& graph);
void check_branch(CheckState& state, const Body& body, const Graph& graph, Scope& outer, const std::string& path,
                  std::size_t depth);
// Nodes in a scope that holds inputs and initializers already: names, attributes, schemas, branches.
void check_nodes(CheckState& state, const Body& body, const std::vector<Node>& nodes, Scope& scope,
                 const std::string& path, std::size_t depth);

// order_rules.cc: once all nodes of a scope were seen
void check_order(CheckState& state, const std::vector<Node>& nodes, const Scope& scope, const std::string& path);
void check_dead_nodes(CheckState& state, const std::vector<Node>& nodes, const Scope& scope,
                      const std::vector<std::string_view>& outputs, const std::string& path);
// Faults by which a node or value may look unused: nothing is said about uses then.
bool has_broken_edges(const CheckState& state);

// node_rules.cc
void check_node(CheckState& state, const Body& body, const Node& node, std::int64_t index, const std::string& path);

// body_rules.cc: of a node of a standard operator, whose schema is known
void check_bodies(CheckState& state, const Place& place);

// attribute_rules.cc
void check_attribute_form(CheckState& state, const Body& body, const Place& place);
void check_attribute_value(CheckState& state, const Place& place, const Attribute& attribute);
void check_attributes(CheckState& state, const Place& place);        // against place.schema
void check_attribute_values(CheckState& state, const Place& place);  // the operator's own rules

// tensor_rules.cc
void check_tensor(CheckState& state, const Place& place, const StoredTensor& tensor);
void check_sparse_tensor(CheckState& state, const Place& place, const StoredSparseTensor& tensor);
void check_type(CheckState& state, const Place& place, const std::string& value, const Type& type);

// infer_rules.cc
void check_types_and_shapes(CheckState& state, bool portability);

}  // namespace lppool
