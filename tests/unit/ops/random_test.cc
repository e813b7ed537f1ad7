#include <catch2/catch.hpp>

#include <cmath>

#include "lppool/ops/generator.h"
#include "support/graphs.h"

using namespace lppool;
using namespace lppool::test;

namespace {

struct Moments {
  double mean = 0, deviation = 0, least = 0, most = 0;
};
Moments moments(const std::vector<double>& values) {
  Moments m;
  m.least = m.most = values.at(0);
  for (const double v : values) {
    m.mean += v / static_cast<double>(values.size());
    m.least = std::min(m.least, v);
    m.most = std::max(m.most, v);
  }
  for (const double v : values) m.deviation += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
  m.deviation = std::sqrt(m.deviation);
  return m;
}

}  // namespace

TEST_CASE("the generator is xoshiro256++ seeded by SplitMix64", "[ops]") {
  // SplitMix64 of seed 0 starts with these words (published with the algorithm); xoshiro256++ from them as defined.
  const std::uint64_t s0 = 0xE220A8397B1DCDAF, s3 = 0xF88BB8A8724C81EC;
  const std::uint64_t sum = s0 + s3;
  CHECK(Generator(0).next() == (sum << 23 | sum >> 41) + s0);
  Generator a(7), b(7), c(8);
  CHECK(a.next() == b.next());
  CHECK(a.next() != c.next());
}

TEST_CASE("logarithm and exponential of our own agree with the library's", "[ops]") {
  for (double x = 1e-300; x < 1e300; x *= 1.7) CHECK(portable_log(x) == Approx(std::log(x)).epsilon(1e-14).margin(1e-15));
  for (double x = 0; x > -740; x -= 0.37) CHECK(portable_exp(x) == Approx(std::exp(x)).epsilon(1e-13));
  CHECK(portable_exp(-800) == 0);
  CHECK(portable_log(1) == 0);
}

TEST_CASE("normal numbers have the normal distribution function", "[ops][RandomNormal]") {
  // Below each bound lie as many as the error function says, within four standard errors.
  Generator random(3);
  constexpr int kCount = 200000;
  std::vector<double> values;
  for (int i = 0; i < kCount; ++i) values.push_back(random.normal());
  for (const double bound : {-3.5, -2.0, -1.0, -0.3, 0.0, 0.5, 1.5, 2.5, 3.5}) {
    const double expected = 0.5 * std::erfc(-bound / std::sqrt(2.0));
    const double share = static_cast<double>(std::ranges::count_if(values, [&](double v) { return v < bound; })) / kCount;
    CHECK(std::abs(share - expected) < 4 * std::sqrt(expected * (1 - expected) / kCount));
  }
}

TEST_CASE("RandomUniform and RandomNormal follow their attributes", "[ops][RandomUniform]") {
  const auto uniform = run_op1({"RandomUniform", 1, {}, {attr_ints("shape", {100, 100}), attr_f("low", 2), attr_f("high", 4), attr_f("seed", 1)}});
  CHECK(to_string(uniform.shape()) == "100x100");
  const Moments u = moments(to_doubles(uniform));
  CHECK(u.mean == Approx(3).margin(0.03));
  CHECK(u.least >= 2);
  CHECK(u.most < 4);
  const auto normal = run_op1({"RandomNormal", 22, {}, {attr_ints("shape", {10000}), attr_f("mean", -1), attr_f("scale", 2), attr_i("dtype", 16)}});
  CHECK(normal.dtype() == DataType::kBFloat16);
  const Moments n = moments(to_doubles(normal));
  CHECK(n.mean == Approx(-1).margin(0.1));
  CHECK(n.deviation == Approx(2).margin(0.1));
  CHECK_THROWS_AS(run_op1({"RandomUniform", 1, {}, {attr_ints("shape", {-1})}}), Error);
  CHECK_THROWS_AS(run_op1({"RandomUniform", 1, {}, {attr_ints("shape", {1}), attr_i("dtype", 7)}}), Error);
}

