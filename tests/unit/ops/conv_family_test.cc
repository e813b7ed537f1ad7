#include <catch2/catch.hpp>
#include <cmath>

#include "lppool/base/error.h"
#include "support/naive_conv.h"
#include "support/random.h"
#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

template <typename T>
Tensor varied_bytes(Shape shape, std::uint64_t stream) {
  testing::Random random(stream);
  Tensor tensor = Tensor::allocate(type_of<T>(), std::move(shape));
  for (T& value : tensor.mutable_data<T>()) value = static_cast<T>(random.bits() & 255);
  return tensor;
}

std::vector<double> minus(std::vector<double> values, double zero) {
  for (double& value : values) value -= zero;
  return values;
}

}  // namespace

TEST_CASE("ConvInteger subtracts zero points and pads with them", "[ops][ConvInteger]") {
  const Tensor x = varied_bytes<std::uint8_t>({2, 4, 6, 5}, 1);
  const Tensor w = varied_bytes<std::int8_t>({6, 2, 3, 3}, 2);
  const std::vector<NaiveAxis> axes = {{6, 6, 3, 1, 1, 1}, {5, 3, 3, 2, 1, 1}};
  const std::vector<Attribute> attributes = {attr_ints("pads", {1, 1, 1, 1}), attr_ints("strides", {1, 2}), attr_i("group", 2)};
  OpCall call{.op_type = "ConvInteger", .opset = 10, .inputs = {x, w}, .attributes = attributes};
  CHECK(to_doubles(run_op1(call)) == naive_conv(to_doubles(x), to_doubles(w), {}, 2, 2, 2, 3, axes));
  call.inputs = {x, w, Tensor::scalar<std::uint8_t>(130), Tensor::scalar<std::int8_t>(-3)};
  CHECK(to_doubles(run_op1(call)) ==
        naive_conv(minus(to_doubles(x), 130), minus(to_doubles(w), -3), {}, 2, 2, 2, 3, axes));
  // One zero point for each output channel.
  call.inputs = {x, w, Tensor::scalar<std::uint8_t>(7), Tensor::of<std::int8_t>({6}, {1, 2, 3, 4, 5, -6})};
  std::vector<double> weights = to_doubles(w);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= std::vector<double>{1, 2, 3, 4, 5, -6}[i / 18];
  CHECK(to_doubles(run_op1(call)) == naive_conv(minus(to_doubles(x), 7), weights, {}, 2, 2, 2, 3, axes));
  call.inputs = {x, w, Tensor::scalar<std::uint8_t>(7), Tensor::of<std::int8_t>({5}, {1, 2, 3, 4, 5})};
  CHECK_THROWS_AS(run_op1(call), Error);
}

TEST_CASE("QLinearConv requantises each channel", "[ops][QLinearConv]") {
  const Tensor x = varied_bytes<std::uint8_t>({1, 3, 5, 5}, 3);
  const Tensor w = varied_bytes<std::int8_t>({2, 3, 3, 3}, 4);
  const std::vector<double> w_scale = {0.03125, 0.0078125};
  const Tensor bias = Tensor::of<std::int32_t>({2}, {1000, -2000});
  const OpCall call{.op_type = "QLinearConv", .opset = 10,
                    .inputs = {x, Tensor::scalar<float>(0.25f), Tensor::scalar<std::uint8_t>(120), w,
                               Tensor::of<float>({2}, {0.03125f, 0.0078125f}), Tensor::of<std::int8_t>({2}, {3, -4}),
                               Tensor::scalar<float>(1.5f), Tensor::scalar<std::int8_t>(5), bias},
                    .attributes = {attr_ints("pads", {1, 1, 1, 1})}};
  std::vector<double> weights = to_doubles(w);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= i < 27 ? 3 : -4;
  std::vector<double> expected = naive_conv(minus(to_doubles(x), 120), weights, to_doubles(bias), 1, 1, 3, 2,
                                            {{5, 5, 3, 1, 1, 1}, {5, 5, 3, 1, 1, 1}});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double rounded = std::nearbyint(expected[i] * 0.25 * w_scale[i / 25] / 1.5) + 5;
    expected[i] = std::min(127.0, std::max(-128.0, rounded));
  }
  const Tensor y = run_op1(call);
  CHECK(y.dtype() == DataType::kInt8);
  CHECK(to_doubles(y) == expected);
}

