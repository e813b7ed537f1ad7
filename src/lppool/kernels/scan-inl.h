// What the magnitudes in a box allow, and the rounding that follows from it; compiled once for each instruction set.
#if defined(LPPOOL_KERNELS_SCAN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LPPOOL_KERNELS_SCAN_INL_H
#undef LPPOOL_KERNELS_SCAN_INL_H
#else
#define LPPOOL_KERNELS_SCAN_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "lppool/kernels/box.h"
#include "lppool/kernels/lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {

// Exponents of the largest and the smallest finite magnitude other than 0; equal to each other where there is none.
struct Magnitudes {
  int largest = 0;
  int smallest = 0;
  bool finite = true;  // all elements are
};

// The smallest (minus 1, so that 0 counts as huge) and the largest bit pattern without signs.
template <class Bits>
struct BitRange {
  Bits smallest = std::numeric_limits<Bits>::max();
  Bits largest = 0;

  void include(Bits magnitude) {
    smallest = std::min<Bits>(smallest, static_cast<Bits>(magnitude - 1));
    largest = std::max<Bits>(largest, magnitude);
  }
};

// The elements are of another type as far as the compiler knows.
template <class Bits>
HWY_INLINE Bits load_bits(const Bits* x) {
  Bits bits;
  std::memcpy(&bits, x, sizeof bits);
  return bits;
}

// The range of what rows hold, lane by lane until it is asked for.
template <class Bits>
class RangeScan {
 public:
  HWY_ATTR RangeScan() : smallest_(hn::Set(Tag(), std::numeric_limits<Bits>::max())), largest_(hn::Zero(Tag())) {}

  HWY_INLINE void row(const Bits* x, std::int64_t n) {
    constexpr Bits kMagnitude = std::numeric_limits<Bits>::max() >> 1;
    const Tag d;
    const auto mask = hn::Set(d, kMagnitude), one = hn::Set(d, Bits{1});
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    auto smallest = smallest_, largest = largest_;
    const auto include = [&](auto v) HWY_ATTR {
      const auto magnitude = hn::And(v, mask);
      smallest = hn::Min(smallest, hn::Sub(magnitude, one));
      largest = hn::Max(largest, magnitude);
    };
    std::int64_t j = 0;
    for (; j + step <= n; j += step) include(hn::LoadU(d, x + j));
    if (j < n && n >= step) {
      include(hn::LoadU(d, x + (n - step)));
    } else {
      for (; j < n; ++j) rest_.include(static_cast<Bits>(load_bits(x + j) & kMagnitude));
    }
    smallest_ = smallest;
    largest_ = largest;
  }

  BitRange<Bits> range() const {
    BitRange<Bits> range = rest_;
    HWY_ALIGN Bits low[hn::MaxLanes(Tag())], high[hn::MaxLanes(Tag())];
    hn::Store(smallest_, Tag(), low);
    hn::Store(largest_, Tag(), high);
    for (std::size_t i = 0; i < hn::Lanes(Tag()); ++i) {
      range.smallest = std::min(range.smallest, low[i]);
      range.largest = std::max(range.largest, high[i]);
    }
    return range;
  }

 private:
  using Tag = hn::ScalableTag<Bits>;
  BitRange<Bits> rest_;
  hn::Vec<Tag> smallest_, largest_;
};

// Calls row(pointer, n) for every row (run along the last axis) of the box.
template <class T, class Row>
void for_each_row(const Box& box, std::size_t axis, const T* x, const Row& row) {
  if (axis + 1 == box.axes.size()) return row(x, box.axes[axis].in);
  for (std::int64_t i = 0; i < box.axes[axis].in; ++i) for_each_row(box, axis + 1, x + i * box.axes[axis].x_step, row);
}

