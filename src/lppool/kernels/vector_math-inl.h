// Vector arithmetic of the fast kernels, compiled once for each instruction set: sums in double or double-double,
// powers, roots, and the decision whether a rounded root can be trusted. No result depends on the instruction set:
// whatever the approximation, a root that is not provably on one side of a rounding boundary is handed to exact
// arithmetic.
#if defined(LPPOOL_KERNELS_VECTOR_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LPPOOL_KERNELS_VECTOR_MATH_INL_H
#undef LPPOOL_KERNELS_VECTOR_MATH_INL_H
#else
#define LPPOOL_KERNELS_VECTOR_MATH_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using Vd = hn::Vec<D>;
using Di = hn::RebindToSigned<D>;
using Vi = hn::Vec<Di>;
using Mask = hn::Mask<D>;

HWY_INLINE std::int64_t lanes() {
  return static_cast<std::int64_t>(hn::Lanes(D()));
}

// Sums are plain doubles for the types up to 32 bits and double-double for float64.
struct Single {
  Vd hi;
};
struct Pair {
  Vd hi;
  Vd lo;
};

HWY_INLINE Pair fast_two_sum(Vd a, Vd b) {
  const Vd s = hn::Add(a, b);
  return {s, hn::Sub(b, hn::Sub(s, a))};
}

HWY_INLINE Pair two_sum(Vd a, Vd b) {
  const Vd s = hn::Add(a, b);
  const Vd t = hn::Sub(s, a);
  return {s, hn::Add(hn::Sub(a, hn::Sub(s, t)), hn::Sub(b, t))};
}

HWY_INLINE Pair two_product(Vd a, Vd b) {
  const Vd p = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  return {p, hn::MulSub(a, b, p)};
#else
  const Vd split = hn::Set(D(), 134217729.0);  // 2^27 + 1
  const Vd ta = hn::Mul(split, a), tb = hn::Mul(split, b);
  const Vd ah = hn::Sub(ta, hn::Sub(ta, a)), bh = hn::Sub(tb, hn::Sub(tb, b));
  const Vd al = hn::Sub(a, ah), bl = hn::Sub(b, bh);
  const Vd e = hn::Add(hn::Add(hn::Sub(hn::Mul(ah, bh), p), hn::Mul(ah, bl)), hn::Mul(al, bh));
  return {p, hn::Add(e, hn::Mul(al, bl))};
#endif
}

HWY_INLINE Single add(Single a, Single b) {
  return {hn::Add(a.hi, b.hi)};
}
HWY_INLINE Pair add(Pair a, Pair b) {
  const Pair s = two_sum(a.hi, b.hi);
  return fast_two_sum(s.hi, hn::Add(s.lo, hn::Add(a.lo, b.lo)));
}

HWY_INLINE Single multiply(Single a, Single b) {
  return {hn::Mul(a.hi, b.hi)};
}
HWY_INLINE Pair multiply(Pair a, Pair b) {
  const Pair p = two_product(a.hi, b.hi);
  return fast_two_sum(p.hi, hn::Add(p.lo, hn::Add(hn::Mul(a.hi, b.lo), hn::Mul(a.lo, b.hi))));
}

HWY_INLINE void from_double(Vd v, Single& out) {
  out = {v};
}
HWY_INLINE void from_double(Vd v, Pair& out) {
  out = {v, hn::Zero(D())};
}

// base^p for p >= 1 known at run time, or at compile time where P > 0.
template <int P, class Acc>
HWY_INLINE Acc power(Acc base, std::int64_t p) {
  if constexpr (P == 1) return base;
  if constexpr (P == 2) return multiply(base, base);
  if constexpr (P == 3) return multiply(multiply(base, base), base);
  if constexpr (P == 4) {
    const Acc square = multiply(base, base);
    return multiply(square, square);
  }
  if constexpr (P == 5) {
    const Acc square = multiply(base, base);
    return multiply(multiply(square, square), base);
  }
  if constexpr (P == 0) {
    Acc r = base;
    for (int bit = 62 - static_cast<int>(hwy::Num0BitsAboveMS1Bit_Nonzero64(static_cast<std::uint64_t>(p))); bit >= 0;
         --bit) {
      r = multiply(r, r);
      if (p >> bit & 1) r = multiply(r, base);
    }
    return r;
  }
}

// ---- Roots. `doubt` collects lanes whose approximation did not converge as the error bounds assume.

