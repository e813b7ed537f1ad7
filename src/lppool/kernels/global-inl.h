// One norm for each plane, compiled once for each instruction set and included by pool_<type>.cc, which defines
// LPPOOL_ELEMENT (Float32, ...), LPPOOL_GLOBAL_ENTRY and LPPOOL_SEGMENT_ENTRY.
//
// A plane is read once. As many planes as a vector has lanes share one root. Elements are not scaled at first: a sum
// that may have lost terms to overflow or underflow is noticed, and its plane taken again with what a scan of it
// allows.
#if defined(LPPOOL_KERNELS_GLOBAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LPPOOL_KERNELS_GLOBAL_INL_H
#undef LPPOOL_KERNELS_GLOBAL_INL_H
#else
#define LPPOOL_KERNELS_GLOBAL_INL_H
#endif

#include <algorithm>

#include "lppool/kernels/double_double.h"
#include "lppool/kernels/job.h"
#include "lppool/kernels/lines-inl.h"
#include "lppool/kernels/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {

// Long runs are summed in blocks of so many vectors, and the blocks without rounding error worth counting.
constexpr std::int64_t kBlockVectors = 1024;
constexpr std::int64_t kStreams = 4;  // independent sums, to hide the latency of additions

// How many additions one term passes through in sum_run and total.
inline std::int64_t run_depth() {
  return kBlockVectors / kStreams + kStreams + 16;
}

// sum + |v|^p with the low part left to grow: what a run adds to it stays below 2^-88 of the sum.
template <class Type, int P, bool S>
HWY_INLINE Single add_loosely(const Powers<Type, P, S>& powers, Single sum, Vd v) {
  return powers.add_term(sum, v);
}
template <class Type, int P, bool S>
HWY_INLINE Pair add_loosely(const Powers<Type, P, S>& powers, Pair sum, Vd v) {
  const Pair term = powers.term(v);
#if HWY_NATIVE_FMA
  // two_sum with half of its additions as products with 1, for which there are other execution units.
  const Vd one = hn::Set(D(), 1.0);
  const Vd s = hn::Add(sum.hi, term.hi);
  const Vd t = hn::Sub(s, sum.hi);
  const Vd lost = hn::NegMulAdd(one, t, term.hi), kept = hn::MulSub(one, s, t);
  const Pair r = {s, hn::Add(hn::Sub(sum.hi, kept), lost)};
  if constexpr (P == 1) return {r.hi, hn::MulAdd(one, sum.lo, r.lo)};
  return {r.hi, hn::MulAdd(one, sum.lo, hn::Add(r.lo, term.lo))};
#else
  const Pair s = two_sum(sum.hi, term.hi);
  if constexpr (P == 1) return {s.hi, hn::Add(sum.lo, s.lo)};
  return {s.hi, hn::Add(sum.lo, hn::Add(s.lo, term.lo))};
#endif
}
HWY_INLINE Single settled(Single sum) {
  return sum;
}
HWY_INLINE Pair settled(Pair sum) {
  return fast_two_sum(sum.hi, sum.lo);
}

// Lane by lane sums of at most kBlockVectors vectors of |x|^p and a shorter rest.
template <class Type, int P, bool S>
HWY_INLINE typename Type::Acc sum_run(const Powers<Type, P, S>& powers, const typename Type::Storage* x,
                                      std::int64_t n) {
  using Acc = typename Type::Acc;
  const std::int64_t step = lanes();
  std::int64_t j = 0;
  Acc sum = zero<Acc>();
  if (n >= 2 * kStreams * step) {
    Acc s0 = sum, s1 = sum, s2 = sum, s3 = sum;
    for (; j + kStreams * step <= n; j += kStreams * step) {
      s0 = add_loosely(powers, s0, powers.value(x + j));
      s1 = add_loosely(powers, s1, powers.value(x + j + step));
      s2 = add_loosely(powers, s2, powers.value(x + j + 2 * step));
      s3 = add_loosely(powers, s3, powers.value(x + j + 3 * step));
    }
    sum = add(add(settled(s0), settled(s1)), add(settled(s2), settled(s3)));
  }
  for (; j + step <= n; j += step) sum = powers.add_to(sum, x + j);
  if (j < n) sum = powers.add_part_to(sum, x + j, n - j);
  return sum;
}

