#include <catch2/catch.hpp>
#include <cmath>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

std::vector<double> run(std::string op, std::int64_t opset, std::vector<Value> inputs,
                        std::vector<Attribute> attributes = {}, std::string domain = {}) {
  return to_doubles(run_op1({.op_type = std::move(op),
                             .opset = opset,
                             .inputs = std::move(inputs),
                             .attributes = std::move(attributes),
                             .domain = std::move(domain)}));
}

Tensor floats(Shape shape, const std::vector<float>& values) {
  return Tensor::of<float>(std::move(shape), values);
}
Tensor longs(Shape shape, const std::vector<std::int64_t>& values) {
  return Tensor::of<std::int64_t>(std::move(shape), values);
}

}  // namespace

TEST_CASE("CumSum and CumProd run from either end, with or without the element", "[ops][CumSum]") {
  const Tensor x = floats({3}, {1, 2, 3}), axis = Tensor::scalar<std::int32_t>(0);
  CHECK(run("CumSum", 14, {x, axis}) == std::vector<double>{1, 3, 6});
  CHECK(run("CumSum", 14, {x, axis}, {attr_i("exclusive", 1)}) == std::vector<double>{0, 1, 3});
  CHECK(run("CumSum", 11, {x, axis}, {attr_i("reverse", 1)}) == std::vector<double>{6, 5, 3});
  CHECK(run("CumSum", 14, {x, axis}, {attr_i("reverse", 1), attr_i("exclusive", 1)}) == std::vector<double>{5, 3, 0});
  CHECK(run("CumProd", 26, {x, axis}, {attr_i("exclusive", 1)}) == std::vector<double>{1, 1, 2});
  CHECK(run("CumProd", 26, {x, axis}, {attr_i("reverse", 1), attr_i("exclusive", 1)}) == std::vector<double>{6, 3, 1});
  const Tensor grid = longs({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(run("CumSum", 14, {grid, Tensor::scalar<std::int64_t>(0)}) == std::vector<double>{1, 2, 3, 5, 7, 9});
  CHECK(run("CumSum", 14, {grid, Tensor::scalar<std::int64_t>(-1)}) == std::vector<double>{1, 3, 6, 4, 9, 15});
  CHECK_THROWS_AS(run("CumSum", 14, {grid, Tensor::scalar<std::int64_t>(2)}), Error);
  // Each output is rounded once: 2^24 + 1 + 1 in float32.
  CHECK(run("CumSum", 14, {floats({3}, {16777216, 1, 1}), axis}) == std::vector<double>{16777216, 16777216, 16777218});
}

TEST_CASE("LpNormalization divides by the norm and leaves zeros alone", "[ops][LpNormalization]") {
  const Tensor x = floats({2, 2}, {3, -4, 0, 0});
  CHECK(run("LpNormalization", 1, {x}) == std::vector<double>{0.6f, -0.8f, 0, 0});
  CHECK(run("LpNormalization", 22, {x}, {attr_i("p", 1)}) ==
        std::vector<double>{static_cast<float>(3 / 7.0), static_cast<float>(-4 / 7.0), 0, 0});
  CHECK(run("LpNormalization", 1, {x}, {attr_i("axis", 0)}) == std::vector<double>{1, -1, 0, 0});
  CHECK(run("LpNormalization", 22, {Tensor::of<double>({2}, {3e200, 4e200})})[0] == Approx(0.6).epsilon(1e-15));
  CHECK(run("LpNormalization", 22, {Tensor::of<double>({2}, {3e-300, 4e-300})})[1] == Approx(0.8).epsilon(1e-15));
  CHECK_THROWS_AS(run("LpNormalization", 1, {x}, {attr_i("p", 3)}), Error);
}

TEST_CASE("NegativeLogLikelihoodLoss weighs, ignores and reduces", "[ops][NegativeLogLikelihoodLoss]") {
  // The three examples of the operator's text.
  const Tensor x = floats({2, 3, 2}, {1, 2, 2, 2, 3, 2, 0, 1, 2, 2, 1, 2});
  const Tensor target = longs({2, 2}, {2, 1, 0, 2}), weight = floats({3}, {0.2f, 0.3f, 0.1f});
  CHECK(run("NegativeLogLikelihoodLoss", 13, {x, target}, {attr_s("reduction", "none")}) ==
        std::vector<double>{-3, -2, 0, -2});
  CHECK(run("NegativeLogLikelihoodLoss", 13, {x, target, weight}, {attr_s("reduction", "sum")})[0] == Approx(-1.1));
  CHECK(run("NegativeLogLikelihoodLoss", 13, {x, target, weight})[0] == Approx(-1.1 / 0.7));
  CHECK(run("NegativeLogLikelihoodLoss", 13, {x, target})[0] == Approx(-7 / 4.0));
  const Tensor holes = longs({2, 2}, {2, -100, 0, -100});
  CHECK(run("NegativeLogLikelihoodLoss", 13, {x, holes}, {attr_i("ignore_index", -100)})[0] == Approx(-3 / 2.0));
  CHECK(run("NegativeLogLikelihoodLoss", 13, {x, holes, weight}, {attr_i("ignore_index", -100)})[0] ==
        Approx(-3 * 0.1 / 0.3));
  CHECK_THROWS_WITH(run("NegativeLogLikelihoodLoss", 13, {x, holes}), Catch::Contains("label 1 is -100"));
  CHECK_THROWS_AS(run("NegativeLogLikelihoodLoss", 13, {x, longs({2}, {0, 1})}), Error);
  CHECK_THROWS_AS(run("NegativeLogLikelihoodLoss", 13, {x, target, floats({2}, {1, 1})}), Error);
}

TEST_CASE("SoftmaxCrossEntropyLoss is the loss of the log-softmax", "[ops][SoftmaxCrossEntropyLoss]") {
  const std::vector<float> scores = {1, 2, 3, 0.5f, -1, 1000};
  const Tensor x = floats({2, 3}, scores), labels = Tensor::of<std::int32_t>({2}, {1, 0});
  const auto out = run_op({.op_type = "SoftmaxCrossEntropyLoss",
                           .opset = 13,
                           .inputs = {x, labels},
                           .attributes = {attr_s("reduction", "none")},
                           .outputs = 2});
  const double log_sum = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0));
  CHECK(to_doubles(out[0].tensor()) == std::vector<double>{static_cast<float>(log_sum - 2), 999.5});
  CHECK(out[1].tensor().shape() == Shape{2, 3});
  CHECK(to_doubles(out[1].tensor())[0] == static_cast<float>(1 - log_sum));
  CHECK(run("SoftmaxCrossEntropyLoss", 12, {x, labels})[0] == static_cast<float>((log_sum - 2 + 999.5) / 2));
  CHECK(run("SoftmaxCrossEntropyLoss", 13, {x, labels}, {attr_i("ignore_index", 0)})[0] ==
        static_cast<float>(log_sum - 2));
}

