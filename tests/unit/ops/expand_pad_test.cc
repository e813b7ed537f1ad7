#include <catch2/catch.hpp>

#include "support/chain.h"

using namespace lppool;
using namespace lppool::test;

namespace {

Tensor list(std::vector<std::int64_t> values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}
Tensor floats(Shape shape, std::vector<float> values) { return Tensor::of<float>(std::move(shape), values); }
ValueType type(std::string_view shape) { return ValueType::tensor(DataType::kFloat32, dims(shape)); }
using Numbers = std::vector<double>;

Numbers pad(const Tensor& x, std::vector<std::int64_t> pads, const std::string& mode) {
  return to_doubles(run_op1({"Pad", 19, {x, list(std::move(pads))}, {attr_s("mode", mode)}}));
}

}  // namespace

TEST_CASE("Expand broadcasts both ways", "[ops][Expand]") {
  const Tensor x = floats({3, 1}, {1, 2, 3});
  const Tensor y = run_op1({"Expand", 13, {x, list({2, 1, 2})}});
  CHECK(to_string(y.shape()) == "2x3x2");
  CHECK(to_doubles(y) == Numbers{1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3});
  CHECK(to_string(run_op1({"Expand", 8, {x, list({1})}}).shape()) == "3x1");
  CHECK(to_string(run_op1({"Expand", 13, {x, list({0, 3, 1})}}).shape()) == "0x3x1");
  CHECK_THROWS_AS(run_op1({"Expand", 13, {x, list({2, 4})}}), Error);
  CHECK_THROWS_AS(run_op1({"Expand", 13, {x, list({-1, 4})}}), Error);
  CHECK_THROWS_AS(run_op1({"Expand", 13, {x, list({std::int64_t{1} << 40, std::int64_t{1} << 40, 1, 1})}}), Error);
}

TEST_CASE("Expand infers through symbols where broadcasting is certain", "[ops][Expand]") {
  const auto shape = [](std::string_view in, std::vector<std::int64_t> target) {
    return to_string(*infer_op({"Expand", 13}, {type(in), {}}, {Tensor(), list(std::move(target))})[0].shape);
  };
  CHECK(shape("Nx1", {1, 4}) == "Nx4");
  CHECK(shape("Nx1", {5, 4}) == "5x4");  // N is 1 or 5
  CHECK(shape("3", {2, 1}) == "2x3");
  CHECK_THROWS_AS(shape("3x2", {2, 2}), Error);
}

TEST_CASE("Tile repeats along each axis", "[ops][Tile]") {
  const Tensor x = floats({1, 2}, {1, 2});
  CHECK(to_doubles(run_op1({"Tile", 13, {x, list({2, 2})}})) == Numbers{1, 2, 1, 2, 1, 2, 1, 2});
  CHECK(to_string(run_op1({"Tile", 6, {x, list({0, 2})}}).shape()) == "0x4");
  CHECK(to_doubles(run_op1({"Tile", 1, {x, Tensor::scalar(3.0f), Tensor::scalar(1.0f)}})) == Numbers{1, 2, 1, 2, 1, 2});
  CHECK_THROWS_AS(run_op1({"Tile", 13, {x, list({2})}}), Error);
  CHECK_THROWS_AS(run_op1({"Tile", 13, {x, list({-1, 1})}}), Error);
  CHECK(to_string(infer_op({"Tile", 13}, {type("NxC"), {}}, {Tensor(), list({2, 3})})[0]) == "float32 2*Nx3*C");
}

TEST_CASE("Pad puts constants around, by attributes before opset 11", "[ops][Pad]") {
  const Tensor x = floats({2, 1}, {1, 2});
  CHECK(to_doubles(run_op1({"Pad", 1, {x}, {attr_ints("paddings", {0, 1, 1, 0}), attr_f("value", 9)}})) == Numbers{9, 1, 9, 2, 9, 9});
  CHECK(to_doubles(run_op1({"Pad", 2, {x}, {attr_ints("pads", {0, 1, 1, 0}), attr_f("value", 9)}})) == Numbers{9, 1, 9, 2, 9, 9});
  CHECK(to_doubles(run_op1({"Pad", 13, {x, list({0, 1, 1, 0}), Tensor::scalar(9.0f)}})) == Numbers{9, 1, 9, 2, 9, 9});
  CHECK(to_doubles(run_op1({"Pad", 13, {x, list({0, 1, 1, 0})}})) == Numbers{0, 1, 0, 2, 0, 0});
  CHECK(to_doubles(run_op1({"Pad", 18, {x, list({1, 0}), Value(), list({-1})}})) == Numbers{0, 1, 0, 2});
  CHECK_THROWS_AS(run_op1({"Pad", 13, {x, list({0, 1})}}), Error);
  CHECK_THROWS_AS(run_op1({"Pad", 13, {x, list({0, 1, 1, 0}), Tensor::scalar<double>(1)}}), Error);
}

