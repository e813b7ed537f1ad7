#include <catch2/catch.hpp>

#include "lppool/base/error.h"
#include "lppool/base/thread_pool.h"
#include "lppool/kernels/lp_pool.h"
#include "lppool/ops/node_context.h"
#include "support/naive_conv.h"
#include "support/random.h"
#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

struct ConvCase {
  std::string name;
  std::int64_t batch, groups, in_channels, out_channels;
  std::vector<NaiveAxis> axes;             // out is filled in from the pads
  std::vector<std::int64_t> pads_end = {};
  std::string auto_pad = "";
  bool bias = true;
};

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

void complete(ConvCase& c) {
  for (std::size_t a = 0; a < c.axes.size(); ++a) {
    NaiveAxis& axis = c.axes[a];
    const std::int64_t span = (axis.kernel - 1) * axis.dilation + 1;
    if (c.auto_pad.starts_with("SAME")) {
      axis.out = (axis.in + axis.stride - 1) / axis.stride;
      const std::int64_t total = std::max<std::int64_t>(0, (axis.out - 1) * axis.stride + span - axis.in);
      axis.pad_begin = c.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    } else {
      const std::int64_t end = c.pads_end.empty() ? axis.pad_begin : c.pads_end[a];
      axis.out = floor_div(axis.in + axis.pad_begin + end - span, axis.stride) + 1;
    }
  }
}

void run_case(ConvCase c, DataType dtype, double tolerance, int threads = 1) {
  complete(c);
  Shape x_shape{c.batch, c.groups * c.in_channels}, w_shape{c.groups * c.out_channels, c.in_channels};
  std::vector<std::int64_t> kernel, strides, dilations, begin, end;
  Shape y_shape{c.batch, c.groups * c.out_channels};
  for (std::size_t a = 0; a < c.axes.size(); ++a) {
    const NaiveAxis& axis = c.axes[a];
    x_shape.push_back(axis.in);
    w_shape.push_back(axis.kernel);
    y_shape.push_back(axis.out);
    kernel.push_back(axis.kernel);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    begin.push_back(axis.pad_begin);
    end.push_back(c.pads_end.empty() ? axis.pad_begin : c.pads_end[a]);
  }
  const Tensor x = varied_tensor(dtype, x_shape, 1), w = varied_tensor(dtype, w_shape, 2);
  const Tensor bias = varied_tensor(dtype, Shape{c.groups * c.out_channels}, 3);
  OpCall call{.op_type = "Conv", .opset = 22, .inputs = {x, w}, .threads = threads};
  if (c.bias) call.inputs.emplace_back(bias);
  call.attributes = {attr_ints("strides", strides), attr_ints("dilations", dilations), attr_i("group", c.groups)};
  if (c.auto_pad.empty()) {
    begin.insert(begin.end(), end.begin(), end.end());
    call.attributes.push_back(attr_ints("pads", begin));
  } else {
    call.attributes.push_back(attr_s("auto_pad", c.auto_pad));
  }
  const std::vector<double> expected = naive_conv(to_doubles(x), to_doubles(w), c.bias ? to_doubles(bias) : std::vector<double>{},
                                                  c.batch, c.groups, c.in_channels, c.out_channels, c.axes);
  const Tensor y = run_op1(call);
  REQUIRE(y.dtype() == dtype);
  REQUIRE(y.shape() == y_shape);
  require_close(y, expected, tolerance);
}

