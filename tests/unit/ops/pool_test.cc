#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "lppool/base/error.h"
#include "support/naive_conv.h"
#include "support/random.h"
#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct PoolCase {
  std::string name;
  std::int64_t planes;
  std::vector<NaiveAxis> axes;
  std::vector<std::int64_t> pads_end;
  std::vector<Attribute> attributes;  // besides kernel_shape, strides, dilations and pads
  bool auto_pad = false;
};

struct PoolResult {
  std::vector<double> max, mean, mean_with_pad, index, index_column_major;
};

// Every window of every plane, element by element.
PoolResult naive_pool(const std::vector<double>& x, const PoolCase& c) {
  const std::size_t rank = c.axes.size();
  std::int64_t in_size = 1, out_size = 1, kernel_size = 1;
  for (const NaiveAxis& axis : c.axes) {
    in_size *= axis.in;
    out_size *= axis.out;
    kernel_size *= axis.kernel;
  }
  PoolResult result;
  for (std::int64_t o = 0; o < c.planes * out_size; ++o) {
    const std::int64_t plane = o / out_size;
    double best = kNaN, sum = 0, best_row = -1, best_column = -1;
    std::int64_t inside = 0, padded = 0;
    for (std::int64_t k = 0; k < kernel_size; ++k) {
      std::int64_t out = o % out_size, tap = k, row_major = 0, column_major = 0, row_step = 1, column_step = in_size;
      bool is_inside = true, is_padded = true;
      for (std::size_t a = rank; a-- > 0;) {
        const NaiveAxis& axis = c.axes[a];
        const std::int64_t p = out % axis.out * axis.stride - axis.pad_begin + tap % axis.kernel * axis.dilation;
        out /= axis.out;
        tap /= axis.kernel;
        is_inside = is_inside && p >= 0 && p < axis.in;
        is_padded = is_padded && p < axis.in + c.pads_end[a];
        row_major += p * row_step;
        row_step *= axis.in;
        column_step /= axis.in;
        column_major += p * column_step;
      }
      padded += is_padded ? 1 : 0;
      if (!is_inside) continue;
      ++inside;
      const double value = x[static_cast<std::size_t>(plane * in_size + row_major)];
      sum += value;
      if (inside == 1 || value > best || (std::isnan(value) && !std::isnan(best))) {
        best = value;
        best_row = static_cast<double>(plane * in_size + row_major);
        best_column = static_cast<double>(plane * in_size + column_major);
      }
    }
    result.max.push_back(best);
    result.mean.push_back(sum / static_cast<double>(inside));
    result.mean_with_pad.push_back(sum / static_cast<double>(padded));
    result.index.push_back(best_row);
    result.index_column_major.push_back(best_column);
  }
  return result;
}

OpCall make_call(const PoolCase& c, const std::string& op, const Tensor& x, std::int64_t opset) {
  OpCall call{.op_type = op, .opset = opset, .inputs = {x}, .attributes = c.attributes};
  std::vector<std::int64_t> kernel, strides, dilations, pads;
  for (const NaiveAxis& axis : c.axes) {
    kernel.push_back(axis.kernel);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    pads.push_back(axis.pad_begin);
  }
  pads.insert(pads.end(), c.pads_end.begin(), c.pads_end.end());
  call.attributes.push_back(attr_ints("kernel_shape", kernel));
  call.attributes.push_back(attr_ints("strides", strides));
  if (op == "MaxPool" || opset >= 19) call.attributes.push_back(attr_ints("dilations", dilations));
  if (!c.auto_pad) call.attributes.push_back(attr_ints("pads", pads));
  return call;
}