template <class Type>
Magnitudes magnitudes_of(const Box& box) {
  using Bits = hwy::MakeUnsigned<typename Type::Storage>;
  const Bits infinity = static_cast<Bits>(format_of(Type::kType).infinity);
  RangeScan<Bits> scan;
  for_each_row(box, 0, static_cast<const Bits*>(box.x),
               [&](const Bits* x, std::int64_t n) HWY_ATTR { scan.row(x, n); });
  BitRange<Bits> range = scan.range();
  const bool finite = range.largest < infinity;
  if (!finite) {  // once more, without infinities and NaNs
    range = {};
    for_each_row(box, 0, static_cast<const Bits*>(box.x), [&](const Bits* x, std::int64_t n) {
      for (std::int64_t j = 0; j < n; ++j) {
        const Bits magnitude = static_cast<Bits>(load_bits(x + j) & (std::numeric_limits<Bits>::max() >> 1));
        if (magnitude < infinity) range.include(magnitude);
      }
    });
  }
  if (range.largest == 0) return {0, 0, finite};
  const auto exponent = [](Bits bits) { return std::ilogb(load_element(Type::kType, &bits, 0)); };
  return {exponent(range.largest), exponent(static_cast<Bits>(range.smallest + 1)), finite};
}

// How the sums of one box are turned into results.
struct Rounding {
  RootPlan root;
  double scale = 1;         // of the elements, a power of two
  double smallest_sum = 0;  // below it a sum may lack terms lost to underflow; 0: nothing is ever lost
  std::int64_t radius = 0;  // half-width of the doubtful zone around midpoints, in units of the last place of double
  bool exact = false;       // p = 1, and every sum is free of rounding
  bool certain = false;     // exact, and every sum is 0 or a normal number of the type
  double tail_error = 0;    // double-double: bound on the error of the root, relative
};

// What rounding errors may have done to a root, for sums of `depth` additions and p-th powers by products.
inline void plan_error(Rounding& r, double p, std::int64_t depth, bool pair) {
  const auto additions = static_cast<double>(depth);
  if (pair) {
    r.tail_error = 0x1p-86 + (3 * additions / p + 32) * 0x1p-106 + p * 0x1p-98;
  } else {
    r.radius = static_cast<std::int64_t>(std::ceil((additions + p) / p + r.root.error)) + 2;
  }
}

template <class Type, int P>
Rounding plan_rounding(const Box& box, const LpNorm& norm, std::int64_t depth) {
  constexpr bool kPair = std::is_same_v<typename Type::Acc, Pair>;
  const Format& format = format_of(Type::kType);
  const auto p = static_cast<double>(norm.whole);
  Rounding r;
  r.root = plan_root(norm.whole);
  double terms = 1;
  for (const BoxAxis& axis : box.axes) terms *= static_cast<double>(std::max<std::int64_t>(axis.max_taps(), 1));
  const double log_terms = std::ceil(std::log2(terms));
  constexpr double kRange = 900;  // binary exponents of sums and terms that are safe from overflow and underflow
  const auto needs_scale = [&](int largest, int smallest) {
    return p * (largest + 1) + log_terms > kRange || p * smallest < -kRange;
  };
  const bool may_need_scale =
      kNeedsScale<Type, P> && needs_scale(format.max_exponent, format.min_exponent - format.precision + 1);
  if (P == 1 || may_need_scale) {
    const Magnitudes m = magnitudes_of<Type>(box);
    if (P == 1) {
      // Every element is a multiple of 2^finest and every sum is below 2^top.
      const int finest = std::max(m.smallest, format.min_exponent) - format.precision + 1;
      const double top = m.largest + 1 + log_terms;
      r.exact = top - finest <= (kPair ? 100 : 53) && top <= format.max_exponent;
      r.certain = r.exact && m.finite && m.smallest >= format.min_exponent;
    }
    if constexpr (kNeedsScale<Type, P>) {
      double shift = 0;
      if (needs_scale(m.largest, m.smallest)) {
        shift = std::clamp(std::floor((kRange - log_terms) / p) - (m.largest + 1), -1000.0, 1000.0);
      }
      r.scale = std::ldexp(1.0, static_cast<int>(shift));
      if (p * (m.smallest + shift) < -kRange) r.smallest_sum = 0x1p-800;
    }
  }
  plan_error(r, p, depth, kPair);
  if (r.exact) {
    r.radius = -1;
    r.tail_error = 0;
  }
  return r;
}

// The same without a look at the elements: nothing is scaled.
template <class Type, int P>
Rounding unscanned_rounding(const LpNorm& norm, std::int64_t depth) {
  Rounding r;
  r.root = plan_root(norm.whole);
  if (P != 1 && kNeedsScale<Type, P>) r.smallest_sum = 0x1p-800;
  plan_error(r, static_cast<double>(norm.whole), depth, std::is_same_v<typename Type::Acc, Pair>);
  return r;
}