TEST_CASE("Pad of strings, halves and booleans", "[ops][Pad]") {
  const Tensor words = Tensor::of<std::string>({1}, {"a"});
  const Tensor padded = run_op1({"Pad", 13, {words, list({1, 0}), Tensor::scalar<std::string>("-")}});
  CHECK(padded.strings()[0] == "-");
  CHECK(padded.strings()[1] == "a");
  const Tensor half = Tensor::of<Float16>({1}, {Float16(2.0f)});
  CHECK(to_doubles(run_op1({"Pad", 2, {half}, {attr_ints("pads", {1, 0}), attr_f("value", 0.5f)}})) == Numbers{0.5, 2});
}

TEST_CASE("Pad reflects, repeats the edge and wraps, also further than the axis is long", "[ops][Pad]") {
  const Tensor x = floats({3}, {1, 2, 3});
  CHECK(pad(x, {2, 1}, "reflect") == Numbers{3, 2, 1, 2, 3, 2});
  CHECK(pad(x, {5, 0}, "reflect") == Numbers{2, 1, 2, 3, 2, 1, 2, 3});
  CHECK(pad(x, {2, 1}, "edge") == Numbers{1, 1, 1, 2, 3, 3});
  CHECK(pad(x, {2, 4}, "wrap") == Numbers{2, 3, 1, 2, 3, 1, 2, 3, 1});
  CHECK(pad(floats({1}, {7}), {2, 1}, "reflect") == Numbers{7, 7, 7, 7});
  CHECK_THROWS_AS(pad(floats({0}, {}), {1, 0}, "edge"), Error);
  CHECK_THROWS_AS(pad(x, {1, 0}, "symmetric"), Error);
  CHECK_THROWS_AS(run_op1({"Pad", 18, {x, list({1, 0})}, {attr_s("mode", "wrap")}}), Error);
}

TEST_CASE("Pad with reflect in two axes reflects corners, too", "[ops][Pad]") {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  CHECK(pad(x, {1, 1, 0, 0}, "reflect") == Numbers{4, 3, 4, 2, 1, 2, 4, 3, 4});
}

TEST_CASE("negative pads cut", "[ops][Pad]") {
  const Tensor x = floats({4}, {1, 2, 3, 4});
  CHECK(pad(x, {-1, -2}, "constant") == Numbers{2});
  CHECK(pad(x, {-1, 2}, "constant") == Numbers{2, 3, 4, 0, 0});
  CHECK(pad(x, {-1, 2}, "edge") == Numbers{2, 3, 4, 4, 4});
  CHECK(pad(x, {-4, 0}, "constant").empty());
  CHECK_THROWS_AS(pad(x, {-5, 2}, "constant"), Error);
  CHECK_THROWS_AS(pad(x, {-3, -2}, "constant"), Error);
}

TEST_CASE("Pad infers symbolic sizes", "[ops][Pad]") {
  CHECK(to_string(infer_op({"Pad", 13}, {type("NxCxH"), {}}, {Tensor(), list({0, 0, 1, 0, 0, 2})})[0]) == "float32 NxCx(H + 3)");
  CHECK(to_string(infer_op({"Pad", 18}, {type("NxH"), {}, {}, {}}, {Tensor(), list({1, 2}), Tensor(), list({1})})[0]) ==
        "float32 Nx(H + 3)");
  CHECK_THROWS_AS(infer_op({"Pad", 13}, {type("2"), {}}, {Tensor(), list({-3, 0})}), Error);
}

