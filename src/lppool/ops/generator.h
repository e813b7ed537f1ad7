#pragma once

#include <cstdint>

// Random numbers that are the same on every platform: integer arithmetic, and floating-point arithmetic made of correctly
// rounded operations only (no library logarithm, whose last bit differs between systems).
namespace lppool {

// xoshiro256++ 1.0 (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2019), seeded by SplitMix64.
// Not for secrets. Copies draw the same numbers.
class Generator {
 public:
  explicit Generator(std::uint64_t seed);
  std::uint64_t next();
  // Uniform in [0, 1): a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // Standard normal, by inverting the distribution function (Wichura, algorithm AS 241, 1988: relative error about 1e-16).
  double normal();

 private:
  std::uint64_t state_[4];
};

// ln x for finite x > 0 and e^x for x <= 0, to about 1e-15 relative; the same bits everywhere.
double portable_log(double x);
double portable_exp(double x);

}  // namespace lppool
