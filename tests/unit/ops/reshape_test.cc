#include <catch2/catch.hpp>

#include "support/chain.h"

using namespace lppool;
using namespace lppool::test;

namespace {

Tensor list(std::vector<std::int64_t> values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}
Tensor zeros(Shape shape) { return Tensor::zeros(DataType::kFloat32, std::move(shape)); }

std::string reshaped(Shape shape, std::vector<std::int64_t> target, std::int64_t allowzero = 0) {
  return to_string(run_op1({"Reshape", 14, {zeros(std::move(shape)), list(std::move(target))}, {attr_i("allowzero", allowzero)}})
                       .shape());
}

std::string inferred(const OpCall& call, std::string_view shape, const std::vector<Tensor>& constants) {
  std::vector<ValueType> types{ValueType::tensor(DataType::kFloat32, dims(shape))};
  types.resize(std::max<std::size_t>(1, constants.size()));
  return to_string(infer_op(call, types, constants)[0]);
}

}  // namespace

TEST_CASE("Reshape follows zero, minus one and allowzero", "[ops][Reshape]") {
  CHECK(reshaped({2, 3, 4}, {4, 2, 3}) == "4x2x3");
  CHECK(reshaped({2, 3, 4}, {2, -1}) == "2x12");
  CHECK(reshaped({2, 3, 4}, {0, -1}) == "2x12");
  CHECK(reshaped({2, 3, 4}, {-1}) == "24");
  CHECK(reshaped({1}, {}) == "scalar");
  CHECK(reshaped({}, {1, 1}) == "1x1");
  CHECK(reshaped({0, 3, 4}, {3, 4, 0}, 1) == "3x4x0");
  CHECK(reshaped({0, 3, 4}, {0, 12}) == "0x12");
  CHECK_THROWS_WITH(reshaped({2, 3}, {-1, -1}), Catch::Contains("more than one -1"));
  CHECK_THROWS_WITH(reshaped({2, 3}, {4, -1}), Catch::Contains("do not divide by 4"));
  CHECK_THROWS_WITH(reshaped({2, 3}, {7}), Catch::Contains("7 elements, expected 6"));
  CHECK_THROWS_WITH(reshaped({2, 3}, {2, 3, 0}), Catch::Contains("takes over axis 2"));
  CHECK_THROWS_WITH(reshaped({2, 3}, {-2, 3}), Catch::Contains("-2"));
  CHECK_THROWS_AS(reshaped({0, 3}, {0, -1}, 1), Error);
  CHECK_THROWS_AS(reshaped({2}, {4611686018427387904, 4611686018427387904, -1}), Error);
}

TEST_CASE("Reshape shares the storage of its input", "[ops][Reshape]") {
  const Tensor x = zeros({2, 3});
  CHECK(run_op1({"Reshape", 14, {x, list({6})}}).storage_id() == x.storage_id());
}

TEST_CASE("Reshape of opset 1 takes the shape from its attribute", "[ops][Reshape]") {
  CHECK(to_string(run_op1({"Reshape", 1, {zeros({2, 3})}, {attr_ints("shape", {0, -1, 1})}}).shape()) == "2x3x1");
  CHECK(inferred({"Reshape", 1, {}, {attr_ints("shape", {0, -1, 1})}}, "Nx3", {}) == "float32 Nx3x1");
}

TEST_CASE("Reshape inference refuses what cannot be", "[ops][Reshape]") {
  CHECK_THROWS_WITH(inferred({"Reshape", 14}, "2x3", {Tensor(), list({4, -1})}), Catch::Contains("do not divide by 4"));
  CHECK_THROWS_WITH(inferred({"Reshape", 14}, "2x3", {Tensor(), list({5})}), Catch::Contains("5 elements, expected 6"));
  CHECK(inferred({"Reshape", 14}, "Nx3", {Tensor(), list({5})}) == "float32 5");
  CHECK(inferred({"Reshape", 14}, "Nx6", {Tensor(), list({-1, 4})}) == "float32 floor((6*N)/4)x4");
}

TEST_CASE("Flatten splits the axes in two", "[ops][Flatten]") {
  const auto shape = [](std::int64_t opset, std::int64_t axis) {
    return to_string(run_op1({"Flatten", opset, {zeros({2, 3, 4, 5})}, {attr_i("axis", axis)}}).shape());
  };
  CHECK(shape(13, 0) == "1x120");
  CHECK(shape(13, 2) == "6x20");
  CHECK(shape(13, 4) == "120x1");
  CHECK(shape(13, -1) == "24x5");
  CHECK(to_string(run_op1({"Flatten", 9, {zeros({2, 3, 4})}}).shape()) == "2x12");
  CHECK_THROWS_WITH(shape(9, -1), Catch::Contains("expected 0 to 4"));
  CHECK_THROWS_WITH(shape(13, 5), Catch::Contains("axis is 5"));
  CHECK(inferred({"Flatten", 13}, "Nx3xHxW", {}) == "float32 Nx3*H*W");
  CHECK(to_string(infer_op({"Flatten", 13}, {ValueType::tensor(DataType::kFloat32)})[0]) == "float32 ?x?");
}

TEST_CASE("Squeeze removes axes of size one, by attribute before opset 13", "[ops][Squeeze]") {
  CHECK(to_string(run_op1({"Squeeze", 11, {zeros({1, 3, 1, 5})}, {attr_ints("axes", {0, -2})}}).shape()) == "3x5");
  CHECK(to_string(run_op1({"Squeeze", 13, {zeros({1, 3, 1, 5}), list({-2})}}).shape()) == "1x3x5");
  CHECK(to_string(run_op1({"Squeeze", 13, {zeros({1, 3, 1, 5})}}).shape()) == "3x5");
  CHECK_THROWS_WITH(run_op1({"Squeeze", 13, {zeros({1, 3}), list({1})}}), Catch::Contains("has size 3, expected 1"));
  CHECK_THROWS_WITH(run_op1({"Squeeze", 13, {zeros({1, 1}), list({0, -2})}}), Catch::Contains("given twice"));
  CHECK_THROWS_AS(run_op1({"Squeeze", 1, {zeros({3, 1})}, {attr_ints("axes", {-1})}}), Error);
  CHECK(inferred({"Squeeze", 13}, "1xCx1", {Tensor(), list({0})}) == "float32 Cx1");
  CHECK(inferred({"Squeeze", 13}, "1xCx1", {}) == "float32 of unknown rank");
  CHECK(inferred({"Squeeze", 13}, "1x4x1", {}) == "float32 4");
}

TEST_CASE("Unsqueeze counts axes in the result", "[ops][Unsqueeze]") {
  CHECK(to_string(run_op1({"Unsqueeze", 11, {zeros({3, 4})}, {attr_ints("axes", {0, 3})}}).shape()) == "1x3x4x1");
  CHECK(to_string(run_op1({"Unsqueeze", 13, {zeros({3, 4}), list({-1, 1})}}).shape()) == "3x1x4x1");
  CHECK(to_string(run_op1({"Unsqueeze", 13, {zeros({3, 4}), list({3, 0, 1})}}).shape()) == "1x1x3x1x4");
  CHECK_THROWS_AS(run_op1({"Unsqueeze", 13, {zeros({3}), list({2})}}), Error);
  CHECK_THROWS_AS(run_op1({"Unsqueeze", 1, {zeros({3})}, {attr_ints("axes", {-1})}}), Error);
  CHECK(inferred({"Unsqueeze", 13}, "NxC", {Tensor(), list({-1})}) == "float32 NxCx1");
}
