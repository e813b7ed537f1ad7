#include "lppool/io/print_tensor.h"

#include <catch2/catch.hpp>

#include "support/scratch.h"

using namespace lppool;

namespace {
Tensor counting(const Shape& shape) {
  Tensor t = Tensor::allocate(DataType::kInt32, shape);
  for (std::int64_t i = 0; i < t.size(); ++i) t.mutable_data<std::int32_t>()[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i);
  return t;
}
}  // namespace

TEST_CASE("A tensor prints as numpy prints it", "[io][print]") {
  CHECK(print_tensor(Tensor::scalar(2.5f)) == "2.5");
  CHECK(print_tensor(Tensor::of<float>({3}, {1, -2.5f, 10})) == "[   1 -2.5   10]");
  CHECK(print_tensor(counting({2, 3})) == "[[0 1 2]\n [3 4 5]]");
  CHECK(print_tensor(counting({2, 2, 2})) == "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  CHECK(print_tensor(Tensor::zeros(DataType::kFloat32, {0, 3})) == "[]");
}

TEST_CASE("A large tensor shows its edges", "[io][print]") {
  CHECK(print_tensor(counting({2000})) == "[   0    1    2 ... 1997 1998 1999]");
  CHECK(print_tensor(counting({4, 4}), {8, 1}) == "[[ 0 ...  3]\n ...\n [12 ... 15]]");
  CHECK(print_tensor(counting({4}), {0, 1}) == "[0 1 2 3]");
}

TEST_CASE("Thousands of axes print flat", "[io][print]") {
  CHECK(print_tensor(counting(Shape(std::vector<std::int64_t>(5000, 1)))) == "[0]");
}

TEST_CASE("A slice picks as numpy does", "[io][print]") {
  const Tensor t = counting({2, 3, 4});
  const auto picked = [&](const char* text) {
    const Tensor s = slice_tensor(t, text);
    return to_string(s.shape()) + " " + print_tensor(s);
  };
  CHECK(picked("1, 2, 3") == "scalar 23");
  CHECK(picked("-1,0,-2:") == "2 [14 15]");
  CHECK(picked(":,1,1:3") == "2x2 [[ 5  6]\n [17 18]]");
  CHECK(picked("0,:1") == "1x4 [[0 1 2 3]]");
  CHECK(picked("0,5:9") == "0x4 []");
  CHECK(picked("0,2:1") == "0x4 []");
  CHECK(slice_tensor(t, "").shape() == t.shape());
  for (const char* bad : {"2", "-3", "x", "0,0,0,0", "1:x", "0,,1"}) {
    CAPTURE(bad);
    CHECK(error_of([&] { slice_tensor(t, bad); }).first == ErrorKind::kUsage);
  }
}