// Radii from here on, of sums that some 2^25 terms pass through one after the other, leave nothing to be sure of.
constexpr std::int64_t kLargestRadius = std::int64_t{1} << 25;

template <class Type>
struct Rounded {
  Vd value;
  Mask doubt;  // lanes to settle otherwise; their value means nothing
};

// Lanes whose magnitude is neither 0 nor that of a normal number of the type.
template <class Type>
HWY_INLINE Mask out_of_range(Vd r) {
  constexpr const Format& format = kFormats[static_cast<int>(Type::kType)];
  // bits - low is compared unsigned, that is with the top bit of both sides flipped.
  constexpr auto kLow = static_cast<std::uint64_t>(format.min_exponent + 1023) << 52;
  constexpr auto kHigh = static_cast<std::uint64_t>(format.max_exponent + 1024) << 52;  // exclusive
  constexpr std::uint64_t kFlip = std::uint64_t{1} << 63;
  const Di d;
  const Vi offset = hn::Add(hn::BitCast(d, r), hn::Set(d, static_cast<std::int64_t>(kFlip - kLow)));
  return hn::RebindMask(D(), hn::Gt(offset, hn::Set(d, static_cast<std::int64_t>(kFlip + (kHigh - kLow) - 1))));
}

template <class Type, int P>
HWY_INLINE Rounded<Type> round_sums(Single sum, const Rounding& plan) {
  const D d;
  const Di di;
  Mask doubt = hn::FirstN(d, 0);
  Vd r = root<P>(sum.hi, plan.root, doubt);
  if constexpr (kNeedsScale<Type, P>) {
    if (plan.smallest_sum > 0) doubt = hn::Or(doubt, hn::Not(hn::Ge(sum.hi, hn::Set(d, plan.smallest_sum))));
    if (plan.scale != 1) r = hn::Mul(r, hn::Set(d, 1 / plan.scale));
  }
  constexpr int kUp = 64 - Type::kDropped;
  std::int64_t limit = std::numeric_limits<std::int64_t>::min();
  if (plan.radius >= kLargestRadius) {
    limit = std::numeric_limits<std::int64_t>::max();  // everything is in doubt
  } else if (plan.radius >= 0) {
    limit += (2 * plan.radius + 1) << kUp;
  }
  const Vi near_limit = hn::Set(di, limit);
  doubt = hn::Or(doubt, near_midpoint<Type::kDropped>(r, hn::Set(di, plan.radius), near_limit));
  doubt = hn::Or(doubt, out_of_range<Type>(r));
  if (HWY_UNLIKELY(!hn::AllFalse(d, doubt)) && plan.smallest_sum == 0) {
    // Sums of squares of zeros are tiny (see kTinySum) rather than 0.
    doubt = hn::AndNot(P == 2 ? hn::Lt(sum.hi, hn::Set(d, 0x1p-600)) : hn::Eq(sum.hi, hn::Zero(d)), doubt);
  }
  return {r, doubt};
}

#if LPPOOL_QUICK_ROOT
// What a run of results (sums for p = 1, quick roots for p = 2) has met, gathered without a branch and read once at its
// end.
template <class Type, int P>
class RunCheck {
 public:
  explicit HWY_INLINE RunCheck(const Rounding& plan)
      : checked_(plan.radius >= 0),
        below_(hn::Set(Di(), P == 1 && checked_ ? plan.radius : 0)),
        zone_(P == 1 ? 2 * plan.radius : kQuickSqrtExcess),
        nearest_(hn::Set(Di(), std::numeric_limits<std::int64_t>::max())),
        low_(hn::Set(U32(), ~std::uint32_t{0})),
        high_(hn::Zero(U32())) {}

  HWY_INLINE void look(Vd result) {
    // What is to be dropped, at the top of the word: from a midpoint on upwards it is the smaller the nearer.
    Vi bits = hn::BitCast(Di(), result);
    if constexpr (P == 1) bits = hn::Add(bits, below_);
    nearest_ = hn::Min(nearest_, hn::ShiftLeft<64 - Type::kDropped>(bits));
    const auto rounded = hn::BitCast(U32(), Type::to_float(result));
    low_ = hn::Min(low_, hn::Sub(rounded, hn::Set(U32(), 1)));  // 0 becomes the largest number: zeros are in order
    high_ = hn::Max(high_, rounded);
  }

