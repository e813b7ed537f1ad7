// Shape arithmetic as exporters write it, followed over several nodes with symbolic sizes.
#include "lppool/ops/contents.h"

#include <catch2/catch.hpp>

#include "support/chain.h"

using namespace lppool;
using namespace lppool::test;

namespace {

Tensor list(std::vector<std::int64_t> values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

ValueType floats(std::string_view shape) { return ValueType::tensor(DataType::kFloat32, dims(shape)); }

}  // namespace

TEST_CASE("Shape, Gather, Unsqueeze, Concat, Reshape keep the batch symbol", "[ops][Reshape]") {
  Chain chain(13);
  chain.input("x", floats("Nx64x7x7"));
  chain.constant("zero", Tensor::scalar<std::int64_t>(0));
  chain.constant("axes", list({0}));
  chain.constant("rest", list({-1}));
  chain.node("Shape", "x", "shape");
  chain.node("Gather", "shape zero", "batch");
  chain.node("Unsqueeze", "batch axes", "batch1");
  chain.node("Concat", "batch1 rest", "target", {attr_i("axis", 0)});
  chain.node("Reshape", "x target", "y");
  CHECK(chain.type("batch") == "int64 scalar");
  CHECK(chain.type("target") == "int64 2");
  CHECK(chain.type("y") == "float32 Nx3136");
}

TEST_CASE("Reshape splits a symbolic axis exactly", "[ops][Reshape]") {
  Chain chain(13);
  chain.input("x", floats("NxSx768"));
  chain.constant("target", list({0, 0, 12, 64}));
  chain.constant("back", list({0, -1, 768}));
  chain.node("Reshape", "x target", "heads");
  chain.node("Transpose", "heads", "turned", {attr_ints("perm", {0, 2, 1, 3})});
  chain.node("Reshape", "heads back", "y");
  CHECK(chain.type("heads") == "float32 NxSx12x64");
  CHECK(chain.type("turned") == "float32 Nx12xSx64");
  CHECK(chain.type("y") == "float32 NxSx768");
}

TEST_CASE("Reshape cancels unknown sizes that it takes over", "[ops][Reshape]") {
  Chain chain(13);
  chain.input("x", floats("?x6x4"));
  chain.constant("target", list({0, -1}));
  chain.node("Reshape", "x target", "y");
  CHECK(chain.type("y") == "float32 ?x24");
}

TEST_CASE("Reshape works out one element that nobody knows", "[ops][Reshape]") {
  Chain chain(13);
  chain.input("x", floats("4x6"));
  chain.input("n", ValueType::tensor(DataType::kInt64, dims("1")));
  chain.constant("eight", list({8}));
  chain.node("Concat", "eight n", "target", {attr_i("axis", 0)});
  chain.node("Reshape", "x target", "y");
  CHECK(chain.type("y") == "float32 8x3");
}

TEST_CASE("Slice of a shape and ConstantOfShape keep symbols", "[ops][ConstantOfShape]") {
  Chain chain(13);
  chain.input("x", floats("NxCxHxW"));
  chain.constant("two", list({2}));
  chain.constant("end", list({9223372036854775807}));
  chain.node("Shape", "x", "shape");
  chain.node("Slice", "shape two end", "hw");
  chain.node("ConstantOfShape", "hw", "y");
  CHECK(chain.type("y") == "float32 HxW");
}

TEST_CASE("Split of a shape hands each part on", "[ops][Split]") {
  Chain chain(13);
  chain.input("x", floats("NxCxHxW"));
  chain.constant("lengths", list({1, 3}));
  chain.node("Shape", "x", "shape");
  chain.node("Split", "shape lengths", "n chw", {attr_i("axis", 0)});
  chain.node("Concat", "chw n", "turned", {attr_i("axis", 0)});
  chain.node("ConstantOfShape", "turned", "y");
  CHECK(chain.type("y") == "float32 CxHxWxN");
}

TEST_CASE("Expand to a shape with a symbol", "[ops][Expand]") {
  Chain chain(13);
  chain.input("x", floats("Nx3"));
  chain.input("row", floats("1x1x3"));
  chain.constant("one", list({1}));
  chain.node("Shape", "x", "shape");
  chain.node("Concat", "one shape", "target", {attr_i("axis", 0)});
  chain.node("Expand", "row target", "y");
  CHECK(chain.type("y") == "float32 1xNx3");
}

TEST_CASE("Tile, Pad and Squeeze pass the contents of lists on", "[ops][Tile]") {
  Chain chain(13);
  chain.input("x", floats("N"));
  chain.constant("two", list({2}));
  chain.constant("pads", list({1, 0}));
  chain.constant("value", Tensor::scalar<std::int64_t>(5));
  chain.constant("axes", list({0}));
  chain.node("Shape", "x", "shape");
  chain.node("Tile", "shape two", "twice");
  chain.node("Pad", "twice pads value", "padded");
  chain.node("ConstantOfShape", "padded", "y");
  chain.node("Squeeze", "shape axes", "scalar");
  chain.node("Unsqueeze", "scalar axes", "again");
  chain.node("ConstantOfShape", "again", "z");
  CHECK(chain.type("y") == "float32 5xNxN");
  CHECK(chain.type("z") == "float32 N");
}

TEST_CASE("a part of unknown contents stays unknown, the others do not", "[ops][Concat]") {
  Chain chain(13);
  chain.input("x", floats("NxC"));
  chain.input("k", ValueType::tensor(DataType::kInt64, dims("2")));
  chain.node("Shape", "x", "shape");
  chain.node("Concat", "k shape", "target", {attr_i("axis", 0)});
  chain.node("ConstantOfShape", "target", "y");
  CHECK(chain.type("y") == "float32 ?x?xNxC");
}

TEST_CASE("nothing is said of a shape list of unknown length", "[ops][Reshape]") {
  Chain chain(13);
  chain.input("x", floats("NxC"));
  chain.input("k", ValueType::tensor(DataType::kInt64, dims("?")));
  chain.node("Reshape", "x k", "y");
  CHECK(chain.type("y") == "float32 of unknown rank");
}
