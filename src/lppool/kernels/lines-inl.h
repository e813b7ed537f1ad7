// Lines: rows of sums in scratch memory, and the loops over them, compiled once for each instruction set.
#if defined(LPPOOL_KERNELS_LINES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LPPOOL_KERNELS_LINES_INL_H
#undef LPPOOL_KERNELS_LINES_INL_H
#else
#define LPPOOL_KERNELS_LINES_INL_H
#endif

#include <algorithm>

#include "lppool/kernels/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE std::int64_t round_up(std::int64_t n) { return (n + lanes() - 1) / lanes() * lanes(); }

// A run of sums. A double-double one keeps its low parts `low` doubles further on.
struct Line {
  double* p = nullptr;
  std::int64_t low = 0;

  Line operator+(std::int64_t offset) const { return {p + offset, low}; }
};

template <class Acc>
HWY_INLINE Acc load(Line line) {
  const D d;
  if constexpr (std::is_same_v<Acc, Pair>) {
    return {hn::LoadU(d, line.p), hn::LoadU(d, line.p + line.low)};
  } else {
    return {hn::LoadU(d, line.p)};
  }
}

HWY_INLINE void store(Single v, Line line) { hn::StoreU(v.hi, D(), line.p); }
HWY_INLINE void store(Pair v, Line line) {
  hn::StoreU(v.hi, D(), line.p);
  hn::StoreU(v.lo, D(), line.p + line.low);
}

template <class Acc>
HWY_INLINE Acc zero() {
  Acc r;
  from_double(hn::Zero(D()), r);
  return r;
}

template <class Acc>
void fill_zero(Line line, std::int64_t n) {
  std::fill_n(line.p, n, 0.0);
  if constexpr (std::is_same_v<Acc, Pair>) std::fill_n(line.p + line.low, n, 0.0);
}

// target = a + b over n sums, n a multiple of the vector length. target may be a or b.
template <class Acc>
HWY_INLINE void add_lines(Line a, Line b, std::int64_t n, Line target) {
  for (std::int64_t j = 0; j < n; j += lanes()) store(add(load<Acc>(a + j), load<Acc>(b + j)), target + j);
}

// target = the sum of `count` >= 1 lines.
template <class Acc>
HWY_INLINE void sum_lines(const Line* lines, std::int64_t count, std::int64_t n, Line target) {
  const auto loop = [&](auto fixed) HWY_ATTR {
    const std::int64_t terms = fixed.value > 0 ? fixed.value : count;
    for (std::int64_t j = 0; j < n; j += lanes()) {
      Acc sum = load<Acc>(lines[0] + j);
      for (std::int64_t i = 1; i < terms; ++i) sum = add(sum, load<Acc>(lines[i] + j));
      store(sum, target + j);
    }
  };
  if (count == 2) return loop(std::integral_constant<int, 2>());
  if (count == 3) return loop(std::integral_constant<int, 3>());
  loop(std::integral_constant<int, 0>());
}

// |x|^p of elements, as sums of one term.
template <class Type, int P>
struct Powers {
  using Acc = typename Type::Acc;
  using T = typename Type::Storage;

  std::int64_t p = P;
  double scale = 1;  // a power of two

  // Values are scaled only where a class of p and type needs it at all.
  static constexpr bool kScaled = P == 0 || std::is_same_v<Type, Float64>;

  HWY_INLINE Vd value(const T* x) const {
    Vd v = Type::load(x);
    if constexpr (P != 2 && P != 4) v = hn::Abs(v);
    if constexpr (kScaled) v = hn::Mul(v, hn::Set(D(), scale));
    return v;
  }
  HWY_INLINE Acc first(const T* x) const {
    const Vd v = value(x);
    if constexpr (P == 2 && std::is_same_v<Acc, Pair>) return two_product(v, v);
    Acc base;
    from_double(v, base);
    return power<P>(base, p);
  }
  HWY_INLINE Acc add_to(Acc sum, const T* x) const {
    if constexpr (P == 2 && std::is_same_v<Acc, Single>) {
      const Vd v = value(x);
      return {hn::MulAdd(v, v, sum.hi)};  // the square is exact, fused or not
    } else {
      return add(sum, first(x));
    }
  }
};

// target[j] = sum over `count` >= 1 rows of |row[j]|^p, 0 <= j < n; what follows in the last vector is 0. Rows may end at
// the end of their memory.
template <class Type, int P>
HWY_INLINE void sum_powers(const Powers<Type, P>& powers, const typename Type::Storage* const* rows, std::int64_t count,
                           std::int64_t n, Line target) {
  using Acc = typename Type::Acc;
  using T = typename Type::Storage;
  const std::int64_t step = lanes();
  const auto loop = [&](auto fixed) HWY_ATTR {
    const std::int64_t terms = fixed.value > 0 ? fixed.value : count;
    for (std::int64_t j = 0; j + step <= n; j += step) {
      Acc sum = powers.first(rows[0] + j);
      for (std::int64_t i = 1; i < terms; ++i) sum = powers.add_to(sum, rows[i] + j);
      store(sum, target + j);
    }
  };
  if (count == 1) {
    loop(std::integral_constant<int, 1>());
  } else if (count == 2) {
    loop(std::integral_constant<int, 2>());
  } else if (count == 3) {
    loop(std::integral_constant<int, 3>());
  } else {
    loop(std::integral_constant<int, 0>());
  }
  const std::int64_t done = n / step * step;
  if (done == n) return;
  HWY_ALIGN T tail[hn::MaxLanes(D())] = {};
  Acc sum = zero<Acc>();
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(tail, rows[i] + done, static_cast<std::size_t>(n - done) * sizeof(T));
    sum = powers.add_to(sum, tail);
  }
  store(sum, target + done);
}

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#endif  // LPPOOL_KERNELS_LINES_INL_H