struct RootPlan {
  std::int64_t p = 1;    // the exponent
  int square_roots = 0;  // p = odd * 2^square_roots
  std::int64_t odd = 1;
  double error = 0;        // of the root in units of 2^-53, the error of the sum left aside
  double convergence = 0;  // largest residual odd_root may meet
};

inline RootPlan plan_root(std::int64_t p) {
  RootPlan plan;
  plan.p = p;
  plan.odd = p;
  while (plan.odd % 2 == 0) {
    plan.odd /= 2;
    ++plan.square_roots;
  }
  // Each square root halves the error before it and adds at most 1 (rounding); 2 covers the series.
  plan.error = 2 + (plan.odd == 1 ? 0 : plan.odd == 3 ? 9 : 12);
  plan.convergence = std::cbrt(3 * static_cast<double>(plan.odd) * 0x1p-54);
  return plan;
}

// S^(1/3) within 8 * 2^-53: three steps of third, third and second order on y = S^(-1/3), then S * y^2. The seed
// divides the exponent by -3 in integer arithmetic (relative error below 0.04). S must be normal, or 0, which gives 0.
HWY_INLINE Vd cube_root(Vd s, Mask& doubt) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const auto high = hn::ShiftRight<32>(hn::BitCast(du, s));
#if HWY_TARGET == HWY_SCALAR
  const auto third = hn::Set(du, (hn::GetLane(high) / 3) << 32);
#else
  const hn::Repartition<std::uint32_t, D> d32;
  const auto third = hn::BitCast(du, hn::MulEven(hn::BitCast(d32, high), hn::Set(d32, 0x55555556u)));
#endif
  Vd y = hn::BitCast(d, hn::Sub(hn::Set(du, 0x553ef0ff289dd796ull), third));
  const Vd one = hn::Set(d, 1.0), c1 = hn::Set(d, 1.0 / 3), c2 = hn::Set(d, 2.0 / 9), c3 = hn::Set(d, 14.0 / 81);
  Vd e = hn::NegMulAdd(hn::Mul(s, y), hn::Mul(y, y), one);
  y = hn::MulAdd(hn::Mul(y, e), hn::MulAdd(e, hn::MulAdd(e, c3, c2), c1), y);
  e = hn::NegMulAdd(hn::Mul(s, y), hn::Mul(y, y), one);
  y = hn::MulAdd(hn::Mul(y, e), hn::MulAdd(e, hn::MulAdd(e, c3, c2), c1), y);
  e = hn::NegMulAdd(hn::Mul(s, y), hn::Mul(y, y), one);
  // The last step is of first order in e: it leaves 2/9 e^2 < 2^-56.
  doubt = hn::Or(doubt, hn::Not(hn::Lt(hn::Abs(e), hn::Set(d, 0x1p-27))));
  y = hn::MulAdd(hn::Mul(y, e), c1, y);
  return hn::Mul(hn::Mul(s, y), y);
}

// S^(1/5) within 3 * 2^-53 in the same way, without a division: a seed for y = S^(-1/5) (S y^5 within 0.155 of 1), a
// step of fifth order (then within 2^-15), and r = S y^4, corrected by the series of (1 - e)^(-4/5), e = 1 - r y. What
// r was rounded by enters e as well, and only a fifth of it remains. Several times as fast as logarithm and
// exponential.
HWY_INLINE Vd fifth_root(Vd s, Mask& doubt) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const auto high = hn::ShiftRight<32>(hn::BitCast(du, s));
#if HWY_TARGET == HWY_SCALAR
  const auto fifth = hn::Set(du, (hn::GetLane(high) / 5) << 32);
#else
  const hn::Repartition<std::uint32_t, D> d32;
  const auto fifth = hn::BitCast(du, hn::MulEven(hn::BitCast(d32, high), hn::Set(d32, 0x33333333u)));
#endif
  Vd y = hn::BitCast(d, hn::Sub(hn::Set(du, 0x4cb89ba5e353f800ull), fifth));
  const Vd one = hn::Set(d, 1.0);
  const Vd y2 = hn::Mul(y, y);
  Vd e = hn::NegMulAdd(hn::Mul(s, y), hn::Mul(y2, y2), one);
  const Vd low = hn::MulAdd(e, hn::Set(d, 3.0 / 25), hn::Set(d, 1.0 / 5));
  const Vd high_terms = hn::MulAdd(e, hn::Set(d, 44.0 / 625), hn::Set(d, 11.0 / 125));
  y = hn::MulAdd(hn::Mul(y, e), hn::MulAdd(hn::Mul(e, e), high_terms, low), y);
  const Vd square = hn::Mul(y, y);
  const Vd r = hn::Mul(s, hn::Mul(square, square));
  e = hn::NegMulAdd(r, y, one);
  doubt = hn::Or(doubt, hn::AndNot(hn::Eq(s, hn::Zero(d)), hn::Not(hn::Lt(hn::Abs(e), hn::Set(d, 0x1p-14)))));
  const Vd series = hn::MulAdd(e, hn::MulAdd(e, hn::Set(d, 0.672), hn::Set(d, 0.72)), hn::Set(d, 0.8));
  return hn::MulAdd(hn::Mul(r, e), series, r);
}

