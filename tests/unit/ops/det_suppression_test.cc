#include <catch2/catch.hpp>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

TEST_CASE("Det gives determinants of a batch", "[ops][Det]") {
  OpCall call{.op_type = "Det", .opset = 11};
  call.inputs = {Tensor::of<float>({3, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0, 2, 4, 1, 2})};
  CHECK(to_doubles(run_op1(call)) == std::vector<double>{-2, -1, 0});
  call.inputs = {Tensor::of<double>({3, 3}, {0, 2, 1, 3, 0, 1, 1, 1, 0})};
  CHECK(to_doubles(run_op1(call))[0] == Approx(0 * (0 - 1) - 2 * (0 - 1) + 1 * (3 - 0)));
}

TEST_CASE("NonMaxSuppression keeps the best of boxes that overlap", "[ops][NonMaxSuppression]") {
  OpCall call{.op_type = "NonMaxSuppression", .opset = 11};
  const Tensor boxes =
      Tensor::of<float>({1, 6, 4}, {0, 0,     1, 1,     0, 0.1f, 1, 1.1f, 0, -0.1f, 1, 0.9f, 0, 10, 1, 11,  //
                                    0, 10.1f, 1, 11.1f, 1, 101,  0, 100});
  const Tensor scores = Tensor::of<float>({1, 1, 6}, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f});
  call.inputs = {boxes, scores, Tensor::scalar<std::int64_t>(3), Tensor::scalar<float>(0.5f), Tensor::scalar<float>(0)};
  const Tensor all = run_op1(call);
  CHECK(all.shape() == Shape{3, 3});
  CHECK(to_doubles(all) == std::vector<double>{0, 0, 3, 0, 0, 0, 0, 0, 5});
  call.inputs[4] = Tensor::scalar<float>(0.92f);
  CHECK(to_doubles(run_op1(call)) == std::vector<double>{0, 0, 3});
  call.inputs.resize(2);  // nothing asked for, nothing given
  CHECK(run_op1(call).shape() == Shape{0, 3});
}
