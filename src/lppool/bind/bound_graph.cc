// A call of a function is replaced by its body under new names: inner value v of the call labelled c becomes "c/v", formal
// parameters become the caller's values, and each ref_attr_name becomes the call's attribute, else the function's default,
// else nothing (docs/IR.md, "Functions"). Branches inside a body are copied under the same renaming.
#include "lppool/bind/bound_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

namespace lppool {
namespace {

using Renames = std::unordered_map<std::string, std::string>;

// Where a node stands: what its names and attributes mean there.
struct Scope {
  const std::vector<OpsetImport>* imports = nullptr;
  const Renames* renames = nullptr;                           // nullptr in the main graph: names stay
  const std::map<std::string, Attribute>* arguments = nullptr;  // of the enclosing function call
  std::string prefix;                                         // "call/" for names that the body defines
  std::string where;                                          // "call 'blk': "
  std::string origin;                                         // "" or "function domain:name"
};

class Binder {
 public:
  Binder(const Model& model, const BindLimits& limits) : model_(model), limits_(limits) {
    for (const Function& function : model.functions) {
      functions_.emplace(key(function.domain, function.name, function.overload), &function);
    }
  }

  BoundGraph main() {
    if (count(model_.graph->nodes, 0) > limits_.max_nodes) too_many();
    Scope scope;
    scope.imports = &model_.opset_imports;
    return graph(*model_.graph, scope, "", 0);
  }

 private:
  static std::string key(std::string_view domain, std::string_view name, std::string_view overload) {
    return fmt::format("{}\n{}\n{}", canonical_domain(domain), name, overload);
  }

  [[noreturn]] void too_many() const {
    fail(ErrorKind::kLimit, "more than {} nodes once functions are put in place", limits_.max_nodes);
  }

  // Nodes there will be once functions are put in place, so that a model that grows past the limit is refused before
  // anything is made. Each function is counted once. Calls within calls past the depth limit count nothing: they are
  // refused for their depth.
  std::size_t count(const std::vector<Node>& nodes, std::size_t depth) {
    if (depth > limits_.max_depth) return 0;
    std::size_t total = nodes.size();
    const auto add = [&](std::size_t more) { total = more > limits_.max_nodes ? more : std::min(total + more, limits_.max_nodes + 1); };
    for (const Node& node : nodes) {
      for (const Attribute& attribute : node.attributes) {
        if (attribute.g) add(count(attribute.g->nodes, depth + 1));
        for (const auto& g : attribute.graphs) add(g ? count(g->nodes, depth + 1) : 0);
      }
      const auto called = functions_.find(key(node.domain, node.op_type, node.overload));
      if (called == functions_.end()) continue;
      if (counts_.emplace(called->second, 0).second) {  // 0 while it is being counted: a circle
        const std::size_t body = count(called->second->nodes, depth + 1);
        counts_[called->second] = body;
      }
      add(counts_[called->second]);
    }
    return total;
  }

  // Takes account of what is about to be copied; a small file could ask for more than any memory holds.
  void charge(std::size_t bytes) {
    copied_ = bytes > limits_.max_copies ? bytes : copied_ + bytes;
    if (copied_ > limits_.max_copies) {
      fail(ErrorKind::kLimit, "more than {} bytes of names and attributes once functions are put in place", limits_.max_copies);
    }
  }

  static std::size_t size_of(const std::vector<Attribute>& attributes) {
    std::size_t total = 0;
    for (const Attribute& a : attributes) {
      total += sizeof(Attribute) + a.name.size() + a.s.size() + a.floats.size() * sizeof(float) + a.ints.size() * sizeof(a.ints[0]);
      for (const std::string& s : a.strings) total += sizeof s + s.size();
    }
    return total;
  }

  static std::size_t size_of(const std::vector<std::string>& names, const Scope& scope) {
    std::size_t total = 0;
    for (const std::string& name : names) total += sizeof name + scope.prefix.size() + name.size();
    return total;
  }

  static std::size_t size_of(const Node& node, const Scope& scope) {
    const std::size_t texts = scope.where.size() + scope.origin.size() + scope.prefix.size() + 3 * node.name.size() + 3 * node.op_type.size();
    return sizeof(BoundNode) + texts + size_of(node.inputs, scope) + size_of(node.outputs, scope) + size_of(node.attributes);
  }