  // No result is near a midpoint, subnormal, infinite or NaN.
  HWY_INLINE bool passed() const {
    constexpr const Format& format = kFormats[static_cast<int>(Type::kType)];
    constexpr auto kLow = static_cast<std::uint32_t>(format.min_exponent + 127) << 23;
    constexpr auto kHigh = static_cast<std::uint32_t>(format.max_exponent + 128) << 23;
    constexpr std::int64_t kMidpoint = std::numeric_limits<std::int64_t>::min();
    if (!hn::AllFalse(U32(), hn::Lt(low_, hn::Set(U32(), kLow - 1)))) return false;
    if (!hn::AllTrue(U32(), hn::Lt(high_, hn::Set(U32(), kHigh)))) return false;
    const Vi limit = hn::Set(Di(), kMidpoint + ((zone_ + 1) << (64 - Type::kDropped)));
    return !checked_ || hn::AllFalse(Di(), hn::Lt(nearest_, limit));
  }

 private:
  bool checked_;
  Vi below_;
  std::int64_t zone_;
  Vi nearest_;
  hn::Vec<U32> low_, high_;
};

// A vector of outputs from their sums, stored without a branch; what `check` has not passed at the end means nothing.
template <class Type, int P>
HWY_INLINE void store_quickly(Vd sum, typename Type::Storage* y, RunCheck<Type, P>& check) {
  const Vd r = P == 1 ? sum : quick_sqrt(sum);
  Type::store(r, y);
  check.look(r);
}

// Whether the errors of the sums are small enough for RunCheck.
template <class Type, int P>
bool can_check_runs(const Rounding& plan) {
  return std::is_same_v<typename Type::Acc, Single> && plan.radius < kLargestRadius &&
         (P == 1 || (P == 2 && plan.radius <= kQuickSqrtSlack));
}
#endif

// Within half an ulp of the root r0 of the high part, one Newton step with the residual of the whole sum gives the root
// as r + tail; r is right unless an error in the tail could move it (Ziv's test).
template <class Type, int P>
HWY_INLINE Rounded<Type> round_sums(Pair sum, const Rounding& plan) {
  const D d;
  Mask doubt = hn::FirstN(d, 0);
  const Vd r0 = root<P>(sum.hi, plan.root, doubt);
  const Mask zero = hn::Eq(sum.hi, hn::Zero(d));
  Pair r = sum;
  if constexpr (P != 1) {
    Pair whole;
    from_double(r0, whole);
    if constexpr (P == 2) {
      whole = two_product(r0, r0);
    } else {
      whole = power<P>(whole, plan.root.p);
    }
    const Vd residual = hn::Add(hn::Sub(sum.hi, whole.hi), hn::Sub(sum.lo, whole.lo));
    // The quotient first: it is near 2^-52, where the product with the root might underflow.
    const Vd step = hn::Mul(hn::Div(residual, whole.hi), hn::Mul(r0, hn::Set(d, 1 / static_cast<double>(plan.root.p))));
    r = fast_two_sum(r0, hn::IfThenZeroElse(zero, step));
  }
  const Vd margin = hn::Mul(r.hi, hn::Set(d, plan.tail_error));
  doubt = hn::Or(doubt, hn::Not(hn::Eq(hn::Add(r.hi, hn::Add(r.lo, margin)), r.hi)));
  doubt = hn::Or(doubt, hn::Not(hn::Eq(hn::Add(r.hi, hn::Sub(r.lo, margin)), r.hi)));
  doubt = hn::Or(doubt, hn::Not(hn::Ge(sum.hi, hn::Set(d, plan.smallest_sum))));
  const Vd value = hn::Mul(r.hi, hn::Set(d, 1 / plan.scale));
  doubt = hn::Or(doubt, out_of_range<Type>(value));
  if (HWY_UNLIKELY(!hn::AllFalse(d, doubt)) && plan.smallest_sum == 0) doubt = hn::AndNot(zero, doubt);
  return {value, doubt};
}

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#endif  // LPPOOL_KERNELS_SCAN_INL_H
