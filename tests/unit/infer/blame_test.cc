// Declarations that fill in what rules leave open may be wrong; the error then shows further down. Which one is meant
// follows from the model by hand: with it believed the graph cannot be right, without it there is no contradiction.
#include <catch2/catch.hpp>

#include "lppool/bind/bound_graph.h"
#include "lppool/infer/infer.h"
#include "support/model_builder.h"

namespace lppool::test {
namespace {

// "SH001 a" for each error in order: its code and the tensor or node it names.
std::vector<std::string> errors(const GraphBuilder& g) {
  std::vector<std::string> result;
  for (const Diagnostic& finding : infer_shapes(bind_model(make_model(g.graph))).findings) {
    if (finding.severity == Severity::kError) result.push_back(finding.code + " " + (finding.tensor.empty() ? finding.op_type : finding.tensor));
  }
  return result;
}

using Lines = std::vector<std::string>;

TEST_CASE("the declaration that fixed a symbol wrongly is named, not the node that meets it", "[infer]") {
  GraphBuilder g;
  g.input("x", "float32 Nx4").input("c", "float32 3x4").value_info("a", "float32 5x4").value_info("b", "float32 5x4");
  g.node("Relu", "x", "a").node("Relu", "a", "b").node("Add", "b c", "y");
  CHECK(errors(g) == Lines{"SH001 a", "SH001 b"});  // b would not fit on its own either
}

TEST_CASE("right declarations before the wrong one are not named", "[infer]") {
  GraphBuilder g;
  g.input("x", "float32 4x4").input("u", "float32 Nx4").input("c", "int64 2x7");
  g.value_info("r", "float32 9x4").value_info("a", "int64 2x5");
  g.node("Relu", "u", "r").node("NonZero", "x", "a").node("Add", "a c", "y");
  CHECK(errors(g) == Lines{"SH001 a"});
}

TEST_CASE("two wrong declarations of two symbols are both named", "[infer]") {
  GraphBuilder g;
  g.input("x", "float32 Nx4").input("z", "float32 Mx4").input("c", "float32 3x4");
  g.value_info("a", "float32 5x4").value_info("b", "float32 6x4");
  g.node("Relu", "x", "a").node("Add", "a c", "y").node("Relu", "z", "b").node("Add", "b c", "v");
  CHECK(errors(g) == Lines{"SH001 a", "SH001 b"});
}

TEST_CASE("an error that no declaration explains stays with its node", "[infer]") {
  GraphBuilder g;
  g.input("x", "float32 Nx4").input("c", "float32 3x5").value_info("a", "float32 3x4");
  g.node("Relu", "x", "a").node("Add", "a c", "y");
  CHECK(errors(g) == Lines{"SH002 Add"});
}

TEST_CASE("a declaration against a known shape is named itself", "[infer]") {
  GraphBuilder g;
  g.input("x", "float32 1x4").value_info("a", "float32 1x5").value_info("b", "float32 1x4");
  g.node("Relu", "x", "a").node("Relu", "a", "b").node("Relu", "b", "y");
  CHECK(errors(g) == Lines{"SH001 a"});
}

}  // namespace
}  // namespace lppool::test
