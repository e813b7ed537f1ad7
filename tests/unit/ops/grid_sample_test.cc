#include <catch2/catch.hpp>
#include <cmath>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

TEST_CASE("GridSample samples where the grid points", "[ops][GridSample]") {
  OpCall call{.op_type = "GridSample", .opset = 22};
  // 2 x 3: places in pixels (align_corners): x = (gx + 1), y = (gy + 1) / 2.
  const Tensor x = Tensor::of<float>({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
  call.inputs = {x, Tensor::of<float>({1, 1, 4, 2}, {-1, -1, 0.5f, 0, 1, 1, 2, -1})};
  call.attributes = {attr_i("align_corners", 1), attr_s("padding_mode", "zeros")};
  CHECK(to_doubles(run_op1(call)) == std::vector<double>{1, 4, 6, 0});
  call.attributes[1] = attr_s("padding_mode", "border");
  CHECK(to_doubles(run_op1(call)) == std::vector<double>{1, 4, 6, 3});
  call.attributes[1] = attr_s("padding_mode", "reflection");
  CHECK(to_doubles(run_op1(call)) == std::vector<double>{1, 4, 6, 2});
  call.attributes.push_back(attr_s("mode", "nearest"));
  CHECK(to_doubles(run_op1(call)) == std::vector<double>{1, 3, 6, 2});  // (1.5, 0.5) rounds to even: (2, 0)
  // Not a number: no place at all.
  call.inputs[1] = Tensor::of<float>({1, 1, 1, 2}, {std::nanf(""), 0});
  CHECK(std::isnan(to_doubles(run_op1(call))[0]));
}

TEST_CASE("AffineGrid moves evenly spaced places", "[ops][AffineGrid]") {
  OpCall call{.op_type = "AffineGrid", .opset = 20};
  call.inputs = {Tensor::of<float>({1, 2, 3}, {2, 0, 0.5f, 0, 1, 0}), Tensor::of<std::int64_t>({4}, {1, 1, 2, 2})};
  CHECK(to_doubles(run_op1(call)) == std::vector<double>{-0.5, -0.5, 1.5, -0.5, -0.5, 0.5, 1.5, 0.5});
  call.attributes = {attr_i("align_corners", 1)};
  CHECK(to_doubles(run_op1(call)) == std::vector<double>{-1.5, -1, 2.5, -1, -1.5, 1, 2.5, 1});
}
