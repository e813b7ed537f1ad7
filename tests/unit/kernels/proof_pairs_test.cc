// Every single number and every pair of numbers of the 16-bit formats. Signs and the order within a pair are drawn at
// random, one draw per pair: the result depends on neither.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "support/exact_lp.h"
#include "support/proof.h"

namespace lppool::testing {
namespace {

constexpr unsigned kWholeExponents[] = {1, 2, 3, 4, 5, 7, 10};

// The exact results of all pairs (a, b) with one a, at a few nanoseconds each: as b grows the norm grows, so the result
// only ever steps up, past midpoints whose powers are tabulated. Comparisons are those of the oracle's filter, with the
// same margin; what is too near to a midpoint goes to the oracle.
class PairOracle {
 public:
  PairOracle(const FloatFormat& format, unsigned p) : format_(format), p_(p) {
    for (std::uint64_t bits = 0; bits < format.infinity(); ++bits) {
      powers_.push_back(power(std::fabs(static_cast<long double>(decode(format, bits)))));
      const Midpoint midpoint = midpoint_above(format, bits);
      midpoints_.push_back(power(std::ldexp(static_cast<long double>(midpoint.significand), midpoint.exponent)));
    }
    // Relative errors of at most p + 1 and p units of 2^-64; four times the sum of both.
    margin_ = std::ldexp(static_cast<long double>(2 * p + 2), -62);
  }

  // exact[b - first] for b in [first, infinity).
  void row(std::uint64_t a, std::uint64_t first, std::vector<std::uint64_t>& exact) const {
    exact.clear();
    std::uint64_t result = std::max(a, first);  // the norm is at least that
    for (std::uint64_t b = first; b < format_.infinity(); ++b) {
      const long double sum = powers_[a] + powers_[b];
      while (result < format_.infinity() && sum > midpoints_[result] * (1 + margin_)) ++result;
      if (result < format_.infinity() && sum > midpoints_[result] * (1 - margin_)) {
        const double values[] = {decode(format_, a), decode(format_, b)};
        exact.push_back(exact_lp(format_, values, p_));
      } else {
        exact.push_back(result);
      }
    }
  }

 private:
  long double power(long double x) const {
    long double result = x;
    for (unsigned i = 1; i < p_; ++i) result *= x;
    return result;
  }