  static std::string rename(const std::string& name, const Scope& scope) {
    if (scope.renames == nullptr || name.empty()) return name;
    const auto found = scope.renames->find(name);
    return found == scope.renames->end() ? scope.prefix + name : found->second;
  }

  BoundGraph graph(const Graph& source, const Scope& scope, std::string path, std::size_t depth) {
    if (depth > limits_.max_depth) fail(ErrorKind::kLimit, "graphs nest deeper than {}", limits_.max_depth);
    BoundGraph bound;
    bound.path = std::move(path);
    bound.initializers = source.initializers;
    bound.sparse_initializers = source.sparse_initializers;
    bound.inputs = source.inputs;
    bound.outputs = source.outputs;
    bound.value_infos = source.value_infos;
    if (scope.renames != nullptr) {
      for (auto& tensor : bound.initializers) tensor.name = rename(tensor.name, scope);
      for (auto& tensor : bound.sparse_initializers) tensor.values.name = rename(tensor.values.name, scope);
      for (auto* list : {&bound.inputs, &bound.outputs, &bound.value_infos}) {
        for (ValueInfo& info : *list) info.name = rename(info.name, scope);
      }
    }
    add_nodes(source.nodes, scope, bound, depth);
    return bound;
  }

  void add_nodes(const std::vector<Node>& nodes, const Scope& scope, BoundGraph& bound, std::size_t depth) {
    for (std::size_t i = 0; i < nodes.size(); ++i) add_node(nodes[i], static_cast<std::int64_t>(i), scope, bound, depth);
  }

  void add_node(const Node& source, std::int64_t index, const Scope& scope, BoundGraph& bound, std::size_t depth) {
    if (++node_count_ > limits_.max_nodes) too_many();
    if (scope.renames != nullptr) charge(size_of(source, scope));
    BoundNode node;
    node.node = source;
    node.index = index;
    node.where = scope.where + describe(source, index);
    node.origin = scope.origin;
    for (auto* list : {&node.node.inputs, &node.node.outputs}) {
      for (std::string& value : *list) value = rename(value, scope);
    }
    std::string first_output;
    for (const std::string& output : node.node.outputs) {
      if (first_output.empty()) first_output = output;
    }
    node.label = !source.name.empty() ? scope.prefix + source.name : first_output;
    node.filled_in = resolve_attributes(node.node, scope);

    const auto called = functions_.find(key(source.domain, source.op_type, source.overload));
    if (called != functions_.end()) {
      inline_call(*called->second, node, bound, depth);
      return;
    }
    node.opset = opset_of(*scope.imports, source.domain, model_.ir_version.value_or(0)).value_or(0);
    node.op = find_op(source.domain, source.op_type);
    if (node.op != nullptr && node.opset > 0) node.schema = schema_for(*node.op, node.opset);
    bind_subgraphs(node, source, scope, bound, depth);
    bound.nodes.push_back(std::move(node));
  }

  // True if the node had a reference to resolve.
  static bool resolve_attributes(Node& node, const Scope& scope) {
    if (scope.arguments == nullptr) return false;
    bool referred = false;
    std::vector<Attribute> resolved;
    for (Attribute& attribute : node.attributes) {
      if (attribute.ref_attr_name.empty()) {
        resolved.push_back(std::move(attribute));
        continue;
      }
      referred = true;
      const auto argument = scope.arguments->find(attribute.ref_attr_name);
      if (argument == scope.arguments->end()) continue;  // left out: the operator's default counts
      Attribute value = argument->second;
      value.name = attribute.name;
      resolved.push_back(std::move(value));
    }
    node.attributes = std::move(resolved);
    return referred;
  }

