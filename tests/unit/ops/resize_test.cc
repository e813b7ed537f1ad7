#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

Tensor image(std::int64_t height, std::int64_t width) {
  std::vector<float> values(static_cast<std::size_t>(height * width));
  std::iota(values.begin(), values.end(), 1.0f);
  return Tensor::of<float>({1, 1, height, width}, values);
}

Tensor floats(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
}
Tensor ints(const std::vector<std::int64_t>& values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

void check_values(const Tensor& got, const std::vector<double>& expected) {
  const auto values = to_doubles(got);
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(i);
    CHECK(values[i] == Approx(expected[i]).epsilon(1e-6).margin(1e-6));
  }
}

double keys(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

// The text's definition for one output pixel: every input pixel (edges repeated outwards) times the product of its
// filter values along both axes.
double pixel(const std::vector<float>& x, std::int64_t height, std::int64_t width, double y0, double x0, bool cubic,
             bool exclude_outside, double stretch_y = 1, double stretch_x = 1) {
  const auto filter = [&](double d) { return cubic ? keys(d, -0.75) : std::max(0.0, 1 - std::abs(d)); };
  const auto clamp = [](std::int64_t i, std::int64_t n) { return std::min(std::max<std::int64_t>(i, 0), n - 1); };
  double sum = 0, total = 0;
  for (std::int64_t i = -40; i < height + 40; ++i) {
    for (std::int64_t j = -40; j < width + 40; ++j) {
      if (exclude_outside && (i < 0 || j < 0 || i >= height || j >= width)) continue;
      const double w =
          filter((static_cast<double>(i) - y0) * stretch_y) * filter((static_cast<double>(j) - x0) * stretch_x);
      sum += w * static_cast<double>(x[static_cast<std::size_t>(clamp(i, height) * width + clamp(j, width))]);
      total += w;
    }
  }
  return sum / total;
}

}  // namespace

TEST_CASE("Resize interpolates as its formula says, pixel by pixel", "[ops][Resize]") {
  const bool cubic = GENERATE(false, true), exclude = GENERATE(false, true), antialias = GENERATE(false, true);
  const std::string transform =
      GENERATE("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric");
  struct Size {
    std::int64_t height, width;
  };
  const Size size = GENERATE(Size{3, 4}, Size{9, 11}, Size{2, 13}, Size{1, 1});
  const std::int64_t height = 5, width = 7;
  CAPTURE(cubic, exclude, antialias, transform, size.height, size.width);
  std::vector<float> x(static_cast<std::size_t>(height * width));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 37 + 11) % 23) - 8;

  OpCall call{.op_type = "Resize", .opset = 19};
  call.inputs = {Tensor::of<float>({height, width}, x), {}, {}, ints({size.height, size.width})};
  call.attributes = {attr_s("mode", cubic ? "cubic" : "linear"), attr_s("coordinate_transformation_mode", transform),
                     attr_i("exclude_outside", exclude), attr_i("antialias", antialias)};
  std::vector<double> expected;
  const auto at = [&](std::int64_t o, std::int64_t length, std::int64_t resized) {
    const double d = static_cast<double>(o), l = static_cast<double>(length), r = static_cast<double>(resized);
    if (transform == "align_corners") return resized == 1 ? 0.0 : d * (l - 1) / (r - 1);
    if (transform == "asymmetric") return d * l / r;
    if (transform == "pytorch_half_pixel" && resized == 1) return 0.0;
    return (d + 0.5) * l / r - 0.5;
  };
  for (std::int64_t i = 0; i < size.height; ++i) {
    for (std::int64_t j = 0; j < size.width; ++j) {
      const auto stretch = [&](std::int64_t out, std::int64_t in) {
        return antialias ? std::min(1.0, static_cast<double>(out) / static_cast<double>(in)) : 1.0;
      };
      expected.push_back(pixel(x, height, width, at(i, height, size.height), at(j, width, size.width), cubic, exclude,
                               stretch(size.height, height), stretch(size.width, width)));
    }
  }
  check_values(run_op1(call), expected);
}

TEST_CASE("Resize finds the nearest element by the rule named", "[ops][Resize]") {
  // 4 to 8 with align_corners puts the places at 3/7 steps; half_pixel at -0.25, 0.25, 0.75, ...; asymmetric at 0, 0.5,
  // 1, ...
  struct Case {
    const char *transform, *rule;
    std::vector<double> expected;
  };
  const Case c = GENERATE(Case{"asymmetric", "floor", {1, 1, 2, 2, 3, 3, 4, 4}},
                          Case{"asymmetric", "ceil", {1, 2, 2, 3, 3, 4, 4, 4}},
                          Case{"asymmetric", "round_prefer_floor", {1, 1, 2, 2, 3, 3, 4, 4}},
                          Case{"asymmetric", "round_prefer_ceil", {1, 2, 2, 3, 3, 4, 4, 4}},
                          Case{"half_pixel", "round_prefer_floor", {1, 1, 2, 2, 3, 3, 4, 4}},
                          Case{"half_pixel", "floor", {1, 1, 1, 2, 2, 3, 3, 4}},
                          Case{"align_corners", "round_prefer_floor", {1, 1, 2, 2, 3, 3, 4, 4}},
                          Case{"align_corners", "floor", {1, 1, 1, 2, 2, 3, 3, 4}});
  CAPTURE(c.transform, c.rule);
  OpCall call{.op_type = "Resize", .opset = 13};
  call.inputs = {Tensor::of<std::int8_t>({4}, {1, 2, 3, 4}), {}, floats({2})};
  call.attributes = {attr_s("coordinate_transformation_mode", c.transform), attr_s("nearest_mode", c.rule)};
  check_values(run_op1(call), c.expected);
}

