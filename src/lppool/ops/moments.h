#pragma once

#include <cstdint>

namespace lppool {

// Mean and population variance of numbers, in double and in two passes, so that a large mean costs no digits.
struct Moments {
  double mean = 0;
  double variance = 0;
};

// Sum of body(i) over [0, n) in eight interleaved parts: vectorises and rounds less than one running sum.
template <typename Body>
double sum_over(std::int64_t n, Body&& body) {
  constexpr std::int64_t kParts = 8;
  double parts[kParts] = {};
  std::int64_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (std::int64_t p = 0; p < kParts; ++p) parts[p] += body(i + p);
  }
  double sum = 0;
  for (; i < n; ++i) sum += body(i);
  for (const double part : parts) sum += part;
  return sum;
}

// Of n >= 1 numbers in a row.
template <typename T>
Moments moments_of(const T* x, std::int64_t n) {
  const double mean = sum_over(n, [x](std::int64_t i) { return static_cast<double>(x[i]); }) / static_cast<double>(n);
  const double squares = sum_over(n, [x, mean](std::int64_t i) {
    const double difference = static_cast<double>(x[i]) - mean;
    return difference * difference;
  });
  return {mean, squares / static_cast<double>(n)};
}

// y[i] = (x[i] - mean) * factor + term. x and y may be the same storage.
template <typename T>
void scale_row(const T* x, T* y, std::int64_t n, T mean, T factor, T term) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * factor + term;
}

}  // namespace lppool
