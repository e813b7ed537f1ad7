#include <catch2/catch.hpp>
#include <cmath>

#include "lppool/base/error.h"
#include "support/naive_conv.h"
#include "support/random.h"
#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

constexpr double kEpsilon = static_cast<double>(1e-5f);

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

struct Stats {
  double mean = 0, variance = 0;
};

Stats stats_of(const std::vector<double>& values) {
  Stats stats;
  for (const double v : values) stats.mean += v / static_cast<double>(values.size());
  for (const double v : values) stats.variance += (v - stats.mean) * (v - stats.mean) / static_cast<double>(values.size());
  return stats;
}

// Positive numbers: variances.
Tensor positive_tensor(DataType dtype, Shape shape, std::uint64_t stream) {
  std::vector<double> values = varied_numbers(shape.elements(), stream);
  std::vector<float> result;
  for (const double v : values) result.push_back(static_cast<float>(std::abs(v) + 0.25));
  const Tensor wide = Tensor::of<float>(shape, result);
  if (dtype == DataType::kFloat32) return wide;
  Tensor out = Tensor::allocate(dtype, shape);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (dtype == DataType::kFloat64) out.mutable_data<double>()[i] = static_cast<double>(result[i]);
    if (dtype == DataType::kFloat16) out.mutable_data<Float16>()[i] = Float16(result[i]);
    if (dtype == DataType::kBFloat16) out.mutable_data<BFloat16>()[i] = BFloat16(result[i]);
  }
  return out;
}

double tolerance(DataType dtype) {
  return dtype == DataType::kBFloat16 ? 1.0 / 256 : dtype == DataType::kFloat16 ? 1.0 / 2048 : dtype == DataType::kFloat64 ? 1e-13 : 2e-6;
}

// Values of channel c (all images), with `channels` channels of `size` elements.
std::vector<double> channel_of(const std::vector<double>& x, std::int64_t images, std::int64_t channels, std::int64_t size,
                               std::int64_t c) {
  std::vector<double> values;
  for (std::int64_t n = 0; n < images; ++n) {
    for (std::int64_t i = 0; i < size; ++i) values.push_back(x[at((n * channels + c) * size + i)]);
  }
  return values;
}

struct BatchNormInputs {
  Tensor x, scale, bias, mean, variance;
};

BatchNormInputs batch_norm_inputs(DataType dtype, const Shape& shape, std::int64_t lines) {
  return {varied_tensor(dtype, shape, 1), varied_tensor(dtype, {lines}, 2), varied_tensor(dtype, {lines}, 3),
          varied_tensor(dtype, {lines}, 4), positive_tensor(dtype, {lines}, 5)};
}

std::vector<double> naive_batch_norm(const BatchNormInputs& in, const std::vector<Stats>& stats, std::int64_t size) {
  std::vector<double> y = to_doubles(in.x);
  const std::vector<double> scale = to_doubles(in.scale), bias = to_doubles(in.bias);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t c = i / at(size) % scale.size();
    y[i] = (y[i] - stats[c].mean) / std::sqrt(stats[c].variance + kEpsilon) * scale[c] + bias[c];
  }
  return y;
}

std::vector<Stats> given_stats(const BatchNormInputs& in) {
  const std::vector<double> mean = to_doubles(in.mean), variance = to_doubles(in.variance);
  std::vector<Stats> stats;
  for (std::size_t i = 0; i < mean.size(); ++i) stats.push_back({mean[i], variance[i]});
  return stats;
}

OpCall batch_norm(std::int64_t opset, const BatchNormInputs& in, std::vector<Attribute> attributes = {}, std::size_t outputs = 1) {
  return {.op_type = "BatchNormalization", .opset = opset, .inputs = {in.x, in.scale, in.bias, in.mean, in.variance},
          .attributes = std::move(attributes), .outputs = outputs};
}

}  // namespace

TEST_CASE("BatchNormalization uses the given statistics in every version", "[ops][BatchNormalization]") {
  for (const Shape& shape : {Shape{2, 3}, Shape{2, 3, 5}, Shape{2, 3, 4, 5}, Shape{1, 2, 3, 2, 2}}) {
    for (const DataType dtype : {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16}) {
      const BatchNormInputs in = batch_norm_inputs(dtype, shape, shape[1]);
      const std::int64_t size = shape.elements(2, shape.rank());
      const auto expected = naive_batch_norm(in, given_stats(in), size);
      for (const std::int64_t opset : {1, 6, 7, 9, 14, 15}) {
        std::vector<Attribute> attributes;
        if (opset < 7) attributes = {attr_i("is_test", 1)};
        CAPTURE(opset, to_string(shape));
        require_close(run_op1(batch_norm(opset, in, attributes)), expected, tolerance(dtype));
      }
    }
  }
}

