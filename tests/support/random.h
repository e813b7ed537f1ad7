#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "support/float_format.h"

namespace lppool::testing {

// The seed of every random test: 20250101 unless the environment variable LPPOOL_TEST_SEED holds another number. Tests
// show it on failure (CAPTURE(test_seed())).
std::uint64_t test_seed();

// Random numbers for tests: the same on every platform for the same seed, unlike the standard distributions.
class Random {
 public:
  // `stream` tells the uses within one run apart.
  explicit Random(std::uint64_t stream) : engine_(test_seed() * 0x9E3779B97F4A7C15u + stream) {}

  std::uint64_t bits() { return engine_(); }
  // In [0, bound), bound > 0. The bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound) { return bits() % bound; }
  int between(int low, int high) { return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low) + 1)); }
  bool one_in(unsigned n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

// Bit patterns of random finite numbers of a format, of random sign. Windows are drawn from several families in turn,
// each of which has found mistakes in pooling code: any finite pattern; one exponent band of random place and width
// (from all equal to all over the range); subnormals and the numbers next to them; the top of the range; few
// significant bits, which makes exact results and ties frequent; and copies of one number with a few zeros and small
// companions.
void random_window(const FloatFormat& format, Random& random, std::span<std::uint64_t> window);

// A window of `size` >= 2 numbers whose norm is as near as can be to the midpoint between two neighbours, built by
// greedy search: a midpoint is drawn, and each number in turn takes off as much of the p-th power of the midpoint as it
// can, so that what is left shrinks by the precision of the format each time. The norm is at or below the midpoint, or,
// when `above` is set, above it (unless the remainder was 0). p is whole, p * (exponent range) should stay below some
// 10^5.
std::vector<std::uint64_t> near_midpoint_window(const FloatFormat& format, Random& random, unsigned p, int size,
                                                bool above);

}  // namespace lppool::testing
