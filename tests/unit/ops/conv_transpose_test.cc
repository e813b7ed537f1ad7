#include <catch2/catch.hpp>

#include "lppool/base/error.h"
#include "support/naive_conv.h"
#include "support/random.h"
#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

struct TransposeCase {
  std::string name;
  std::int64_t batch, groups, in_channels, out_channels;
  std::vector<NaiveAxis> axes;  // in: output size (expected), out: input size
  std::vector<Attribute> attributes;
  bool bias = true;
  std::int64_t opset = 22;
};

void run_case(const TransposeCase& c, DataType dtype, double tolerance, int threads = 1) {
  Shape x_shape{c.batch, c.groups * c.in_channels}, w_shape{c.groups * c.in_channels, c.out_channels};
  Shape y_shape{c.batch, c.groups * c.out_channels};
  std::vector<std::int64_t> strides, dilations;
  for (const NaiveAxis& axis : c.axes) {
    x_shape.push_back(axis.out);
    w_shape.push_back(axis.kernel);
    y_shape.push_back(axis.in);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
  }
  const Tensor x = varied_tensor(dtype, x_shape, 1), w = varied_tensor(dtype, w_shape, 2);
  const Tensor bias = varied_tensor(dtype, Shape{c.groups * c.out_channels}, 3);
  OpCall call{.op_type = "ConvTranspose", .opset = c.opset, .inputs = {x, w}, .attributes = c.attributes, .threads = threads};
  if (c.bias) call.inputs.emplace_back(bias);
  call.attributes.push_back(attr_ints("strides", strides));
  call.attributes.push_back(attr_ints("dilations", dilations));
  call.attributes.push_back(attr_i("group", c.groups));
  const Tensor y = run_op1(call);
  REQUIRE(y.shape() == y_shape);
  require_close(y,
                naive_conv_transpose(to_doubles(x), to_doubles(w), c.bias ? to_doubles(bias) : std::vector<double>{}, c.batch,
                                     c.groups, c.in_channels, c.out_channels, c.axes),
                tolerance);
  std::vector<Dim> x_dims(x_shape.begin(), x_shape.end()), w_dims(w_shape.begin(), w_shape.end());
  const auto types = infer_op(call, {ValueType::tensor(dtype, x_dims), ValueType::tensor(dtype, w_dims)});
  CHECK(to_string(types.at(0)) == fmt::format("{} {}", name(dtype), to_string(y_shape)));
}

}  // namespace

TEST_CASE("ConvTranspose agrees with its definition for every geometry", "[ops][ConvTranspose]") {
  // Sizes worked out by hand: {output, input, kernel, stride, dilation, pad_begin}.
  const TransposeCase cases[] = {
      {"1-D", 2, 1, 3, 4, {{7, 5, 3, 1, 1, 0}}, {}},
      {"1-D stride", 1, 1, 3, 2, {{11, 5, 3, 2, 1, 0}}, {}, false},
      {"2-D", 2, 1, 2, 3, {{5, 3, 3, 1, 1, 0}, {6, 4, 3, 1, 1, 0}}, {}},
      {"2-D pads", 1, 1, 3, 2, {{7, 3, 3, 3, 1, 1}, {8, 4, 4, 2, 1, 0}}, {attr_ints("pads", {1, 0, 1, 2})}},
      {"2-D output_padding", 1, 1, 3, 2, {{6, 3, 3, 2, 1, 1}, {9, 4, 4, 2, 1, 1}},
       {attr_ints("pads", {1, 1, 1, 1}), attr_ints("output_padding", {1, 1})}},
      {"2-D dilations", 1, 1, 2, 2, {{7, 3, 3, 1, 2, 0}, {9, 3, 2, 2, 4, 0}}, {}},
      {"2-D groups", 2, 2, 3, 2, {{5, 3, 3, 1, 1, 0}, {7, 3, 3, 2, 1, 0}}, {}},
      {"2-D depthwise", 1, 4, 1, 1, {{6, 3, 2, 2, 1, 0}, {5, 4, 2, 1, 1, 0}}, {}},
      // full 9 and 7; output_shape 7 and 6 cut 2 (1, 1) and 1 (1, 0): the odd one goes to the beginning.
      {"2-D output_shape", 1, 1, 2, 2, {{7, 3, 3, 3, 1, 1}, {6, 3, 3, 2, 1, 1}}, {attr_ints("output_shape", {7, 6})}},
      {"2-D output_shape, SAME_UPPER", 1, 1, 2, 2, {{7, 3, 3, 3, 1, 1}, {6, 3, 3, 2, 1, 0}},
       {attr_ints("output_shape", {7, 6}), attr_s("auto_pad", "SAME_UPPER")}},
      // In the text of version 1 the two are exchanged.
      {"2-D output_shape in opset 1", 1, 1, 2, 2, {{7, 3, 3, 3, 1, 1}, {6, 3, 3, 2, 1, 0}},
       {attr_ints("output_shape", {7, 6})}, true, 10},
      // full 9 and 7, output_shape 10 and 8: nothing is cut, the end gets the bias alone.
      {"2-D output_shape beyond", 1, 1, 2, 2, {{10, 3, 3, 3, 1, 0}, {8, 3, 3, 2, 1, 0}}, {attr_ints("output_shape", {10, 8})}},
      {"2-D SAME_UPPER", 1, 1, 2, 2, {{6, 3, 3, 2, 1, 0}, {3, 3, 4, 1, 1, 1}}, {attr_s("auto_pad", "SAME_UPPER")}},
      {"2-D SAME_LOWER", 1, 1, 2, 2, {{6, 3, 3, 2, 1, 1}, {3, 3, 4, 1, 1, 2}}, {attr_s("auto_pad", "SAME_LOWER")}},
      {"2-D VALID", 1, 1, 2, 2, {{7, 3, 3, 2, 1, 0}, {6, 3, 4, 1, 1, 0}}, {attr_s("auto_pad", "VALID")}},
      {"3-D", 1, 1, 2, 2, {{5, 3, 3, 1, 1, 0}, {6, 3, 2, 2, 1, 0}, {4, 3, 3, 1, 1, 1}}, {attr_ints("pads", {0, 0, 1, 0, 0, 0})}},
      {"empty batch", 0, 1, 2, 2, {{5, 3, 3, 1, 1, 0}, {5, 3, 3, 1, 1, 0}}, {}},
  };
  for (const TransposeCase& c : cases) {
    DYNAMIC_SECTION(c.name) {
      run_case(c, DataType::kFloat32, 1e-5);
      run_case(c, DataType::kFloat64, 1e-13, 2);
      run_case(c, DataType::kFloat16, 1.0 / 1024);
      if (c.opset >= 22) run_case(c, DataType::kBFloat16, 1.0 / 256);  // the type that version 22 added
    }
  }
}

