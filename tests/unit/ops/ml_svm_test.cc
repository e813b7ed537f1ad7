#include <catch2/catch.hpp>
#include <cmath>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

using Doubles = std::vector<double>;

std::vector<Value> svm(std::string op, Tensor x, std::vector<Attribute> attributes, std::size_t outputs) {
  OpCall call{std::move(op), 1, {std::move(x)}, std::move(attributes), outputs};
  call.domain = "ai.onnx.ml";
  return run_op(call);
}
Doubles regress(Tensor x, std::vector<Attribute> attributes) {
  return to_doubles(svm("SVMRegressor", std::move(x), std::move(attributes), 1)[0].tensor());
}

const Tensor kX = Tensor::of<float>({2, 2}, {1, 2, 3, -1});

}  // namespace

TEST_CASE("SVMRegressor adds up weighted kernels", "[ops][SVMRegressor]") {
  // Support vectors (1, 0) and (2, 1).
  std::vector<Attribute> machine = {attr_i("n_supports", 2), attr_floats("support_vectors", {1, 0, 2, 1}),
                                    attr_floats("coefficients", {2, -1}), attr_floats("rho", {0.5f})};
  CHECK(regress(kX, machine) == Doubles{2 * 1 - 4 + 0.5, 2 * 3 - 5 + 0.5});
  CHECK(regress(Tensor::of<std::int64_t>({2}, {1, 2}), machine) == Doubles{-1.5});
  const auto with = [&](const std::string& type, std::vector<float> parameters) {
    auto result = machine;
    result.push_back(attr_s("kernel_type", type));
    result.push_back(attr_floats("kernel_params", std::move(parameters)));
    return result;
  };
  CHECK(regress(kX, with("POLY", {2, 1, 3})) == Doubles{2 * 27 - 729 + 0.5, 2 * 343 - 1331 + 0.5});
  // Squared distances 4 and 2; 5 and 5.
  const Doubles rbf = regress(kX, with("RBF", {0.5f, 0, 0}));
  CHECK(rbf[0] == Approx(2 * std::exp(-2.0) - std::exp(-1.0) + 0.5));
  CHECK(rbf[1] == Approx(2 * std::exp(-2.5) - std::exp(-2.5) + 0.5));
  CHECK(regress(kX, with("SIGMOID", {0.25f, -1, 0}))[0] == Approx(2 * std::tanh(-0.75) - std::tanh(0.0) + 0.5));
  machine.push_back(attr_i("one_class", 1));
  CHECK(regress(kX, machine) == Doubles{-1, 1});
}

TEST_CASE("SVMRegressor without support vectors is linear", "[ops][SVMRegressor]") {
  CHECK(regress(kX, {attr_floats("coefficients", {2, 3}), attr_floats("rho", {-1})}) == Doubles{7, 2});
  CHECK_THROWS_WITH(regress(kX, {attr_floats("coefficients", {2}), attr_floats("rho", {-1})}),
                    Catch::Contains("expected 2"));
  CHECK_THROWS_WITH(
      regress(kX, {attr_i("n_supports", INT64_MAX), attr_floats("coefficients", {2}), attr_floats("rho", {1})}),
      Catch::Contains("coefficients has 1"));
}

namespace {

// Three classes with one support vector each: e1, e2 and (1, 1). Coefficients row by row as LIBSVM has them: of class i
// against class j in row j - 1 (i < j), of j against i in row i.
std::vector<Attribute> three() {
  return {attr_strings("classlabels_strings", {"a", "b", "c"}), attr_ints("vectors_per_class", {1, 1, 1}),
          attr_floats("support_vectors", {1, 0, 0, 1, 1, 1}), attr_floats("coefficients", {1, -2, -3, 4, 5, -6}),
          attr_floats("rho", {0.5f, 1, -1})};
}

}  // namespace

TEST_CASE("SVMClassifier lets pairs of classes vote", "[ops][SVMClassifier]") {
  const auto out = svm("SVMClassifier", kX, three(), 2);
  // Kernels of (1, 2): 1, 2, 3; of (3, -1): 3, -1, 2. Scores: ab = k0 - 2 k1 + 0.5, ac = 4 k0 - 3 k2 + 1, bc = 5 k1 - 6
  // k2 - 1.
  CHECK(to_doubles(out[1].tensor()) == Doubles{-2.5, -4, -9, 5.5, 7, -18});
  // Votes 0 1 2 and 2 0 1.
  CHECK(out[0].tensor().strings()[0] == "c");
  CHECK(out[0].tensor().strings()[1] == "a");
}

TEST_CASE("SVMClassifier couples the probabilities of pairs", "[ops][SVMClassifier]") {
  auto machine = three();
  machine.push_back(attr_floats("prob_a", {0, 0, 0}));
  machine.push_back(attr_floats("prob_b", {0, 0, 0}));
  for (const double p : to_doubles(svm("SVMClassifier", kX, machine, 2)[1].tensor())) CHECK(p == Approx(1.0 / 3));
  // Pairs that agree with probabilities 0.6, 0.3, 0.1: p_i / (p_i + p_j) by b = log(p_j / p_i).
  machine.back() = attr_floats("prob_b", {std::log(0.5f), std::log(1.0f / 6), std::log(1.0f / 3)});
  const Doubles p = to_doubles(svm("SVMClassifier", kX, machine, 2)[1].tensor());
  CHECK(p[0] == Approx(0.6).margin(0.01));
  CHECK(p[1] == Approx(0.3).margin(0.01));
  CHECK(p[2] == Approx(0.1).margin(0.01));
  CHECK(p[0] + p[1] + p[2] == Approx(1.0));
}

TEST_CASE("SVMClassifier of two classes gives a score and its opposite", "[ops][SVMClassifier]") {
  std::vector<Attribute> machine = {attr_ints("classlabels_ints", {7, 9}), attr_ints("vectors_per_class", {1, 1}),
                                    attr_floats("support_vectors", {1, 0, 0, 1}), attr_floats("coefficients", {1, -2}),
                                    attr_floats("rho", {1})};
  const auto out = svm("SVMClassifier", kX, machine, 2);
  CHECK(to_doubles(out[0].tensor()) == Doubles{9, 7});
  CHECK(to_doubles(out[1].tensor()) == Doubles{2, -2, -6, 6});
  machine[3] = attr_floats("coefficients", {1, 2});
  CHECK_THROWS_WITH(svm("SVMClassifier", kX, machine, 2), Catch::Contains("disagree"));
  machine[1] = attr_ints("vectors_per_class", {});
  CHECK_THROWS_WITH(svm("SVMClassifier", kX, machine, 2), Catch::Contains("without support vectors"));
}