// in, out (filled in), kernel, stride, dilation, pad_begin
const ConvCase kCases[] = {
    {"1-D", 2, 1, 3, 4, {{9, 0, 3, 1, 1, 0}}},
    {"1-D, stride and padding on one side", 1, 1, 2, 3, {{10, 0, 4, 3, 1, 2}}, {0}},
    {"1-D, dilated far", 1, 1, 2, 2, {{12, 0, 3, 2, 5, 4}}, {3}},
    {"2-D", 2, 1, 3, 5, {{6, 0, 3, 1, 1, 1}, {7, 0, 3, 1, 1, 1}}},
    {"2-D without bias", 1, 1, 4, 6, {{5, 0, 2, 1, 1, 0}, {6, 0, 3, 1, 1, 0}}, {}, "", false},
    {"2-D pointwise", 2, 1, 7, 9, {{5, 0, 1, 1, 1, 0}, {6, 0, 1, 1, 1, 0}}},
    {"2-D pointwise with stride", 1, 1, 4, 8, {{7, 0, 1, 2, 1, 0}, {9, 0, 1, 3, 1, 0}}},
    {"2-D pointwise with padding", 1, 1, 4, 8, {{4, 0, 1, 1, 1, 1}, {4, 0, 1, 1, 1, 2}}, {0, 1}},
    {"2-D, different in the two axes", 1, 1, 2, 3, {{8, 0, 2, 1, 3, 1}, {9, 0, 3, 2, 1, 0}}, {2, 3}},
    {"2-D groups", 2, 3, 2, 4, {{6, 0, 3, 1, 1, 1}, {5, 0, 3, 2, 1, 1}}},
    {"2-D depthwise", 2, 6, 1, 1, {{9, 0, 3, 1, 1, 1}, {8, 0, 3, 1, 1, 1}}},
    {"2-D depthwise with stride and dilation", 1, 5, 1, 1, {{9, 0, 3, 2, 2, 2}, {11, 0, 3, 2, 1, 0}}, {1, 1}},
    {"2-D depthwise, whole blocks", 2, 32, 1, 1, {{9, 0, 3, 1, 1, 1}, {8, 0, 3, 1, 1, 1}}},
    {"2-D depthwise, whole blocks, with stride and dilation", 1, 16, 1, 1, {{9, 0, 3, 2, 2, 2}, {11, 0, 5, 2, 1, 0}}, {1, 1}},
    {"1-D depthwise, whole blocks", 1, 16, 1, 1, {{19, 0, 5, 1, 1, 2}}},
    {"2-D groups of whole blocks", 1, 2, 16, 32, {{6, 0, 3, 1, 1, 1}, {5, 0, 3, 2, 1, 1}}},
    {"2-D blocks, dilated", 1, 1, 16, 16, {{9, 0, 3, 1, 3, 3}, {9, 0, 3, 1, 2, 2}}},
    {"1-D blocks, dilated far", 1, 1, 16, 32, {{40, 0, 3, 1, 9, 9}}},
    {"2-D blocks, padding beyond the window", 1, 1, 16, 16, {{3, 0, 2, 1, 1, 3}, {3, 0, 2, 2, 1, 4}}, {4, 5}},
    {"3-D blocks", 1, 1, 16, 16, {{4, 0, 2, 1, 1, 1}, {5, 0, 3, 2, 1, 0}, {6, 0, 2, 1, 2, 1}}, {0, 1, 1}},
    {"2-D depthwise with multiplier", 1, 4, 1, 2, {{6, 0, 3, 1, 1, 1}, {6, 0, 3, 1, 1, 1}}},
    {"2-D wide channels", 1, 1, 37, 41, {{5, 0, 3, 1, 1, 1}, {13, 0, 3, 1, 1, 1}}},
    {"2-D one output", 3, 1, 5, 7, {{4, 0, 4, 1, 1, 0}, {4, 0, 4, 1, 1, 0}}},
    {"2-D padding beyond the window", 1, 1, 2, 3, {{3, 0, 2, 1, 1, 3}, {3, 0, 2, 2, 1, 4}}, {4, 5}},
    {"2-D SAME_UPPER", 1, 1, 2, 3, {{7, 0, 3, 2, 1, 0}, {8, 0, 4, 3, 1, 0}}, {}, "SAME_UPPER"},
    {"2-D SAME_LOWER", 1, 1, 2, 3, {{7, 0, 4, 2, 1, 0}, {8, 0, 2, 1, 2, 0}}, {}, "SAME_LOWER"},
    {"2-D VALID", 1, 1, 2, 3, {{7, 0, 4, 2, 1, 0}, {8, 0, 2, 1, 2, 0}}, {}, "VALID"},
    {"2-D deep", 1, 1, 300, 10, {{4, 0, 3, 1, 1, 1}, {4, 0, 3, 1, 1, 1}}},
    {"2-D large plane", 1, 1, 3, 8, {{40, 0, 7, 2, 1, 3}, {41, 0, 7, 2, 1, 3}}},
    {"3-D", 1, 1, 2, 3, {{4, 0, 2, 1, 1, 1}, {5, 0, 3, 2, 1, 0}, {6, 0, 2, 1, 2, 1}}, {0, 1, 1}},
    {"3-D groups", 2, 2, 2, 2, {{3, 0, 2, 1, 1, 0}, {4, 0, 2, 1, 1, 1}, {4, 0, 3, 1, 1, 1}}},
    {"3-D SAME_UPPER", 1, 1, 1, 2, {{5, 0, 2, 2, 1, 0}, {4, 0, 3, 1, 1, 0}, {6, 0, 3, 2, 2, 0}}, {}, "SAME_UPPER"},
    {"4-D", 1, 1, 2, 2, {{3, 0, 2, 1, 1, 0}, {3, 0, 2, 1, 1, 1}, {4, 0, 2, 2, 1, 0}, {3, 0, 2, 1, 1, 0}}},
    {"empty batch", 0, 1, 2, 3, {{4, 0, 2, 1, 1, 0}, {4, 0, 2, 1, 1, 0}}},
};

}  // namespace

