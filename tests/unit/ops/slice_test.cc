#include <catch2/catch.hpp>

#include "support/chain.h"

using namespace lppool;
using namespace lppool::test;

namespace {

constexpr std::int64_t kMost = 9223372036854775807, kLeast = -kMost - 1;

Tensor list(std::vector<std::int64_t> values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

// Slice of a list of `size` numbers: Python's, but for a backward slice that starts before the first element, which takes
// that element (text of version 13: such a start is clamped to [0, size - 1]).
std::vector<double> expected_slice(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto place = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    if (at < 0) at += size;
    return at < low ? low : at > high ? high : at;
  };
  std::vector<double> result;
  if (step > 0) {
    for (std::int64_t i = place(start, 0, size); i < place(end, 0, size); i += step) result.push_back(static_cast<double>(i));
  } else {
    for (std::int64_t i = place(start, 0, size - 1); size > 0 && i > place(end, -1, size - 1); i += step) result.push_back(static_cast<double>(i));
  }
  return result;
}

Tensor counted(std::int64_t size) {
  Tensor tensor = Tensor::allocate(DataType::kInt64, Shape{size});
  for (std::int64_t i = 0; i < size; ++i) tensor.mutable_data<std::int64_t>()[static_cast<std::size_t>(i)] = i;
  return tensor;
}

}  // namespace

TEST_CASE("Slice of a list is the text's, for all small numbers", "[ops][Slice]") {
  for (std::int64_t size = 0; size <= 4; ++size) {
    const Tensor x = counted(size);
    for (std::int64_t start = -6; start <= 6; ++start) {
      for (std::int64_t end = -6; end <= 6; ++end) {
        for (const std::int64_t step : {-3, -2, -1, 1, 2, 3}) {
          CAPTURE(size, start, end, step);
          const Tensor y = run_op1({"Slice", 13, {x, list({start}), list({end}), list({0}), list({step})}});
          CHECK(to_doubles(y) == expected_slice(size, start, end, step));
        }
      }
    }
  }
}

TEST_CASE("Slice takes the extremes of 64 bits", "[ops][Slice]") {
  const auto slice = [](std::int64_t start, std::int64_t end, std::int64_t step) {
    return to_doubles(run_op1({"Slice", 13, {counted(4), list({start}), list({end}), list({0}), list({step})}}));
  };
  CHECK(slice(kMost, kLeast, -1) == std::vector<double>{3, 2, 1, 0});
  CHECK(slice(kLeast, kMost, 1) == std::vector<double>{0, 1, 2, 3});
  CHECK(slice(0, kMost, kMost) == std::vector<double>{0});
  CHECK(slice(-1, kLeast, kLeast) == std::vector<double>{3});
  CHECK(slice(kLeast, kLeast, -1) == std::vector<double>{0});
  CHECK(slice(-5, -9, -1) == std::vector<double>{0});
  CHECK_THROWS_AS(slice(0, 1, 0), Error);
}

TEST_CASE("Slice of several axes, by attributes before opset 10", "[ops][Slice]") {
  const Tensor x = counted(24).reshaped({2, 3, 4});
  const std::vector<double> expected{17, 18, 21, 22};
  CHECK(to_doubles(run_op1({"Slice", 1, {x},
                            {attr_ints("axes", {0, 1, 2}), attr_ints("starts", {1, 1, 1}), attr_ints("ends", {2, 3, -1})}})) ==
        expected);
  CHECK(to_doubles(run_op1({"Slice", 1, {x}, {attr_ints("starts", {1, 1, 1}), attr_ints("ends", {9, 9, -1})}})) == expected);
  CHECK(to_doubles(run_op1({"Slice", 10, {x, list({1, 1, 1}), list({-1, 9, 9}), list({2, 1, 0})}})) == expected);
  const Tensor narrow = Tensor::of<std::int32_t>({1}, {-1});
  CHECK(to_doubles(run_op1({"Slice", 13, {x, narrow, Tensor::of<std::int32_t>({1}, {99}), narrow}})) ==
        std::vector<double>{3, 7, 11, 15, 19, 23});
  CHECK_THROWS_AS(run_op1({"Slice", 13, {x, list({0, 0}), list({1, 1}), list({1, -2})}}), Error);
  CHECK_THROWS_AS(run_op1({"Slice", 13, {x, list({0, 0}), list({1})}}), Error);
}

// For every size the symbol may stand for, the inferred expression has to give what the kernel makes.
TEST_CASE("Slice of a symbolic axis infers an exact expression", "[ops][Slice]") {
  const std::int64_t starts[] = {0, 1, 3, -1, -2, kMost, kLeast}, ends[] = {0, 2, 5, -1, -3, kMost, kLeast};
  for (const std::int64_t start : starts) {
    for (const std::int64_t end : ends) {
      for (const std::int64_t step : {1, 2, 3}) {
        const auto type = infer_op({"Slice", 13}, {ValueType::tensor(DataType::kInt64, dims("N"))},
                                   {Tensor(), list({start}), list({end}), list({0}), list({step})})[0];
        const Dim dim = (*type.shape)[0];
        CAPTURE(start, end, step, dim.to_string());
        REQUIRE(dim.known());
        for (std::int64_t n = 0; n < 9; ++n) {
          CHECK(dim.substitute({{"N", Dim(n)}}).value() == std::ssize(expected_slice(n, start, end, step)));
        }
      }
    }
  }
}

TEST_CASE("Slice shapes read as people expect", "[ops][Slice]") {
  const auto shape = [](std::int64_t start, std::int64_t end, std::int64_t step) {
    return to_string(*infer_op({"Slice", 13}, {ValueType::tensor(DataType::kInt64, dims("N"))},
                               {Tensor(), list({start}), list({end}), list({0}), list({step})})[0]
                          .shape);
  };
  CHECK(shape(0, kMost, 1) == "N");
  CHECK(shape(0, kMost, 2) == "(floor((N + 1)/2))");
  CHECK(shape(kMost, kLeast, -1) == "N");
  CHECK(shape(-1, kLeast, -1) == "N");
  CHECK(shape(0, 3, 1) == "(min(3, N))");
  CHECK(shape(3, kLeast, -1) == "?");
}

TEST_CASE("Slice up to a size read from another tensor", "[ops][Slice]") {
  Chain chain(13);
  chain.input("x", ValueType::tensor(DataType::kFloat32, dims("NxS")));
  chain.input("table", ValueType::tensor(DataType::kFloat32, dims("512x8")));
  chain.constant("zero", list({0}));
  chain.constant("one", list({1}));
  chain.constant("two", list({2}));
  chain.node("Shape", "x", "shape");
  chain.node("Slice", "shape one two", "length");
  chain.node("Slice", "table zero length zero", "y");
  chain.node("Slice", "x zero length one", "all");
  CHECK(chain.type("y") == "float32 (min(512, S))x8");
  CHECK(chain.type("all") == "float32 NxS");
}
