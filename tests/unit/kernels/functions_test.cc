#include "lppool/kernels/functions.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "lppool/kernels/lp_pool.h"

using lppool::kernels::Function;
using lppool::kernels::map_float32;

namespace {

using L = long double;

struct Case {
  const char* name;
  Function function;
  L (*exact)(L);
  double a, b, c;
};

const L kRoot2 = std::sqrt(L{2}), kTwiceRoot = 2 * std::sqrt(2 / std::acos(L{-1}));

const Case kCases[] = {
    {"exp", Function::kExp, [](L x) { return std::exp(x); }, 0, 0, 0},
    {"log", Function::kLog, [](L x) { return std::log(x); }, 0, 0, 0},
    {"tanh", Function::kTanh, [](L x) { return std::tanh(x); }, 0, 0, 0},
    {"erf", Function::kErf, [](L x) { return std::erf(x); }, 0, 0, 0},
    {"sigmoid", Function::kSigmoid, [](L x) { return 1 / (1 + std::exp(-x)); }, 0, 0, 0},
    {"swish", Function::kSwish, [](L x) { return x / (1 + std::exp(-L{0.75} * x)); }, 0.75, 0, 0},
    {"gelu", Function::kGelu, [](L x) { return x / 2 * std::erfc(-x / kRoot2); }, 0, 0, 0},
    {"gelu by tanh", Function::kGeluTanh,
     [](L x) { return x / (1 + std::exp(-kTwiceRoot * (x + L{0.044715} * x * x * x))); }, 0, 0, 0},
    {"softplus", Function::kSoftplus,
     [](L x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }, 0, 0, 0},
    {"mish", Function::kMish, [](L x) { return x > 60 ? x : x * std::tanh(std::log1p(std::exp(x))); }, 0, 0, 0},
    {"elu", Function::kExpLinear, [](L x) { return x < 0 ? L{0.3} * std::expm1(x) : x; }, 0.3, 1, 1},
    {"celu", Function::kExpLinear, [](L x) { return x < 0 ? 2 * std::expm1(x / 2) : x; }, 2, 0.5, 1},
};

// The distance from the exact value in units of the float's last place.
double error_in_units(float got, L exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : 1e9;
  const auto nearest = static_cast<float>(exact);
  if (std::isinf(nearest) || nearest == 0) return got == nearest ? 0 : 1e9;
  int exponent;
  std::frexp(nearest, &exponent);
  const L unit = std::ldexp(L{1}, std::max(exponent - 24, -149));
  return static_cast<double>(std::fabs(static_cast<L>(got) - exact) / unit);
}

std::vector<float> samples() {
  std::vector<float> x;
  // Over all exponents and both signs, and dense where the functions bend.
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 48611) x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (int i = -30000; i <= 30000; ++i) x.push_back(static_cast<float>(i) * 0.003515625f);
  return x;
}

}  // namespace

TEST_CASE("Vector functions are within 0.5001 units of the exact value", "[kernels][functions]") {
  const std::vector<float> x = samples();
  std::vector<float> y(x.size());
  for (const Case& c : kCases) {
    map_float32(c.function, x.data(), y.data(), static_cast<std::int64_t>(x.size()), c.a, c.b, c.c);
    double worst = 0;
    float at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isinf(x[i])) continue;
      const double error = error_in_units(y[i], c.exact(x[i]));
      if (error > worst) {
        worst = error;
        at = x[i];
      }
    }
    CAPTURE(c.name, at);
    CHECK(worst <= 0.5001);
  }
}

TEST_CASE("Vector functions have the limits that IEEE 754 arithmetic gives", "[kernels][functions]") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto at = [](Function f, float x, double a = 1, double b = 1, double c = 1) {
    float y;
    map_float32(f, &x, &y, 1, a, b, c);
    return y;
  };
  CHECK(at(Function::kExp, kInf) == kInf);
  CHECK(at(Function::kExp, -kInf) == 0);
  CHECK(at(Function::kLog, 0) == -kInf);
  CHECK(at(Function::kLog, -0.0f) == -kInf);
  CHECK(at(Function::kLog, kInf) == kInf);
  CHECK(std::isnan(at(Function::kLog, -kInf)));
  CHECK(at(Function::kTanh, -kInf) == -1);
  CHECK(at(Function::kErf, kInf) == 1);
  CHECK(at(Function::kSigmoid, -kInf) == 0);
  CHECK(at(Function::kSigmoid, kInf) == 1);
  CHECK(at(Function::kSwish, kInf) == kInf);
  CHECK(std::isnan(at(Function::kSwish, -kInf)));
  CHECK(std::isnan(at(Function::kGelu, -kInf)));
  CHECK(at(Function::kGelu, kInf) == kInf);
  CHECK(at(Function::kSoftplus, -kInf) == 0);
  CHECK(at(Function::kSoftplus, kInf) == kInf);
  CHECK(at(Function::kExpLinear, -kInf, 0.5) == -0.5f);
  CHECK(std::signbit(at(Function::kTanh, -0.0f)));
  CHECK(std::signbit(at(Function::kErf, -0.0f)));
  for (const Case& c : kCases) CHECK(std::isnan(at(c.function, std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("Vector functions give the same bits on every instruction set, in place and for every length", "[kernels][functions]") {
  std::vector<float> x;
  const std::vector<float> all = samples();
  for (std::size_t i = 0; i < all.size(); i += 7) x.push_back(all[i]);
  const auto run = [&](const Case& c) {
    std::vector<float> y = x;
    // Odd lengths, so that whole vectors and rests fall on different elements.
    for (std::size_t begin = 0, length = 1; begin < y.size(); begin += length, length = length % 37 + 1) {
      length = std::min(length, y.size() - begin);
      map_float32(c.function, y.data() + begin, y.data() + begin, static_cast<std::int64_t>(length), c.a, c.b, c.c);
    }
    return y;
  };
  for (const Case& c : kCases) {
    const std::vector<float> best = run(c);
    for (const char* isa : {"avx2", "sse4", "sse2", "generic"}) {
      if (!lppool::kernels::limit_isa(isa)) continue;
      const std::vector<float> other = run(c);
      CAPTURE(c.name, isa);
      std::size_t differences = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const bool both_nan = std::isnan(best[i]) && std::isnan(other[i]);
        if (!both_nan && std::bit_cast<std::uint32_t>(best[i]) != std::bit_cast<std::uint32_t>(other[i])) ++differences;
      }
      CHECK(differences == 0);
    }
    lppool::kernels::limit_isa("");
  }
}

TEST_CASE("Shifted exponentials are exact enough to be summed", "[kernels][functions]") {
  const std::vector<float> x = {0, -1, 3, 87.5f, -300, -699};
  const std::vector<double> shift = {0, 1, 2, 100, 300, 1};
  std::vector<double> y(x.size());
  lppool::kernels::exp_shifted(x.data(), shift.data(), 1, y.data(), static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(x[i] - shift[i]);
    CHECK(std::fabs(y[i] - exact) <= exact * 0x1p-43);
  }
  const double far = 2000;
  lppool::kernels::exp_shifted(x.data(), &far, 0, y.data(), 3);
  CHECK(y[0] == 0);
  CHECK(y[2] == 0);
}