TEST_CASE("Dropout passes data on unless it trains", "[ops][Dropout]") {
  const Tensor x = floats({4}, {1, 2, 3, 4});
  for (const std::int64_t opset : {7, 10, 12, 13, 22}) CHECK(run("Dropout", opset, {x}) == to_doubles(x));
  CHECK(run("Dropout", 6, {x}, {attr_i("is_test", 1)}) == to_doubles(x));
  const auto both = run_op({.op_type = "Dropout", .opset = 13, .inputs = {x}, .outputs = 2});
  CHECK(to_doubles(both[1].tensor()) == std::vector<double>{1, 1, 1, 1});
  CHECK(both[1].tensor().dtype() == DataType::kBool);
  Tensor yes = Tensor::zeros(DataType::kBool, {});
  yes.mutable_data<std::uint8_t>()[0] = 1;
  const auto trained = run_op({.op_type = "Dropout",
                               .opset = 13,
                               .inputs = {x, floats({}, {0.5f}), yes},
                               .attributes = {attr_i("seed", 0)},
                               .outputs = 2});
  // numpy: RandomState(0).uniform() begins 0.5488, 0.7152, 0.6028, 0.5449: nothing is dropped at 0.5, all doubled.
  CHECK(to_doubles(trained[0].tensor()) == std::vector<double>{2, 4, 6, 8});
  const auto half = run_op({.op_type = "Dropout",
                            .opset = 13,
                            .inputs = {x, floats({}, {0.55f}), yes},
                            .attributes = {attr_i("seed", 0)},
                            .outputs = 2});
  CHECK(to_doubles(half[1].tensor()) == std::vector<double>{0, 1, 1, 0});
  CHECK_THROWS_AS(run_op({.op_type = "Dropout", .opset = 13, .inputs = {x, floats({}, {1}), yes}}), Error);
  const auto old = run_op({.op_type = "Dropout", .opset = 6, .inputs = {x}, .outputs = 2});
  CHECK(old[1].tensor().dtype() == DataType::kFloat32);
}

