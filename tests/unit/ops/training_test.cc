#include <catch2/catch.hpp>
#include <cmath>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

OpCall step(std::string op_type, std::int64_t count, const std::vector<std::vector<float>>& tensors,
            std::size_t outputs) {
  OpCall call{.op_type = std::move(op_type), .opset = 1, .outputs = outputs, .domain = "ai.onnx.preview.training"};
  call.inputs = {Tensor::scalar<float>(0.1f), Tensor::scalar<std::int64_t>(count)};
  for (const auto& values : tensors)
    call.inputs.push_back(Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values));
  return call;
}

void check_near(const Value& got, const std::vector<double>& expected) {
  const auto values = to_doubles(got.tensor());
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(expected[i]).epsilon(1e-6));
}

}  // namespace

TEST_CASE("Adagrad divides by the root of summed squares", "[ops][Adagrad]") {
  OpCall call = step("Adagrad", 2, {{1}, {-1}, {2}}, 2);
  call.attributes = {attr_f("norm_coefficient", 0.5f), attr_f("decay_factor", 0.25f), attr_f("epsilon", 1)};
  // g = 0.5 - 1 = -0.5; h = 2.25; rate = 0.1 / 1.5
  const auto out = run_op(call);
  check_near(out[0], {1 + 0.1 / 1.5 * 0.5 / 2.5});
  check_near(out[1], {2.25});
}

TEST_CASE("Adam corrects its means for their start", "[ops][Adam]") {
  OpCall call = step("Adam", 1, {{1, 2}, {0.5f, -1}, {0, 0}, {0, 0}}, 3);
  call.attributes = {attr_f("alpha", 0.5f), attr_f("beta", 0.75f), attr_f("norm_coefficient_post", 0.5f)};
  // v = 0.5 g, h = 0.25 g^2; rate = 0.1 * 0.5 / 0.5; v / sqrt(h) is the sign of g
  const auto out = run_op(call);
  check_near(out[0], {0.5 * (1 - 0.1), 0.5 * (2 + 0.1)});
  check_near(out[1], {0.25, -0.5});
  check_near(out[2], {0.0625, 0.25});
}

TEST_CASE("Momentum takes several tensors, standard or Nesterov's way", "[ops][Momentum]") {
  const bool nesterov = GENERATE(false, true);
  OpCall call = step("Momentum", 3, {{1}, {2}, {0.5f}, {-1}, {4}, {8}}, 4);
  call.attributes = {attr_f("alpha", 0.5f), attr_f("beta", 0.25f), attr_f("norm_coefficient", 0),
                     attr_s("mode", nesterov ? "nesterov" : "standard")};
  // v1 = 2 + 0.125, v2 = 4 - 0.25
  const auto out = run_op(call);
  check_near(out[0], {nesterov ? 1 - 0.1 * (0.5 + 0.5 * 2.125) : 1 - 0.1 * 2.125});
  check_near(out[1], {nesterov ? 2 - 0.1 * (-1 + 0.5 * 3.75) : 2 - 0.1 * 3.75});
  check_near(out[2], {2.125});
  check_near(out[3], {3.75});
}
