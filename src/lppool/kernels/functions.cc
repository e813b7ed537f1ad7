// One core for e^t, one for ln, one for erfc, all in double lanes; polynomials are Chebyshev fits of the functions named
// beside them. Sums and products are written out one by one: a fused multiply-add would give other bits where there is one.
#include "lppool/kernels/functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lppool/kernels/functions.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lppool/kernels/narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using Di = hn::RebindToSigned<D>;
using F = hn::Rebind<float, D>;

HWY_INLINE V set(double value) { return hn::Set(D(), value); }

template <std::size_t N>
HWY_INLINE V polynomial(const double (&coefficients)[N], V x) {
  V sum = set(coefficients[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = hn::Add(hn::Mul(sum, x), set(coefficients[i]));
  return sum;
}

// e^t = scale * (1 + fraction), |t| clamped to 700. fraction is e^r - 1 with full relative accuracy, |r| <= ln(2) / 2.
struct Exponential {
  V scale, fraction;
};
HWY_INLINE Exponential exponential(V t) {
  // (e^r - 1) / r on +-0.3467, relative error 2^-43.
  constexpr double kSeries[] = {1.0000000000000013,     0.4999999999979743,    0.16666666666615523,
                                0.041666666891369705,   0.008333333367373129,  0.0013888821595982636,
                                0.00019841190552535715, 2.4876209012901625e-05, 2.7632685655116016e-06};
  constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33, kLog2E = 0x1.71547652b82fep+0;
  t = hn::Min(hn::Max(t, set(-700)), set(700));
  const V magic = set(0x1.8p52);  // adding it rounds to a whole number and leaves that in the low bits
  const V shifted = hn::Add(hn::Mul(t, set(kLog2E)), magic);
  const V k = hn::Sub(shifted, magic);
  const V r = hn::Sub(hn::Sub(t, hn::Mul(k, set(kLn2High))), hn::Mul(k, set(kLn2Low)));
  const auto exponent = hn::Sub(hn::BitCast(Di(), shifted), hn::BitCast(Di(), magic));
  const V scale = hn::BitCast(D(), hn::ShiftLeft<52>(hn::Add(exponent, hn::Set(Di(), 1023))));
  return {scale, hn::Mul(r, polynomial(kSeries, r))};
}
HWY_INLINE V exp(V t) {
  const Exponential e = exponential(t);
  return hn::Add(e.scale, hn::Mul(e.scale, e.fraction));
}
HWY_INLINE V expm1(V t) {
  const Exponential e = exponential(t);
  return hn::Add(hn::Sub(e.scale, set(1)), hn::Mul(e.scale, e.fraction));
}

// 2 atanh(s) = ln((1 + s) / (1 - s)) for |s| <= 0.1717, relative error 2^-52.
HWY_INLINE V twice_atanh(V s) {
  constexpr double kSeries[] = {2.0000000000000004,  0.6666666666655063,  0.4000000006274629, 0.28571415861405636,
                                0.22223445930247773, 0.18121563019559772, 0.16842178433954705};
  return hn::Mul(s, polynomial(kSeries, hn::Mul(s, s)));
}

constexpr double kLn2 = 0x1.62e42fefa39efp-1;

// ln x for normal x > 0.
HWY_INLINE V log(V x) {
  // x = m * 2^k, m in [sqrt(1/2), sqrt(2)).
  const auto bits = hn::Sub(hn::BitCast(Di(), x), hn::Set(Di(), 0x3fe6a09e667f3bcdLL));
  const auto k = hn::ShiftRight<52>(bits);
  const V m = hn::BitCast(D(), hn::Sub(hn::BitCast(Di(), x), hn::ShiftLeft<52>(k)));
  const V magic = set(0x1.8p52);
  const V exponent = hn::Sub(hn::BitCast(D(), hn::Add(k, hn::BitCast(Di(), magic))), magic);
  const V s = hn::Div(hn::Sub(m, set(1)), hn::Add(m, set(1)));
  return hn::Add(hn::Mul(exponent, set(kLn2)), twice_atanh(s));
}

// ln(1 + u) for 0 <= u <= 1, with full relative accuracy: beyond sqrt(2) - 1 as ln 2 + ln((1 + u) / 2).
HWY_INLINE V log1p(V u) {
  const auto large = hn::Gt(u, set(0.41421356237309503));
  const V numerator = hn::IfThenElse(large, hn::Sub(u, set(1)), u);
  const V denominator = hn::IfThenElse(large, hn::Add(u, set(3)), hn::Add(u, set(2)));
  return hn::Add(hn::IfThenElseZero(large, set(kLn2)), twice_atanh(hn::Div(numerator, denominator)));
}

// erfc z for z >= 0: t e^(-z^2 + g(t)), t = 2 / (2 + z); 0 from z = 26.4 on.
HWY_INLINE V erfc(V z) {
  // ln(erfc(z) e^(z^2) / t) in u = (t - 8/15) * 15/7, error 2^-41.
  constexpr double kSeries[] = {-0.6267548660108407,     0.6330982683027884,      0.032864859355693124,
                                -0.03994232494976533,    -0.005189062760396825,   0.0065929132068493655,
                                0.00043779850722470325,  -0.0014316808603697388,  0.0001332754187881997,
                                0.0003086245248053474,   -9.96116030212222e-05,   -5.2120953157579166e-05,
                                3.811786346450076e-05,   3.4735672081471213e-06,  -1.013654391362575e-05,
                                1.1287024413411406e-06,  1.7889525508095346e-06,  -2.848134617403249e-07,
                                -1.5990730081279498e-07};
  z = hn::Min(z, set(28));
  const V t = hn::Div(set(2), hn::Add(set(2), z));
  const V g = polynomial(kSeries, hn::Mul(hn::Sub(t, set(8.0 / 15)), set(15.0 / 7)));
  const V square = hn::Mul(z, z);
  const V value = hn::Mul(t, exp(hn::Sub(g, square)));
  return hn::IfThenElseZero(hn::Lt(square, set(697)), value);
}

HWY_INLINE V erf(V x) {
  // erf(x) / x in x^2 up to 1/2, relative error 2^-48.
  constexpr double kSeries[] = {1.1283791670955106,     -0.3761263890311975,    0.11283791667530074,
                                -0.026866169938817578,  0.005223970318564054,   -0.0008547901425034373,
                                0.00012040712030823969, -1.4630529918533906e-05, 1.3184736076370129e-06};
  const V square = hn::Mul(x, x), magnitude = hn::Abs(x);
  const V near = hn::Mul(x, polynomial(kSeries, hn::Min(square, set(0.5))));
  const V far = hn::CopySign(hn::Sub(set(1), erfc(magnitude)), x);
  return hn::IfThenElse(hn::Lt(square, set(0.5)), near, far);
}

// 1 / (1 + e^-t); exactly 0 where e^-t is past e^700, so that a product with an infinity is what IEEE 754 makes of it.
HWY_INLINE V sigmoid(V t) {
  const V value = hn::Div(set(1), hn::Add(set(1), exp(hn::Neg(t))));
  return hn::IfThenZeroElse(hn::Lt(t, set(-700)), value);
}

HWY_INLINE void store_float(V v, float* y) { hn::StoreU(to_float32(D(), v), F(), y); }

struct Parameters {
  V a, b, c;
};

template <Function kFunction>
HWY_INLINE V apply(V x, const Parameters& p) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if constexpr (kFunction == Function::kExp) return exp(x);
  if constexpr (kFunction == Function::kLog) {
    V y = log(x);
    y = hn::IfThenElse(hn::Eq(x, set(kInfinity)), x, y);
    y = hn::IfThenElse(hn::Eq(x, set(0)), set(-kInfinity), y);
    return hn::IfThenElse(hn::Lt(x, set(0)), set(std::numeric_limits<double>::quiet_NaN()), y);
  }
  if constexpr (kFunction == Function::kTanh) {
    const V e = expm1(hn::Mul(set(2), hn::Min(hn::Abs(x), set(40))));
    return hn::CopySign(hn::Div(e, hn::Add(e, set(2))), x);
  }
  if constexpr (kFunction == Function::kErf) return erf(x);
  if constexpr (kFunction == Function::kSigmoid) return sigmoid(x);
  if constexpr (kFunction == Function::kSwish) return hn::Mul(x, sigmoid(hn::Mul(p.a, x)));
  if constexpr (kFunction == Function::kGelu) {
    const V z = hn::Mul(x, set(0x1.6a09e667f3bcdp-1));  // x / sqrt 2
    const V tail = erfc(hn::Abs(z));
    const V upper = hn::IfThenElse(hn::Lt(x, set(0)), tail, hn::Sub(set(2), tail));
    return hn::Mul(hn::Mul(set(0.5), x), upper);
  }
  if constexpr (kFunction == Function::kGeluTanh) {
    constexpr double kTwiceRoot = 0x1.9884533d43651p+0;  // 2 sqrt(2 / pi)
    const V cubed = hn::Mul(hn::Mul(x, x), x);
    return hn::Mul(x, sigmoid(hn::Mul(set(kTwiceRoot), hn::Add(x, hn::Mul(set(0.044715), cubed)))));
  }
  if constexpr (kFunction == Function::kSoftplus) {
    return hn::Add(hn::Max(x, set(0)), log1p(exp(hn::Neg(hn::Abs(x)))));
  }
  if constexpr (kFunction == Function::kMish) {
    // tanh(ln(1 + e)) = n / (n + 2) with n = e (e + 2); from x = 40 on it rounds to 1.
    const V e = exp(hn::Min(x, set(40))), n = hn::Mul(e, hn::Add(e, set(2)));
    const V factor = hn::IfThenZeroElse(hn::Lt(x, set(-700)), hn::Div(n, hn::Add(n, set(2))));
    return hn::Mul(x, factor);
  }
  if constexpr (kFunction == Function::kExpLinear) {
    const V low = hn::Mul(p.a, expm1(hn::Mul(p.b, x)));
    return hn::IfThenElse(hn::Lt(x, set(0)), low, hn::Mul(p.c, x));
  }
}

template <Function kFunction>
void map(const float* x, float* y, std::int64_t n, double a, double b, double c) {
  const Parameters p = {set(a), set(b), set(c)};
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
  const auto one = [&](const float* from, float* to) {
    const V v = hn::PromoteTo(D(), hn::LoadU(F(), from));
    const V result = apply<kFunction>(v, p);
    store_float(hn::IfThenElse(hn::Eq(v, v), result, v), to);
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) one(x + i, y + i);
  if (i == n) return;
  float buffer[hn::MaxLanes(D())] = {};
  std::copy(x + i, x + n, buffer);
  one(buffer, buffer);
  std::copy(buffer, buffer + (n - i), y + i);
}

}  // namespace