TEST_CASE("BatchNormalization in training uses and blends the batch's statistics", "[ops][BatchNormalization]") {
  const Shape shape{3, 2, 4};
  const BatchNormInputs in = batch_norm_inputs(DataType::kFloat32, shape, 2);
  std::vector<Stats> batch;
  for (std::int64_t c = 0; c < 2; ++c) batch.push_back(stats_of(channel_of(to_doubles(in.x), 3, 2, 4, c)));
  const auto expected = naive_batch_norm(in, batch, 4);
  const double momentum = static_cast<double>(0.7f);
  std::vector<double> running_mean, running_variance;
  const auto given = given_stats(in);
  for (std::size_t c = 0; c < 2; ++c) {
    running_mean.push_back(given[c].mean * momentum + batch[c].mean * (1 - momentum));
    running_variance.push_back(given[c].variance * momentum + batch[c].variance * (1 - momentum));
  }
  struct Mode {
    std::int64_t opset;
    std::vector<Attribute> attributes;
    std::size_t outputs;
  };
  const Mode modes[] = {{6, {}, 5}, {7, {}, 5}, {9, {}, 5}, {14, {attr_i("training_mode", 1)}, 3}, {15, {attr_i("training_mode", 1)}, 3}};
  for (const Mode& mode : modes) {
    CAPTURE(mode.opset);
    auto attributes = mode.attributes;
    attributes.push_back(attr_f("momentum", 0.7f));
    const auto outputs = run_op(batch_norm(mode.opset, in, attributes, mode.outputs));
    require_close(outputs[0].tensor(), expected, 2e-6);
    require_close(outputs[1].tensor(), running_mean, 1e-6);
    require_close(outputs[2].tensor(), running_variance, 1e-6);
    if (mode.outputs < 5) continue;
    require_close(outputs[3].tensor(), {batch[0].mean, batch[1].mean}, 1e-6);
    require_close(outputs[4].tensor(), {batch[0].variance, batch[1].variance}, 1e-6);
  }
  require_close(run_op1(batch_norm(1, in)), expected, 2e-6);  // is_test is 0 by default
}

TEST_CASE("BatchNormalization with spatial 0 has statistics for each element", "[ops][BatchNormalization]") {
  const Shape shape{3, 2, 2, 3};
  BatchNormInputs in = batch_norm_inputs(DataType::kFloat32, shape, 12);
  const auto expected = naive_batch_norm(in, given_stats(in), 1);
  for (Tensor* tensor : {&in.scale, &in.bias, &in.mean, &in.variance}) *tensor = tensor->reshaped({2, 2, 3});
  require_close(run_op1(batch_norm(7, in, {attr_i("spatial", 0)})), expected, 2e-6);
  require_close(run_op1(batch_norm(6, in, {attr_i("spatial", 0), attr_i("is_test", 1)})), expected, 2e-6);
  CHECK_THROWS_AS(run_op1(batch_norm(9, in)), Error);
}

TEST_CASE("BatchNormalization mixes types from version 14 on", "[ops][BatchNormalization]") {
  BatchNormInputs in = batch_norm_inputs(DataType::kFloat32, {2, 3, 4}, 3);
  const auto expected = naive_batch_norm(in, given_stats(in), 4);
  in.x = varied_tensor(DataType::kFloat16, {2, 3, 4}, 1);
  const Tensor y = run_op1(batch_norm(15, in));
  CHECK(y.dtype() == DataType::kFloat16);
  require_close(y, expected, 1.0 / 1024);
}

TEST_CASE("InstanceNormalization and GroupNormalization agree with their definition", "[ops][InstanceNormalization][GroupNormalization]") {
  for (const DataType dtype : {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16, DataType::kBFloat16}) {
    const Tensor x = varied_tensor(dtype, {2, 6, 3, 4}, 1), scale = varied_tensor(dtype, {6}, 2), bias = varied_tensor(dtype, {6}, 3);
    const auto values = to_doubles(x), scales = to_doubles(scale), terms = to_doubles(bias);
    for (const std::int64_t groups : {1, 2, 3, 6}) {
      std::vector<double> expected(values.size());
      const std::size_t group_size = at(72 / groups);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(i / group_size * group_size);
        const Stats stats = stats_of({first, first + static_cast<std::ptrdiff_t>(group_size)});
        const std::size_t c = i / 12 % 6;
        expected[i] = (values[i] - stats.mean) / std::sqrt(stats.variance + kEpsilon) * scales[c] + terms[c];
      }
      CAPTURE(groups, name(dtype));
      require_close(run_op1({.op_type = "GroupNormalization", .opset = 21, .inputs = {x, scale, bias},
                             .attributes = {attr_i("num_groups", groups)}}),
                    expected, tolerance(dtype));
      if (groups != 6) continue;
      for (const std::int64_t opset : {1, 6, 22}) {
        require_close(run_op1({.op_type = "InstanceNormalization", .opset = opset, .inputs = {x, scale, bias}}), expected,
                      tolerance(dtype));
      }
    }
  }
}

