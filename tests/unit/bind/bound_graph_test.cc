#include <catch2/catch.hpp>

#include "lppool/base/error.h"
#include "lppool/bind/bound_graph.h"
#include "support/model_builder.h"

using namespace lppool;
using namespace lppool::test;

namespace {

// y = f(x) with f(a) = LpPool(LpPool(a)), p taken from the call.
Model model_with_function(std::vector<Attribute> call_attributes) {
  Node first = make_node("LpPool", "a", "t", {attr_ints("kernel_shape", {2}), attr_ref("p", AttributeType::kInt, "power")});
  Node second = make_node("LpPool", "t", "b", {attr_ints("kernel_shape", {2})});
  GraphBuilder g;
  g.input("x", "float32 1x1x8").output("y", "float32 ?x?x?").node("Twice", "x", "y", std::move(call_attributes), "local");
  Model model = make_model(g.graph, 18, 10);
  model.opset_imports.push_back({"local", 1});
  model.functions.push_back(make_function("Twice", {"a"}, {"b"}, {first, second}, {"power"}));
  return model;
}

// A call of the last of `levels` functions, each of which calls the one before twice: 2^levels nodes from a small file.
Model doubling_functions(int levels) {
  Model model = model_with_function({});
  model.functions.clear();
  for (int level = 0; level < levels; ++level) {
    const std::string inner = level == 0 ? "LpPool" : "F" + std::to_string(level - 1);
    const std::string domain = level == 0 ? "" : "local";
    Function f = make_function("F" + std::to_string(level), {"a"}, {"b"},
                               {make_node(inner, "a", "t", {}, domain), make_node(inner, "t", "b", {}, domain)});
    f.opset_imports.push_back({"local", 1});
    model.functions.push_back(std::move(f));
  }
  model.graph->nodes = {make_node("F" + std::to_string(levels - 1), "x", "y", {}, "local")};
  return model;
}

}  // namespace

TEST_CASE("A function call is replaced by its body under the caller's names", "[bind]") {
  const BoundGraph graph = bind_model(model_with_function({attr_i("power", 3)}));
  REQUIRE(graph.nodes.size() == 2);
  CHECK(graph.nodes[0].node.inputs == std::vector<std::string>{"x"});
  CHECK(graph.nodes[1].node.outputs == std::vector<std::string>{"y"});
  CHECK(graph.nodes[0].node.outputs == graph.nodes[1].node.inputs);
  CHECK(graph.nodes[0].node.outputs[0] == "y/t");
  REQUIRE(graph.nodes[0].node.find_attribute("p") != nullptr);
  CHECK(graph.nodes[0].node.find_attribute("p")->i == 3);
  CHECK(graph.nodes[0].schema->since_version == 18);
}

TEST_CASE("An attribute the call leaves out is left out of the body, so that the operator's default counts", "[bind]") {
  const BoundGraph graph = bind_model(model_with_function({}));
  CHECK(graph.nodes[0].node.find_attribute("p") == nullptr);
}

TEST_CASE("Two calls of one function keep their inner names apart", "[bind]") {
  Model model = model_with_function({attr_i("power", 1)});
  model.graph->nodes.push_back(make_node("Twice", "y", "z", {attr_i("power", 1)}, "local"));
  const BoundGraph graph = bind_model(model);
  REQUIRE(graph.nodes.size() == 4);
  CHECK(graph.nodes[0].node.outputs[0] != graph.nodes[2].node.outputs[0]);
}

TEST_CASE("A function that calls itself meets the limit, not the end of the stack", "[bind]") {
  Model model = model_with_function({});
  model.functions[0].nodes.push_back(make_node("Twice", "t", "u", {}, "local"));
  model.functions[0].opset_imports.push_back({"local", 1});
  try {
    bind_model(model);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kLimit);
  }
}

TEST_CASE("Functions that multiply meet the limit on nodes", "[bind]") {
  const Model model = doubling_functions(20);
  CHECK_THROWS_AS(bind_model(model, {100, 10'000}), Error);
}

TEST_CASE("Functions whose calls copy long names or attributes over and over meet the limit on bytes", "[bind]") {
  // 32766 nodes: names grow by 2000 bytes a level, or each inner node has 100000 numbers.
  const bool names = GENERATE(true, false);
  CAPTURE(names);
  Model model = doubling_functions(14);
  for (Function& f : model.functions) {
    for (std::size_t i = 0; names && i < 2; ++i) f.nodes[i].name = std::string(2000, i == 0 ? 'x' : 'y');
  }
  for (Node& node : model.functions.front().nodes) {
    if (!names) node.attributes.push_back(attr_ints("kernel_shape", std::vector<std::int64_t>(100'000, 1)));
  }
  CHECK_THROWS_WITH(bind_model(model), Catch::Contains("more than 536870912 bytes of names and attributes"));
}

TEST_CASE("Functions that would multiply past any memory are refused before anything is made", "[bind]") {
  const Model model = doubling_functions(90);  // 2^90 nodes
  CHECK_THROWS_WITH(bind_model(model), Catch::Contains("more than 1000000 nodes"));
}
