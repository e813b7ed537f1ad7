#pragma once

#include <cstdint>

// Scalar double-double arithmetic: an unevaluated sum hi + lo with |lo| <= ulp(hi)/2, about 106 bits. Errors below are
// relative, in units of 2^-106, for operands far from overflow and underflow. No fused operation is used, so that every
// machine and compiler gives the same bits. Names and bounds follow Dekker (1971) and Joldes, Muller, Popescu (2017).
namespace lppool::kernels {

struct DoubleDouble {
  double hi = 0;
  double lo = 0;
};

// a + b exactly; |a| >= |b| or a == 0.
inline DoubleDouble fast_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

// a + b exactly.
inline DoubleDouble two_sum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

// a * b exactly; magnitudes within 2^-480 .. 2^990.
inline DoubleDouble two_product(double a, double b) {
  constexpr double kSplit = 134217729;  // 2^27 + 1
  const double p = a * b;
  const double ta = kSplit * a, tb = kSplit * b;
  const double ah = ta - (ta - a), bh = tb - (tb - b);
  const double al = a - ah, bl = b - bh;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

// Error at most 3 for operands of the same sign.
inline DoubleDouble add(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble s = two_sum(a.hi, b.hi);
  return fast_two_sum(s.hi, s.lo + (a.lo + b.lo));
}

// Error at most 3, whatever the signs are, where it is small compared with both operands.
inline DoubleDouble subtract(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble s = two_sum(a.hi, -b.hi);
  const DoubleDouble t = two_sum(a.lo, -b.lo);
  const DoubleDouble v = fast_two_sum(s.hi, s.lo + t.hi);
  return fast_two_sum(v.hi, t.lo + v.lo);
}

// Error at most 7.
inline DoubleDouble multiply(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble p = two_product(a.hi, b.hi);
  return fast_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

// Error at most 15.
inline DoubleDouble divide(DoubleDouble a, DoubleDouble b) {
  const double q = a.hi / b.hi;
  const DoubleDouble r = subtract(a, multiply(b, {q, 0}));
  return fast_two_sum(q, (r.hi + r.lo) / b.hi);
}

}  // namespace lppool::kernels
