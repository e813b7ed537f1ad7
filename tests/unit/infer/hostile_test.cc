// Models that break promises a rule builds on: one finding, and no rule or kernel sees them.
#include <catch2/catch.hpp>

#include "lppool/check/check.h"
#include "lppool/bind/bound_graph.h"
#include "lppool/infer/infer.h"
#include "support/model_builder.h"

namespace lppool::test {
namespace {

// The codes of the errors of `check`, in order.
std::string errors(const GraphBuilder& g, bool portability = false) {
  CheckOptions options;
  options.portability = portability;
  std::string text;
  for (const Diagnostic& finding : check_model(make_model(g.graph), options)) {
    if (finding.severity == Severity::kError) text += (text.empty() ? "" : " ") + finding.code;
  }
  return text;
}

Node branch_node(Graph then_branch, Graph else_branch) {
  return make_node("If", "c", "y", {attr_graph("then_branch", std::move(then_branch)), attr_graph("else_branch", std::move(else_branch))});
}

Graph branch(const std::string& result, std::vector<Node> nodes, std::vector<std::string> inputs = {}) {
  GraphBuilder g(result);
  for (const std::string& input : inputs) g.input(input, "float32 2");
  g.output(result);
  g.graph.nodes = std::move(nodes);
  return g.graph;
}

GraphBuilder with_if(std::string condition, Node node) {
  GraphBuilder g;
  g.input("c", std::move(condition)).input("x", "float32 2").output("y", "float32 2");
  g.graph.nodes = {std::move(node)};
  return g;
}

TEST_CASE("a constant of a type the operator does not take is not read as one it does", "[infer]") {
  GraphBuilder g;
  g.input("x", "float32 1x4").output("y", "float32 ?x?").initializer("scales", Tensor::of<std::int64_t>({2}, {1, 2}));
  g.node("Resize", "x - scales", "y");
  CHECK(errors(g) == "TY001");
  GraphBuilder mixed;
  mixed.output("y", "int64 ?").initializer("a", Tensor::scalar<std::int64_t>(0)).initializer("b", Tensor::scalar<std::int64_t>(9));
  mixed.initializer("step", Tensor::scalar<float>(1)).node("Range", "a b step", "y");
  CHECK(errors(mixed) == "TY003");
}

TEST_CASE("branches of an If have no inputs, as many outputs as the node, and one condition", "[infer]") {
  const Graph plain = branch("t", {make_node("Relu", "x", "t")}), other = branch("e", {make_node("Abs", "x", "e")});
  CHECK(errors(with_if("bool scalar", branch_node(plain, other))).empty());
  CHECK(errors(with_if("bool 1", branch_node(plain, other))).empty());
  CHECK(errors(with_if("bool 3", branch_node(plain, other))) == "SH002");
  CHECK(errors(with_if("bool scalar", branch_node(branch("t", {make_node("Relu", "q", "t")}, {"q"}), other))) == "GR024");
  Graph two = branch("t", {make_node("Relu", "x", "t"), make_node("Abs", "x", "t2")});
  two.outputs.push_back({"t2", {}});
  CHECK(errors(with_if("bool scalar", branch_node(two, other))) == "GR024");
}

TEST_CASE("a new shape is a list", "[infer]") {
  GraphBuilder g;
  g.input("x", "float32 N").output("y", "float32 ?x?").initializer("s", Tensor::of<std::int64_t>({1, 2}, {2, 2}));
  g.node("Reshape", "x s", "y");
  CHECK(errors(g) == "SH002");
}

TEST_CASE("portability notes know the shapes inside branches", "[check]") {
  const std::vector<Attribute> attributes = {attr_ints("kernel_shape", {2}), attr_ints("strides", {2}), attr_ints("pads", {1, 2}), attr_i("ceil_mode", 1)};
  GraphBuilder g;
  g.input("c", "bool scalar").input("x", "float32 1x1x5").output("y", "float32 1x1x4");
  g.graph.nodes = {branch_node(branch("t", {make_node("Relu", "x", "r"), make_node("LpPool", "r", "t", attributes)}),
                               branch("e", {make_node("LpPool", "x", "e", attributes)}))};
  CheckOptions options;
  options.portability = true;
  int both_shapes = 0;
  for (const Diagnostic& finding : check_model(make_model(g.graph), options)) {
    if (finding.code == "PO003" && finding.graph == "y/then_branch") {
      CHECK_THAT(finding.message, Catch::Contains("1x1x3") && Catch::Contains("1x1x4"));
      ++both_shapes;
    }
  }
  CHECK(both_shapes == 3);  // ONNX Runtime, ONNX 1.16, PyTorch
}

}  // namespace
}  // namespace lppool::test
