#include "lppool/dump/statistics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "support/random.h"

using namespace lppool;
using lppool::testing::Random;

namespace {

// One element after the other, by the definition.
struct Plain {
  double min = std::numeric_limits<double>::infinity(), max = -min;
  long double sum = 0;
  std::int64_t finite = 0, nan = 0, inf = 0, zero = 0, subnormal = 0;
};

template <typename T>
Plain plain(const std::vector<T>& values) {
  Plain p;
  for (const T v : values) {
    if (std::isnan(v)) {
      ++p.nan;
    } else if (std::isinf(v)) {
      ++p.inf;
    } else {
      ++p.finite;
      p.min = std::min(p.min, static_cast<double>(v));
      p.max = std::max(p.max, static_cast<double>(v));
      p.sum += static_cast<long double>(v);
      p.zero += v == 0;
      p.subnormal += std::fpclassify(v) == FP_SUBNORMAL;
    }
  }
  return p;
}

template <typename T>
void require_same(const std::vector<T>& values) {
  const Statistics s = statistics_of(Tensor::of<T>({static_cast<std::int64_t>(values.size())}, values));
  const Plain p = plain(values);
  CHECK(s.nan == p.nan);
  CHECK(s.inf == p.inf);
  CHECK(s.zero == p.zero);
  CHECK(s.subnormal == p.subnormal);
  REQUIRE(s.min.has_value() == (p.finite > 0));
  if (p.finite == 0) return;
  CHECK(*s.min == p.min);
  CHECK(*s.max == p.max);
  CHECK(*s.mean == Approx(static_cast<double>(p.sum / static_cast<long double>(p.finite))).epsilon(1e-12).margin(1e-30));
}

template <typename T>
std::vector<T> numbers(Random& random, std::size_t count, unsigned specials) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    const T unit = static_cast<T>(static_cast<double>(random.bits() >> 11) * 0x1p-53 - 0.5);
    if (specials == 0 || !random.one_in(specials)) {
      values.push_back(unit);
      continue;
    }
    constexpr T kInf = std::numeric_limits<T>::infinity();
    const T list[] = {kInf, -kInf, std::numeric_limits<T>::quiet_NaN(), T{0}, -T{0}, std::numeric_limits<T>::denorm_min(), -std::numeric_limits<T>::min() / 2,
                      std::numeric_limits<T>::min()};
    values.push_back(list[random.below(8)]);
  }
  return values;
}

}  // namespace

TEST_CASE("Statistics by blocks are those of one element after the other", "[dump]") {
  Random random(4711);
  for (const std::size_t count : {0u, 1u, 4095u, 4096u, 4097u, 8192u, 20'000u}) {
    for (const unsigned specials : {0u, 3u, 1000u}) {
      CAPTURE(testing::test_seed(), count, specials);
      require_same(numbers<float>(random, count, specials));
      require_same(numbers<double>(random, count, specials));
    }
  }
  require_same(std::vector<float>(5000, 0.0f));
  require_same(std::vector<float>(5000, -0.0f));
  require_same(std::vector<float>(5000, std::numeric_limits<float>::denorm_min()));
  require_same(std::vector<double>(5000, -std::numeric_limits<double>::lowest() / 8192));
}

TEST_CASE("The mean of huge numbers stays in their range", "[dump]") {
  const double most = std::numeric_limits<double>::max();
  CHECK(*statistics_of(Tensor::of<double>({5000}, std::vector<double>(5000, most))).mean == most);
}

TEST_CASE("Statistics leave NaN and infinity out of minimum, maximum and mean", "[dump]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Statistics s = statistics_of(Tensor::of<float>({6}, {1, -3, nan, inf, 0, 1e-40f}));
  CHECK(s.min == -3.0);
  CHECK(s.max == 1.0);
  CHECK(s.mean == Approx(-0.5));
  CHECK(s.nan == 1);
  CHECK(s.inf == 1);
  CHECK(s.zero == 1);
  CHECK(s.subnormal == 1);
  CHECK_FALSE(statistics_of(Tensor::of<float>({1}, {nan})).mean.has_value());
  CHECK_FALSE(statistics_of(Tensor::zeros(DataType::kFloat32, {0})).min.has_value());
}

TEST_CASE("The mean of the largest doubles does not overflow", "[dump]") {
  CHECK(statistics_of(Tensor::of<double>({2}, {1.7e308, 1.7e308})).mean == 1.7e308);
}