TEST_CASE("a float16 draw never reaches the upper end", "[ops][RandomUniform]") {
  const auto y = run_op1({"RandomUniform", 1, {}, {attr_ints("shape", {50000}), attr_i("dtype", 10), attr_f("seed", 2)}});
  CHECK(moments(to_doubles(y)).most < 1);
}

TEST_CASE("random nodes differ, repeat from load to load, and go on from round to round", "[ops][RandomUniformLike]") {
  const Graph body = graph({value("i", DataType::kInt64, ""), value("go", DataType::kBool, "")},
                           {value("go", DataType::kBool, ""), value("r", DataType::kFloat32, "2")},
                           {node("RandomUniform", "", "r", {attr_ints("shape", {2})})});
  const Graph model = graph({value("x", DataType::kFloat32, "2")},
                            {value("a", DataType::kFloat32), value("b", DataType::kFloat32), value("rounds", DataType::kFloat32)},
                            {node("RandomUniformLike", "x", "a"), node("RandomUniformLike", "x", "b"), constant("two", Tensor::scalar<std::int64_t>(2)),
                             node("Loop", "two -", "rounds", {attr_graph("body", body)})});
  const std::map<std::string, Value> in = {{"x", Tensor::zeros(DataType::kFloat32, {2})}};
  const auto first = run_graph(model, 16, in), second = run_graph(model, 16, in);
  CHECK(to_doubles(first[0].tensor()) == to_doubles(second[0].tensor()));
  CHECK(to_doubles(first[0].tensor()) != to_doubles(first[1].tensor()));
  const auto rounds = to_doubles(first[2].tensor());
  CHECK(rounds[0] != rounds[2]);
  CHECK(rounds == to_doubles(second[2].tensor()));
}

TEST_CASE("Multinomial draws classes by their weights", "[ops][Multinomial]") {
  const float none = -std::numeric_limits<float>::infinity();
  const Tensor x = Tensor::of<float>({2, 3}, {std::log(1.0f), std::log(3.0f), none, none, 5, none});
  const Tensor y = run_op1({"Multinomial", 7, {x}, {attr_i("sample_size", 20000), attr_i("dtype", 7)}});
  const auto draws = to_doubles(y);
  const double ones = static_cast<double>(std::count(draws.begin(), draws.begin() + 20000, 1.0));
  CHECK(ones / 20000 == Approx(0.75).margin(0.015));
  CHECK(std::count(draws.begin(), draws.begin() + 20000, 2.0) == 0);
  CHECK(std::all_of(draws.begin() + 20000, draws.end(), [](double v) { return v == 1; }));
  CHECK_THROWS_AS(run_op1({"Multinomial", 7, {Tensor::of<float>({1, 2}, {none, none})}}), Error);
  CHECK_THROWS_AS(run_op1({"Multinomial", 7, {Tensor::zeros(DataType::kFloat32, {1, 0})}}), Error);
}

TEST_CASE("Bernoulli draws ones by probability", "[ops][Bernoulli]") {
  Tensor p = Tensor::allocate(DataType::kFloat32, {30000});
  for (std::size_t i = 0; i < 30000; ++i) p.mutable_data<float>()[i] = i < 10000 ? 0.0f : i < 20000 ? 1.0f : 0.25f;
  const Tensor y = run_op1({"Bernoulli", 15, {p}, {attr_i("dtype", 9)}});
  CHECK(y.dtype() == DataType::kBool);
  const auto draws = to_doubles(y);
  CHECK(moments({draws.begin(), draws.begin() + 10000}).most == 0);
  CHECK(moments({draws.begin() + 10000, draws.begin() + 20000}).least == 1);
  CHECK(moments({draws.begin() + 20000, draws.end()}).mean == Approx(0.25).margin(0.02));
  CHECK_THROWS_AS(run_op1({"Bernoulli", 15, {Tensor::scalar(1.5f)}}), Error);
}
