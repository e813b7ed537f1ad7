// GR024: how many values the bodies of If, Loop, Scan and SequenceMap take and give, by the operators' texts.
#include <catch2/catch.hpp>

#include "lppool/check/check.h"
#include "support/model_builder.h"

namespace lppool::test {
namespace {

// A body with so many inputs and outputs. The first output is the outer condition where `condition` says so.
Graph body_of(std::size_t inputs, std::size_t outputs, bool condition, std::string_view first_types) {
  GraphBuilder b("body");
  for (std::size_t i = 0; i < inputs; ++i) {
    const bool round = !first_types.empty() && i < 2;
    b.input("i" + std::to_string(i), round ? (i == 0 ? "int64 scalar" : "bool scalar") : "float32 1x1x5x5");
  }
  for (std::size_t o = 0; o < outputs; ++o) {
    const std::string name = "o" + std::to_string(o);
    if (condition && o == 0)
      b.node("Identity", "c", name);
    else
      b.node("Abs", "x", name);
    b.output(name, "");
  }
  return b.graph;
}

std::string messages(const Graph& graph, std::int64_t opset) {
  std::string text;
  for (const Diagnostic& finding : check_model(make_model(graph, opset))) {
    if (finding.severity == Severity::kError) text += finding.code + " " + finding.message + "\n";
  }
  return text;
}

GraphBuilder base() {
  GraphBuilder g;
  g.input("x").input("n", "int64 scalar").input("c", "bool scalar").input("xs", "float32 3x1x1x5x5");
  return g;
}

void give_outputs(GraphBuilder& g, std::size_t count) {
  for (std::size_t o = 0; o < count; ++o) g.output("y" + std::to_string(o), "float32 ?x?x?x?");
}

struct Case {
  std::size_t inputs, outputs;  // of the body
  std::string expected;
};

}  // namespace

TEST_CASE("A branch of If takes nothing and gives the node's outputs", "[check][If]") {
  const auto c = GENERATE(
      Case{0, 2, ""}, Case{1, 2, "GR024 then_branch has 1 input, expected 0: a branch reads the values around it\n"},
      Case{0, 1, "GR024 then_branch has 1 output, expected 2: the node's outputs\n"},
      Case{0, 3, "GR024 then_branch has 3 outputs, expected 2: the node's outputs\n"});
  CAPTURE(c.inputs, c.outputs);
  GraphBuilder g = base(), other("else");
  other.node("Abs", "x", "e0").node("Abs", "x", "e1").output("e0", "").output("e1", "");
  g.node("If", "c", "y0 y1",
         {attr_graph("then_branch", body_of(c.inputs, c.outputs, false, "")), attr_graph("else_branch", other.graph)});
  give_outputs(g, 2);
  CHECK(messages(g.graph, 18) == c.expected);
}

TEST_CASE("The body of Loop takes round, condition and carried values, and gives condition and outputs",
          "[check][Loop]") {
  const auto c = GENERATE(Case{3, 2, ""},
                          Case{2, 2, "GR024 body has 2 inputs, expected 3: round, condition and the carried values\n"},
                          Case{4, 2, "GR024 body has 4 inputs, expected 3: round, condition and the carried values\n"},
                          Case{3, 1, "GR024 body has 1 output, expected 2: the condition and the node's outputs\n"},
                          Case{3, 3, "GR024 body has 3 outputs, expected 2: the condition and the node's outputs\n"});
  CAPTURE(c.inputs, c.outputs);
  GraphBuilder g = base();
  g.node("Loop", "n c x", "y0", {attr_graph("body", body_of(c.inputs, c.outputs, true, "round"))});
  give_outputs(g, 1);
  CHECK(messages(g.graph, 18) == c.expected);
}

TEST_CASE("The body of Loop says bool whether to go on", "[check][Loop]") {
  GraphBuilder g = base();
  g.node("Loop", "n c x", "y0", {attr_graph("body", body_of(3, 2, false, "round"))});
  give_outputs(g, 1);
  CHECK(messages(g.graph, 18) == "SH002 the body's first output, the condition, is float32 1x1x5x5, expected bool\n");
}

TEST_CASE("The body of Scan takes the node's inputs and gives its outputs", "[check][Scan]") {
  const std::int64_t opset = GENERATE(8, 9, 18);
  const auto c = GENERATE(Case{2, 2, ""}, Case{1, 2, "GR024 body has 1 input, expected 2: the node's inputs\n"},
                          Case{3, 2, "GR024 body has 3 inputs, expected 2: the node's inputs\n"},
                          Case{2, 1, "GR024 body has 1 output, expected 2: the node's outputs\n"},
                          Case{2, 3, "GR024 body has 3 outputs, expected 2: the node's outputs\n"});
  CAPTURE(opset, c.inputs, c.outputs);
  GraphBuilder g = base();
  g.node("Scan", opset == 8 ? "- x xs" : "x xs", "y0 y1",
         {attr_i("num_scan_inputs", 1), attr_graph("body", body_of(c.inputs, c.outputs, false, ""))});
  g.output("y0", "").output("y1", "");
  const std::string found = messages(g.graph, opset);
  if (c.expected.empty())
    CHECK(found.find("GR024") == std::string::npos);
  else
    CHECK(found.find(c.expected) != std::string::npos);
}

TEST_CASE("The body of SequenceMap takes the node's inputs and gives its outputs", "[check][SequenceMap]") {
  const auto c = GENERATE(Case{2, 1, ""}, Case{1, 1, "GR024 body has 1 input, expected 2: the node's inputs\n"},
                          Case{2, 2, "GR024 body has 2 outputs, expected 1: the node's outputs\n"});
  CAPTURE(c.inputs, c.outputs);
  GraphBuilder g = base();
  g.node("SequenceConstruct", "x x", "s")
      .node("SequenceMap", "s x", "t", {attr_graph("body", body_of(c.inputs, c.outputs, false, ""))});
  g.node("ConcatFromSequence", "t", "y0", {attr_i("axis", 0)});
  give_outputs(g, 1);
  CHECK(messages(g.graph, 18) == c.expected);
}

}  // namespace lppool::test
