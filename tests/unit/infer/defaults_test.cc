#include <catch2/catch.hpp>

#include "support/graphs.h"

using namespace lppool;
using namespace lppool::test;

namespace {

// x is reshaped to what "target" says, an input with the default [2, -1].
Graph reshape_by_default() {
  Graph g = graph({value("x", DataType::kFloat32, "4x6"), value("target", DataType::kInt64, "2")},
                  {value("y", DataType::kFloat32)}, {node("Reshape", "x target", "y")});
  StoredTensor target;
  target.name = "target";
  target.dtype_number = static_cast<std::int32_t>(DataType::kInt64);
  target.dims = {2};
  target.value = Tensor::of<std::int64_t>(Shape({2}), {2, -1});
  g.initializers.push_back(target);
  return g;
}

}  // namespace

TEST_CASE("the contents of an input's default count", "[infer]") {
  CHECK(inferred_type(reshape_by_default(), 9, "y") == "float32 2x12");
}

TEST_CASE("the contents of a default count no more where the caller states the input", "[infer]") {
  InferOptions options;
  options.input_shapes["target"] = {Dim(2)};
  CHECK(inferred_type(reshape_by_default(), 9, "y", options) == "float32 ?x?");
}
