#include <catch2/catch.hpp>
#include <cmath>

#include "support/random.h"
#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  std::uint64_t state = seed * 2654435761u + 1;
  for (float& v : values) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    v = static_cast<float>(static_cast<std::int64_t>(state >> 40) - (1 << 23)) / static_cast<float>(1 << 23);
  }
  return values;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// The equations of the specification, one number at a time, for one direction of one sequence.
struct Naive {
  std::int64_t input, hidden;
  const float *w, *r, *b, *p;
  double clip = 1e30;
  double clipped(double x) const { return std::min(std::max(x, -clip), clip); }
  double xw(std::int64_t gate, std::int64_t k, const float* x) const {
    double sum = 0;
    for (std::int64_t i = 0; i < input; ++i) sum += double(x[i]) * w[(gate * hidden + k) * input + i];
    return sum;
  }
  double hr(std::int64_t gate, std::int64_t k, const std::vector<double>& h) const {
    double sum = 0;
    for (std::int64_t i = 0; i < hidden; ++i) sum += h[i] * r[(gate * hidden + k) * hidden + i];
    return sum;
  }
  double wb(std::int64_t gate, std::int64_t k) const { return b[gate * hidden + k]; }
  double rb(std::int64_t gates, std::int64_t gate, std::int64_t k) const { return b[(gates + gate) * hidden + k]; }

  void lstm(const float* x, std::vector<double>& h, std::vector<double>& c, bool coupled) const {
    std::vector<double> next_h(hidden), next_c(hidden);
    for (std::int64_t k = 0; k < hidden; ++k) {
      const auto sum = [&](std::int64_t gate) {
        return xw(gate, k, x) + hr(gate, k, h) + wb(gate, k) + rb(4, gate, k);
      };
      const double i = sigmoid(clipped(sum(0) + p[k] * c[k]));
      const double f = coupled ? 1 - i : sigmoid(clipped(sum(2) + p[2 * hidden + k] * c[k]));
      const double g = std::tanh(clipped(sum(3)));
      next_c[k] = f * c[k] + i * g;
      const double o = sigmoid(clipped(sum(1) + p[hidden + k] * next_c[k]));
      next_h[k] = o * std::tanh(clipped(next_c[k]));
    }
    h = next_h;
    c = next_c;
  }

  void gru(const float* x, std::vector<double>& h, bool linear_before_reset) const {
    std::vector<double> next(hidden), z(hidden), reset(hidden), scaled(hidden);
    for (std::int64_t k = 0; k < hidden; ++k) {
      z[k] = sigmoid(xw(0, k, x) + hr(0, k, h) + wb(0, k) + rb(3, 0, k));
      reset[k] = sigmoid(xw(1, k, x) + hr(1, k, h) + wb(1, k) + rb(3, 1, k));
      scaled[k] = reset[k] * h[k];
    }
    for (std::int64_t k = 0; k < hidden; ++k) {
      const double inner =
          linear_before_reset ? reset[k] * (hr(2, k, h) + rb(3, 2, k)) : hr(2, k, scaled) + rb(3, 2, k);
      next[k] = (1 - z[k]) * std::tanh(xw(2, k, x) + inner + wb(2, k)) + z[k] * h[k];
    }
    h = next;
  }
};

Tensor tensor(Shape shape, const std::vector<float>& values) {
  return Tensor::of<float>(std::move(shape), values);
}