// The sum of the lanes.
HWY_INLINE DoubleDouble total(Single sum) {
  return {hn::GetLane(hn::SumOfLanes(D(), sum.hi)), 0};
}
HWY_INLINE DoubleDouble total(Pair sum) {
  HWY_ALIGN double hi[hn::MaxLanes(D())], lo[hn::MaxLanes(D())];
  hn::Store(sum.hi, D(), hi);
  hn::Store(sum.lo, D(), lo);
  DoubleDouble r;
  for (std::int64_t i = 0; i < lanes(); ++i) r = kernels::add(r, {hi[i], lo[i]});
  return r;
}

// The sum of |x|^p over any number of elements.
template <class Type, int P, bool S>
DoubleDouble sum_plane(const Powers<Type, P, S>& powers, const typename Type::Storage* x, std::int64_t n) {
  DoubleDouble sum;
  const std::int64_t block = kBlockVectors * lanes();
  for (std::int64_t j = 0; j < n; j += block) {
    sum = kernels::add(sum, total(sum_run(powers, x + j, std::min(block, n - j))));
  }
  return sum;
}

// A vector whose lane i is the sum of the lanes of v[i], i < N = lanes: two vectors become one, neighbours (or blocks
// of neighbours) of each added, until one is left.
template <std::int64_t N, class Acc>
HWY_INLINE Acc sum_each(const Acc* v) {
  if constexpr (N == 1) {
    return v[0];
#if LPPOOL_QUICK_ROOT
  } else {
    // Blends may use any execution unit, permutations of two vectors only two of the four.
    constexpr __mmask8 kOfB = N == 2 ? 0xaa : N == 4 ? 0xcc : 0xf0;
    const auto kept = [](Vd a, Vd b) HWY_ATTR { return Vd{_mm512_mask_blend_pd(kOfB, a.raw, b.raw)}; };
    const auto moved = [](Vd a, Vd b) HWY_ATTR {
      if constexpr (N == 2) return Vd{_mm512_shuffle_pd(a.raw, b.raw, 0x55)};
      const Vd m{_mm512_mask_blend_pd(static_cast<__mmask8>(~kOfB), a.raw, b.raw)};
      return N == 4 ? Vd{_mm512_permutex_pd(m.raw, 0x4e)} : Vd{_mm512_shuffle_f64x2(m.raw, m.raw, 0x4e)};
    };
    const Acc a = sum_each<N / 2>(v), b = sum_each<N / 2>(v + N / 2);
    if constexpr (std::is_same_v<Acc, Pair>) {
      return add(Pair{kept(a.hi, b.hi), kept(a.lo, b.lo)}, Pair{moved(a.hi, b.hi), moved(a.lo, b.lo)});
    } else {
      return {hn::Add(kept(a.hi, b.hi), moved(a.hi, b.hi))};
    }
#elif HWY_TARGET != HWY_SCALAR
  } else {
    const Acc a = sum_each<N / 2>(v), b = sum_each<N / 2>(v + N / 2);
    return add(even_lanes(b, a), odd_lanes(b, a));
#endif
  }
}

// How `lanes` neighbouring planes of n elements each lie in the run of full vectors they make together: plane i takes
// the lanes `first` of the vector its neighbour ended in (none where it starts with a vector), `full` vectors, and the
// lanes `last` of one more.
struct PlaneCut {
  std::int64_t full = 0;
  unsigned first = 0, last = 0;  // bits
};

constexpr PlaneCut cut_plane(std::int64_t n, std::int64_t i, std::int64_t step) {
  const std::int64_t begin = i * n;
  const std::int64_t head = std::min(n, (step - begin % step) % step);
  const auto bits = [](std::int64_t count) { return (1u << count) - 1; };
  return {(n - head) / step, bits(head) << (begin % step), bits((n - head) % step)};
}