  FloatFormat format_;
  unsigned p_;
  std::vector<long double> powers_;
  std::vector<long double> midpoints_;
  long double margin_;
};

void prove_row(Tally& tally, const PairOracle& oracle, std::uint64_t a, std::uint64_t first, Random& random) {
  const FloatFormat& format = tally.type().format;
  std::vector<std::uint64_t> exact;
  oracle.row(a, first, exact);
  std::vector<std::uint64_t> bits;
  bits.reserve(2 * exact.size());
  for (std::uint64_t b = first; b < format.infinity(); ++b) {
    const std::uint64_t draw = random.bits();
    const std::uint64_t x = a | ((draw & 1) != 0 ? format.sign_bit() : 0);
    const std::uint64_t y = b | ((draw & 2) != 0 ? format.sign_bit() : 0);
    bits.push_back((draw & 4) != 0 ? x : y);
    bits.push_back((draw & 4) != 0 ? y : x);
  }
  const auto count = static_cast<std::int64_t>(exact.size());
  const LiteralAxis axes[] = {{.input = 2 * count, .kernel = 2, .stride = 2, .output = count}};
  const auto got = call_pool(kernels::lp_pool, tally.type(), bits, to_geometry(1, axes), tally.p(), proof_threads());
  tally.judge(got, exact, [&](std::size_t i) {
    return std::vector<double>{decode(format, bits[2 * i]), decode(format, bits[2 * i + 1])};
  });
}

}  // namespace

TEST_CASE("the pair oracle agrees with the oracle", "[support]") {
  CAPTURE(test_seed());
  Random random(20);
  for (const FloatFormat& format : {kFloat16, kBFloat16}) {
    for (const unsigned p : kWholeExponents) {
      const PairOracle oracle(format, p);
      const std::uint64_t a = random.below(format.infinity());
      std::vector<std::uint64_t> exact;
      const std::uint64_t first = random.one_in(2) ? 0 : a;
      oracle.row(a, first, exact);
      for (int i = 0; i < 2000; ++i) {
        const std::uint64_t b = first + random.below(exact.size());
        const double values[] = {decode(format, a), decode(format, b)};
        const std::uint64_t expected = exact_lp_unfiltered(format, values, p);
        if (exact[b - first] != expected) {
          CAPTURE(format.precision, p, a, b);
          CHECK(exact[b - first] == expected);
        }
      }
    }
  }
}

TEST_CASE("every single 16-bit number is its own norm", "[kernels][LpPool]") {
  for (const TestedType& type : {kTestedTypes[0], kTestedTypes[1]}) {
    const FloatFormat& format = type.format;
    std::vector<std::uint64_t> bits;
    std::vector<std::uint64_t> exact;
    for (std::uint64_t pattern = 0; pattern < 65536; ++pattern) {
      bits.push_back(pattern);
      exact.push_back(format.is_nan(pattern) ? format.quiet_nan() : pattern & ~format.sign_bit());
    }
    for (const double p : {1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 1000.0, 1e6, 0.5, 2.5, 0.1}) {
      Tally tally(type, p, "single numbers");
      const auto window = [&](std::size_t i) { return std::vector<double>{decode(format, bits[i])}; };
      // On its own; then with a neighbour in the padding on each side, so that no shortcut for one tap applies.
      const LiteralAxis alone[] = {{.input = 65536, .output = 65536}};
      const auto alone_geometry = to_geometry(1, alone);
      tally.judge(call_pool(kernels::lp_pool, type, bits, alone_geometry, p, proof_threads()), exact, window);
      const LiteralAxis padded[] = {{.input = 1, .kernel = 3, .pad_begin = 1, .pad_end = 1}};
      const auto padded_geometry = to_geometry(65536, padded);
      tally.judge(call_pool(kernels::lp_pool, type, bits, padded_geometry, p, proof_threads()), exact, window);
      tally.judge(call_pool(kernels::lp_pool_reference, type, bits, padded_geometry, p, proof_threads()), exact,
                  window);
      tally.judge(call_global(type, bits, 65536, p, proof_threads()), exact, window);
      tally.finish(false);
    }
  }
}

TEST_CASE("pairs of some 16-bit numbers with every other are rounded as the oracle says", "[kernels][LpPool]") {
  for (const TestedType& type : {kTestedTypes[0], kTestedTypes[1]}) {
    for (const unsigned p : kWholeExponents) {
      Random random(3000 + p);
      const PairOracle oracle(type.format, p);
      Tally tally(type, p, "pairs");
      prove_row(tally, oracle, 1, 0, random);
      for (int i = 0; i < 7; ++i) prove_row(tally, oracle, random.below(type.format.infinity()), 0, random);
      tally.finish(false);
    }
  }
}

TEST_CASE("every pair of 16-bit numbers is rounded as the oracle says", "[.long][pairs]") {
  for (const TestedType& type : {kTestedTypes[0], kTestedTypes[1]}) {
    for (const unsigned p : kWholeExponents) {
      DYNAMIC_SECTION(type.name << ", p = " << p) {
        Random random(4000 + p);
        const PairOracle oracle(type.format, p);
        Tally tally(type, p, "all pairs");
        for (std::uint64_t a = 0; a < type.format.infinity(); ++a) prove_row(tally, oracle, a, a, random);
        tally.finish(true);
      }
    }
  }
}

TEST_CASE("every single float32 is its own norm", "[.long][pairs]") {
  const TestedType& type = kTestedTypes[2];
  constexpr std::uint64_t kChunk = 1 << 22;
  for (const unsigned p : {1u, 2u, 3u, 5u}) {
    Tally tally(type, p, "all float32");
    std::vector<std::uint64_t> bits(kChunk);
    std::vector<std::uint64_t> exact(kChunk);
    for (std::uint64_t start = 0; start < (std::uint64_t{1} << 31); start += kChunk) {
      for (std::uint64_t i = 0; i < kChunk; ++i) {
        const std::uint64_t pattern = start + i;
        bits[i] = pattern | (((pattern * 0x9E3779B97F4A7C15u) >> 63) != 0 ? kFloat32.sign_bit() : 0);
        exact[i] = kFloat32.is_nan(pattern) ? kFloat32.quiet_nan() : pattern;
      }
      const LiteralAxis padded[] = {{.input = 1, .kernel = 2, .pad_end = 1}};
      const auto geometry = to_geometry(static_cast<std::int64_t>(kChunk), padded);
      tally.judge(call_pool(kernels::lp_pool, type, bits, geometry, p, proof_threads()), exact,
                  [&](std::size_t i) { return std::vector<double>{decode(kFloat32, bits[i])}; });
    }
    tally.finish(true);
  }
}

}  // namespace lppool::testing