void check_close(const Tensor& got, const std::vector<double>& expected) {
  const auto values = to_doubles(got);
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(i);
    CHECK(values[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("LSTM follows its equations in both directions, with peepholes, lengths, clip and either layout",
          "[ops][LSTM]") {
  const std::int64_t time = 5, batch = 5, input = 3, hidden = 37;
  const bool coupled = GENERATE(false, true), batch_first = GENERATE(false, true), clipped = GENERATE(false, true);
  const auto x = random_floats(time * batch * input, 1), w = random_floats(2 * 4 * hidden * input, 2),
             r = random_floats(2 * 4 * hidden * hidden, 3), b = random_floats(2 * 8 * hidden, 4),
             p = random_floats(2 * 3 * hidden, 5), h0 = random_floats(2 * batch * hidden, 6),
             c0 = random_floats(2 * batch * hidden, 7);
  const std::vector<std::int32_t> lengths = {5, 3, 1, 0, 4};

  std::vector<double> y(time * 2 * batch * hidden, 0.0), yh(2 * batch * hidden), yc(2 * batch * hidden);
  const auto state_at = [&](std::int64_t d, std::int64_t n) {
    return (batch_first ? n * 2 + d : d * batch + n) * hidden;
  };
  for (std::int64_t d = 0; d < 2; ++d) {
    Naive net{
        input, hidden, &w[d * 4 * hidden * input], &r[d * 4 * hidden * hidden], &b[d * 8 * hidden], &p[d * 3 * hidden]};
    if (clipped) net.clip = 0.25;
    for (std::int64_t n = 0; n < batch; ++n) {
      std::vector<double> h(&h0[state_at(d, n)], &h0[state_at(d, n)] + hidden),
          c(&c0[state_at(d, n)], &c0[state_at(d, n)] + hidden);
      for (std::int64_t s = 0; s < lengths[n]; ++s) {
        const std::int64_t t = d == 0 ? s : lengths[n] - 1 - s;
        net.lstm(&x[(batch_first ? n * time + t : t * batch + n) * input], h, c, coupled);
        const std::int64_t row = batch_first ? (n * time + t) * 2 + d : (t * 2 + d) * batch + n;
        std::copy(h.begin(), h.end(), &y[row * hidden]);
      }
      std::copy(h.begin(), h.end(), &yh[state_at(d, n)]);
      std::copy(c.begin(), c.end(), &yc[state_at(d, n)]);
    }
  }

  OpCall call{.op_type = "LSTM", .opset = 14, .outputs = 3};
  const Shape state = batch_first ? Shape{batch, 2, hidden} : Shape{2, batch, hidden};
  call.inputs = {tensor(batch_first ? Shape{batch, time, input} : Shape{time, batch, input}, x),
                 tensor({2, 4 * hidden, input}, w),
                 tensor({2, 4 * hidden, hidden}, r),
                 tensor({2, 8 * hidden}, b),
                 Tensor::of<std::int32_t>({batch}, lengths),
                 tensor(state, h0),
                 tensor(state, c0),
                 tensor({2, 3 * hidden}, p)};
  call.attributes = {attr_s("direction", "bidirectional"), attr_i("hidden_size", hidden), attr_i("layout", batch_first),
                     attr_i("input_forget", coupled)};
  if (clipped) call.attributes.push_back(attr_f("clip", 0.25f));
  call.threads = 2;
  const auto outputs = run_op(call);
  check_close(outputs[0].tensor(), y);
  check_close(outputs[1].tensor(), yh);
  check_close(outputs[2].tensor(), yc);
}

TEST_CASE("GRU follows its equations with and without linear_before_reset", "[ops][GRU]") {
  const std::int64_t time = 4, batch = 2, input = 3, hidden = 5;
  const bool linear = GENERATE(false, true), reverse = GENERATE(false, true);
  const auto x = random_floats(time * batch * input, 1), w = random_floats(3 * hidden * input, 2),
             r = random_floats(3 * hidden * hidden, 3), b = random_floats(6 * hidden, 4);
  const Naive net{input, hidden, w.data(), r.data(), b.data(), nullptr};
  std::vector<double> y(time * batch * hidden), yh;
  for (std::int64_t n = 0; n < batch; ++n) {
    std::vector<double> h(hidden, 0.0);
    for (std::int64_t s = 0; s < time; ++s) {
      const std::int64_t t = reverse ? time - 1 - s : s;
      net.gru(&x[(t * batch + n) * input], h, linear);
      std::copy(h.begin(), h.end(), &y[(t * batch + n) * hidden]);
    }
    yh.insert(yh.end(), h.begin(), h.end());
  }
  OpCall call{.op_type = "GRU", .opset = GENERATE(3, 7, 14, 22), .outputs = 2};
  call.inputs = {tensor({time, batch, input}, x), tensor({1, 3 * hidden, input}, w), tensor({1, 3 * hidden, hidden}, r),
                 tensor({1, 6 * hidden}, b)};
  call.attributes = {attr_s("direction", reverse ? "reverse" : "forward"), attr_i("linear_before_reset", linear)};
  const auto outputs = run_op(call);
  CHECK(outputs[0].tensor().shape() == Shape{time, 1, batch, hidden});
  check_close(outputs[0].tensor(), y);
  check_close(outputs[1].tensor(), yh);
}

TEST_CASE("RNN applies the activations that a node names, with their parameters in order", "[ops][RNN]") {
  struct Case {
    const char* name;
    std::vector<float> alpha, beta;
    double expected;  // f(2 * 0.5 - 1 * 3 + 0.25 + 0.5) = f(-1.25)
  };
  const Case c = GENERATE(Case{"Relu", {}, {}, 0}, Case{"Tanh", {}, {}, std::tanh(-1.25)},
                          Case{"Sigmoid", {}, {}, 1 / (1 + std::exp(1.25))}, Case{"Affine", {2}, {0.5f}, -2},
                          Case{"LeakyRelu", {}, {}, -0.0125}, Case{"LeakyRelu", {0.5f}, {}, -0.625},
                          Case{"ThresholdedRelu", {-2}, {}, -1.25}, Case{"ThresholdedRelu", {}, {}, 0},
                          Case{"ScaledTanh", {2}, {0.5f}, 2 * std::tanh(-0.625)}, Case{"HardSigmoid", {}, {}, 0.25},
                          Case{"Elu", {2}, {}, 2 * (std::exp(-1.25) - 1)}, Case{"Softsign", {}, {}, -1.25 / 2.25},
                          Case{"Softplus", {}, {}, std::log(1 + std::exp(-1.25))});
  CAPTURE(c.name);
  OpCall call{.op_type = "RNN", .opset = 7};
  call.inputs = {
      tensor({1, 1, 1}, {2}), tensor({1, 1, 1}, {0.5f}), tensor({1, 1, 1}, {-1}), tensor({1, 2}, {0.25f, 0.5f}), {},
      tensor({1, 1, 1}, {3})};
  call.attributes = {attr_strings("activations", {c.name}), attr_floats("activation_alpha", c.alpha),
                     attr_floats("activation_beta", c.beta)};
  check_close(run_op1(call), {c.expected});
}

TEST_CASE("Recurrent operators infer shapes and refuse weights that do not fit", "[ops][LSTM]") {
  const auto f32 = DataType::kFloat32;
  OpCall call{.op_type = "LSTM", .opset = 14, .outputs = 3};
  call.attributes = {attr_s("direction", "bidirectional"), attr_i("hidden_size", 8)};
  const auto types = infer_op(call, {ValueType::tensor(f32, {{Dim::symbol("T"), Dim::symbol("N"), 3}}),
                                     ValueType::tensor(f32), ValueType::tensor(f32)});
  CHECK(to_string(types[0]) == "float32 Tx2xNx8");
  CHECK(to_string(types[1]) == "float32 2xNx8");
  CHECK(to_string(types[2]) == "float32 2xNx8");

  call.attributes = {};
  call.inputs = {tensor({1, 1, 2}, {1, 2}), tensor({1, 4, 3}, std::vector<float>(12)), tensor({1, 4, 1}, {1, 2, 3, 4})};
  CHECK_THROWS_WITH(run_op(call), Catch::Contains("input W has shape 1x4x3, expected 1x4x2"));
}