HWY_INLINE Mask lane_mask(unsigned bits) {
  const auto byte = static_cast<std::uint8_t>(bits);
  HWY_ALIGN const std::uint8_t bytes[8] = {byte};
  return hn::LoadMaskBits(D(), bytes);
}

// The same for the lanes of a mask.
template <class Type, int P, bool S>
HWY_INLINE typename Type::Acc add_lanes(const Powers<Type, P, S>& powers, typename Type::Acc sum, Vd v, unsigned bits) {
#if LPPOOL_QUICK_ROOT
  if constexpr (P == 2 && std::is_same_v<typename Type::Acc, Single>) {
    return {Vd{_mm512_mask3_fmadd_pd(v.raw, v.raw, sum.hi.raw, static_cast<__mmask8>(bits))}};
  }
#endif
  return add_loosely(powers, sum, hn::IfThenElseZero(lane_mask(bits), v));
}

// Lane by lane sums of the planes of a cut.
template <class Type, int P, bool S>
HWY_INLINE void sum_planes(const Powers<Type, P, S>& powers, const typename Type::Storage* x, const PlaneCut* cuts,
                           typename Type::Acc* sums) {
  using Acc = typename Type::Acc;
  const std::int64_t step = lanes();
  Vd shared = hn::Zero(D());  // the vector the last plane ended in
  for (std::int64_t i = 0; i < step; ++i) {
    // Two chains of additions, each of which waits for the last; those of double-doubles have enough to do meanwhile.
    constexpr bool kTwo = std::is_same_v<Acc, Single>;
    Acc even = zero<Acc>(), other = zero<Acc>();
    Acc& odd = kTwo ? other : even;
    if constexpr (P == 2 && std::is_same_v<Acc, Single>) even.hi = hn::Set(D(), kTinySum);
    if (cuts[i].first != 0) even = add_lanes(powers, even, shared, cuts[i].first);
    std::int64_t j = 0;
    for (; j + 2 <= cuts[i].full; j += 2, x += 2 * step) {
      even = add_loosely(powers, even, powers.value(x));
      odd = add_loosely(powers, odd, powers.value(x + step));
    }
    if (j < cuts[i].full) {
      even = add_loosely(powers, even, powers.value(x));
      x += step;
    }
    if (cuts[i].last != 0) {
      shared = powers.value(x);
      odd = add_lanes(powers, odd, shared, cuts[i].last);
      x += step;
    }
    sums[i] = kTwo ? add(even, odd) : settled(even);
  }
}

#if LPPOOL_QUICK_ROOT
HWY_INLINE Vd every_nth(const float* x, std::int64_t n) {
  return hn::PromoteTo(D(), Vf{_mm256_setr_ps(x[0], x[n], x[2 * n], x[3 * n], x[4 * n], x[5 * n], x[6 * n], x[7 * n])});
}
HWY_INLINE Vd every_nth(const double* x, std::int64_t n) {
  return Vd{_mm512_setr_pd(x[0], x[n], x[2 * n], x[3 * n], x[4 * n], x[5 * n], x[6 * n], x[7 * n])};
}

// The sums of 8 neighbouring planes of 8k + 1 elements, as every odd square has: k vectors each, and one of the last
// elements of all. No element is loaded twice, and no lane needs a mask. K is k where it is known, else 0.
template <std::int64_t K, class Type, int P, bool S>
HWY_INLINE typename Type::Acc sum_odd_planes(const Powers<Type, P, S>& powers, const typename Type::Storage* x,
                                             std::int64_t n) {
  typename Type::Acc sums[8];
  const std::int64_t k = K > 0 ? K : n / 8;
  if constexpr (K > 0) n = 8 * K + 1;
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const typename Type::Storage* at = x + i * n;
    typename Type::Acc sum = powers.first(at);
    if constexpr (K > 0) {
#pragma GCC unroll 8
      for (std::int64_t j = 1; j < K; ++j) sum = add_loosely(powers, sum, powers.value(at + 8 * j));
    } else {
      for (std::int64_t j = 1; j < k; ++j) sum = add_loosely(powers, sum, powers.value(at + 8 * j));
    }
    sums[i] = settled(sum);
  }
  return powers.add_term(sum_each<8>(sums), powers.prepare(every_nth(x + 8 * k, n)));
}
#endif