TEST_CASE("Training steps follow their pseudo code", "[ops][Adam]") {
  const std::string domain = "ai.onnx.preview.training";
  const Tensor rate = floats({}, {0.1f}), first = Tensor::scalar<std::int64_t>(0),
               second = Tensor::scalar<std::int64_t>(2);
  const Tensor x = floats({2}, {1.2f, 2.8f}), g = floats({2}, {-0.94f, -2.5f}), v = floats({2}, {1.7f, 3.6f});
  const double n = 0.001f, a = 0.95f, b = 0.1f, r = 0.1f;
  const auto momentum = run_op({.op_type = "Momentum",
                                .opset = 1,
                                .inputs = {rate, second, x, g, v},
                                .attributes = {attr_f("norm_coefficient", 0.001f), attr_f("alpha", 0.95f),
                                               attr_f("beta", 0.1f), attr_s("mode", "standard")},
                                .outputs = 2,
                                .domain = domain});
  for (std::size_t i = 0; i < 2; ++i) {
    const double grad = n * to_doubles(x)[i] + to_doubles(g)[i], state = a * to_doubles(v)[i] + b * grad;
    CHECK(to_doubles(momentum[1].tensor())[i] == static_cast<float>(state));
    CHECK(to_doubles(momentum[0].tensor())[i] == static_cast<float>(to_doubles(x)[i] - r * state));
  }
  const auto start = run_op({.op_type = "Momentum",
                             .opset = 1,
                             .inputs = {rate, first, x, g, v},
                             .attributes = {attr_f("norm_coefficient", 0), attr_f("alpha", 0.95f), attr_f("beta", 0.1f),
                                            attr_s("mode", "nesterov")},
                             .outputs = 2,
                             .domain = domain});
  const double state = a * to_doubles(v)[0] + to_doubles(g)[0];  // beta counts as 1 in the first step
  CHECK(to_doubles(start[0].tensor())[0] == static_cast<float>(to_doubles(x)[0] - r * (to_doubles(g)[0] + a * state)));

  const auto adagrad = run_op({.op_type = "Adagrad",
                               .opset = 1,
                               .inputs = {rate, second, x, g, v},
                               .attributes = {attr_f("decay_factor", 0.5f), attr_f("epsilon", 1e-5f)},
                               .outputs = 2,
                               .domain = domain});
  const double h = to_doubles(v)[0] + to_doubles(g)[0] * to_doubles(g)[0];
  CHECK(to_doubles(adagrad[0].tensor())[0] ==
        static_cast<float>(to_doubles(x)[0] - r / 2 * to_doubles(g)[0] / (std::sqrt(h) + double(1e-5f))));

  const auto adam = run_op(
      {.op_type = "Adam", .opset = 1, .inputs = {rate, first, x, x, g, g, v, v, v, v}, .outputs = 6, .domain = domain});
  const double m1 = double(0.9f) * to_doubles(v)[1] + (1 - double(0.9f)) * to_doubles(g)[1];
  CHECK(to_doubles(adam[3].tensor())[1] == static_cast<float>(m1));
  CHECK_THROWS_AS(run_op({.op_type = "Adam", .opset = 1, .inputs = {rate, first, x, g, v}, .domain = domain}), Error);
}