// log2(s) within 2^-28 for normal s > 0.
HWY_INLINE Vd rough_log2(Vd s) {
  const D d;
  const Di di;
  // s = m * 2^k, m in [sqrt(1/2), sqrt(2)).
  const Vi bits = hn::Sub(hn::BitCast(di, s), hn::Set(di, 0x3fe6a09e667f3bcdLL));
  const Vi k = hn::ShiftRight<52>(bits);
  const Vd m = hn::BitCast(d, hn::Sub(hn::BitCast(di, s), hn::ShiftLeft<52>(k)));
  // Small integers to double by the mantissa of 1.5 * 2^52.
  const Vd magic = hn::Set(d, 0x1.8p52);
  const Vd kd = hn::Sub(hn::BitCast(d, hn::Add(k, hn::BitCast(di, magic))), magic);
  const Vd z = hn::Div(hn::Sub(m, hn::Set(d, 1.0)), hn::Add(m, hn::Set(d, 1.0)));
  const Vd z2 = hn::Mul(z, z);
  constexpr double kScale = 2.8853900817779268;  // 2 / ln 2
  Vd t = hn::Set(d, kScale / 9);
  t = hn::MulAdd(t, z2, hn::Set(d, kScale / 7));
  t = hn::MulAdd(t, z2, hn::Set(d, kScale / 5));
  t = hn::MulAdd(t, z2, hn::Set(d, kScale / 3));
  t = hn::MulAdd(t, z2, hn::Set(d, kScale));
  return hn::MulAdd(t, z, kd);
}

// 2^t within 2^-27, |t| <= 1000.
HWY_INLINE Vd rough_exp2(Vd t) {
  const D d;
  const Di di;
  const Vd magic = hn::Set(d, 0x1.8p52);
  const Vd shifted = hn::Add(t, magic);
  const Vi k = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic));
  const Vd f = hn::Mul(hn::Sub(t, hn::Sub(shifted, magic)), hn::Set(d, 0.6931471805599453));
  Vd e = hn::Set(d, 1.0 / 5040);
  e = hn::MulAdd(e, f, hn::Set(d, 1.0 / 720));
  e = hn::MulAdd(e, f, hn::Set(d, 1.0 / 120));
  e = hn::MulAdd(e, f, hn::Set(d, 1.0 / 24));
  e = hn::MulAdd(e, f, hn::Set(d, 1.0 / 6));
  e = hn::MulAdd(e, f, hn::Set(d, 0.5));
  e = hn::MulAdd(e, f, hn::Set(d, 1.0));
  e = hn::MulAdd(e, f, hn::Set(d, 1.0));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, e), hn::ShiftLeft<52>(k)));
}

// S^(1/p) for odd p >= 3 within 11 * 2^-53: exp2(log2(S) / p), then one step of third order with the residual
// rho = S / y^p - 1. The step leaves less than rho^3 / (3p), which the check on rho keeps below 2^-54. y^p carries an
// error of (p - 1) * 2^-53, of which the p-th part remains. S = 0 gives 0.
HWY_INLINE Vd odd_root(Vd s, const RootPlan& plan, Mask& doubt) {
  const D d;
  const std::int64_t p = plan.odd;
  const Vd inverse = hn::Set(d, 1.0 / static_cast<double>(p));
  const Mask zero = hn::Eq(s, hn::Zero(d));
  const Vd y = rough_exp2(hn::Mul(rough_log2(s), inverse));
  const Vd w = power<0>(Single{y}, p).hi;
  const Vd rho = hn::Div(hn::Sub(s, w), w);
  doubt = hn::Or(doubt, hn::AndNot(zero, hn::Not(hn::Lt(hn::Abs(rho), hn::Set(d, plan.convergence)))));
  // (1 + rho)^(1/p) - 1 = rho/p * (1 - (p-1)/(2p) rho + ...)
  const Vd second = hn::Set(d, 0.5 * (static_cast<double>(p) - 1) / static_cast<double>(p));
  const Vd step = hn::Mul(hn::Mul(rho, inverse), hn::NegMulAdd(second, rho, hn::Set(d, 1.0)));
  return hn::IfThenZeroElse(zero, hn::MulAdd(y, step, y));
}