void run_case(const PoolCase& c, int threads = 1) {
  Shape x_shape{1, c.planes}, y_shape{1, c.planes};
  for (const NaiveAxis& axis : c.axes) {
    x_shape.push_back(axis.in);
    y_shape.push_back(axis.out);
  }
  for (const DataType dtype : {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16, DataType::kBFloat16}) {
    const Tensor x = varied_tensor(dtype, x_shape, 5);
    const PoolResult expected = naive_pool(to_doubles(x), c);
    OpCall max = make_call(c, "MaxPool", x, 22);
    max.threads = threads;
    const Tensor y = run_op1(max);
    REQUIRE(y.shape() == y_shape);
    CHECK(to_doubles(y) == expected.max);
    max.outputs = 2;
    const auto both = run_op(max);
    CHECK(to_doubles(both[0].tensor()) == expected.max);
    CHECK(to_doubles(both[1].tensor()) == expected.index);
    max.attributes.push_back(attr_i("storage_order", 1));
    CHECK(to_doubles(run_op(max)[1].tensor()) == expected.index_column_major);
    const double tolerance = dtype == DataType::kBFloat16 ? 1.0 / 256 : dtype == DataType::kFloat16 ? 1.0 / 2048 : 1e-7;
    OpCall average = make_call(c, "AveragePool", x, 22);
    average.threads = threads;
    require_close(run_op1(average), expected.mean, tolerance);
    average.attributes.push_back(attr_i("count_include_pad", 1));
    require_close(run_op1(average), expected.mean_with_pad, tolerance);
  }
  std::vector<Dim> dims(x_shape.begin(), x_shape.end());
  const Tensor x = Tensor::zeros(DataType::kFloat32, x_shape);
  const auto types = infer_op(make_call(c, "MaxPool", x, 22), {ValueType::tensor(DataType::kFloat32, dims)});
  CHECK(to_string(types.at(0)) == "float32 " + to_string(y_shape));
}

}  // namespace

TEST_CASE("MaxPool and AveragePool agree with their definition for every geometry", "[ops][MaxPool][AveragePool]") {
  // {input, output, kernel, stride, dilation, pad_begin}, outputs worked out by hand.
  const PoolCase cases[] = {
      {"1-D", 3, {{9, 7, 3, 1, 1, 0}}, {0}, {}},
      {"1-D stride and pads", 2, {{9, 5, 4, 2, 1, 1}}, {2}, {}},
      {"2-D", 3, {{6, 4, 3, 1, 1, 0}, {5, 4, 2, 1, 1, 0}}, {0, 0}, {}},
      {"2-D 3x3 stride 2, padded", 4, {{8, 4, 3, 2, 1, 1}, {9, 5, 3, 2, 1, 1}}, {1, 1}, {}},
      {"2-D dilated", 2, {{9, 5, 3, 1, 2, 0}, {8, 4, 2, 2, 3, 1}}, {0, 1}, {}},
      {"2-D ceil", 2, {{8, 4, 3, 2, 1, 0}, {7, 4, 2, 2, 1, 0}}, {0, 0}, {attr_i("ceil_mode", 1)}},
      {"2-D ceil with pads", 1, {{10, 5, 3, 2, 1, 1}, {6, 3, 5, 3, 1, 2}}, {0, 2}, {attr_i("ceil_mode", 1)}},
      // 4 + 1 + 1: ceil(4/2) + 1 = 3 windows start at -1, 1 and 3; 1 + 1 + 1, kernel 2, stride 2: ceil(1/2) + 1 = 2, the
      // second of which would start at 1, in the padding.
      {"2-D ceil drops a window in the padding", 1, {{4, 3, 2, 2, 1, 1}, {1, 1, 2, 2, 1, 1}}, {1, 1}, {attr_i("ceil_mode", 1)}},
      {"2-D SAME_UPPER", 2, {{5, 3, 2, 2, 1, 0}, {6, 6, 4, 1, 1, 1}}, {1, 2}, {attr_s("auto_pad", "SAME_UPPER")}, true},
      {"2-D SAME_LOWER", 2, {{5, 3, 2, 2, 1, 1}, {6, 6, 4, 1, 1, 2}}, {0, 1}, {attr_s("auto_pad", "SAME_LOWER")}, true},
      {"2-D VALID", 2, {{5, 2, 2, 2, 1, 0}, {6, 3, 4, 1, 1, 0}}, {0, 0}, {attr_s("auto_pad", "VALID")}, true},
      {"3-D", 2, {{4, 3, 2, 1, 1, 0}, {5, 3, 3, 2, 1, 1}, {6, 3, 2, 2, 1, 0}}, {0, 1, 0}, {}},
      {"3-D dilated", 1, {{5, 3, 2, 1, 2, 0}, {5, 2, 2, 2, 2, 0}, {6, 4, 2, 1, 2, 0}}, {0, 0, 0}, {}},
      {"4-D", 1, {{2, 1, 2, 1, 1, 0}, {3, 2, 2, 1, 1, 0}, {2, 3, 2, 1, 1, 1}, {3, 2, 2, 1, 1, 0}}, {0, 0, 1, 0}, {}},
  };
  for (const PoolCase& c : cases) {
    DYNAMIC_SECTION(c.name) {
      run_case(c);
      run_case(c, 3);
    }
  }
}

