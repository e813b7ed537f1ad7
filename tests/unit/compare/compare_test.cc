#include "lppool/compare/compare.h"

#include <catch2/catch.hpp>
#include <complex>
#include <limits>

#include "lppool/tensor/float8.h"

using namespace lppool;

namespace {
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <typename T>
Tensor row(const std::vector<T>& values) {
  return Tensor::of<T>({static_cast<std::int64_t>(values.size())}, values);
}

ComparisonTolerance ulp(std::uint64_t n) {
  ComparisonTolerance t;
  t.ulp = n;
  return t;
}
}  // namespace

TEST_CASE("Equal tensors match, NaN and signed zero included", "[compare]") {
  const TensorComparison c = compare(row<float>({1, kNaN, kInf, -0.0f}), row<float>({1, -kNaN, kInf, 0.0f}), {0, 0, {}, false});
  CHECK(c.match);
  CHECK(c.elements == 4);
  CHECK(c.different == 0);
  CHECK(c.max_ulp == 0u);
  CHECK(c.ulp_histogram == std::vector<std::int64_t>{4});
  CHECK_FALSE(c.worst);
  CHECK(c.needed_rtol == 0);
  CHECK(compare(Tensor::zeros(DataType::kFloat32, {0, 3}), Tensor::zeros(DataType::kFloat32, {0, 3}), {}).match);
}

TEST_CASE("Differences are measured against the second tensor", "[compare]") {
  // 8 against 10: 2 apart, a fifth of 10.
  const TensorComparison c = compare(row<float>({8, 1, 0.5f}), row<float>({10, 1, 0}), {0.25, 0.25, {}, false});
  CHECK_FALSE(c.match);
  CHECK(c.mismatches == 1);  // 2 <= 0.25 + 0.25 * 10, but not 0.5 <= 0.25
  CHECK(c.different == 2);
  CHECK(c.max_abs == 2.0);
  CHECK(c.max_rel == 0.2);  // where the second is 0 there is none
  CHECK(c.worst == 2);
  CHECK(c.needed_atol == 0.5);
  CHECK(c.needed_rtol == std::numeric_limits<double>::infinity());
  CHECK(compare(row<float>({8, 1, 0.5f}), row<float>({10, 1, 0}), {0.25, 0.5, {}, false}).match);
}

TEST_CASE("The tolerance found to be needed passes, a smaller one does not", "[compare]") {
  const Tensor a = row<double>({1.1, 3.3, 1e-7}), b = row<double>({1.0, 3.0, 1.3e-7});
  const TensorComparison c = compare(a, b, {0, 0, {}, false});
  CHECK(compare(a, b, {c.needed_rtol, 0, {}, false}).match);
  CHECK_FALSE(compare(a, b, {c.needed_rtol * (1 - 1e-15), 0, {}, false}).match);
  CHECK(compare(a, b, {0, c.needed_atol, {}, false}).match);
  CHECK_FALSE(compare(a, b, {0, c.needed_atol * (1 - 1e-15), {}, false}).match);
  REQUIRE(c.max_ulp);
  CHECK(compare(a, b, ulp(*c.max_ulp)).match);
  CHECK_FALSE(compare(a, b, ulp(*c.max_ulp - 1)).match);
}

TEST_CASE("Nothing but itself matches NaN or an infinity", "[compare]") {
  const float most = std::numeric_limits<float>::max();
  for (const auto& [x, y] : {std::pair{kNaN, 1.0f}, {1.0f, kNaN}, {kInf, most}, {most, kInf}, {kInf, -kInf}, {kNaN, kInf}}) {
    const ComparisonTolerance loose{kInf, kInf, {}, false};
    for (const ComparisonTolerance& t : {loose, ulp(UINT64_MAX), ComparisonTolerance{}}) {
      const TensorComparison c = compare(row<float>({1, x}), row<float>({2, y}), t);
      CAPTURE(x, y);
      CHECK_FALSE(c.match);
      CHECK(c.incomparable == 1);
      CHECK(c.worst == 1);
      CHECK(c.max_abs == kInf);
      CHECK(c.needed_rtol == kInf);
    }
  }
}