TEST_CASE("Resize 10 takes the element before where it grows and after where it shrinks", "[ops][Resize]") {
  // The cases of the opset-10 release: scale 0.6 gives places 0 and 1.67.
  OpCall call{.op_type = "Resize", .opset = 10};
  call.inputs = {image(2, 4), floats({1, 1, 0.6f, 0.6f})};
  check_values(run_op1(call), {1, 3});
  call.attributes = {attr_s("mode", "linear")};
  check_values(run_op1(call), {1, 2.66666651});
  call.inputs = {image(2, 2), floats({1, 1, 2, 2})};
  check_values(run_op1(call), {1, 1.5, 2, 2, 2, 2.5, 3, 3, 3, 3.5, 4, 4, 3, 3.5, 4, 4});
}

TEST_CASE("Resize fills what lies outside the region of interest", "[ops][Resize]") {
  OpCall call{.op_type = "Resize", .opset = 18};
  // Region 0.5 to 1.5 of 5 elements: places 2, 4, 6 of which the last is outside.
  call.inputs = {Tensor::of<float>({5}, {10, 20, 30, 40, 50}), floats({0.5f, 1.5f}), {}, ints({3})};
  const std::string mode = GENERATE("nearest", "linear", "cubic");
  call.attributes = {attr_s("mode", mode), attr_s("coordinate_transformation_mode", "tf_crop_and_resize"),
                     attr_f("extrapolation_value", -1)};
  check_values(run_op1(call), {30, 50, -1});
}

TEST_CASE("Resize keeps the aspect ratio where asked", "[ops][Resize]") {
  OpCall call{.op_type = "Resize", .opset = 18};
  call.inputs = {image(2, 4), {}, {}, ints({7, 8})};
  call.attributes = {attr_ints("axes", {-2, -1}), attr_s("keep_aspect_ratio_policy", "not_larger")};
  CHECK(run_op1(call).shape() == Shape{1, 1, 4, 8});
  call.attributes[1] = attr_s("keep_aspect_ratio_policy", "not_smaller");
  CHECK(run_op1(call).shape() == Shape{1, 1, 7, 14});
}

TEST_CASE("Resize rounds a scaled length as float32 does", "[ops][Resize]") {
  OpCall call{.op_type = "Resize", .opset = 13};
  call.inputs = {Tensor::of<float>({3}, {1, 2, 3}), {}, floats({4.0f / 3.0f})};
  CHECK(run_op1(call).shape() == Shape{4});
}

TEST_CASE("Resize rounds interpolated integers half to even and stays in range", "[ops][Resize]") {
  OpCall call{.op_type = "Resize", .opset = 13};
  call.inputs = {Tensor::of<std::uint8_t>({4}, {0, 1, 2, 255}), {}, floats({2})};
  call.attributes = {attr_s("mode", "linear"), attr_s("coordinate_transformation_mode", "asymmetric")};
  check_values(run_op1(call), {0, 0, 1, 2, 2, 128, 255, 255});  // 0.5, 1.5 and 128.5 go to even
}

TEST_CASE("Upsample scales by attribute or input", "[ops][Upsample]") {
  const std::vector<double> expected = {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4};
  OpCall call{.op_type = "Upsample", .opset = 1};
  call.inputs = {image(2, 2)};
  call.attributes = {attr_f("height_scale", 2), attr_f("width_scale", 3)};
  check_values(run_op1(call), expected);
  call.opset = 7;
  call.attributes = {attr_floats("scales", {1, 1, 2, 3})};
  check_values(run_op1(call), expected);
  call.opset = 9;
  call.attributes = {};
  call.inputs.push_back(floats({1, 1, 2, 3}));
  check_values(run_op1(call), expected);
  call.inputs[1] = floats({1, 1, 0.5f, 3});
  CHECK_THROWS_WITH(run_op1(call), Catch::Contains("a scale is 0.5, expected 1 or more"));
}

TEST_CASE("Resize infers symbolic sizes", "[ops][Resize]") {
  const auto x = ValueType::tensor(DataType::kFloat32, {{Dim::symbol("N"), 3, Dim::symbol("H"), 5}});
  OpCall call{.op_type = "Resize", .opset = 13};
  const auto f32 = ValueType::tensor(DataType::kFloat32), i64 = ValueType::tensor(DataType::kInt64);
  CHECK(to_string(infer_op(call, {x, {}, f32}, {{}, {}, floats({1, 1, 2, 1.5f})})[0]) == "float32 Nx3x2*Hx7");
  const auto halved = infer_op(call, {x, {}, f32}, {{}, {}, floats({1, 1, 0.5f, 0.3f})})[0];
  CHECK(same((*halved.shape)[2], floor_div(Dim::symbol("H"), 2)));
  CHECK((*halved.shape)[3].is(1));
  CHECK(to_string(infer_op(call, {x, {}, {}, i64}, {{}, {}, {}, ints({1, 3, 8, 9})})[0]) == "float32 1x3x8x9");
}