TEST_CASE("MaxPool and AveragePool agree with their definition for random geometries", "[ops][MaxPool][AveragePool]") {
  testing::Random random(79);
  CAPTURE(testing::test_seed());
  for (int round = 0; round < 40; ++round) {
    PoolCase c{"random", random.between(1, 3), {}, {}, {}};
    const int rank = random.between(1, 3);
    for (int a = 0; a < rank; ++a) {
      NaiveAxis axis{0, 0, random.between(2, 4), random.between(1, 3), 1, 0};
      axis.pad_begin = random.between(0, static_cast<int>(axis.kernel) - 1);
      const std::int64_t end = random.between(0, static_cast<int>(axis.kernel) - 1);
      axis.in = axis.kernel + random.between(0, 6);
      axis.out = (axis.in + axis.pad_begin + end - axis.kernel) / axis.stride + 1;
      c.axes.push_back(axis);
      c.pads_end.push_back(end);
    }
    run_case(c, random.between(1, 2));
  }
}

TEST_CASE("MaxPool takes 8-bit integers and gives NaN where there is one", "[ops][MaxPool]") {
  const std::vector<Attribute> attributes = {attr_ints("kernel_shape", {2})};
  const auto run = [&](const Tensor& x) {
    return to_doubles(run_op1({.op_type = "MaxPool", .opset = 12, .inputs = {x}, .attributes = attributes}));
  };
  CHECK(run(Tensor::of<std::int8_t>({1, 1, 4}, {-128, -7, 127, 3})) == std::vector<double>{-7, 127, 127});
  CHECK(run(Tensor::of<std::uint8_t>({1, 1, 4}, {200, 7, 0, 255})) == std::vector<double>{200, 7, 255});
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<double> y = run(Tensor::of<float>({1, 1, 6}, {1, nan, 2, -inf, -inf, inf}));
  CHECK(std::isnan(y[0]));
  CHECK(std::isnan(y[1]));
  CHECK(std::vector<double>(y.begin() + 2, y.end()) == std::vector<double>{2, -HUGE_VAL, HUGE_VAL});
}

TEST_CASE("Pooling before opset 22 keeps the window in the padding and refuses to compute it", "[ops][MaxPool][AveragePool]") {
  const PoolCase c{"kept", 1, {{1, 2, 2, 2, 1, 1}}, {1}, {attr_i("ceil_mode", 1)}};
  const Tensor x = Tensor::of<float>({1, 1, 1}, {3});
  for (const std::string op : {"MaxPool", "AveragePool"}) {
    const OpCall call = make_call(c, op, x, 11);
    const std::vector<Dim> dims = {1, 1, 1};
    CHECK(to_string(infer_op(call, {ValueType::tensor(DataType::kFloat32, dims)}).at(0)) == "float32 1x1x2");
    CHECK_THROWS_AS(run_op1(call), Error);
    CHECK(to_doubles(run_op1(make_call(c, op, x, 22))) == std::vector<double>{3});
  }
}

TEST_CASE("AveragePool sums long windows without losing digits", "[ops][AveragePool]") {
  std::vector<float> values(100000, 0.1f);
  const Tensor x = Tensor::of<float>({1, 1, 100000}, values);
  const Tensor y = run_op1({.op_type = "AveragePool", .opset = 7, .inputs = {x}, .attributes = {attr_ints("kernel_shape", {100000})}});
  CHECK(y.data<float>()[0] == 0.1f);
}

TEST_CASE("Pooling of empty tensors gives empty tensors", "[ops][MaxPool][AveragePool]") {
  for (const std::string op : {"MaxPool", "AveragePool"}) {
    const OpCall call{.op_type = op, .opset = 11, .inputs = {Tensor::zeros(DataType::kFloat32, {0, 3, 4, 4})},
                      .attributes = {attr_ints("kernel_shape", {2, 2})}};
    CHECK(run_op1(call).shape() == Shape{0, 3, 3, 3});
  }
}