template <class Type, int P>
class GlobalPooler {
 public:
  using T = typename Type::Storage;
  using Acc = typename Type::Acc;
  static constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

  GlobalPooler(std::int64_t size, const LpNorm& norm) : size_(size), norm_(norm) {
    powers_.p = norm.whole;
    rounding_ = unscanned_rounding<Type, P>(norm, run_depth() + kLanes);
    for (std::int64_t i = 0; i < lanes(); ++i) cuts_[i] = cut_plane(size, i, lanes());
  }

  void run(const T* x, T* y, std::int64_t planes) {
    std::int64_t plane = 0;
    const std::int64_t block = kBlockVectors * lanes();
    // The roots of several vectors of planes are taken together: each waits long for its sum.
    constexpr std::int64_t kTogether = 8;
    while (plane + kLanes <= planes && size_ <= block) {
      const std::int64_t vectors = std::min((planes - plane) / kLanes, kTogether);
      Acc totals[kTogether];
      const T* const first = x + plane * size_;
      const std::int64_t distance = kLanes * size_;
      for (std::int64_t v = 0; v < vectors; ++v) {
        Acc sums[kLanes];
#if LPPOOL_QUICK_ROOT
        if constexpr (sizeof(T) >= sizeof(float) && (P == 1 || P == 2)) {
          if (size_ % 8 == 1 && size_ > 8 && size_ < 8 * kLanes * kStreams) {
            totals[v] = size_ == 49 ? sum_odd_planes<6>(powers_, first + v * distance, size_)
                                    : sum_odd_planes<0>(powers_, first + v * distance, size_);
            continue;
          }
        }
#endif
        if (size_ >= kLanes && size_ < 8 * kLanes * kStreams) {
          sum_planes(powers_, first + v * distance, cuts_, sums);
        } else {
          for (std::int64_t i = 0; i < kLanes; ++i) sums[i] = sum_run(powers_, first + v * distance + i * size_, size_);
        }
        totals[v] = sum_each<kLanes>(sums);
      }
      const std::int64_t end = plane + vectors * kLanes;
      if (finish_quickly(totals, vectors, y + plane)) plane = end;
      for (std::int64_t v = 0; plane < end; ++v, plane += kLanes)
        finish(totals[v], kLanes, x + plane * size_, y + plane);
    }
    for (; plane < planes; plane += kLanes) {
      const std::int64_t n = std::min(kLanes, planes - plane);
      HWY_ALIGN double hi[kLanes] = {}, lo[kLanes] = {};
      for (std::int64_t i = 0; i < n; ++i) {
        const DoubleDouble sum = sum_plane(powers_, x + (plane + i) * size_, size_);
        hi[i] = sum.hi;
        lo[i] = sum.lo;
      }
      finish(load_sums(hi, lo), n, x + plane * size_, y + plane);
    }
  }

  // One plane whose sum was taken in parts.
  void finish_one(DoubleDouble sum, const T* x, T* y) {
    HWY_ALIGN double hi[kLanes] = {sum.hi}, lo[kLanes] = {sum.lo};
    finish(load_sums(hi, lo), 1, x, y);
  }

 private:
  static HWY_INLINE Acc load_sums(const double* hi, const double* lo) {
    if constexpr (std::is_same_v<Acc, Pair>) {
      return {hn::Load(D(), hi), hn::Load(D(), lo)};
    } else {
      return {hn::Load(D(), hi)};
    }
  }

  // The roots of full vectors; false, and what is in the outputs means nothing, if any needs a closer look.
  HWY_INLINE bool finish_quickly([[maybe_unused]] const Acc* sums, [[maybe_unused]] std::int64_t vectors,
                                 [[maybe_unused]] T* y) const {
#if LPPOOL_QUICK_ROOT
    if constexpr (P == 2 && std::is_same_v<Acc, Single>) {
      if (!can_check_runs<Type, P>(rounding_)) return false;
      RunCheck<Type, P> check(rounding_);
      for (std::int64_t v = 0; v < vectors; ++v) store_quickly(sums[v].hi, y + v * kLanes, check);
      return check.passed();
    }
#endif
    return false;
  }