  void bind_subgraphs(BoundNode& node, const Node& source, const Scope& scope, BoundGraph& bound, std::size_t depth) {
    std::string source_label = source.name;
    for (const std::string& output : source.outputs) {
      if (source_label.empty()) source_label = output;
    }
    for (Attribute& attribute : node.node.attributes) {
      const auto bind_one = [&](std::shared_ptr<const Graph>& g) {
        if (!g) return;
        // Inside a function each call needs a graph of its own to be the key of.
        if (scope.renames != nullptr) g = std::make_shared<const Graph>(Graph{.name = g->name, .nodes = g->nodes,
            .initializers = g->initializers, .sparse_initializers = g->sparse_initializers, .inputs = g->inputs,
            .outputs = g->outputs, .value_infos = g->value_infos});
        const std::string path = fmt::format("{}{}{}/{}", bound.path, bound.path.empty() ? "" : "/", node.label, attribute.name);
        Scope inner = scope;
        inner.origin = fmt::format("{}{}{}/{}", scope.origin, scope.origin.empty() ? "" : "/", source_label, attribute.name);
        bound.subgraphs[g.get()] = std::make_shared<const BoundGraph>(graph(*g, inner, path, depth + 1));
      };
      bind_one(attribute.g);
      for (auto& g : attribute.graphs) bind_one(g);
    }
  }

  void inline_call(const Function& function, const BoundNode& call, BoundGraph& bound, std::size_t depth) {
    if (depth >= limits_.max_depth) {
      fail(ErrorKind::kLimit, "{}: function calls nest deeper than {}", call.where, limits_.max_depth);
    }
    Scope inner;
    inner.imports = &function.opset_imports;
    inner.where = fmt::format("{}: ", call.where);
    inner.origin = "function " + label(function);
    // A label that another call (or value) already uses gets a number, so that no two inner names meet.
    std::string base = call.label.empty() ? function.name : call.label;
    inner.prefix = base + "/";
    for (int n = 2; !prefixes_.insert(inner.prefix).second; ++n) inner.prefix = fmt::format("{}#{}/", base, n);

    Renames renames;
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
      renames[function.inputs[i]] = i < call.node.inputs.size() ? call.node.inputs[i] : std::string();
    }
    std::vector<std::pair<std::string, std::string>> aliases;  // outputs that are inputs, or asked for twice
    for (std::size_t i = 0; i < function.outputs.size() && i < call.node.outputs.size(); ++i) {
      const std::string& target = call.node.outputs[i];
      if (target.empty()) continue;
      if (!renames.emplace(function.outputs[i], target).second) aliases.emplace_back(renames[function.outputs[i]], target);
    }
    inner.renames = &renames;

    charge(size_of(function.attribute_defaults) + size_of(call.node.attributes));
    std::map<std::string, Attribute> arguments;
    for (const Attribute& attribute : function.attribute_defaults) arguments[attribute.name] = attribute;
    for (const Attribute& attribute : call.node.attributes) arguments[attribute.name] = attribute;
    inner.arguments = &arguments;

    add_nodes(function.nodes, inner, bound, depth + 1);
    for (const ValueInfo& info : function.value_infos) {
      charge(sizeof info + inner.prefix.size() + info.name.size());
      bound.value_infos.push_back({rename(info.name, inner), info.type});
    }
    for (const auto& [from, to] : aliases) add_alias(from, to, call, bound);
  }

  static void add_alias(const std::string& from, const std::string& to, const BoundNode& call, BoundGraph& bound) {
    BoundNode node;
    node.node.op_type = "Identity";
    node.node.inputs = {from};
    node.node.outputs = {to};
    node.where = call.where;
    node.label = to;
    node.opset = newest_opset("");
    node.op = find_op("", "Identity");
    if (node.op != nullptr) node.schema = schema_for(*node.op, node.opset);
    bound.nodes.push_back(std::move(node));
  }

  const Model& model_;
  BindLimits limits_;
  std::unordered_map<std::string, const Function*> functions_;
  std::unordered_map<const Function*, std::size_t> counts_;
  std::unordered_set<std::string> prefixes_;
  std::size_t node_count_ = 0;
  std::size_t copied_ = 0;  // bytes, see charge()
};

}  // namespace

BoundGraph bind_model(const Model& model, const BindLimits& limits) {
  if (!model.graph) fail(ErrorKind::kRuntime, "the model has no graph");
  return Binder(model, limits).main();
}

}  // namespace lppool