TEST_CASE("Pooling refuses windows that make no sense", "[ops][MaxPool][AveragePool]") {
  const auto run = [](Shape shape, std::vector<Attribute> attributes) {
    for (const std::string op : {"MaxPool", "AveragePool"}) {
      CHECK_THROWS_AS(run_op1({.op_type = op, .opset = 22, .inputs = {Tensor::zeros(DataType::kFloat32, shape)},
                               .attributes = attributes}),
                      Error);
    }
  };
  run({1, 1}, {attr_ints("kernel_shape", {2})});
  run({1, 1, 4}, {attr_ints("kernel_shape", {2, 2})});
  run({1, 1, 4}, {attr_ints("kernel_shape", {0})});
  run({1, 1, 4}, {attr_ints("kernel_shape", {6})});
  run({1, 1, 4}, {attr_ints("kernel_shape", {2}), attr_ints("strides", {0})});
  run({1, 1, 4}, {attr_ints("kernel_shape", {2}), attr_ints("pads", {0, -1})});
  run({1, 1, 4}, {attr_ints("kernel_shape", {2}), attr_s("auto_pad", "same_upper")});
  run({1, 1, 4}, {attr_ints("kernel_shape", {2}), attr_ints("pads", {1LL << 62, 1LL << 62})});
}

TEST_CASE("GlobalAveragePool and GlobalMaxPool reduce all spatial axes", "[ops][GlobalAveragePool][GlobalMaxPool]") {
  for (const DataType dtype : {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16, DataType::kBFloat16}) {
    for (const Shape& shape : {Shape{2, 3}, Shape{2, 3, 7}, Shape{2, 3, 4, 5}, Shape{1, 2, 3, 2, 5}}) {
      const Tensor x = varied_tensor(dtype, shape, 9);
      const std::vector<double> values = to_doubles(x);
      const auto planes = static_cast<std::size_t>(shape[0] * shape[1]), size = values.size() / planes;
      std::vector<double> mean, max;
      for (std::size_t plane = 0; plane < planes; ++plane) {
        double sum = 0, best = values[plane * size];
        for (std::size_t i = 0; i < size; ++i) {
          sum += values[plane * size + i];
          best = std::max(best, values[plane * size + i]);
        }
        mean.push_back(sum / static_cast<double>(size));
        max.push_back(best);
      }
      const Tensor y = run_op1({.op_type = "GlobalAveragePool", .opset = 22, .inputs = {x}});
      CHECK(y.rank() == shape.rank());
      require_close(y, mean, dtype == DataType::kBFloat16 ? 1.0 / 256 : dtype == DataType::kFloat16 ? 1.0 / 2048 : 1e-7);
      CHECK(to_doubles(run_op1({.op_type = "GlobalMaxPool", .opset = 22, .inputs = {x}})) == max);
    }
  }
  const Dim n = Dim::symbol("N");
  CHECK(to_string(infer_op({.op_type = "GlobalAveragePool", .opset = 1},
                           {ValueType::tensor(DataType::kFloat32, std::vector<Dim>{n, 8, Dim(), 4})})
                      .at(0)) == "float32 Nx8x1x1");
  CHECK_THROWS_AS(run_op1({.op_type = "GlobalMaxPool", .opset = 1, .inputs = {Tensor::zeros(DataType::kFloat32, {4})}}), Error);
}

TEST_CASE("MaxUnpool puts elements back where MaxPool found them", "[ops][MaxUnpool]") {
  const Tensor x = varied_tensor(DataType::kFloat32, {1, 2, 6, 6}, 4);
  const std::vector<Attribute> window = {attr_ints("kernel_shape", {2, 2}), attr_ints("strides", {2, 2})};
  const auto pooled = run_op({.op_type = "MaxPool", .opset = 11, .inputs = {x}, .attributes = window, .outputs = 2});
  const Tensor y = run_op1({.op_type = "MaxUnpool", .opset = 11, .inputs = {pooled[0], pooled[1]}, .attributes = window});
  const std::vector<double> values = to_doubles(x), at = to_doubles(pooled[1].tensor());
  std::vector<double> expected(values.size(), 0.0);
  for (const double index : at) expected[static_cast<std::size_t>(index)] = values[static_cast<std::size_t>(index)];
  CHECK(y.shape() == x.shape());
  CHECK(to_doubles(y) == expected);

  // Indices count in the 4 x 4 tensor that pooling would have come from, not in the 5 x 5 one that is asked for.
  const Tensor small = Tensor::of<float>({1, 1, 2, 2}, {5, 6, 7, 8}), indices = Tensor::of<std::int64_t>({1, 1, 2, 2}, {5, 7, 13, 15});
  const Tensor shape = Tensor::of<std::int64_t>({4}, {1, 1, 5, 5});
  const OpCall call{.op_type = "MaxUnpool", .opset = 9, .inputs = {small, indices, shape}, .attributes = window};
  CHECK(to_doubles(run_op1(call)) == std::vector<double>{0, 0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 0, 0, 0, 0, 0, 7, 0, 8, 0, 0, 0, 0, 0, 0});
  OpCall wrong = call;
  wrong.inputs = {small, Tensor::of<std::int64_t>({1, 1, 2, 2}, {5, 7, 13, 16})};
  CHECK_THROWS_AS(run_op1(wrong), Error);
  wrong.inputs = {small, indices, Tensor::of<std::int64_t>({4}, {1, 1, 3, 5})};
  CHECK_THROWS_AS(run_op1(wrong), Error);
}