TEST_CASE("Conv agrees with its definition for every geometry", "[ops][Conv]") {
  for (const ConvCase& c : kCases) {
    DYNAMIC_SECTION(c.name) {
      CAPTURE(testing::test_seed());
      run_case(c, DataType::kFloat32, 2e-5);
      run_case(c, DataType::kFloat64, 1e-13);
      run_case(c, DataType::kFloat16, 1.0 / 1024);
      run_case(c, DataType::kBFloat16, 1.0 / 128);
      run_case(c, DataType::kFloat32, 2e-5, 3);
    }
  }
}

TEST_CASE("Conv agrees with its definition for random geometries", "[ops][Conv]") {
  testing::Random random(77);
  CAPTURE(testing::test_seed());
  for (int round = 0; round < 150; ++round) {
    ConvCase c{"random", random.between(1, 2), random.between(1, 3), random.between(1, 5), random.between(1, 5), {}};
    const int rank = random.between(1, 3);
    for (int a = 0; a < rank; ++a) {
      NaiveAxis axis{0, 0, random.between(1, 4), random.between(1, 3), random.between(1, 3), random.between(0, 3)};
      axis.in = (axis.kernel - 1) * axis.dilation + 1 + random.between(0, rank == 1 ? 40 : 9);
      c.axes.push_back(axis);
      c.pads_end.push_back(random.between(0, 3));
    }
    c.bias = random.one_in(2);
    run_case(c, DataType::kFloat32, 2e-5, random.between(1, 2));
    run_case(c, DataType::kFloat64, 1e-13);
  }
}

TEST_CASE("Depthwise Conv gives the same sums on every instruction set", "[ops][Conv]") {
  testing::Random random(80);
  CAPTURE(testing::test_seed());
  for (const std::string isa : {"avx512", "avx2", "sse4", "ssse3", "sse2"}) {
    if (!kernels::limit_isa(isa)) continue;
    for (int round = 0; round < 40; ++round) {
      ConvCase c{"random", random.between(1, 2), random.between(2, 4), 1, random.between(1, 2), {}};
      const int rank = random.between(1, 3);
      for (int a = 0; a < rank; ++a) {
        NaiveAxis axis{0, 0, random.between(1, 5), random.between(1, 3), random.between(1, 3), random.between(0, 4)};
        axis.in = (axis.kernel - 1) * axis.dilation + 1 + random.between(0, a + 1 == rank ? 150 : 5);
        c.axes.push_back(axis);
        c.pads_end.push_back(random.between(0, 4));
      }
      run_case(c, DataType::kFloat32, 1e-5, random.between(1, 2));
    }
  }
  REQUIRE(kernels::limit_isa(""));
}

TEST_CASE("Pointwise Conv of small groups gives the same sums on every instruction set", "[ops][Conv]") {
  testing::Random random(81);
  CAPTURE(testing::test_seed());
  for (const std::string isa : {"avx512", "avx2", "sse4", "ssse3", "sse2"}) {
    if (!kernels::limit_isa(isa)) continue;
    for (int round = 0; round < 30; ++round) {
      ConvCase c{"random", random.between(1, 2), random.between(2, 4), random.between(2, 20), random.between(1, 20), {}};
      const int rank = random.between(1, 3);
      for (int a = 0; a < rank; ++a) {
        NaiveAxis axis{0, 0, 1, 1, 1, 0};
        axis.in = a + 1 == rank ? random.between(1, 150) : random.between(1, 8);
        c.axes.push_back(axis);
      }
      c.bias = random.one_in(2);
      run_case(c, DataType::kFloat32, 1e-5, random.between(1, 3));
    }
  }
  REQUIRE(kernels::limit_isa(""));
}

TEST_CASE("Depthwise Conv takes strides far beyond the input", "[ops][Conv]") {
  run_case({"far", 1, 2, 1, 1, {{3, 0, 2, std::int64_t{1} << 40, 1, 0}}}, DataType::kFloat32, 1e-6);
  run_case({"far", 1, 2, 1, 1, {{3, 0, 2, 1, 1, 0}, {4, 0, 1, std::int64_t{1} << 40, 1, 2}}}, DataType::kFloat32, 1e-6);
}

TEST_CASE("Conv rounds 16-bit results once", "[ops][Conv]") {
  // 2048 + 1 + 1: rounding after each addition would stay at 2048.
  const Tensor x = Tensor::of<Float16>({1, 1, 3}, {Float16(2048.0f), Float16(1.0f), Float16(1.0f)});
  const Tensor w = Tensor::of<Float16>({1, 1, 3}, {Float16(1.0f), Float16(1.0f), Float16(1.0f)});
  CHECK(to_doubles(run_op1({.op_type = "Conv", .opset = 11, .inputs = {x, w}})) == std::vector<double>{2050});
}