TEST_CASE("GroupNormalization 18 scales groups, not channels", "[ops][GroupNormalization]") {
  const Tensor x = varied_tensor(DataType::kFloat32, {1, 4, 3}, 1);
  const Tensor by_group = Tensor::of<float>({2}, {2, 3}), by_channel = Tensor::of<float>({4}, {2, 2, 3, 3});
  const std::vector<Attribute> groups = {attr_i("num_groups", 2)};
  CHECK(to_doubles(run_op1({.op_type = "GroupNormalization", .opset = 18, .inputs = {x, by_group, by_group}, .attributes = groups})) ==
        to_doubles(run_op1({.op_type = "GroupNormalization", .opset = 21, .inputs = {x, by_channel, by_channel}, .attributes = groups})));
  CHECK_THROWS_AS(run_op1({.op_type = "GroupNormalization", .opset = 21, .inputs = {x, by_group, by_group}, .attributes = groups}), Error);
  CHECK_THROWS_AS(run_op1({.op_type = "GroupNormalization", .opset = 21, .inputs = {x, by_channel, by_channel},
                           .attributes = {attr_i("num_groups", 3)}}),
                  Error);
}

TEST_CASE("Normalisation keeps its digits far from zero", "[ops][InstanceNormalization]") {
  const Tensor x = Tensor::of<float>({1, 1, 4}, {4096000, 4096001, 4096002, 4096003});
  const Tensor one = Tensor::of<float>({1}, {1}), zero = Tensor::of<float>({1}, {0});
  const double spread = std::sqrt(1.25 + kEpsilon);
  require_close(run_op1({.op_type = "InstanceNormalization", .opset = 6, .inputs = {x, one, zero}}),
                {-1.5 / spread, -0.5 / spread, 0.5 / spread, 1.5 / spread}, 2e-7);
}

TEST_CASE("LayerNormalization and RMSNormalization agree with their definition", "[ops][LayerNormalization][RMSNormalization]") {
  const Shape shape{2, 3, 4, 5};
  for (const DataType dtype : {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16, DataType::kBFloat16}) {
    const Tensor x = varied_tensor(dtype, shape, 1);
    const auto values = to_doubles(x);
    for (std::int64_t axis = -4; axis < 4; ++axis) {
      const auto first = static_cast<std::size_t>(axis < 0 ? axis + 4 : axis);
      const auto row = at(shape.elements(first, 4));
      const Shape tail(std::vector<std::int64_t>(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end()));
      const Tensor scale = varied_tensor(dtype, tail, 2), bias = varied_tensor(dtype, tail, 3);
      const auto scales = to_doubles(scale), terms = to_doubles(bias);
      std::vector<double> expected(values.size()), rms(values.size()), means, inverses;
      for (std::size_t start = 0; start < values.size(); start += row) {
        const Stats stats = stats_of({values.begin() + static_cast<std::ptrdiff_t>(start), values.begin() + static_cast<std::ptrdiff_t>(start + row)});
        means.push_back(stats.mean);
        inverses.push_back(1 / std::sqrt(stats.variance + kEpsilon));
        const double square = stats.variance + stats.mean * stats.mean;
        for (std::size_t i = 0; i < row; ++i) {
          expected[start + i] = (values[start + i] - stats.mean) * inverses.back() * scales[i] + terms[i];
          rms[start + i] = values[start + i] / std::sqrt(square + kEpsilon) * scales[i];
        }
      }
      CAPTURE(axis, name(dtype));
      const auto outputs = run_op({.op_type = "LayerNormalization", .opset = 17, .inputs = {x, scale, bias},
                                   .attributes = {attr_i("axis", axis)}, .outputs = 3});
      require_close(outputs[0].tensor(), expected, tolerance(dtype));
      CHECK(outputs[1].tensor().dtype() == DataType::kFloat32);
      require_close(outputs[1].tensor(), means, 1e-6);
      require_close(outputs[2].tensor(), inverses, 1e-6);
      require_close(run_op1({.op_type = "RMSNormalization", .opset = 23, .inputs = {x, scale}, .attributes = {attr_i("axis", axis)}}),
                    rms, tolerance(dtype));
    }
  }
}

