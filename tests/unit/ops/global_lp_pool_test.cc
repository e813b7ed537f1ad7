#include <catch2/catch.hpp>

#include "support/run_op.h"

namespace lppool::test {
namespace {

ValueType floats(std::vector<Dim> shape) {
  return ValueType::tensor(DataType::kFloat32, std::move(shape));
}

OpCall call_of(std::int64_t opset, std::vector<Attribute> attributes, Tensor x = {}) {
  OpCall call{.op_type = "GlobalLpPool", .opset = opset};
  if (x.defined()) call.inputs = {x};
  call.attributes = std::move(attributes);
  return call;
}

TEST_CASE("GlobalLpPool keeps N and C and makes every spatial axis 1", "[ops][GlobalLpPool]") {
  for (const std::int64_t opset : {1, 2, 22}) {
    CAPTURE(opset);
    const auto shape = [&](std::vector<Dim> x) {
      return to_string(*infer_op(call_of(opset, {}), {floats(std::move(x))})[0].shape);
    };
    CHECK(shape({Dim::symbol("N"), 3, Dim::symbol("H"), Dim()}) == "Nx3x1x1");
    CHECK(shape({2, 3, 4}) == "2x3x1");
    CHECK(shape({2, 3}) == "2x3");
    CHECK_THROWS_WITH(shape({2}), Catch::Contains("rank 1, expected 2 or more"));
    CHECK_THROWS_WITH(shape({}), Catch::Contains("rank 0"));
  }
}

TEST_CASE("GlobalLpPool gives one norm for each channel", "[ops][GlobalLpPool]") {
  const Tensor x = Tensor::of<float>({1, 2, 2, 2}, {3, -4, 0, 12, 1, -1, 1, 1});
  CHECK(to_doubles(run_op1(call_of(22, {}, x))) == std::vector<double>{13, 2});
  CHECK(to_doubles(run_op1(call_of(2, {attr_i("p", 1)}, x))) == std::vector<double>{19, 4});
  CHECK(to_doubles(run_op1(call_of(1, {attr_f("p", 1.0f)}, x))) == std::vector<double>{19, 4});
  const Tensor cubes = Tensor::of<double>({1, 1, 3}, {-3, 4, -5});  // 27 + 64 + 125 = 6^3
  CHECK(to_doubles(run_op1(call_of(2, {attr_i("p", 3)}, cubes))) == std::vector<double>{6});
}

TEST_CASE("GlobalLpPool of nothing is 0 and without spatial axes is the magnitude", "[ops][GlobalLpPool]") {
  const Tensor empty = run_op1(call_of(22, {}, Tensor::zeros(DataType::kFloat32, {2, 1, 0, 3})));
  CHECK(empty.shape() == Shape{2, 1, 1, 1});
  CHECK(to_doubles(empty) == std::vector<double>{0, 0});
  CHECK(run_op1(call_of(22, {}, Tensor::zeros(DataType::kFloat32, {0, 3, 2}))).shape() == Shape{0, 3, 1});
  CHECK(run_op1(call_of(22, {}, Tensor::zeros(DataType::kFloat32, {2, 0, 2}))).shape() == Shape{2, 0, 1});
  CHECK(to_doubles(run_op1(call_of(22, {}, Tensor::of<float>({1, 3}, {-1, 2, -3})))) == std::vector<double>{1, 2, 3});
}

TEST_CASE("GlobalLpPool refuses exponents that are no norm's", "[ops][GlobalLpPool]") {
  const Tensor x = Tensor::of<float>({1, 1, 1}, {1});
  CHECK_THROWS_WITH(run_op1(call_of(2, {attr_i("p", 0)}, x)), Catch::Contains("p is 0"));
  CHECK_THROWS_WITH(run_op1(call_of(1, {attr_f("p", -2.5f)}, x)), Catch::Contains("p is -2.5"));
}

}  // namespace
}  // namespace lppool::test
