// GR: names of a graph, what defines them, and the interface of the main graph.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "lppool/base/text.h"
#include "lppool/check/rules.h"
#include "lppool/infer/infer.h"

namespace lppool {
namespace {

// Suggestions compare a name with all others, so only the first findings of a model get one.
constexpr std::size_t kMaxSuggestions = 20;
constexpr std::size_t kMaxCandidates = 5000;

void check_interface(CheckState& state, const Place& place, const ValueInfo& info, const char* what) {
  if (info.name.empty()) {
    state.findings.add(place, "GR008", fmt::format("an {} of the graph has no name", what));
    return;
  }
  if (!place.graph.empty()) return;  // branches need not state types
  const Type& type = info.type;
  const bool tensor = type.kind == Type::Kind::kTensor || type.kind == Type::Kind::kSparseTensor;
  if (type.kind == Type::Kind::kUnset || (tensor && type.dtype_number == 0)) {
    state.findings
        .add(
            place, "GR013",
            fmt::format("{} {} of the main graph has no {}", what, quoted(info.name), tensor ? "element type" : "type"))
        .tensor = info.name;
  } else if (tensor && !type.shape) {
    state.findings
        .add(place, "GR014",
             fmt::format("{} {} of the main graph has no shape, expected a rank at least", what, quoted(info.name)),
             "state the rank; sizes may be symbols or left open")
        .tensor = info.name;
  }
}

void define(CheckState& state, const Place& place, Scope& scope, const std::string& name, const char* what) {
  if (scope.outer_defines(name)) {
    state.findings
        .add(place, "GR003", fmt::format("{} {} reuses the name of a value of an outer graph", what, quoted(name)),
             "rename it inside the branch")
        .tensor = name;
    scope.define(name);
  } else if (!scope.define(name)) {
    state.findings
        .add(place, "GR002", fmt::format("{} {} is defined already", what, quoted(name)), "rename one of the two")
        .tensor = name;
  }
}

void add_inputs(CheckState& state, const Graph& graph, Scope& scope, const std::string& path) {
  const Place place{.graph = path};
  for (const ValueInfo& input : graph.inputs) {
    check_interface(state, place, input, "input");
    check_type(state, place, input.name, input.type);
    if (!input.name.empty()) define(state, place, scope, input.name, "input");
  }
}

// An initializer that is the default of an input: the two must agree.
void check_default(CheckState& state, const Place& place, const StoredTensor& tensor, const Type& declared) {
  if (declared.kind != Type::Kind::kTensor || tensor.problem) return;
  const auto report = [&](const char* code, const std::string& given, const std::string& expected) {
    state.findings
        .add(place, code,
             fmt::format("the default of input {} is {}, but the input is declared {}", quoted(tensor.name), given,
                         expected))
        .tensor = tensor.name;
  };
  if (is_known(declared.dtype_number) && declared.dtype_number != tensor.dtype_number &&
      is_known(tensor.dtype_number)) {
    report("TY002", std::string(name(tensor.dtype())), std::string(name(declared.dtype)));
  }
  if (!declared.shape) return;
  bool agrees = declared.shape->size() == tensor.dims.size();
  for (std::size_t i = 0; agrees && i < tensor.dims.size(); ++i) {
    agrees = (*declared.shape)[i].value.value_or(tensor.dims[i]) == tensor.dims[i];
  }
  if (agrees) return;
  const std::vector<Dim> dims(tensor.dims.begin(), tensor.dims.end());
  report("SH001", to_string(dims), to_string(*declared_type(declared).shape));
}

void add_initializers(CheckState& state, const Graph& graph, Scope& scope, const std::string& path) {
  const Place place{.graph = path};
  std::unordered_set<std::string_view> seen;
  std::unordered_map<std::string_view, const Type*> inputs;
  for (const ValueInfo& input : graph.inputs) inputs.emplace(input.name, &input.type);
  const auto add = [&](const std::string& name, bool dense) {
    if (name.empty()) {
      state.findings.add(place, "GR010", fmt::format("{} initializer has no name", dense ? "an" : "a sparse"));
      return;
    }
    if (!seen.insert(name).second) {
      state.findings.add(place, "GR011", fmt::format("initializer {} is given twice", quoted(name))).tensor = name;
      return;
    }
    if (inputs.contains(name)) {
      if (!path.empty() && state.ir_version >= 4) {
        state.findings.add(place, "GR023", fmt::format("{} is an input and an initializer of the branch", quoted(name)))
            .tensor = name;
      }
      return;
    }
    if (state.ir_version <= 3 && dense) {
      state.findings
          .add(place, "GR012",
               fmt::format("initializer {} is no graph input, which IR version {} demands", quoted(name),
                           state.ir_version),
               "add an input of that name, or set ir_version to 4 or more")
          .tensor = name;
    }
    define(state, place, scope, name, "initializer");
  };
  for (const StoredTensor& tensor : graph.initializers) {
    add(tensor.name, true);
    check_tensor(state, place, tensor);
    if (const auto input = inputs.find(tensor.name); input != inputs.end())
      check_default(state, place, tensor, *input->second);
  }
  for (const StoredSparseTensor& tensor : graph.sparse_initializers) {
    add(tensor.values.name, false);
    check_sparse_tensor(state, place, tensor);
  }
}

std::vector<std::string_view> check_outputs(CheckState& state, const Graph& graph, Scope& scope,
                                            const std::string& path) {
  const Place place{.graph = path};
  std::vector<std::string_view> outputs;
  std::unordered_set<std::string_view> seen;
  for (const ValueInfo& output : graph.outputs) {
    check_interface(state, place, output, "output");
    check_type(state, place, output.name, output.type);
    if (output.name.empty()) continue;
    outputs.push_back(output.name);
    if (!seen.insert(output.name).second) {
      state.findings.add(place, "GR009", fmt::format("output {} of the graph is listed twice", quoted(output.name)))
          .tensor = output.name;
    } else if (!scope.defines(output.name)) {
      const bool outer = scope.outer_defines(output.name);
      state.findings
          .add(place, "GR007",
               fmt::format("output {} of the graph is {}", quoted(output.name),
                           outer ? "a value of an outer graph" : "not produced"),
               outer ? "return it through an Identity node inside the branch" : "")
          .tensor = output.name;
    }
  }
  return outputs;
}

void check_value_infos(CheckState& state, const Graph& graph, const Scope& scope, const std::string& path) {
  const Place place{.graph = path};
  for (const ValueInfo& info : graph.value_infos) {
    check_type(state, place, info.name, info.type);
    if (scope.defines(info.name)) continue;
    state.findings.add(place, "GR020", fmt::format("value_info {} describes no value of this graph", quoted(info.name)))
        .tensor = info.name;
  }
}

void check_unused(CheckState& state, const Graph& graph, const Scope& scope,
                  const std::vector<std::string_view>& outputs) {
  if (has_broken_edges(state)) return;
  std::unordered_set<std::string_view> used(outputs.begin(), outputs.end());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) used.insert(scope.reads(i).begin(), scope.reads(i).end());
  std::unordered_set<std::string_view> inputs;
  for (const ValueInfo& input : graph.inputs) {
    inputs.insert(input.name);
    if (input.name.empty() || used.contains(input.name)) continue;
    state.findings.add({}, "GR019", fmt::format("input {} is never used", quoted(input.name))).tensor = input.name;
  }
  for (const StoredTensor& tensor : graph.initializers) {
    if (tensor.name.empty() || used.contains(tensor.name) || inputs.contains(tensor.name)) continue;
    state.findings.add({}, "GR018", fmt::format("initializer {} is never used", quoted(tensor.name))).tensor =
        tensor.name;
  }
}

// Everything of a graph once its scope stands.
void check_graph(CheckState& state, const Body& body, const Graph& graph, Scope& scope, const std::string& path,
                 std::size_t depth) {
  if (graph.name.empty()) {
    state.findings.add({.graph = path}, "GR001",
                       path.empty() ? "the graph has no name" : "the branch's graph has no name", "any name will do");
  }
  add_inputs(state, graph, scope, path);
  add_initializers(state, graph, scope, path);
  check_nodes(state, body, graph.nodes, scope, path, depth);
  check_order(state, graph.nodes, scope, path);
  const auto outputs = check_outputs(state, graph, scope, path);
  check_value_infos(state, graph, scope, path);
  check_dead_nodes(state, graph.nodes, scope, outputs, path);
  if (path.empty()) check_unused(state, graph, scope, outputs);
}

void check_reads(CheckState& state, const Place& place, Scope& scope) {
  for (const std::string& input : place.node->inputs) {
    if (input.empty()) continue;
    scope.read(input);
    // Produced later by a node of this graph: order_rules.cc judges that when the whole graph is known.
    if (scope.visible(input) || scope.produces(input, false)) continue;
    if (scope.produces(input, true)) {
      state.findings
          .add(place, "GR005", fmt::format("input {} is defined later, in an outer graph", quoted(input)),
               "sort the nodes of the outer graph")
          .tensor = input;
      continue;
    }
    std::string hint;
    if (state.findings.count("GR004") < kMaxSuggestions) {
      auto names = scope.names(kMaxCandidates);
      std::ranges::sort(names);  // of equals the same one everywhere
      if (const auto near = nearest(input, names)) hint = fmt::format("did you mean {}?", quoted(*near));
    }
    state.findings.add(place, "GR004", fmt::format("input {} is defined nowhere", quoted(input)), hint).tensor = input;
  }
}

}  // namespace