TEST_CASE("ConstantOfShape fills any type", "[ops][ConstantOfShape]") {
  const Tensor y = run_op1({"ConstantOfShape", 9, {list({2, 2})}, {attr_tensor("value", Tensor::of<std::int32_t>({1}, {7}))}});
  CHECK(y.dtype() == DataType::kInt32);
  CHECK(to_doubles(y) == Numbers{7, 7, 7, 7});
  CHECK(to_doubles(run_op1({"ConstantOfShape", 9, {list({})}})) == Numbers{0});
  CHECK_THROWS_AS(run_op1({"ConstantOfShape", 9, {list({-1})}}), Error);
  CHECK_THROWS_AS(run_op1({"ConstantOfShape", 9, {list({std::int64_t{1} << 62})}}), Error);
}

TEST_CASE("Shape and Size tell a tensor's sizes", "[ops][Shape]") {
  const Tensor x = Tensor::zeros(DataType::kFloat32, {2, 3, 4});
  CHECK(to_doubles(run_op1({"Shape", 1, {x}})) == Numbers{2, 3, 4});
  CHECK(to_doubles(run_op1({"Shape", 15, {x}, {attr_i("start", 1)}})) == Numbers{3, 4});
  CHECK(to_doubles(run_op1({"Shape", 15, {x}, {attr_i("start", -9), attr_i("end", -1)}})) == Numbers{2, 3});
  CHECK(to_doubles(run_op1({"Shape", 15, {x}, {attr_i("start", 2), attr_i("end", 1)}})).empty());
  CHECK(to_doubles(run_op1({"Size", 13, {x}})) == Numbers{24});
}

TEST_CASE("Constant has eight forms of its value", "[ops][Constant]") {
  CHECK(to_doubles(run_op1({"Constant", 1, {}, {attr_tensor("value", floats({2}, {1, 2}))}})) == Numbers{1, 2});
  CHECK(to_string(infer_op({"Constant", 13, {}, {attr_i("value_int", 3)}}, {})[0]) == "int64 scalar");
  CHECK(to_doubles(run_op1({"Constant", 13, {}, {attr_ints("value_ints", {3, 4})}})) == Numbers{3, 4});
  CHECK(to_doubles(run_op1({"Constant", 13, {}, {attr_f("value_float", 0.5f)}})) == Numbers{0.5});
  CHECK(to_doubles(run_op1({"Constant", 13, {}, {attr_floats("value_floats", {0.5f})}})) == Numbers{0.5});
  CHECK(run_op1({"Constant", 13, {}, {attr_s("value_string", "x")}}).strings()[0] == "x");
  CHECK(run_op1({"Constant", 13, {}, {attr_strings("value_strings", {"x", "y"})}}).strings()[1] == "y");
  CHECK_THROWS_AS(run_op1({"Constant", 13, {}, {}}), Error);
  CHECK_THROWS_AS(run_op1({"Constant", 13, {}, {attr_i("value_int", 3), attr_f("value_float", 3)}}), Error);
}

TEST_CASE("Constant makes a sparse value dense, by positions or coordinates", "[ops][Constant]") {
  const auto constant = [](Tensor indices) {
    StoredSparseTensor sparse;
    sparse.dims = {2, 3};
    sparse.values.value = floats({2}, {5, 6});
    sparse.values.dtype_number = 1;
    sparse.indices.value = std::move(indices);
    Attribute attribute;
    attribute.name = "sparse_value";
    attribute.type_number = static_cast<std::int32_t>(AttributeType::kSparseTensor);
    attribute.fields = 1u << static_cast<int>(AttributeType::kSparseTensor);
    attribute.sparse_tensor = std::make_shared<const StoredSparseTensor>(std::move(sparse));
    return to_doubles(run_op1({"Constant", 13, {}, {attribute}}));
  };
  CHECK(constant(list({1, 5})) == Numbers{0, 5, 0, 0, 0, 6});
  CHECK(constant(list({0, 1, 1, 2}).reshaped({2, 2})) == Numbers{0, 5, 0, 0, 0, 6});
  CHECK_THROWS_AS(constant(list({1, 6})), Error);
  CHECK_THROWS_AS(constant(list({0, 1, 1, 3}).reshaped({2, 2})), Error);
  CHECK_THROWS_AS(constant(list({1})), Error);
}