  HWY_INLINE void finish(Acc sum, std::int64_t n, const T* x, T* y) {
    const Rounded<Type> r = round_sums<Type, P>(sum, rounding_);
    if (n == kLanes) {
      Type::store(r.value, y);
    } else {
      HWY_ALIGN T part[kLanes];
      Type::store(r.value, part);
      std::copy_n(part, n, y);
    }
    if (HWY_LIKELY(hn::AllFalse(D(), r.doubt))) return;
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(D(), r.doubt, bits);
    for (std::int64_t i = 0; i < n; ++i) {
      if (bits[i / 8] >> (i % 8) & 1) settle_plane(x + i * size_, y + i);
    }
  }

  HWY_NOINLINE void settle_plane(const T* x, T* y) {
    const Box box{x, y, {BoxAxis{.in = size_, .out = 1, .kernel = size_}}};
    Rounding scanned = plan_rounding<Type, P>(box, norm_, run_depth() + kLanes);
    if (scanned.smallest_sum < rounding_.smallest_sum || scanned.scale != rounding_.scale || scanned.exact) {
      Powers<Type, P> powers;
      powers.p = norm_.whole;
      powers.scale = scanned.scale;
      const DoubleDouble sum = sum_plane(powers, x, size_);
      HWY_ALIGN double hi[kLanes] = {sum.hi}, lo[kLanes] = {sum.lo};
      const Rounded<Type> r = round_sums<Type, P>(load_sums(hi, lo), scanned);
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(D(), r.doubt, bits);
      if ((bits[0] & 1) == 0) {
        HWY_ALIGN T part[kLanes];
        Type::store(r.value, part);
        *y = part[0];
        return;
      }
    }
    const std::int64_t position = 0;
    store_element(Type::kType, y, 0, settle(Type::kType, box, &position, norm_));
  }

  std::int64_t size_;
  LpNorm norm_;
  Powers<Type, P, false> powers_;  // see above: not scaled at first
  Rounding rounding_;
  PlaneCut cuts_[kLanes];
};

// Calls use(integral_constant<int, P>) with the class of the exponent.
template <class Use>
HWY_INLINE auto with_power_class(std::int64_t p, const Use& use) {
  if (p == 1) return use(std::integral_constant<int, 1>());
  if (p == 2) return use(std::integral_constant<int, 2>());
  if constexpr (std::is_same_v<LPPOOL_ELEMENT, Float32>) {
    if (p == 3) return use(std::integral_constant<int, 3>());
    if (p == 5) return use(std::integral_constant<int, 5>());
  }
  return use(std::integral_constant<int, 0>());
}

void LPPOOL_GLOBAL_ENTRY(const void* x, void* y, std::int64_t planes, std::int64_t size, const LpNorm& norm,
                         const DoubleDouble* sum) {
  using T = LPPOOL_ELEMENT::Storage;
  with_power_class(norm.whole, [&](auto power_class) HWY_ATTR {
    GlobalPooler<LPPOOL_ELEMENT, power_class.value> pooler(size, norm);
    if (sum != nullptr) {
      pooler.finish_one(*sum, static_cast<const T*>(x), static_cast<T*>(y));
    } else {
      pooler.run(static_cast<const T*>(x), static_cast<T*>(y), planes);
    }
  });
}

DoubleDouble LPPOOL_SEGMENT_ENTRY(const void* x, std::int64_t n, const LpNorm& norm) {
  using T = LPPOOL_ELEMENT::Storage;
  return with_power_class(norm.whole, [&](auto power_class) HWY_ATTR {
    Powers<LPPOOL_ELEMENT, power_class.value, false> powers;
    powers.p = norm.whole;
    return sum_plane(powers, static_cast<const T*>(x), n);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#endif  // LPPOOL_KERNELS_GLOBAL_INL_H