TEST_CASE("Steps between values are counted for every type", "[compare]") {
  const auto steps = [](const Tensor& a, const Tensor& b) {
    const TensorComparison c = compare(a, b, {});
    REQUIRE(c.max_ulp);
    CHECK(compare(b, a, {}).max_ulp == c.max_ulp);
    return *c.max_ulp;
  };
  CHECK(steps(Tensor::scalar(1.0f), Tensor::scalar(std::nextafter(1.0f, 2.0f))) == 1);
  CHECK(steps(Tensor::scalar(1.0f), Tensor::scalar(2.0f)) == 1u << 23);
  CHECK(steps(Tensor::scalar(-1e-45f), Tensor::scalar(1e-45f)) == 2);
  CHECK(steps(Tensor::scalar(1.0), Tensor::scalar(2.0)) == std::uint64_t{1} << 52);
  CHECK(steps(Tensor::scalar(-std::numeric_limits<double>::max()), Tensor::scalar(std::numeric_limits<double>::max())) ==
        2 * std::uint64_t{0x7fefffffffffffff});
  CHECK(steps(Tensor::scalar(Float16(1.0f)), Tensor::scalar(Float16(2.0f))) == 1u << 10);
  CHECK(steps(Tensor::scalar(BFloat16(1.0f)), Tensor::scalar(BFloat16(-1.0f))) == 2 * 0x3f80);
  CHECK(steps(Tensor::scalar<std::int64_t>(INT64_MIN), Tensor::scalar<std::int64_t>(INT64_MAX)) == UINT64_MAX);
  CHECK(steps(Tensor::scalar<std::uint8_t>(3), Tensor::scalar<std::uint8_t>(250)) == 247);
  CHECK(steps(Tensor::scalar(true), Tensor::scalar(false)) == 1);
  CHECK(steps(Tensor::scalar(std::complex<float>(1, 1)),
              Tensor::scalar(std::complex<float>(std::nextafter(1.0f, 2.0f), 1))) == 1);
  const auto code = [](DataType dtype, int bits) {
    Tensor t = Tensor::allocate(dtype, {});
    t.mutable_data<std::uint8_t>()[0] = static_cast<std::uint8_t>(bits);
    return t;
  };
  CHECK(steps(code(DataType::kFloat8E4M3FN, 0x38), code(DataType::kFloat8E4M3FN, 0x40)) == 8);  // 1 and 2
  CHECK(steps(code(DataType::kFloat8E5M2, 0x81), code(DataType::kFloat8E5M2, 0x01)) == 2);
  CHECK(steps(code(DataType::kFloat4E2M1, 0x9), code(DataType::kFloat4E2M1, 0x1)) == 2);  // -0.5 and 0.5
  CHECK(steps(code(DataType::kFloat8E8M0, 0), code(DataType::kFloat8E8M0, 254)) == 254);
}

TEST_CASE("The histogram counts steps in powers of two", "[compare]") {
  std::vector<float> a(6, 1.0f), b(6, 1.0f);
  const int apart[] = {0, 1, 2, 3, 4, 100};
  for (std::size_t i = 0; i < 6; ++i) {
    for (int k = 0; k < apart[i]; ++k) a[i] = std::nextafter(a[i], 2.0f);
  }
  CHECK(compare(row(a), row(b), {}).ulp_histogram == std::vector<std::int64_t>{1, 1, 2, 1, 0, 0, 0, 1});
}

TEST_CASE("Shapes and types decide before values", "[compare]") {
  const TensorComparison shapes = compare(Tensor::zeros(DataType::kFloat32, {2, 3}), Tensor::zeros(DataType::kFloat32, {3, 2}), {});
  CHECK_FALSE(shapes.match);
  CHECK(shapes.problem == "shape 2x3 against 3x2");
  const Tensor half = Tensor::scalar(Float16(0.1f)), single = Tensor::scalar(0.1f);
  const TensorComparison types = compare(half, single, {1, 1, {}, false});
  CHECK_FALSE(types.match);
  CHECK(types.problem == "dtype float16 against float32");
  CHECK(types.max_abs > 0);
  CHECK_FALSE(types.max_ulp);
  CHECK(compare(half, single, {1e-3, 0, {}, true}).match);
  CHECK_FALSE(compare(half, single, {1e-5, 0, {}, true}).match);
  CHECK_FALSE(compare(half, single, {0, 0, 1000000u, true}).match);
  CHECK_FALSE(compare(Tensor::of<std::string>({1}, {"1"}), row<float>({1}), {1, 1, {}, true}).match);
}

TEST_CASE("Strings match where they are equal", "[compare]") {
  const Tensor a = Tensor::of<std::string>({2}, {"x", "y"});
  CHECK(compare(a, a, {}).match);
  const TensorComparison c = compare(a, Tensor::of<std::string>({2}, {"x", "z"}), {});
  CHECK(c.mismatches == 1);
  CHECK(c.worst == 1);
}

TEST_CASE("The number of threads does not show", "[compare]") {
  std::vector<float> a(300000), b(300000);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 1000);
    b[i] = a[i] + static_cast<float>(i * 7919 % 13) * 1e-3f;
  }
  ThreadPool pool(3);
  const TensorComparison one = compare(row(a), row(b), {}), many = compare(row(a), row(b), {}, &pool);
  CHECK(one.worst == many.worst);
  CHECK(one.mismatches == many.mismatches);
  CHECK(one.ulp_histogram == many.ulp_histogram);
  CHECK(one.needed_rtol == many.needed_rtol);
}

TEST_CASE("An offset becomes an index", "[compare]") {
  CHECK(index_of(7, {2, 3, 2}) == std::vector<std::int64_t>{1, 0, 1});
  CHECK(index_of(0, {}).empty());
}