TEST_CASE("ConvTranspose works in pieces where the contributions are many", "[ops][ConvTranspose]") {
  run_case({"big", 1, 1, 2, 5, {{131, 64, 5, 2, 1, 0}, {1003, 1000, 4, 1, 1, 0}}, {}}, DataType::kFloat32, 1e-5, 2);
}

TEST_CASE("ConvTranspose agrees with its definition for random geometries", "[ops][ConvTranspose]") {
  testing::Random random(78);
  CAPTURE(testing::test_seed());
  for (int round = 0; round < 60; ++round) {
    TransposeCase c{"random", random.between(1, 2), random.between(1, 3), random.between(1, 4), random.between(1, 4), {}, {}};
    std::vector<std::int64_t> pads;
    const int rank = random.between(1, 3);
    for (int a = 0; a < rank; ++a) {
      NaiveAxis axis{0, random.between(2, 6), random.between(2, 4), random.between(1, 3), random.between(1, 2),
                     random.between(0, 1)};
      axis.in = axis.stride * (axis.out - 1) + (axis.kernel - 1) * axis.dilation + 1 - axis.pad_begin;
      c.axes.push_back(axis);
      pads.push_back(axis.pad_begin);
    }
    pads.resize(pads.size() * 2, 0);
    c.attributes = {attr_ints("pads", pads)};
    run_case(c, DataType::kFloat32, 1e-5);
  }
}

TEST_CASE("ConvTranspose infers symbolic sizes and refuses what does not fit", "[ops][ConvTranspose]") {
  const auto infer = [](std::vector<Dim> x, std::vector<Dim> w, std::vector<Attribute> attributes) {
    return to_string(infer_op({.op_type = "ConvTranspose", .opset = 22, .attributes = std::move(attributes)},
                              {ValueType::tensor(DataType::kFloat32, std::move(x)),
                               ValueType::tensor(DataType::kFloat32, std::move(w))})
                         .at(0));
  };
  const Dim n = Dim::symbol("N"), h = Dim::symbol("H");
  CHECK(infer({n, 6, h, 4}, {6, 4, 3, 3}, {attr_ints("strides", {2, 2}), attr_i("group", 2)}) == "float32 Nx8x(2*H + 1)x9");
  CHECK(infer({n, 6, h, 4}, {6, 4, 3, 3}, {attr_ints("strides", {2, 2}), attr_s("auto_pad", "SAME_LOWER")}) ==
        "float32 Nx4x2*Hx8");
  CHECK(infer({n, 6, h, 4}, {6, 4, 3, 3}, {attr_ints("output_shape", {9, 8})}) == "float32 Nx4x9x8");
  CHECK_THROWS_AS(infer({n, 5, h, 4}, {6, 4, 3, 3}, {}), Error);
  CHECK_THROWS_AS(infer({n, 6, h, 4}, {6, 4, 3}, {}), Error);
  const auto run = [](Shape x, Shape w, std::vector<Attribute> attributes) {
    return run_op1({.op_type = "ConvTranspose", .opset = 11,
                    .inputs = {varied_tensor(DataType::kFloat32, x, 1), varied_tensor(DataType::kFloat32, w, 2)},
                    .attributes = std::move(attributes)});
  };
  CHECK_THROWS_AS(run({1, 4, 3}, {3, 2, 3}, {}), Error);
  CHECK_THROWS_AS(run({1, 4, 3}, {4, 2, 3}, {attr_i("group", 3)}), Error);
  CHECK_THROWS_AS(run({1, 4, 3}, {4, 2, 3}, {attr_ints("pads", {3, 3})}), Error);
  CHECK_THROWS_AS(run({1, 4, 3}, {4, 2, 3}, {attr_ints("output_padding", {-1})}), Error);
}
