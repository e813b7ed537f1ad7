#include "lppool/report/drawing.h"

#include <catch2/catch.hpp>

#include "support/graphs.h"
#include "support/model_builder.h"

using namespace lppool;
using namespace lppool::report;
using namespace lppool::test;

namespace {

Drawing draw(const Graph& graph) {
  const BoundGraph bound = bind_model(make_model(graph));
  return draw_graph(graph.name, bound, infer_shapes(bound));
}

std::vector<std::string> titles(const Drawing& drawing) {
  std::vector<std::string> list;
  for (const DrawnNode& node : drawing.nodes) list.push_back(node.title);
  return list;
}

}  // namespace

TEST_CASE("A drawing has shapes on its edges and weights in its nodes", "[report]") {
  GraphBuilder g;
  g.input("x", "float32 2x3").initializer("w", Tensor::zeros(DataType::kFloat32, {3, 4})).output("y");
  g.node("MatMul", "x w", "y");
  const Drawing drawing = draw(g.graph);
  REQUIRE(titles(drawing) == std::vector<std::string>{"x", "MatMul", "y"});
  CHECK(drawing.nodes[1].lines == std::vector<std::string>{"[3x4]"});
  REQUIRE(drawing.edges.size() == 2);
  CHECK(drawing.edges[0].label == "2x3");
  CHECK(drawing.edges[1].label == "2x4");
}

TEST_CASE("What only makes constants is left out of a drawing, unless there is nothing else", "[report]") {
  GraphBuilder g;
  g.input("x", "float32 3").output("y");
  g.graph.nodes.push_back(constant("c", Tensor::of<float>({3}, {1, 2, 3})));
  g.node("Neg", "c", "d").node("Add", "x d", "y");
  const Drawing drawing = draw(g.graph);
  CHECK(titles(drawing) == std::vector<std::string>{"x", "Add", "y"});
  CHECK(drawing.left_out == 2);
  CHECK(drawing.nodes[1].lines == std::vector<std::string>{"[3]"});

  GraphBuilder alone;
  alone.graph.nodes.push_back(constant("c", Tensor::of<float>({3}, {1, 2, 3})));
  CHECK(titles(draw(alone.graph)) == std::vector<std::string>{"Constant"});
}

TEST_CASE("A node with a subgraph has edges for what the subgraph reads", "[report]") {
  GraphBuilder then_branch("then"), else_branch("else"), g;
  then_branch.output("t").node("Neg", "x", "t");
  else_branch.output("e").node("Abs", "x", "e");
  g.input("c", "bool scalar").input("x", "float32 2").output("y");
  g.node("If", "c", "y", {attr_graph("then_branch", then_branch.graph), attr_graph("else_branch", else_branch.graph)});
  const Drawing drawing = draw(g.graph);
  REQUIRE(titles(drawing) == std::vector<std::string>{"c", "x", "If", "y"});
  CHECK(drawing.edges.size() == 3);
}

TEST_CASE("A drawing of a circle of nodes ends", "[report]") {
  GraphBuilder g;
  g.input("x", "float32 2").output("y").node("Add", "x b", "a").node("Neg", "a", "b").node("Abs", "b", "y");
  CHECK(svg_text(draw(g.graph), true));
}

TEST_CASE("Names of a model stay text in its pictures", "[report]") {
  GraphBuilder g("\"></svg><script>");
  g.input("<b>", "float32 2").output("y\"").node("Neg", "<b>", "y\"");
  g.graph.nodes[0].name = "</title><script>alert(1)</script>";
  const Drawing drawing = draw(g.graph);
  const std::string svg = *svg_text(drawing, true);
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find("<b>") == std::string::npos);
  const std::string dot = dot_text(drawing);
  CHECK(dot.find("label=\"y\\\"") != std::string::npos);
}
