// FN: functions of a model, and calls of them.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "lppool/check/rules.h"

namespace lppool {
namespace {

constexpr std::size_t kMaxCallDepth = 100;

std::string path_of(const Function& function) {
  return "function " + label(function);
}

// Which functions a body calls, branches included, in order and each once.
struct Calls {
  std::vector<const Function*> in_order;
  std::unordered_set<const Function*> seen;
};

void collect_calls(const FunctionTable& table, const std::vector<Node>& nodes, std::size_t depth, Calls& calls) {
  if (depth > kMaxNesting) return;
  for (const Node& node : nodes) {
    const Function* called = table.called_by(node);
    if (called != nullptr && calls.seen.insert(called).second) calls.in_order.push_back(called);
    for (const Attribute& attribute : node.attributes) {
      if (attribute.g) collect_calls(table, attribute.g->nodes, depth + 1, calls);
      for (const auto& graph : attribute.graphs) {
        if (graph) collect_calls(table, graph->nodes, depth + 1, calls);
      }
    }
  }
}

// Walks the calls depth first without recursion, so that a long chain cannot exhaust the stack.
class CallGraph {
 public:
  explicit CallGraph(CheckState& state) : state_(state) {
    for (const Function& function : state.model.functions) {
      if (&function != state.functions.first_of(function)) continue;
      Calls calls;
      collect_calls(state.functions, function.nodes, 0, calls);
      calls_[&function] = std::move(calls.in_order);
    }
  }

  void check() {
    for (const Function& function : state_.model.functions) {
      if (calls_.contains(&function) && depth_[&function] == 0) walk(&function);
    }
  }

 private:
  struct Frame {
    const Function* function;
    std::size_t next = 0;
  };

  void walk(const Function* root) {
    std::vector<Frame> stack{{root}};
    std::unordered_set<const Function*> on_stack{root};
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const auto& calls = calls_[frame.function];
      if (frame.next == calls.size()) {
        std::size_t depth = 1;
        for (const Function* callee : calls) depth = std::max(depth, depth_[callee] + 1);
        depth_[frame.function] = depth;
        if (depth == kMaxCallDepth + 1) {
          state_.findings.add({.graph = path_of(*frame.function)}, "FN009",
                              fmt::format("calls from {} nest {} deep, expected {} at most",
                                          quoted(label(*frame.function)), depth, kMaxCallDepth));
        }
        on_stack.erase(frame.function);
        stack.pop_back();
        continue;
      }
      const Function* callee = calls[frame.next++];
      if (on_stack.contains(callee)) {
        report_cycle(stack, callee);
      } else if (depth_[callee] == 0) {
        on_stack.insert(callee);
        stack.push_back({callee});
      }
    }
  }

  void report_cycle(const std::vector<Frame>& stack, const Function* callee) {
    std::string names;
    const auto start = std::ranges::find(stack, callee, &Frame::function);
    std::size_t shown = 0;
    for (auto frame = start; frame != stack.end(); ++frame) {
      if (++shown <= 8) names += label(*frame->function) + " -> ";
      if (shown == 9) names += "... -> ";
    }
    const std::string path = path_of(*callee);
    state_.findings.add({.graph = path}, "FN001",
                        fmt::format("functions call each other in a circle: {}{}", names, label(*callee)));
  }

