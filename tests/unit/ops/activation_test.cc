#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<double> run(std::string op, std::int64_t opset, std::vector<Value> inputs,
                        std::vector<Attribute> attributes = {}) {
  return to_doubles(run_op1(
      {.op_type = std::move(op), .opset = opset, .inputs = std::move(inputs), .attributes = std::move(attributes)}));
}

Tensor floats(Shape shape, const std::vector<float>& values) {
  return Tensor::of<float>(std::move(shape), values);
}

}  // namespace

TEST_CASE("Activations are their formulas in long double, rounded once", "[ops][activation]") {
  using L = long double;
  struct Case {
    const char* op;
    std::int64_t opset;
    std::vector<Attribute> attributes;
    L (*function)(L);
  };
  static const L kSeluAlpha = 1.67326319217681884765625L, kSeluGamma = 1.05070102214813232421875L;
  static const L kHalf = 0.5L, kAlpha = 0.3f;
  const Case cases[] = {
      {"Relu", 14, {}, [](L x) { return x > 0 ? x : 0; }},
      {"Sigmoid", 13, {}, [](L x) { return 1 / (1 + std::exp(-x)); }},
      {"LeakyRelu", 16, {attr_f("alpha", 0.3f)}, [](L x) { return x < 0 ? kAlpha * x : x; }},
      {"ThresholdedRelu", 22, {attr_f("alpha", 0.3f)}, [](L x) { return x > kAlpha ? x : 0; }},
      {"Elu", 22, {attr_f("alpha", 0.3f)}, [](L x) { return x < 0 ? kAlpha * std::expm1(x) : x; }},
      {"Selu", 6, {}, [](L x) { return kSeluGamma * (x > 0 ? x : kSeluAlpha * std::expm1(x)); }},
      {"Celu", 12, {attr_f("alpha", 0.3f)}, [](L x) { return x > 0 ? x : kAlpha * std::expm1(x / kAlpha); }},
      {"HardSigmoid", 6, {}, [](L x) { return std::max(L{0}, std::min(L{1}, L{0.2f} * x + L{0.5f})); }},
      {"HardSwish", 14, {}, [](L x) { return x * std::max(L{0}, std::min(L{1}, x / 6 + kHalf)); }},
      {"Softplus", 1, {}, [](L x) { return std::log1p(std::exp(x)); }},
      {"Softsign", 1, {}, [](L x) { return x / (1 + std::fabs(x)); }},
      {"Mish", 18, {}, [](L x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"Gelu", 20, {}, [](L x) { return kHalf * x * std::erfc(-x / std::sqrt(L{2})); }},
      {"Gelu",
       20,
       {attr_s("approximate", "tanh")},
       [](L x) {
         // 1 + tanh(z) as 2 / (1 + exp(-2 z)): no cancellation far below zero.
         const L z = std::sqrt(2 / std::acos(L{-1})) * (x + 0.044715L * x * x * x);
         return x / (1 + std::exp(-2 * z));
       }},
      {"Swish", 24, {attr_f("alpha", 0.3f)}, [](L x) { return x / (1 + std::exp(-kAlpha * x)); }},
      {"Shrink",
       9,
       {attr_f("lambd", 0.5f), attr_f("bias", 0.25f)},
       [](L x) { return x < -kHalf  ? x + 0.25L
                        : x > kHalf ? x - 0.25L
                                    : 0; }},
  };
  std::vector<float> values;
  for (int i = -60; i <= 60; ++i) values.push_back(static_cast<float>(i) * 0.173f);
  for (const float v : {1e-6f, -1e-6f, 1e-30f, -1e-30f, 30.0f, -30.0f, 80.0f, -80.0f}) values.push_back(v);
  const Shape shape{static_cast<std::int64_t>(values.size())};
  for (const Case& c : cases) {
    const auto result = run(c.op, c.opset, {floats(shape, values)}, c.attributes);
    for (std::size_t i = 0; i < values.size(); ++i) {
      CAPTURE(c.op, values[i]);
      CHECK(result[i] == static_cast<float>(c.function(values[i])));
    }
  }
}

TEST_CASE("NaN passes through activations, and infinities do not become NaN", "[ops][activation]") {
  for (const char* op : {"Relu", "Sigmoid", "LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "Softplus", "Softsign",
                         "Mish", "HardSwish"}) {
    CAPTURE(op);
    const auto result = run(op, 22, {floats({1}, {kNaN})});
    CHECK(std::isnan(result[0]));
  }
  CHECK(run("Softplus", 1, {floats({2}, {kInf, -kInf})}) == std::vector<double>{kInf, 0});
  CHECK(run("Sigmoid", 13, {floats({2}, {kInf, -kInf})}) == std::vector<double>{1, 0});
  CHECK(run("Relu", 13, {floats({2}, {kInf, -kInf})}) == std::vector<double>{kInf, 0});
  CHECK(run("Mish", 18, {floats({1}, {kInf})}) == std::vector<double>{kInf});
}

TEST_CASE("Selu 1 has shorter default coefficients", "[ops][Selu]") {
  CHECK(run("Selu", 1, {floats({2}, {1, -1})}) ==
        std::vector<double>{1.0507f, static_cast<float>(double(1.0507f) * (double(1.6732f) * std::expm1(-1.0)))});
}

TEST_CASE("Integer Relu and Shrink", "[ops][Relu]") {
  CHECK(run("Relu", 14, {Tensor::of<std::int8_t>({3}, {-128, 0, 5})}) == std::vector<double>{0, 0, 5});
  CHECK(run("Shrink", 9, {Tensor::of<std::int32_t>({4}, {-3, 0, 1, 3})},
            {attr_f("lambd", 1.5f), attr_f("bias", 1.5f)}) == std::vector<double>{-1, 0, 0, 1});
}

TEST_CASE("PRelu runs its slopes along channels before opset 7, then broadcasts them", "[ops][PRelu]") {
  const Tensor x = floats({1, 2, 2}, {-1, -2, -3, 4});
  CHECK(run("PRelu", 6, {x, floats({2}, {10, 100})}) == std::vector<double>{-10, -20, -300, 4});
  CHECK(run("PRelu", 6, {x, floats({1}, {10})}) == std::vector<double>{-10, -20, -30, 4});
  CHECK(run("PRelu", 7, {x, floats({2}, {10, 100})}) == std::vector<double>{-10, -200, -30, 4});
  CHECK(run("PRelu", 16, {x, floats({2, 1}, {10, 100})}) == std::vector<double>{-10, -20, -300, 4});
  CHECK_THROWS_AS(run("PRelu", 16, {floats({2}, {1, 1}), floats({2, 2}, {1, 1, 1, 1})}), Error);
}

TEST_CASE("Clip takes bounds from attributes or inputs; the upper one wins", "[ops][Clip]") {
  const Tensor x = floats({4}, {-5, 0.5f, 7, kNaN});
  const auto both = run("Clip", 13, {x, floats({}, {0}), floats({}, {1})});
  CHECK(both[0] == 0);
  CHECK(both[1] == 0.5);
  CHECK(both[2] == 1);
  CHECK(std::isnan(both[3]));
  CHECK(run("Clip", 13, {floats({2}, {-5, 5}), Value(), floats({}, {1})}) == std::vector<double>{-5, 1});
  CHECK(run("Clip", 13, {floats({2}, {-5, 5}), floats({}, {3}), floats({}, {1})}) == std::vector<double>{1, 1});
  CHECK(run("Clip", 12, {Tensor::of<std::int8_t>({3}, {-9, 0, 9}), Tensor::scalar<std::int8_t>(-1)}) ==
        std::vector<double>{-1, 0, 9});
  CHECK(run("Clip", 6, {floats({2}, {-5, 5})}, {attr_f("max", 2)}) == std::vector<double>{-5, 2});
  CHECK(run("Clip", 6, {floats({1}, {kInf})}) == std::vector<double>{std::numeric_limits<float>::max()});
  CHECK(run("Clip", 6, {Tensor::of<double>({1}, {1e300})}) == std::vector<double>{1e300});
  CHECK_THROWS_AS(run("Clip", 13, {x, floats({2}, {0, 1})}), Error);
}

TEST_CASE("Sum, Mean, Max and Min of many inputs broadcast from opset 8 on", "[ops][Sum]") {
  const Tensor a = floats({2, 1}, {1, 2}), b = floats({2}, {10, 20}), c = floats({}, {100});
  CHECK(run("Sum", 13, {a, b, c}) == std::vector<double>{111, 121, 112, 122});
  CHECK(run("Mean", 13, {a, b, c}) == std::vector<double>{37, static_cast<float>(121 / 3.0),
                                                          static_cast<float>(112 / 3.0),
                                                          static_cast<float>(122 / 3.0)});
  CHECK(run("Max", 13, {a, b, c}) == std::vector<double>{100, 100, 100, 100});
  CHECK(run("Min", 13, {a, b, c}) == std::vector<double>{1, 1, 2, 2});
  CHECK(run("Sum", 13, {a}) == std::vector<double>{1, 2});
  CHECK_THROWS_WITH(run("Sum", 6, {a, b}), Catch::Contains("does not broadcast"));
  CHECK(run("Max", 13, {Tensor::of<std::uint64_t>({2}, {1, ~0ull}), Tensor::of<std::uint64_t>({2}, {5, 2})})[0] == 5);
  const auto nan = run("Max", 13, {floats({2}, {kNaN, 1}), floats({2}, {1, kNaN})});
  CHECK(std::isnan(nan[0]));
  CHECK(std::isnan(nan[1]));
  // A sum of three float32 is rounded once: 1 + 2^-24 + 2^-24 = 1 + 2^-23.
  CHECK(run("Sum", 13, {floats({1}, {1}), floats({1}, {0x1p-24f}), floats({1}, {0x1p-24f})}) ==
        std::vector<double>{1 + 0x1p-23});
}

TEST_CASE("Elementwise kernels leave inputs that others hold as they were", "[ops][Relu]") {
  const Tensor x = floats({3}, {-1, 0, 1});
  run("Relu", 14, {x});
  run("Sigmoid", 13, {x});
  run("Sum", 13, {x, x});
  run("Clip", 13, {x, floats({}, {0})});
  run("Softmax", 13, {x});
  CHECK(to_doubles(x) == std::vector<double>{-1, 0, 1});
}