void map_float32_target(Function function, const float* x, float* y, std::int64_t n, double a, double b, double c) {
  switch (function) {
    case Function::kExp: map<Function::kExp>(x, y, n, a, b, c); break;
    case Function::kLog: map<Function::kLog>(x, y, n, a, b, c); break;
    case Function::kTanh: map<Function::kTanh>(x, y, n, a, b, c); break;
    case Function::kErf: map<Function::kErf>(x, y, n, a, b, c); break;
    case Function::kSigmoid: map<Function::kSigmoid>(x, y, n, a, b, c); break;
    case Function::kSwish: map<Function::kSwish>(x, y, n, a, b, c); break;
    case Function::kGelu: map<Function::kGelu>(x, y, n, a, b, c); break;
    case Function::kGeluTanh: map<Function::kGeluTanh>(x, y, n, a, b, c); break;
    case Function::kSoftplus: map<Function::kSoftplus>(x, y, n, a, b, c); break;
    case Function::kMish: map<Function::kMish>(x, y, n, a, b, c); break;
    case Function::kExpLinear: map<Function::kExpLinear>(x, y, n, a, b, c); break;
  }
}

void exp_shifted_target(const float* x, const double* shift, std::int64_t step, double* y, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
  const auto one = [&](const float* from, const double* by, double* to) {
    const V v = hn::PromoteTo(D(), hn::LoadU(F(), from));
    const V t = hn::Sub(v, step == 0 ? set(*shift) : hn::LoadU(D(), by));
    const V e = hn::IfThenZeroElse(hn::Lt(t, set(-700)), exp(t));
    hn::StoreU(hn::IfThenElse(hn::Eq(t, t), e, t), D(), to);
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) one(x + i, shift + i * step, y + i);
  if (i == n) return;
  float from[hn::MaxLanes(D())] = {};
  double by[hn::MaxLanes(D())] = {}, to[hn::MaxLanes(D())];
  std::copy(x + i, x + n, from);
  if (step != 0) std::copy(shift + i, shift + n, by);
  one(from, by, to);
  std::copy(to, to + (n - i), y + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "lppool/kernels/dispatch.h"

namespace lppool::kernels {

HWY_EXPORT(map_float32_target);
HWY_EXPORT(exp_shifted_target);

void map_float32(Function function, const float* x, float* y, std::int64_t n, double a, double b, double c) {
  HWY_DISPATCH_TABLE(map_float32_target)[dispatch_index()](function, x, y, n, a, b, c);
}

void exp_shifted(const float* x, const double* shift, std::int64_t step, double* y, std::int64_t n) {
  HWY_DISPATCH_TABLE(exp_shifted_target)[dispatch_index()](x, shift, step, y, n);
}

}  // namespace lppool::kernels
#endif
