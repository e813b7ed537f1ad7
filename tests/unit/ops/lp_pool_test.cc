// Expected sizes come from the rules of ONNX worked out by hand or by walking windows (support/literal_pool.h);
// expected values are Pythagorean sums, exact cubes and sums of magnitudes.
#include <catch2/catch.hpp>

#include "lppool/ops/lp_window.h"
#include "support/literal_pool.h"
#include "support/run_op.h"

namespace lppool::test {
namespace {

struct Axis {
  std::int64_t n, kernel, stride = 1, dilation = 1, begin = 0, end = 0;
};

LpWindow window_of(const Axis& a, AutoPad auto_pad, bool ceil_mode, int since) {
  LpWindow window;
  window.auto_pad = auto_pad;
  window.ceil_mode = ceil_mode;
  window.drops_last_window = since >= 22;
  window.axes.push_back({a.kernel, a.stride, a.dilation, a.begin, a.end, (a.kernel - 1) * a.dilation + 1});
  return window;
}

Diagnostics check(const OpCall& call) {
  Node node;
  node.op_type = call.op_type;
  node.attributes = call.attributes;
  const OpDef& op = *find_op("", call.op_type);
  CheckContext context(node, *schema_for(op, call.opset));
  op.check(context);
  return context.findings;
}

std::string codes(const Diagnostics& findings) {
  std::string text;
  for (const Diagnostic& finding : findings) text += (text.empty() ? "" : " ") + finding.code;
  return text;
}

Tensor ramp(Shape shape) {
  Tensor x = Tensor::allocate(DataType::kFloat32, std::move(shape));
  float value = 1;
  for (float& element : x.mutable_data<float>()) element = value++;
  return x;
}

ValueType floats(std::vector<Dim> shape) {
  return ValueType::tensor(DataType::kFloat32, std::move(shape));
}

TEST_CASE("the window rules of each LpPool version give these sizes", "[ops][LpPool]") {
  struct Case {
    const char* about;
    Axis axis;
    AutoPad auto_pad;
    bool ceil_mode;
    std::int64_t size_11_18, size_22;
  };
  using enum AutoPad;
  const Case cases[] = {
      {"floor", {5, 2, 2}, kNotSet, false, 2, 2},
      {"floor with pads", {5, 2, 2, 1, 1, 1}, kNotSet, false, 3, 3},
      {"dilation widens the window", {7, 3, 1, 2}, kNotSet, false, 3, 3},
      {"a window in the end padding is kept by 18, dropped by 22", {5, 2, 2, 1, 1, 1}, kNotSet, true, 4, 3},
      {"only one window is dropped", {4, 2, 2, 1, 0, 4}, kNotSet, true, 4, 3},
      {"ceil can give less than floor", {4, 2, 2, 1, 0, 2}, kNotSet, true, 3, 2},
      {"begin pad decides, not end pad", {5, 1, 3, 1, 2, 0}, kNotSet, true, 3, 3},
      {"end pad alone", {5, 1, 3, 1, 0, 2}, kNotSet, true, 3, 2},
      {"no pads, kernel below stride", {5, 1, 3}, kNotSet, true, 3, 2},
      {"ceil, last window hangs over", {8, 4, 3}, kNotSet, true, 3, 3},
      {"window larger than the input, ceil", {4, 6, 4}, kNotSet, true, 1, 1},
      {"exactly no room for a window", {3, 4}, kNotSet, false, 0, 0},
      {"no room, stride above 1", {5, 6, 2}, kNotSet, false, 0, 0},
      {"no room, stride 3", {3, 5, 3}, kNotSet, false, 0, 0},
      {"SAME_UPPER", {7, 2, 2}, kSameUpper, false, 4, 4},
      {"SAME_LOWER", {10, 4, 3}, kSameLower, false, 4, 4},
      {"SAME with dilation", {5, 2, 1, 2}, kSameUpper, false, 5, 5},
      {"SAME ignores ceil_mode", {8, 1, 3}, kSameUpper, true, 3, 3},
      {"SAME, kernel below stride", {9, 1, 5}, kSameLower, false, 2, 2},
      {"VALID", {10, 4, 3}, kValid, false, 3, 3},
      {"VALID with ceil_mode rounds up", {5, 2, 2}, kValid, true, 3, 3},
      {"beyond float32", {(1 << 24) + 3, 2, 1}, kNotSet, true, (1 << 24) + 2, (1 << 24) + 2},
      {"beyond 32 bits", {std::int64_t{1} << 40, 2, 2}, kNotSet, false, std::int64_t{1} << 39, std::int64_t{1} << 39},
      {"the largest size", {INT64_MAX, 1}, kNotSet, false, INT64_MAX, INT64_MAX},
      {"pads larger than the kernel", {3, 2, 1, 1, 3, 3}, kNotSet, false, 8, 8},
  };
  for (const Case& c : cases) {
    CAPTURE(c.about);
    for (const int since : {11, 18, 22}) {
      CAPTURE(since);
      const auto window = window_of(c.axis, c.auto_pad, c.ceil_mode, since);
      CHECK(plan_axis(window, 0, c.axis.n).out == (since < 22 ? c.size_11_18 : c.size_22));
      // The expression, with the number put in afterwards, is the same rule.
      const Dim size = output_dim(window, 0, Dim::symbol("H"));
      CHECK(size.substitute({{"H", Dim(c.axis.n)}}).to_string() ==
            Dim(since < 22 ? c.size_11_18 : c.size_22).to_string());
    }
  }
}

TEST_CASE("SAME padding is split in halves with the odd one at the end or the beginning", "[ops][LpPool]") {
  struct Case {
    Axis axis;
    std::int64_t begin_upper, end_upper;
  };
  const Case cases[] = {
      {{7, 3}, 1, 1},    {{8, 3, 2}, 0, 1}, {{10, 4, 3}, 1, 2}, {{5, 2, 1, 2}, 1, 1},
      {{9, 1, 5}, 0, 0}, {{8, 2}, 0, 1},    {{1, 6}, 2, 3},     {{9, 3, 2, 2}, 2, 2},
  };
  for (const Case& c : cases) {
    CAPTURE(c.axis.n, c.axis.kernel, c.axis.stride, c.axis.dilation);
    const AxisPlan upper = plan_axis(window_of(c.axis, AutoPad::kSameUpper, false, 22), 0, c.axis.n);
    const AxisPlan lower = plan_axis(window_of(c.axis, AutoPad::kSameLower, false, 22), 0, c.axis.n);
    CHECK(upper.pad_begin == c.begin_upper);
    CHECK(upper.pad_end == c.end_upper);
    CHECK(lower.pad_begin == c.end_upper);
    CHECK(lower.pad_end == c.begin_upper);
  }
}

TEST_CASE("sizes agree with walking the windows for every small axis", "[ops][LpPool]") {
  for (std::int64_t n = 0; n <= 7; ++n)
    for (std::int64_t kernel = 1; kernel <= 4; ++kernel)
      for (std::int64_t stride = 1; stride <= 4; ++stride)
        for (std::int64_t dilation = 1; dilation <= 2; ++dilation)
          for (std::int64_t begin = 0; begin <= 3; ++begin)
            for (std::int64_t end = 0; end <= 3; ++end) {
              const Axis axis{n, kernel, stride, dilation, begin, end};
              if (n + begin + end < (kernel - 1) * dilation + 1) continue;  // by hand in the table above
              testing::LiteralAxis literal{n, kernel, stride, dilation, begin, end, 0};
              CAPTURE(n, kernel, stride, dilation, begin, end);
              const auto size = [&](bool ceil_mode, int since) {
                return plan_axis(window_of(axis, AutoPad::kNotSet, ceil_mode, since), 0, n).out;
              };
              REQUIRE(size(false, 11) == literal_output_size(literal, false, false));
              REQUIRE(size(true, 18) == literal_output_size(literal, true, false));
              REQUIRE(size(true, 22) == literal_output_size(literal, true, true));
              const Dim expression = output_dim(window_of(axis, AutoPad::kNotSet, true, 22), 0, Dim::symbol("n"));
              REQUIRE(expression.substitute({{"n", Dim(n)}}).is(size(true, 22)));
            }
}

TEST_CASE("a window that does not fit is an error with the formula", "[ops][LpPool]") {
  CHECK_THROWS_WITH(plan_axis(window_of({3, 5}, AutoPad::kNotSet, false, 22), 0, 3),
                    Catch::Contains("window of 5") && Catch::Contains("3 - 5 + 1") && Catch::Contains("-1"));
  CHECK_THROWS_AS(plan_axis(window_of({3, 7, 2}, AutoPad::kNotSet, false, 22), 0, 3), Error);
  CHECK_THROWS_AS(plan_axis(window_of({1, 3}, AutoPad::kValid, false, 22), 0, 1), Error);
}

TEST_CASE("window positions beyond 64 bits are an error", "[ops][LpPool]") {
  CHECK_THROWS_WITH(plan_axis(window_of({INT64_MAX, 1, 1, 1, 1, 1}, AutoPad::kNotSet, false, 22), 0, INT64_MAX),
                    Catch::Contains("64 bits"));
  CHECK_THROWS_WITH(plan_axis(window_of({3, 2, INT64_MAX}, AutoPad::kNotSet, true, 18), 0, 3),
                    Catch::Contains("64 bits"));
}

TEST_CASE("formulas show the rule with its numbers", "[ops][LpPool]") {
  const Dim h = Dim::symbol("H");
  CHECK(output_formula(window_of({0, 3, 2, 1, 1, 1}, AutoPad::kNotSet, false, 22), 0, h) == "floor((H + 2 - 3)/2) + 1");
  CHECK(output_formula(window_of({0, 3}, AutoPad::kNotSet, false, 22), 0, Dim(9)) == "9 - 3 + 1");
  CHECK(output_formula(window_of({0, 3, 2, 2}, AutoPad::kNotSet, false, 22), 0, Dim(9)) ==
        "floor((9 - ((3 - 1)*2 + 1))/2) + 1");
  CHECK(output_formula(window_of({0, 2, 2, 1, 1, 1}, AutoPad::kNotSet, true, 18), 0, Dim(5)) ==
        "ceil((5 + 2 - 2)/2) + 1");
  CHECK(output_formula(window_of({0, 2, 2, 1, 1, 1}, AutoPad::kNotSet, true, 22), 0, Dim(5)) ==
        "ceil((5 + 2 - 2)/2) + 1 - 1");
  CHECK(output_formula(window_of({0, 3, 2}, AutoPad::kSameLower, false, 22), 0, h + Dim(1)) == "ceil((H + 1)/2)");
}

TEST_CASE("symbolic sizes stay exact expressions", "[ops][LpPool]") {
  const OpCall call{
      .op_type = "LpPool",
      .opset = 18,
      .attributes = {attr_ints("kernel_shape", {3, 2}), attr_ints("strides", {2, 1}), attr_ints("pads", {1, 0, 1, 0})}};
  const auto y = infer_op(call, {floats({Dim::symbol("N"), Dim(3), Dim::symbol("H"), Dim(8)})});
  REQUIRE(y[0].shape);
  CHECK(to_string(*y[0].shape) == "Nx3x(floor((H + 1)/2))x7");
}

TEST_CASE("LpPool refuses attribute values no window can have, all at once", "[ops][LpPool]") {
  struct Case {
    const char* about;
    std::int64_t opset;
    std::vector<Attribute> attributes;
    const char* codes;
  };
  const Attribute kernel = attr_ints("kernel_shape", {2, 2});
  const Case cases[] = {
      {"nothing wrong", 22, {kernel}, ""},
      {"p = 0", 22, {kernel, attr_i("p", 0)}, "LP003"},
      {"p below 0", 2, {kernel, attr_i("p", -1)}, "LP003"},
      {"float p below 0", 1, {kernel, attr_f("p", -1.5f)}, "LP003"},
      {"float p NaN", 1, {kernel, attr_f("p", std::numeric_limits<float>::quiet_NaN())}, "LP003"},
      {"float p infinite", 1, {kernel, attr_f("p", std::numeric_limits<float>::infinity())}, "LP003"},
      {"float p below 1", 1, {kernel, attr_f("p", 0.5f)}, "LP004"},
      {"float p", 1, {kernel, attr_f("p", 2.5f)}, ""},
      {"huge p", 22, {kernel, attr_i("p", 1000)}, "LP005"},
      {"kernel left out in opset 1", 1, {}, "LP001"},
      {"kernel of 0", 22, {attr_ints("kernel_shape", {2, 0})}, "LP006"},
      {"kernel empty", 22, {attr_ints("kernel_shape", {})}, "LP006"},
      {"stride of 0", 22, {kernel, attr_ints("strides", {0, 1})}, "LP007"},
      {"dilation below 0", 18, {kernel, attr_ints("dilations", {1, -2})}, "LP008"},
      {"pad below 0", 11, {kernel, attr_ints("pads", {0, 0, 0, -1})}, "LP009"},
      {"auto_pad word", 22, {kernel, attr_s("auto_pad", "SAME")}, "LP010"},
      {"auto_pad case", 22, {kernel, attr_s("auto_pad", "valid")}, "LP010"},
      {"auto_pad empty", 22, {kernel, attr_s("auto_pad", "")}, "LP011"},
      {"auto_pad with pads", 22, {kernel, attr_s("auto_pad", "SAME_UPPER"), attr_ints("pads", {1, 1, 1, 1})}, "LP012"},
      {"NOTSET with pads", 22, {kernel, attr_s("auto_pad", "NOTSET"), attr_ints("pads", {1, 1, 1, 1})}, ""},
      {"ceil_mode 2", 22, {kernel, attr_i("ceil_mode", 2)}, "LP013"},
      {"window beyond 64 bits",
       22,
       {attr_ints("kernel_shape", {INT64_MAX, 2}), attr_ints("dilations", {2, 1})},
       "LP014"},
      {"pads beyond 64 bits", 22, {kernel, attr_ints("pads", {INT64_MAX, 0, 1, 0})}, "LP014"},
      {"VALID with ceil_mode", 22, {kernel, attr_s("auto_pad", "VALID"), attr_i("ceil_mode", 1)}, "LP015"},
      {"odd pads", 22, {kernel, attr_ints("pads", {1, 1, 1})}, "LP002"},
      {"strides of another length", 22, {kernel, attr_ints("strides", {1})}, "LP021"},
      {"several at once",
       22,
       {attr_ints("kernel_shape", {-1, 2}), attr_i("p", 0), attr_ints("strides", {0, 0})},
       "LP003 LP006 LP007 LP007"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.about);
    CHECK(codes(check({.op_type = "LpPool", .opset = c.opset, .attributes = c.attributes})) == c.codes);
  }
}

TEST_CASE("LpPool refuses ranks and list lengths that do not fit the input", "[ops][LpPool]") {
  const OpCall call{.op_type = "LpPool", .opset = 22, .attributes = {attr_ints("kernel_shape", {2})}};
  CHECK_THROWS_WITH(infer_op(call, {floats({2, 3})}), Catch::Contains("rank 2, expected 3 or more"));
  CHECK_THROWS_WITH(infer_op(call, {floats({1, 1, 4, 4})}), Catch::Contains("kernel_shape has 1 values"));
  OpCall no_kernel{.op_type = "LpPool", .opset = 1, .inputs = {ramp({1, 1, 4})}};
  CHECK_THROWS_WITH(run_op1(no_kernel), Catch::Contains("kernel_shape is missing"));
  const auto y = infer_op(no_kernel, {floats({1, 2, 4, 4})});
  CHECK(to_string(*y[0].shape) == "1x2x?x?");
}

TEST_CASE("LpPool sums magnitudes over each window", "[ops][LpPool]") {
  const Tensor x = Tensor::of<float>({1, 1, 6}, {3, -4, 0, 5, -12, 1});
  const auto pool = [&](std::int64_t opset, std::vector<Attribute> attributes) {
    return to_doubles(
        run_op1({.op_type = "LpPool", .opset = opset, .inputs = {x}, .attributes = std::move(attributes)}));
  };
  const Attribute kernel = attr_ints("kernel_shape", {2});
  CHECK(pool(22, {kernel, attr_ints("strides", {3})}) == std::vector<double>{5, 13});
  CHECK(pool(11, {kernel, attr_i("p", 1)}) == std::vector<double>{7, 4, 5, 17, 13});
  CHECK(pool(1, {kernel, attr_f("p", 1.0f), attr_ints("pads", {1, 1})}) == std::vector<double>{3, 7, 4, 5, 17, 13, 1});
  CHECK(pool(18, {kernel, attr_ints("dilations", {3}), attr_i("p", 1)}) == std::vector<double>{8, 16, 1});
  CHECK(pool(22, {kernel, attr_i("p", 1), attr_s("auto_pad", "SAME_LOWER")}) ==
        std::vector<double>{3, 7, 4, 5, 17, 13});
  // 2 windows fit, a third hangs over the end by ceil_mode and counts what is there.
  CHECK(pool(22, {attr_ints("kernel_shape", {4}), attr_i("p", 1), attr_ints("strides", {3}), attr_i("ceil_mode", 1)}) ==
        std::vector<double>{12, 18});
  CHECK(pool(22, {kernel, attr_i("p", 1), attr_ints("pads", {3, 0})}) == std::vector<double>{0, 0, 3, 7, 4, 5, 17, 13});
}

TEST_CASE("LpPool 18 keeps a window in the end padding and LpPool 22 does not", "[ops][LpPool]") {
  const Tensor x = Tensor::of<float>({1, 1, 5}, {3, 4, 5, 12, 8});
  const std::vector<Attribute> attributes = {attr_ints("kernel_shape", {2}), attr_ints("strides", {2}),
                                             attr_ints("pads", {1, 1}), attr_i("ceil_mode", 1)};
  const auto pool = [&](std::int64_t opset) {
    return run_op1({.op_type = "LpPool", .opset = opset, .inputs = {x}, .attributes = attributes});
  };
  // windows: (pad 3) (4 5) (12 8) and, in 18 only, (pad pad)
  CHECK(pool(21).shape() == Shape{1, 1, 4});
  CHECK(to_doubles(pool(21)).back() == 0);
  CHECK(pool(22).shape() == Shape{1, 1, 3});
  CHECK(to_doubles(pool(22))[0] == 3);
}

TEST_CASE("LpPool takes empty batches and channels", "[ops][LpPool]") {
  const std::vector<Attribute> attributes = {attr_ints("kernel_shape", {2, 2})};
  for (const Shape& shape : {Shape{0, 2, 4, 4}, Shape{2, 0, 4, 4}}) {
    const Tensor y = run_op1({.op_type = "LpPool",
                              .opset = 22,
                              .inputs = {Tensor::zeros(DataType::kFloat32, shape)},
                              .attributes = attributes});
    CHECK(y.shape() == Shape{shape[0], shape[1], 3, 3});
  }
  const Tensor y = run_op1({.op_type = "LpPool",
                            .opset = 22,
                            .inputs = {Tensor::zeros(DataType::kFloat64, {1, 1, 0})},
                            .attributes = {attr_ints("kernel_shape", {2}), attr_ints("pads", {1, 1})}});
  CHECK(to_doubles(y) == std::vector<double>{0});
}

TEST_CASE("LpPool computes every float type", "[ops][LpPool]") {
  const std::vector<Attribute> attributes = {attr_ints("kernel_shape", {2})};
  const auto pool = [&](Tensor x) {
    const Tensor y = run_op1({.op_type = "LpPool", .opset = 22, .inputs = {x}, .attributes = attributes});
    CHECK(y.dtype() == x.dtype());
    return to_doubles(y);
  };
  const std::vector<double> expected = {5};
  CHECK(pool(Tensor::of<float>({1, 1, 2}, {3, -4})) == expected);
  CHECK(pool(Tensor::of<double>({1, 1, 2}, {3, -4})) == expected);
  CHECK(pool(Tensor::of<Float16>({1, 1, 2}, {Float16(3.0), Float16(-4.0)})) == expected);
  CHECK(pool(Tensor::of<BFloat16>({1, 1, 2}, {BFloat16(3.0), BFloat16(-4.0)})) == expected);
  CHECK_THROWS_WITH(pool(Tensor::of<std::int32_t>({1, 1, 2}, {3, -4})), Catch::Contains("int32"));
}

}  // namespace
}  // namespace lppool::test
