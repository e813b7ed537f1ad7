#include "lppool/kernels/scalar_pow.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace lppool::kernels {
namespace {

DoubleDouble scale(DoubleDouble a, double power_of_two) {
  return {a.hi * power_of_two, a.lo * power_of_two};
}

}  // namespace

DoubleDouble exp_dd(DoubleDouble x) {
  // exp(x) = 2^k * exp(r)^256 with |r| <= ln2/512; exp(r) - 1 by its series, then eight times (1+t)^2 - 1 = 2t + t^2.
  const double k = std::floor(x.hi / kLn2.hi + 0.5);
  const DoubleDouble r = scale(subtract(x, multiply(kLn2, {k, 0})), 0x1p-8);
  static const std::array<DoubleDouble, 13> kInverse = [] {
    std::array<DoubleDouble, 13> inverse{};
    for (std::size_t i = 1; i < inverse.size(); ++i) inverse[i] = divide({1, 0}, {static_cast<double>(i), 0});
    return inverse;
  }();
  DoubleDouble t = {1, 0};
  for (std::size_t i = 12; i >= 2; --i) t = add({1, 0}, multiply(multiply(r, t), kInverse[i]));
  t = multiply(t, r);  // exp(r) - 1
  for (int i = 0; i < 8; ++i) {
    const DoubleDouble twice = scale(t, 2), square = multiply(t, t);
    const DoubleDouble s = two_sum(twice.hi, square.hi);
    t = fast_two_sum(s.hi, s.lo + (twice.lo + square.lo));
  }
  const DoubleDouble s = two_sum(1, t.hi);
  const DoubleDouble y = fast_two_sum(s.hi, s.lo + t.lo);
  const int e = static_cast<int>(k);
  return {std::ldexp(y.hi, e), std::ldexp(y.lo, e)};
}

DoubleDouble ln_dd(DoubleDouble x) {
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m from a series good to 2^-35, then one step
  // y += 2 (m - exp y) / (m + exp y), which leaves a twelfth of the cube of the error.
  int e = std::ilogb(x.hi);
  if (std::ldexp(x.hi, -e) > 0x1.6a09e667f3bcdp0) ++e;
  const DoubleDouble m = {std::ldexp(x.hi, -e), std::ldexp(x.lo, -e)};
  const double z = (m.hi - 1) / (m.hi + 1), z2 = z * z;
  DoubleDouble y = {2 * z * (1 + z2 * (1.0 / 3 + z2 * (1.0 / 5 + z2 * (1.0 / 7 + z2 * (1.0 / 9 + z2 * (1.0 / 11)))))),
                    0};
  const DoubleDouble w = exp_dd(y);
  y = subtract(y, scale(divide(subtract(m, w), add(m, w)), -2));
  // e * ln2 and y may cancel only for e = 0 (|y| <= ln2/2), so the sum keeps its relative accuracy.
  return subtract(multiply(kLn2, {static_cast<double>(e), 0}), scale(y, -1));
}

}  // namespace lppool::kernels