TEST_CASE("Conv keeps packed weights only for constant weights and equal shapes", "[ops][Conv]") {
  Node node;
  node.op_type = "Conv";
  node.inputs = {"x", "w"};
  node.outputs = {"y"};
  const OpDef& op = *find_op("", "Conv");
  for (const bool constant : {false, true}) {
    ThreadPool pool(1);
    NodeContext context(node, *schema_for(op, 11), 11, pool);
    if (constant) context.constant_inputs = {1};
    Tensor w = varied_tensor(DataType::kFloat32, {3, 2, 3, 3}, 10);
    for (const std::int64_t width : {5, 9, 9, 5}) {
      for (const std::uint64_t stream : {4u, 5u}) {
        if (!constant) w = varied_tensor(DataType::kFloat32, {3, 2, 3, 3}, stream + 10);
        const Tensor x = varied_tensor(DataType::kFloat32, {1, 2, 4, width}, stream);
        context.inputs = {x, w};
        op.run(context);
        const auto expected = naive_conv(to_doubles(x), to_doubles(w), {}, 1, 1, 2, 3,
                                         {{4, 2, 3, 1, 1, 0}, {width, width - 2, 3, 1, 1, 0}});
        require_close(context.outputs.at(0).tensor(), expected, 1e-5);
      }
    }
  }
}

TEST_CASE("Conv refuses shapes that do not fit", "[ops][Conv]") {
  const Tensor x = varied_tensor(DataType::kFloat32, {1, 4, 5, 5}, 1);
  const auto run = [&](Shape w, std::vector<Attribute> attributes, std::optional<Shape> bias = std::nullopt) {
    OpCall call{.op_type = "Conv", .opset = 11, .inputs = {x, varied_tensor(DataType::kFloat32, w, 2)},
                .attributes = std::move(attributes)};
    if (bias) call.inputs.emplace_back(varied_tensor(DataType::kFloat32, *bias, 3));
    return run_op1(call);
  };
  CHECK_THROWS_AS(run({2, 3, 3, 3}, {}), Error);                                  // channels
  CHECK_THROWS_AS(run({3, 2, 3, 3}, {attr_i("group", 2)}), Error);                // output channels
  CHECK_THROWS_AS(run({2, 4, 3}, {}), Error);                                     // rank
  CHECK_THROWS_AS(run({2, 4, 3, 3}, {attr_ints("kernel_shape", {3, 2})}), Error);
  CHECK_THROWS_AS(run({2, 4, 3, 3}, {attr_ints("strides", {1, 0})}), Error);
  CHECK_THROWS_AS(run({2, 4, 3, 3}, {attr_ints("pads", {0, 0})}), Error);
  CHECK_THROWS_AS(run({2, 4, 3, 3}, {attr_ints("pads", {0, 0, 1, 1}), attr_s("auto_pad", "SAME_UPPER")}), Error);
  CHECK_THROWS_AS(run({2, 4, 7, 7}, {}), Error);                                  // negative size
  CHECK_THROWS_AS(run({2, 4, 3, 3}, {}, Shape{3}), Error);
  CHECK_THROWS_AS(run({2, 4, 3, 3}, {attr_i("group", 0)}), Error);
  CHECK(run({2, 4, 3, 3}, {attr_ints("pads", {0, 0, 0, 0}), attr_s("auto_pad", "SAME_UPPER")}).shape() == Shape{1, 2, 5, 5});
}

TEST_CASE("Conv infers symbolic sizes", "[ops][Conv]") {
  const auto infer = [](std::vector<Dim> x, std::vector<Dim> w, std::vector<Attribute> attributes) {
    const auto types = infer_op({.op_type = "Conv", .opset = 22, .attributes = std::move(attributes)},
                                {ValueType::tensor(DataType::kFloat16, std::move(x)),
                                 ValueType::tensor(DataType::kFloat16, std::move(w))});
    return to_string(types.at(0));
  };
  const Dim n = Dim::symbol("N"), h = Dim::symbol("H"), m = Dim::symbol("M");
  CHECK(infer({n, 3, h, 224}, {64, 3, 7, 7}, {attr_ints("strides", {2, 2}), attr_ints("pads", {3, 3, 3, 3})}) ==
        "float16 Nx64x(floor((H + 1)/2))x112");
  CHECK(infer({n, 3, h, 9}, {m, 3, 3, 3}, {attr_s("auto_pad", "SAME_UPPER")}) == "float16 NxMxHx9");
  CHECK(infer({n, 3, h, 9}, {m, 3, Dim(), 3}, {}) == "float16 NxMx?x?");
  CHECK(infer({n, 3, h, 9}, {m, 3, Dim(), 3}, {attr_ints("kernel_shape", {2, 2})}) == "float16 NxMx(H - 1)x8");
  CHECK_THROWS_AS(infer({n, 4, h, 9}, {m, 3, 3, 3}, {}), Error);
}
