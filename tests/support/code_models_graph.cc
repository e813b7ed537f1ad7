// GR: graphs and names.
#include "support/code_models_parts.h"
#include "support/model_builder.h"

namespace lppool::test {
namespace {

constexpr const char* kAny = "float32 ?x?x?x?";

CodeModel with(std::string code, std::string about, Graph graph, std::int64_t ir_version = 8) {
  return {std::move(code), std::move(about), serialized(make_model(std::move(graph), 18, ir_version)), {}, {}, false};
}

// x -> GlobalLpPool -> y, to be spoilt.
GraphBuilder base() {
  GraphBuilder g;
  g.input("x").node("GlobalLpPool", "x", "y").output("y", kAny);
  return g;
}

Tensor one_value() {
  return Tensor::of<float>({1, 1, 1}, {1});
}

// An If whose branches are `branch` and a plain one.
Graph with_branch(GraphBuilder branch) {
  GraphBuilder other("else"), g;
  other.node("GlobalLpPool", "x", "e").output("e", "");
  branch.graph.name = "then";
  g.input("x").input("c", "bool scalar");
  g.node("If", "c", "y", {attr_graph("then_branch", branch.graph), attr_graph("else_branch", other.graph)});
  g.output("y", kAny);
  return g.graph;
}

// A Loop that runs `body` over the value x.
Graph with_body(Graph body) {
  GraphBuilder g;
  g.input("x").input("n", "int64 scalar").input("c", "bool scalar");
  g.node("Loop", "n c x", "y", {attr_graph("body", std::move(body))}).output("y", kAny);
  return g.graph;
}

std::vector<CodeModel> definition_models() {
  GraphBuilder unnamed = base();
  unnamed.graph.name.clear();
  GraphBuilder same_output("g");
  same_output.input("x").node("GlobalLpPool", "x", "y").node("GlobalLpPool", "x", "y").output("y", kAny);
  GraphBuilder shadowing("then");
  shadowing.node("GlobalLpPool", "x", "x").output("x", "");
  GraphBuilder undefined("g");
  undefined.input("x").node("GlobalLpPool", "X", "y").output("y", kAny);
  GraphBuilder unsorted("g");
  unsorted.input("x").node("GlobalLpPool", "m", "y").node("GlobalLpPool", "x", "m").output("y", kAny);
  GraphBuilder circle("g");
  circle.input("x").node("GlobalLpPool", "b", "a").node("GlobalLpPool", "a", "b").output("b", kAny);
  GraphBuilder not_produced = base();
  not_produced.output("z", kAny);
  return {
      with("GR001", "a graph without name", unnamed.graph),
      with("GR002", "two nodes give 'y'", same_output.graph),
      with("GR003", "a branch gives 'x', a value of the outer graph", with_branch(shadowing)),
      with("GR004", "a node reads 'X', the input is 'x'", undefined.graph),
      with("GR005", "the node that reads 'm' stands before the one that gives it", unsorted.graph),
      with("GR006", "two nodes need each other", circle.graph),
      with("GR007", "no node gives the output 'z'", not_produced.graph),
  };
}

std::vector<CodeModel> interface_models() {
  GraphBuilder nameless = base();
  nameless.output("", kAny);
  GraphBuilder twice = base();
  twice.output("y", kAny);
  GraphBuilder typeless("g");
  typeless.input("x", "").node("GlobalLpPool", "x", "y").output("y", kAny);
  GraphBuilder shapeless("g");
  shapeless.input("x", "float32").node("GlobalLpPool", "x", "y").output("y", kAny);
  return {
      with("GR008", "an output without name", nameless.graph),
      with("GR009", "output 'y' twice", twice.graph),
      with("GR013", "input 'x' without type", typeless.graph),
      with("GR014", "input 'x' without shape", shapeless.graph),
  };
}

std::vector<CodeModel> initializer_models() {
  GraphBuilder nameless = base();
  nameless.initializer("", one_value());
  GraphBuilder twice("g"), ir3("g"), body("body");
  twice.initializer("w", one_value())
      .initializer("w", one_value())
      .node("GlobalLpPool", "w", "y")
      .output("y", "float32 ?x?x?");
  ir3.initializer("w", one_value()).node("GlobalLpPool", "w", "y").output("y", "float32 ?x?x?");
  body.input("i", "int64 scalar").input("c1", "bool scalar").input("a", "float32 1x1x5x5");
  body.initializer("i", Tensor::scalar<std::int64_t>(0));
  body.node("GlobalLpPool", "a", "b").output("c1", "").output("b", "");
  GraphBuilder without_x("body");
  without_x.input("i", "int64 scalar").input("c1", "bool scalar").node("GlobalLpPool", "x", "b").output("c1", "").output("b", "");
  return {
      with("GR010", "an initializer without name", nameless.graph),
      with("GR011", "initializer 'w' twice", twice.graph),
      with("GR012", "an initializer that is no input, in IR version 3", ir3.graph, 3),
      with("GR023", "the body's input 'i' is also an initializer", with_body(body.graph)),
      with("GR024", "the body does not take the carried value", with_body(without_x.graph)),
  };
}

std::vector<CodeModel> node_models() {
  GraphBuilder no_type("g"), nothing = base(), dead = base(), same_name = base();
  no_type.input("x").node("", "x", "y").output("y", kAny);
  nothing.node("GlobalLpPool", "", "");
  dead.node("GlobalLpPool", "x", "unused");
  same_name.node("GlobalLpPool", "y", "z").output("z", kAny);
  for (Node& node : same_name.graph.nodes) node.name = "pool";
  CodeModel without_ends = with("GR016", "a node without inputs and outputs", nothing.graph);
  without_ends.also = {"SC001", "SC003"};
  GraphBuilder unused_weight = base(), unused_input = base(), stale = base();
  unused_weight.initializer("w", one_value());
  unused_input.input("mask");
  stale.value_info("old_name", kAny);
  return {
      with("GR015", "a node without op_type", no_type.graph),
      without_ends,
      with("GR017", "nothing reads 'unused'", dead.graph),
      with("GR018", "nothing reads initializer 'w'", unused_weight.graph),
      with("GR019", "nothing reads input 'mask'", unused_input.graph),
      with("GR020", "value_info of 'old_name', which does not exist", stale.graph),
      with("GR021", "two nodes named 'pool'", same_name.graph),
  };
}

}  // namespace

std::vector<CodeModel> graph_code_models() {
  std::vector<CodeModel> models;
  for (auto part : {definition_models, interface_models, initializer_models, node_models}) {
    for (CodeModel& model : part()) models.push_back(std::move(model));
  }
  return models;
}

}  // namespace lppool::test