TEST_CASE("DeformConv without offsets is a convolution", "[ops][DeformConv]") {
  const Tensor x = varied_tensor(DataType::kFloat32, {2, 4, 6, 7}, 1), w = varied_tensor(DataType::kFloat32, {6, 2, 3, 2}, 2);
  const Tensor bias = varied_tensor(DataType::kFloat32, {6}, 3);
  const Tensor offset = Tensor::zeros(DataType::kFloat32, {2, 2 * 6 * 2, 3, 6});
  const std::vector<Attribute> attributes = {attr_ints("pads", {1, 0, 1, 1}), attr_ints("strides", {2, 1}),
                                             attr_ints("dilations", {1, 2}), attr_i("group", 2), attr_i("offset_group", 2)};
  const auto expected = naive_conv(to_doubles(x), to_doubles(w), to_doubles(bias), 2, 2, 2, 3,
                                   {{6, 3, 3, 2, 1, 1}, {7, 6, 2, 1, 2, 0}});
  require_close(run_op1({.op_type = "DeformConv", .opset = 19, .inputs = {x, w, offset, bias}, .attributes = attributes}),
                expected, 1e-5);
}

TEST_CASE("DeformConv interpolates between elements and weighs by the mask", "[ops][DeformConv]") {
  // 3 x 3 input 0..8, one 1 x 1 weight of 2, one output per element; each output reads its own shifted place.
  const Tensor x = Tensor::of<float>({1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor w = Tensor::of<float>({1, 1, 1, 1}, {2});
  const Tensor offset = Tensor::of<float>({1, 2, 3, 3}, {0, 0.5f, 0, 0, 0, 0, -3, 0, 0.25f,         // rows
                                                         0, 0, 0.5f, 0.5f, -0.25f, 0, 0, 1.5f, 0});  // columns
  // Places: (0,0) (0.5,1) (0,2.5) | (1,0.5) (1,0.75) (1,2) | (-1,0) (2,2.5) (2.25,2)
  const std::vector<double> at = {0, 2.5, 1, 3.5, 3.75, 5, 0, 4, 6};
  std::vector<double> expected;
  for (const double v : at) expected.push_back(2 * v);
  const OpCall call{.op_type = "DeformConv", .opset = 22, .inputs = {x, w, offset}};
  CHECK(to_doubles(run_op1(call)) == expected);
  const Tensor mask = Tensor::of<float>({1, 1, 3, 3}, {1, 0.5f, 1, 1, 1, 0, 1, 1, 2});
  OpCall masked = call;
  masked.inputs = {x, w, offset, Value(), mask};
  CHECK(to_doubles(run_op1(masked)) == std::vector<double>{0, 2.5, 2, 7, 7.5, 0, 0, 8, 24});
  OpCall wrong = call;
  wrong.inputs = {x, w, Tensor::zeros(DataType::kFloat32, {1, 3, 3, 3})};
  CHECK_THROWS_AS(run_op1(wrong), Error);
}

TEST_CASE("Col2Im adds overlapping blocks", "[ops][Col2Im]") {
  const Tensor image = Tensor::of<std::int64_t>({2}, {4, 5}), block = Tensor::of<std::int64_t>({2}, {2, 3});
  // 3 positions of 2 with stride 1 along 4; with pads 1, 1 and stride 2: (5 + 2 - 3)/2 + 1 = 3 along 5.
  const Tensor x = varied_tensor(DataType::kFloat32, {2, 2 * 6, 9}, 1);
  // The adjoint of a convolution with the identity: a transposed convolution whose weights pick one block element each.
  std::vector<double> weights(12 * 2 * 6, 0.0);
  for (std::size_t c = 0; c < 2; ++c) {
    for (std::size_t e = 0; e < 6; ++e) weights[((c * 6 + e) * 2 + c) * 6 + e] = 1;
  }
  const auto expected = naive_conv_transpose(to_doubles(x), weights, {}, 2, 1, 12, 2, {{4, 3, 2, 1, 1, 0}, {5, 3, 3, 2, 1, 1}});
  OpCall call{.op_type = "Col2Im", .opset = 18, .inputs = {x, image, block},
              .attributes = {attr_ints("strides", {1, 2}), attr_ints("pads", {0, 1, 0, 1})}};
  const Tensor y = run_op1(call);
  CHECK(y.shape() == Shape{2, 2, 4, 5});
  require_close(y, expected, 1e-6);
  CHECK(to_string(infer_op(call, {ValueType::tensor(DataType::kFloat32, std::vector<Dim>{Dim::symbol("N"), 12, 9}), {}, {}},
                           {Tensor(), image, block})
                      .at(0)) == "float32 Nx2x4x5");
  call.inputs[0] = varied_tensor(DataType::kFloat32, {2, 12, 8}, 1);
  CHECK_THROWS_AS(run_op1(call), Error);
  call.inputs[0] = varied_tensor(DataType::kFloat32, {2, 11, 9}, 1);
  CHECK_THROWS_AS(run_op1(call), Error);
}

TEST_CASE("Col2Im adds integers of all sizes, and they wrap", "[ops][Col2Im]") {
  // Blocks of 2 at positions 0 1, 1 2, 2 3 of a line of 4: the inner places get two terms each.
  const auto run = [](const Tensor& x) {
    return to_doubles(run_op1({.op_type = "Col2Im", .opset = 18,
                               .inputs = {x, Tensor::of<std::int64_t>({1}, {4}), Tensor::of<std::int64_t>({1}, {2})}}));
  };
  CHECK(run(Tensor::of<std::int8_t>({1, 2, 3}, {1, 2, 100, 10, 100, -128})) == std::vector<double>{1, 12, -56, -128});
  CHECK(run(Tensor::of<std::uint8_t>({1, 2, 3}, {1, 2, 100, 10, 200, 7})) == std::vector<double>{1, 12, 44, 7});
  CHECK(run(Tensor::of<std::int16_t>({1, 2, 3}, {-1, 2, 30000, 10, 30000, 7})) == std::vector<double>{-1, 12, -5536, 7});
  CHECK(run(Tensor::of<std::uint16_t>({1, 2, 3}, {1, 2, 40000, 10, 30000, 7})) == std::vector<double>{1, 12, 4464, 7});
}

TEST_CASE("CausalConvWithState looks back and carries its state", "[ops][CausalConvWithState]") {
  const Tensor x = Tensor::of<float>({1, 2, 3}, {1, 2, 3, 10, 20, 30}), w = Tensor::of<float>({2, 1, 3}, {1, 0, 2, 0, 1, 0});
  const Tensor bias = Tensor::of<float>({2}, {0.5f, 0}), past = Tensor::of<float>({1, 2, 2}, {7, 8, 70, 80});
  // Channel 0: y[t] = x[t-2] + 2 x[t] + 0.5; channel 1: y[t] = x[t-1].
  const auto fresh = run_op({.op_type = "CausalConvWithState", .opset = 27, .inputs = {x, w}, .outputs = 2});
  CHECK(to_doubles(fresh[0].tensor()) == std::vector<double>{2, 4, 7, 0, 10, 20});
  CHECK(to_doubles(fresh[1].tensor()) == std::vector<double>{2, 3, 20, 30});
  const auto next = run_op({.op_type = "CausalConvWithState", .opset = 27, .inputs = {x, w, bias, past}, .outputs = 2});
  CHECK(to_doubles(next[0].tensor()) == std::vector<double>{9.5, 12.5, 7.5, 80, 10, 20});
  const Tensor one = Tensor::of<float>({1, 2, 1}, {5, 50});
  const auto step = run_op({.op_type = "CausalConvWithState", .opset = 27, .inputs = {one, w, Value(), past},
                            .attributes = {attr_s("activation", "silu")}, .outputs = 2});
  require_close(step[0].tensor(), {17 / (1 + std::exp(-17.0)), 80}, 1e-6);
  CHECK(to_doubles(step[1].tensor()) == std::vector<double>{8, 5, 80, 50});
  CHECK_THROWS_AS(run_op({.op_type = "CausalConvWithState", .opset = 27, .inputs = {x, w},
                          .attributes = {attr_s("activation", "relu")}, .outputs = 2}),
                  Error);
}