  CheckState& state_;
  std::unordered_map<const Function*, std::vector<const Function*>> calls_;
  std::unordered_map<const Function*, std::size_t> depth_;  // longest chain of calls from here; 0: not known yet
};

void check_parameters(CheckState& state, const Function& function, const Place& place) {
  const auto distinct = [&](const char* what, const std::vector<std::string>& names) {
    std::unordered_set<std::string_view> seen;
    for (const std::string& name : names) {
      if (seen.insert(name).second) continue;
      state.findings.add(place, "FN005",
                         fmt::format("function {} declares {} {} twice", quoted(label(function)), what, quoted(name)));
    }
  };
  distinct("input", function.inputs);
  distinct("output", function.outputs);
  std::vector<std::string> attributes = function.attributes;
  for (const Attribute& attribute : function.attribute_defaults) attributes.push_back(attribute.name);
  distinct("attribute", attributes);
  for (const Attribute& attribute : function.attribute_defaults) check_attribute_value(state, place, attribute);
}

void check_function(CheckState& state, const Function& function) {
  const std::string path = path_of(function);
  const Place place{.graph = path};
  if (function.name.empty()) state.findings.add(place, "FN003", "a function has no name");
  if (state.functions.first_of(function) != &function) {
    state.findings.add(place, "FN002", fmt::format("function {} is defined twice", quoted(label(function))));
  }
  if (state.ir_version >= 8 && state.ir_version < 10 && (!function.overload.empty() || !function.value_infos.empty())) {
    state.findings.add(
        place, "FN008",
        fmt::format("{} came with IR version 10, the model states {}",
                    function.overload.empty() ? "value_info of a function" : "overload", state.ir_version));
  } else if (state.ir_version == 8 && !function.attribute_defaults.empty()) {
    state.findings.add(place, "FN008", "defaults of attributes came with IR version 9, the model states 8");
  }
  if (find_op(function.domain, function.name) != nullptr) {
    state.findings.add(place, "FN012",
                       fmt::format("function {} stands in for ONNX's operator", quoted(label(function))));
  }
  check_parameters(state, function, place);
  check_imports(state, function.opset_imports, path);

  Body body{&function.opset_imports, &function};
  Scope scope(nullptr, function.nodes);
  for (const std::string& input : function.inputs) scope.define(input);
  check_nodes(state, body, function.nodes, scope, path, 0);
  check_order(state, function.nodes, scope, path);
  std::vector<std::string_view> outputs;
  for (const std::string& output : function.outputs) {
    outputs.push_back(output);
    if (scope.defines(output)) continue;
    state.findings
        .add(place, "FN006",
             fmt::format("output {} of function {} is not produced", quoted(output), quoted(label(function))))
        .tensor = output;
  }
  check_dead_nodes(state, function.nodes, scope, outputs, path);
}

}  // namespace

FunctionTable::FunctionTable(const Model& model) {
  for (const Function& function : model.functions) {
    functions_.emplace(key(function.domain, function.name, function.overload), &function);
  }
}

std::string FunctionTable::key(std::string_view domain, std::string_view name, std::string_view overload) {
  return fmt::format("{}\n{}\n{}", canonical_domain(domain), name, overload);
}

const Function* FunctionTable::called_by(const Node& node) const {
  if (functions_.empty()) return nullptr;
  const auto found = functions_.find(key(node.domain, node.op_type, node.overload));
  return found == functions_.end() ? nullptr : found->second;
}

const Function* FunctionTable::first_of(const Function& function) const {
  return functions_.at(key(function.domain, function.name, function.overload));
}

void check_functions(CheckState& state) {
  if (state.model.functions.empty()) return;
  if (state.ir_version < 8) {
    state.findings.add(
        {}, "FN004",
        fmt::format("the model has functions, which came with IR version 8, and states {}", state.ir_version));
  }
  for (const Function& function : state.model.functions) check_function(state, function);
  CallGraph(state).check();
}

void check_call(CheckState& state, const Place& place, const Function& function) {
  const Node& node = *place.node;
  const auto too_many = [&](const char* what, std::size_t given, std::size_t declared) {
    if (given <= declared) return;
    state.findings.add(
        place, "FN011",
        fmt::format("the call of {} has {} {}, the function {}", quoted(label(function)), given, what, declared));
  };
  too_many("inputs", node.inputs.size(), function.inputs.size());
  too_many("outputs", node.outputs.size(), function.outputs.size());
  for (const Attribute& attribute : node.attributes) {
    const bool declared = std::ranges::find(function.attributes, attribute.name) != function.attributes.end() ||
                          std::ranges::find(function.attribute_defaults, attribute.name, &Attribute::name) !=
                              function.attribute_defaults.end();
    if (declared || attribute.name.starts_with("__")) continue;
    state.findings
        .add(place, "FN010",
             fmt::format("the call passes attribute {}, which function {} does not declare", quoted(attribute.name),
                         quoted(label(function))))
        .attribute = attribute.name;
  }
}

}  // namespace lppool