TEST_CASE("LayerNormalization broadcasts its scale", "[ops][LayerNormalization]") {
  const Tensor x = varied_tensor(DataType::kFloat32, {2, 3, 4}, 1);
  const auto run = [&](const Tensor& scale) {
    return to_doubles(run_op1({.op_type = "LayerNormalization", .opset = 17, .inputs = {x, scale}, .attributes = {attr_i("axis", 1)}}));
  };
  const std::vector<double> plain = run(Tensor::of<float>({1}, {1}));
  const std::vector<double> by_last = run(Tensor::of<float>({4}, {1, 2, 3, 4}));
  const std::vector<double> by_middle = run(Tensor::of<float>({3, 1}, {1, 2, 4}));
  const std::vector<double> by_image = run(Tensor::of<float>({2, 1, 1}, {2, 4}));
  for (std::size_t i = 0; i < plain.size(); ++i) {
    CHECK(by_last[i] == Approx(plain[i] * static_cast<double>(i % 4 + 1)));
    CHECK(by_middle[i] == plain[i] * std::vector<double>{1, 2, 4}[i / 4 % 3]);
    CHECK(by_image[i] == plain[i] * (i < 12 ? 2 : 4));
  }
  CHECK_THROWS_AS(run(Tensor::of<float>({3}, {1, 2, 3})), Error);
}

TEST_CASE("MeanVarianceNormalization agrees with its definition", "[ops][MeanVarianceNormalization]") {
  const Tensor x = varied_tensor(DataType::kFloat32, {2, 3, 4, 5}, 1);
  const auto values = to_doubles(x);
  std::vector<double> expected(values.size());
  for (std::int64_t c = 0; c < 3; ++c) {
    const Stats stats = stats_of(channel_of(values, 2, 3, 20, c));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i / 20 % 3 == at(c)) expected[i] = (values[i] - stats.mean) / (std::sqrt(stats.variance) + 1e-9);
    }
  }
  for (const std::int64_t opset : {9, 13}) {
    require_close(run_op1({.op_type = "MeanVarianceNormalization", .opset = opset, .inputs = {x}}), expected, 2e-7);
  }
  const Stats all = stats_of(values);
  for (std::size_t i = 0; i < values.size(); ++i) expected[i] = (values[i] - all.mean) / (std::sqrt(all.variance) + 1e-9);
  require_close(run_op1({.op_type = "MeanVarianceNormalization", .opset = 13, .inputs = {x}, .attributes = {attr_ints("axes", {0, 1, -2, 3})}}),
                expected, 2e-7);
}

TEST_CASE("LRN agrees with its definition", "[ops][LRN]") {
  for (const std::int64_t size : {1, 2, 3, 5, 9, 40}) {
    for (const float beta : {0.75f, 0.5f, 1.3f}) {
      for (const DataType dtype : {DataType::kFloat32, DataType::kFloat64}) {
        const Tensor x = varied_tensor(dtype, {2, 7, 3, 4}, 1);
        const auto values = to_doubles(x);
        std::vector<double> expected;
        for (std::int64_t i = 0; i < 168; ++i) {
          const std::int64_t c = i / 12 % 7;
          double squares = 0;
          for (std::int64_t other = 0; other < 7; ++other) {
            // From c - floor((size - 1)/2) to c + ceil((size - 1)/2).
            if (other < c - (size - 1) / 2 || other > c + size / 2) continue;
            const double v = values[at(i + (other - c) * 12)];
            squares += v * v;
          }
          const double base = static_cast<double>(1.5f) + static_cast<double>(0.3f) / static_cast<double>(size) * squares;
          expected.push_back(values[at(i)] / std::pow(base, static_cast<double>(beta)));
        }
        const OpCall call{.op_type = "LRN", .opset = 13, .inputs = {x},
                          .attributes = {attr_i("size", size), attr_f("alpha", 0.3f), attr_f("beta", beta), attr_f("bias", 1.5f)}};
        require_close(run_op1(call), expected, dtype == DataType::kFloat32 ? 1e-6 : 1e-7);
      }
    }
  }
  CHECK_THROWS_AS(run_op1({.op_type = "LRN", .opset = 1, .inputs = {varied_tensor(DataType::kFloat32, {1, 2, 3}, 1)},
                           .attributes = {attr_i("size", 0)}}),
                  Error);
}