void check_main_graph(CheckState& state, const Graph& graph) {
  Scope scope(nullptr, graph.nodes);
  check_graph(state, Body{&state.model.opset_imports, nullptr}, graph, scope, "", 0);
}

void check_branch(CheckState& state, const Body& body, const Graph& graph, Scope& outer, const std::string& path,
                  std::size_t depth) {
  if (depth > kMaxNesting) {
    state.findings.add({.graph = path}, "GR022", fmt::format("graphs nest deeper than {}", kMaxNesting));
    return;
  }
  Scope scope(&outer, graph.nodes);
  check_graph(state, body, graph, scope, path, depth);
}

void check_nodes(CheckState& state, const Body& body, const std::vector<Node>& nodes, Scope& scope,
                 const std::string& path, std::size_t depth) {
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    scope.visit(i);
    const Place place{.graph = path, .node = &node, .index = static_cast<std::int64_t>(i)};
    if (!node.name.empty() && !names.insert(node.name).second) {
      state.findings.add(place, "GR021", fmt::format("node name {} is used twice in this graph", quoted(node.name)));
    }
    check_reads(state, place, scope);
    check_node(state, body, node, place.index, path);
    std::string label = node.name;
    for (const std::string& output : node.outputs) {
      if (label.empty()) label = output;
    }
    for (const Attribute& attribute : node.attributes) {
      const auto branch = [&](const Graph& graph) {
        check_branch(state, body, graph, scope,
                     fmt::format("{}{}{}/{}", path, path.empty() ? "" : "/", label, attribute.name), depth + 1);
      };
      if (attribute.g) branch(*attribute.g);
      for (const auto& graph : attribute.graphs) {
        if (graph) branch(*graph);
      }
    }
    for (const std::string& output : node.outputs) {
      if (!output.empty()) define(state, place, scope, output, "output");
    }
  }
}

}  // namespace lppool
