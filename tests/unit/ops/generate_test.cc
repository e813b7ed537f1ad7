#include <catch2/catch.hpp>

#include "support/chain.h"

using namespace lppool;
using namespace lppool::test;

namespace {

Tensor list(std::vector<std::int64_t> values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}
template <typename T>
Tensor range(T start, T limit, T delta, std::int64_t opset = 11) {
  return run_op1({"Range", opset, {Tensor::scalar(start), Tensor::scalar(limit), Tensor::scalar(delta)}});
}
using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("Range counts up and down", "[ops][Range]") {
  CHECK(to_doubles(range<std::int32_t>(1, 8, 3)) == Numbers{1, 4, 7});
  CHECK(to_doubles(range<std::int64_t>(10, 4, -2)) == Numbers{10, 8, 6});
  CHECK(to_doubles(range<std::int16_t>(3, 3, 1)).empty());
  CHECK(to_doubles(range<std::int64_t>(0, 5, -1)).empty());
  CHECK(to_doubles(range<float>(1.0f, 2.0f, 0.25f)) == Numbers{1, 1.25, 1.5, 1.75});
  CHECK(to_doubles(range<double>(0.0, -1.0, -0.5)) == Numbers{0, -0.5});
  CHECK(to_doubles(range<Float16>(Float16(0.0f), Float16(1.5f), Float16(0.5f), 27)) == Numbers{0, 0.5, 1});
  // (0.3f - 0) / 0.1f is 3 in float32, a hair more in float64.
  CHECK(range<float>(0.0f, 0.3f, 0.1f).size() == 3);
}

TEST_CASE("Range is exact at the ends of 64 bits and refuses what has no size", "[ops][Range]") {
  constexpr std::int64_t kMost = 9223372036854775807, kLeast = -kMost - 1;
  CHECK(range<std::int64_t>(kLeast, kMost, kMost).size() == 3);  // least, -1, most - 1
  CHECK(range<std::int64_t>(kMost, kLeast, kLeast).size() == 2);
  CHECK_THROWS_AS(range<std::int64_t>(kLeast, kMost, 1), Error);
  CHECK_THROWS_AS(range<std::int64_t>(0, 1, 0), Error);
  CHECK_THROWS_AS(range<float>(0, 1, 0), Error);
  CHECK_THROWS_AS(range<float>(0, std::numeric_limits<float>::quiet_NaN(), 1), Error);
  CHECK_THROWS_AS(range<float>(0, std::numeric_limits<float>::infinity(), 1), Error);
}

TEST_CASE("Range up to a symbolic size", "[ops][Range]") {
  Chain chain(13);
  chain.input("x", ValueType::tensor(DataType::kFloat32, dims("NxS")));
  chain.constant("zero", Tensor::scalar<std::int64_t>(0));
  chain.constant("one", Tensor::scalar<std::int64_t>(1));
  chain.constant("two", Tensor::scalar<std::int64_t>(2));
  chain.node("Shape", "x", "shape");
  chain.node("Gather", "shape one", "s");
  chain.node("Range", "zero s one", "positions");
  chain.node("Range", "one s two", "odd");
  CHECK(chain.type("positions") == "int64 S");
  CHECK(chain.type("odd") == "int64 floor(S/2)");
}

TEST_CASE("EyeLike puts ones on a diagonal", "[ops][EyeLike]") {
  const Tensor x = Tensor::zeros(DataType::kInt32, {2, 3});
  CHECK(to_doubles(run_op1({"EyeLike", 9, {x}})) == Numbers{1, 0, 0, 0, 1, 0});
  const Tensor y = run_op1({"EyeLike", 22, {x}, {attr_i("k", -1), attr_i("dtype", 16)}});
  CHECK(y.dtype() == DataType::kBFloat16);
  CHECK(to_doubles(y) == Numbers{0, 0, 0, 1, 0, 0});
  CHECK(to_doubles(run_op1({"EyeLike", 9, {x}, {attr_i("k", 9223372036854775807)}})) == Numbers{0, 0, 0, 0, 0, 0});
  CHECK_THROWS_AS(run_op1({"EyeLike", 9, {Tensor::zeros(DataType::kInt32, {2})}}), Error);
  CHECK_THROWS_AS(run_op1({"EyeLike", 9, {x}, {attr_i("dtype", 99)}}), Error);
}

TEST_CASE("OneHot adds an axis; indices out of range are all off", "[ops][OneHot]") {
  const Tensor values = Tensor::of<float>({2}, {2, 5});
  const Tensor y = run_op1({"OneHot", 11, {list({0, 2, -1, 3, -4}), Tensor::scalar<std::int64_t>(3), values}});
  CHECK(to_string(y.shape()) == "5x3");
  CHECK(to_doubles(y) == Numbers{5, 2, 2, 2, 2, 5, 2, 2, 5, 2, 2, 2, 2, 2, 2});
  const Tensor columns =
      run_op1({"OneHot", 11, {Tensor::of<float>({2}, {1.5f, 0}), Tensor::of<float>({1}, {2}), values}, {attr_i("axis", 0)}});
  CHECK(to_doubles(columns) == Numbers{2, 5, 5, 2});
  CHECK_THROWS_AS(run_op1({"OneHot", 11, {list({0}), Tensor::scalar<std::int64_t>(-1), values}}), Error);
  CHECK(to_string(infer_op({"OneHot", 11, {}, {attr_i("axis", 1)}},
                           {ValueType::tensor(DataType::kInt64, dims("NxM")), {}, ValueType::tensor(DataType::kBool, dims("2"))},
                           {Tensor(), Tensor::scalar<float>(4)})[0]) == "bool Nx4xM");
}

TEST_CASE("Trilu keeps a triangle of each matrix", "[ops][Trilu]") {
  const Tensor x = Tensor::of<std::int32_t>({1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto k = [](std::int64_t value) { return Tensor::scalar(value); };
  CHECK(to_doubles(run_op1({"Trilu", 14, {x}})) == Numbers{1, 2, 3, 0, 5, 6, 0, 0, 9});
  CHECK(to_doubles(run_op1({"Trilu", 14, {x, k(1)}})) == Numbers{0, 2, 3, 0, 0, 6, 0, 0, 0});
  CHECK(to_doubles(run_op1({"Trilu", 14, {x, k(-1)}, {attr_i("upper", 0)}})) == Numbers{0, 0, 0, 4, 0, 0, 7, 8, 0});
  CHECK(to_doubles(run_op1({"Trilu", 14, {x, k(9223372036854775807)}, {attr_i("upper", 0)}})) == to_doubles(x));
  CHECK(to_doubles(run_op1({"Trilu", 14, {x, k(-9)}})) == to_doubles(x));
  CHECK(to_doubles(run_op1({"Trilu", 14, {x, k(3)}})) == Numbers(9, 0));
}