TEST_CASE("MaxRoiPool takes the largest element of each cell", "[ops][MaxRoiPool]") {
  std::vector<float> values;
  for (int i = 0; i < 2 * 36; ++i) values.push_back(static_cast<float>(i));
  const Tensor x = Tensor::of<float>({2, 1, 6, 6}, values);
  // Region 0: rows 0..2, columns 1..4 of image 0, in 2 x 2 cells: rows 0-1 and 1-2, columns 1-2 and 3-4. Region 1: scaled by
  // 0.5, rounded: rows 2..3, columns 0..1 (0.5 rounds up to 1) of image 1. Region 2 lies outside.
  const Tensor rois = Tensor::of<float>({3, 5}, {0, 2, 0, 8, 4, 1, 0, 4, 1, 6, 0, 40, 40, 50, 50});
  const Tensor y = run_op1({.op_type = "MaxRoiPool", .opset = 1, .inputs = {x, rois},
                            .attributes = {attr_ints("pooled_shape", {2, 2}), attr_f("spatial_scale", 0.5f)}});
  CHECK(y.shape() == Shape{3, 1, 2, 2});
  CHECK(to_doubles(y) == std::vector<double>{8, 10, 14, 16, 48, 49, 54, 55, 0, 0, 0, 0});
  const Tensor wrong = Tensor::of<float>({1, 5}, {2, 0, 0, 1, 1});
  CHECK_THROWS_AS(run_op1({.op_type = "MaxRoiPool", .opset = 22, .inputs = {x, wrong}, .attributes = {attr_ints("pooled_shape", {2, 2})}}),
                  Error);
}

TEST_CASE("RoiAlign averages bilinear samples", "[ops][RoiAlign]") {
  // The input is the plane 10*row + column, so that samples inside can be read off: 10*y + x.
  std::vector<float> values;
  for (int r = 0; r < 5; ++r) {
    for (int c = 0; c < 5; ++c) values.push_back(static_cast<float>(10 * r + c));
  }
  const Tensor x = Tensor::of<float>({1, 1, 5, 5}, values), rois = Tensor::of<float>({1, 4}, {1, 1, 3, 4});
  const Tensor image = Tensor::of<std::int64_t>({1}, {0});
  const std::vector<Attribute> size = {attr_i("output_height", 1), attr_i("output_width", 2)};
  const auto run = [&](std::int64_t opset, std::vector<Attribute> extra) {
    extra.insert(extra.end(), size.begin(), size.end());
    return to_doubles(run_op1({.op_type = "RoiAlign", .opset = opset, .inputs = {x, rois, image}, .attributes = extra}));
  };
  // Not shifted: x in [1, 3] in 2 cells of 1, y in [1, 4]; the mean over a cell is its centre's value.
  CHECK(run(10, {}) == std::vector<double>{26.5, 27.5});
  CHECK(run(16, {attr_s("coordinate_transformation_mode", "output_half_pixel")}) == std::vector<double>{26.5, 27.5});
  // Shifted by half: x in [0.5, 2.5], y in [0.5, 3.5].
  CHECK(run(16, {}) == std::vector<double>{21, 22});
  CHECK(run(22, {attr_i("sampling_ratio", 4)}) == std::vector<double>{21, 22});
  // One sample a cell at (2, 1) and (2, 2), which are elements: their weight is 1.
  CHECK(run(16, {attr_i("sampling_ratio", 1), attr_s("mode", "max")}) == std::vector<double>{21, 22});
  CHECK_THROWS_AS(run(16, {attr_s("mode", "min")}), Error);
  const Tensor far = Tensor::of<float>({1, 4}, {100, 100, 1e9f, 1e9f});
  CHECK(to_doubles(run_op1({.op_type = "RoiAlign", .opset = 16, .inputs = {x, far, image}})) == std::vector<double>{0});
  CHECK_THROWS_AS(run_op1({.op_type = "RoiAlign", .opset = 16, .inputs = {x, rois, Tensor::of<std::int64_t>({1}, {1})}}), Error);
}