// The root of a sum, for the classes of p the kernels are compiled for (0: any).
template <int P>
HWY_INLINE Vd root(Vd s, const RootPlan& plan, Mask& doubt) {
  if constexpr (P == 1) return s;
  if constexpr (P == 2) return hn::Sqrt(s);
  if constexpr (P == 3) return cube_root(s, doubt);
  if constexpr (P == 4) return hn::Sqrt(hn::Sqrt(s));
  if constexpr (P == 5) return fifth_root(s, doubt);
  if constexpr (P == 0) {
    for (int i = 0; i < plan.square_roots; ++i) s = hn::Sqrt(s);
    if (plan.odd == 1) return s;
    if (plan.odd == 5) return fifth_root(s, doubt);
    return plan.odd == 3 ? cube_root(s, doubt) : odd_root(s, plan, doubt);
  }
}

// Whether reciprocal_sqrt has an instruction behind it, and 64-bit minima and maxima too.
#undef LPPOOL_QUICK_ROOT
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define LPPOOL_QUICK_ROOT 1
#else
#define LPPOOL_QUICK_ROOT 0
#endif

#if LPPOOL_QUICK_ROOT
// The square root of s in [2^-900, 2^1000], too large by a factor in [1 + 2^-42, 1 + 2^-39 - 2^-42]: a hardware
// estimate y of 1/sqrt(s), good to 2^-14, then sqrt(s) = s y (1 - e)^(-1/2) with e = 1 - s y^2, cut after e^2 (5/16 e^3
// < 2^-40.6) and moved by 2^-40. A third of the time of Sqrt, which waits for the divider; and a result that is never
// too small needs one comparison with the midpoint below it.
HWY_INLINE Vd quick_sqrt_seed(Vd s) {
  return Vd{_mm512_rsqrt14_pd(s.raw)};
}
HWY_INLINE Vd quick_sqrt(Vd s, Vd y) {
  const D d;
  const Vd g = hn::Mul(s, y);
  const Vd e = hn::NegMulAdd(g, y, hn::Set(d, 1 + 0x1p-39));  // half of it arrives
  return hn::MulAdd(hn::Mul(g, e), hn::MulAdd(e, hn::Set(d, 0.375), hn::Set(d, 0.5)), g);
}
HWY_INLINE Vd quick_sqrt(Vd s) {
  return quick_sqrt(s, quick_sqrt_seed(s));
}
constexpr std::int64_t kQuickSqrtExcess = 1 << 14;  // most of it, in units of the last place
constexpr std::int64_t kQuickSqrtSlack = 1 << 9;    // errors of s that it covers, in the same units of the root
#endif

// ---- Rounding.

// Lanes of `r` (>= 0) that lie within `radius` units of the last place of double from a midpoint of the target type,
// which drops the low `Dropped` bits, or outside [smallest, largest], zero included.
template <int Dropped>
HWY_INLINE Mask near_midpoint(Vd r, Vi radius, Vi limit) {
  // low + radius, moved to the top of the word, is in [2^63, 2^63 + 2 radius] exactly for the lanes in question.
  const Di di;
  const Vi t = hn::ShiftLeft<64 - Dropped>(hn::Add(hn::BitCast(di, r), radius));
  return hn::RebindMask(D(), hn::Lt(t, limit));
}

// Clears the low `Dropped` - 1 bits below the ones the target keeps plus one, and sets the lowest kept bit if anything
// was lost: rounding to nearest afterwards is as if done once (round to odd, Boldo and Melquiond 2008).
template <int Kept>
HWY_INLINE Vd round_to_odd(Vd r) {
  const Di di;
  constexpr std::int64_t kMask = (std::int64_t{1} << (52 - Kept)) - 1;
  const Vi bits = hn::BitCast(di, r), mask = hn::Set(di, kMask);
  const Vi low = hn::And(bits, mask);
  return hn::BitCast(D(), hn::AndNot(mask, hn::Or(bits, hn::Add(low, mask))));
}

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#endif  // LPPOOL_KERNELS_VECTOR_MATH_INL_H
