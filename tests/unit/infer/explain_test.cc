// Formulas by hand, from the operator texts: each names the sizes that the shape rule takes, and no others.
#include <catch2/catch.hpp>

#include "lppool/bind/bound_graph.h"
#include "lppool/infer/infer.h"
#include "support/model_builder.h"

namespace lppool::test {
namespace {

InferResult explained(const Graph& graph, std::int64_t opset = 18) {
  InferOptions options;
  options.explain = true;
  return infer_shapes(bind_model(make_model(graph, opset)), options);
}

std::vector<std::string> formulas(const GraphBuilder& g, const std::string& tensor, std::int64_t opset = 18) {
  const InferResult result = explained(g.graph, opset);
  const TensorInfo* info = result.find(tensor);
  REQUIRE(info != nullptr);
  return info->formulas;
}

using Lines = std::vector<std::string>;

Tensor list(std::vector<std::int64_t> values) {
  Tensor tensor = Tensor::allocate(DataType::kInt64, Shape({static_cast<std::int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), tensor.mutable_data<std::int64_t>().begin());
  return tensor;
}

TEST_CASE("a size taken over is named by the input it came from, also where other inputs have the same", "[infer][explain]") {
  GraphBuilder g;
  g.input("x", "float32 4x4").input("w", "float32 4x4").node("MatMul", "x w", "y");
  CHECK(formulas(g, "y") == Lines{"x.shape[0]", "w.shape[1]"});
}

TEST_CASE("broadcasting names every size along the axis", "[infer][explain]") {
  GraphBuilder g;
  g.input("x", "float32 Nx64x7").input("b", "float32 64x1").node("Add", "x b", "y").node("Mul", "x x", "z");
  CHECK(formulas(g, "y") == Lines{"x.shape[0]", "x.shape[1] = b.shape[0]", "broadcast of x.shape[2] (7) and b.shape[1] (1)"});
  CHECK(formulas(g, "z") == Lines{"x.shape[0]", "x.shape[1]", "x.shape[2]"});
}

TEST_CASE("joined and cut axes show their parts", "[infer][explain]") {
  GraphBuilder g;
  g.input("a", "float32 2x64").input("b", "float32 2x192").initializer("at", list({1})).initializer("to", list({INT64_MAX}));
  g.node("Concat", "a b", "c", {attr_i("axis", 1)}).node("Split", "c", "s t u", {attr_i("axis", 1), attr_i("num_outputs", 3)});
  g.node("Slice", "c at to at", "cut");
  CHECK(formulas(g, "c") == Lines{"a.shape[0]", "64 + 192"});
  CHECK(formulas(g, "s")[1] == "ceil(256/3)");
  CHECK(formulas(g, "u")[1] == "ceil(256/3) or less: what the 2 before it of 256 leave");
  CHECK(formulas(g, "cut")[1] == "c.shape[1] (256) from 1 to its end");
}

TEST_CASE("a reshape shows what is taken over and what is worked out", "[infer][explain]") {
  GraphBuilder g;
  g.input("x", "float32 Nx256x6x6").initializer("shape", list({0, -1, 12})).node("Reshape", "x shape", "y");
  CHECK(formulas(g, "y") == Lines{"x.shape[0], which the 0 takes over", "(256*6*6)/12, for the -1", "shape[2]"});
  GraphBuilder flat;
  flat.input("x", "float32 Nx256x6x6").node("Flatten", "x", "y").node("Flatten", "x", "z", {attr_i("axis", 0)});
  CHECK(formulas(flat, "y") == Lines{"x.shape[0]", "256*6*6"});
  CHECK(formulas(flat, "z")[0] == "1 (no axis is left for it)");
}

TEST_CASE("convolutions name the weights for their channels", "[infer][explain]") {
  GraphBuilder g;
  g.input("x", "float32 1x8x9x9").input("w", "float32 16x8x3x3").input("v", "float32 8x5x3x3");
  g.node("Conv", "x w", "y", {attr_ints("strides", {2, 2})}).node("ConvTranspose", "x v", "z", {attr_ints("strides", {2, 2})});
  CHECK(formulas(g, "y") == Lines{"x.shape[0]", "w.shape[0]", "floor((9 - 3)/2) + 1", "floor((9 - 3)/2) + 1"});
  CHECK(formulas(g, "z") == Lines{"x.shape[0]", "v.shape[1]", "2*(9 - 1) + 3", "2*(9 - 1) + 3"});
}

TEST_CASE("contents of small integer tensors are kept as far as they are known", "[infer][explain]") {
  GraphBuilder g;
  g.input("x", "float32 Nx3xH").initializer("pick", list({0, 1})).node("Shape", "x", "s").node("Gather", "s pick", "t");
  const InferResult result = explained(g.graph);
  REQUIRE(result.find("t")->contents);
  CHECK(to_string(*result.find("t")->contents) == "Nx3");
  CHECK(to_string(*result.find("pick")->contents) == "0x1");
  CHECK_FALSE(result.find("x")->contents);
}

TEST_CASE("what is declared and what is open is said to be so", "[infer][explain]") {
  GraphBuilder g;
  g.input("x", "float32 3x4").value_info("y", "int64 2x5").node("NonZero", "x", "y").node("NonZero", "x", "z");
  CHECK(formulas(g, "y") == Lines{"2 (the rank of x)", "5 (as declared in the model; the rule leaves it open)"});
  CHECK(formulas(g, "z")[1] == "? (as many as elements are not 0)");
}

TEST_CASE("nothing is kept where nobody asked", "[infer][explain]") {
  GraphBuilder g;
  g.input("x", "float32 2x3").node("Shape", "x", "s");
  const InferResult result = infer_shapes(bind_model(make_model(g.graph)));
  CHECK(result.find("s")->formulas.empty());
  CHECK_FALSE(result.find("s")->contents);
}

}  // namespace
}  // namespace lppool::test
