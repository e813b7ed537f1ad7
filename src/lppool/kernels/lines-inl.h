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

HWY_INLINE std::int64_t round_up(std::int64_t n) {
  return (n + lanes() - 1) / lanes() * lanes();
}

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

HWY_INLINE void store(Single v, Line line) {
  hn::StoreU(v.hi, D(), line.p);
}
HWY_INLINE void store(Pair v, Line line) {
  hn::StoreU(v.hi, D(), line.p);
  hn::StoreU(v.lo, D(), line.p + line.low);
}

#if HWY_TARGET != HWY_SCALAR
// The lanes with even (odd) numbers of a, then those of b.
HWY_INLINE Single even_lanes(Single b, Single a) {
  return {hn::ConcatEven(D(), b.hi, a.hi)};
}
HWY_INLINE Single odd_lanes(Single b, Single a) {
  return {hn::ConcatOdd(D(), b.hi, a.hi)};
}
HWY_INLINE Pair even_lanes(Pair b, Pair a) {
  return {hn::ConcatEven(D(), b.hi, a.hi), hn::ConcatEven(D(), b.lo, a.lo)};
}
HWY_INLINE Pair odd_lanes(Pair b, Pair a) {
  return {hn::ConcatOdd(D(), b.hi, a.hi), hn::ConcatOdd(D(), b.lo, a.lo)};
}
#endif

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

// What a sum of squares of zeros is, each: far below the square of the smallest float32 and bfloat16.
constexpr double kTinySum = 0x1p-900;

// Values are scaled only where a class of p and type needs it at all.
template <class Type, int P>
constexpr bool kNeedsScale = P == 0 || std::is_same_v<Type, Float64>;

// |x|^p of elements, as sums of one term.
template <class Type, int P, bool Scaled = kNeedsScale<Type, P>>
struct Powers {
  using Acc = typename Type::Acc;
  using T = typename Type::Storage;

  std::int64_t p = P;
  double scale = 1;  // a power of two

  HWY_INLINE Vd value(const T* x) const {
    if constexpr (std::is_same_v<Type, Float32> && P != 2 && !Scaled) return Type::load_abs(x);
    return prepare(Type::load(x));
  }
  HWY_INLINE Vd prepare(Vd v) const {
    if constexpr (P != 2) v = hn::Abs(v);
    if constexpr (Scaled) v = hn::Mul(v, hn::Set(D(), scale));
    return v;
  }
  HWY_INLINE Acc first(const T* x) const { return term(value(x)); }
  HWY_INLINE Acc term(Vd v) const {
    if constexpr (P == 2 && std::is_same_v<Acc, Pair>) return two_product(v, v);
    // The addend vanishes beside any square of these types and saves the root a test for zero.
    if constexpr (P == 2 && std::is_same_v<Acc, Single>) return {hn::MulAdd(v, v, hn::Set(D(), kTinySum))};
    Acc base;
    from_double(v, base);
    return power<P>(base, p);
  }
  HWY_INLINE Acc add_to(Acc sum, const T* x) const { return add_term(sum, value(x)); }
  // The first n elements (fewer than lanes) of what may be the end of their memory, and zeros.
  HWY_INLINE Vd part(const T* x, std::int64_t n) const {
    return n > 0 ? prepare(Type::load_part(x, n)) : hn::Zero(D());
  }
  // Their powers; lanes that are no elements are plain zeros.
  HWY_INLINE Acc first_part(Vd v, std::int64_t n) const {
    if constexpr (P == 2 && std::is_same_v<Acc, Single>) {
      const Mask elements = hn::FirstN(D(), static_cast<std::size_t>(n));
      return {hn::MulAdd(v, v, hn::IfThenElseZero(elements, hn::Set(D(), kTinySum)))};
    } else {
      return add_term(zero<Acc>(), v);
    }
  }
  HWY_INLINE Acc add_part_to(Acc sum, const T* x, std::int64_t n) const { return add_term(sum, part(x, n)); }
  HWY_INLINE Acc add_term(Acc sum, Vd v) const {
    if constexpr (P == 2 && std::is_same_v<Acc, Single>) {
      return {hn::MulAdd(v, v, sum.hi)};  // the square is exact, fused or not
    } else {
      return add(sum, term(v));
    }
  }
};

// target[j] = sum over `count` >= 1 rows of |row[j]|^p, 0 <= j < n; what follows in the last vector is 0. Rows may end
// at the end of their memory.
template <class Type, int P>
HWY_INLINE void sum_powers(const Powers<Type, P>& powers, const typename Type::Storage* const* rows, std::int64_t count,
                           std::int64_t n, Line target) {
  using Acc = typename Type::Acc;
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
  Acc sum = powers.first_part(powers.part(rows[0] + done, n - done), n - done);
  for (std::int64_t i = 1; i < count; ++i) sum = powers.add_part_to(sum, rows[i] + done, n - done);
  store(sum, target + done);
}

// One or two vectors of columns of a row: the elements and their powers.
template <class Type, int P, int V>
struct Columns {
  using Acc = typename Type::Acc;
  Vd values[V];
  Acc powers[V];
};

// `count` windows at once, each of K rows and Step < K rows after the one before: rows[i * Step] is the first of window
// i. Every row is widened and raised to the power once. The sums of V vectors of columns of a window are handed on as
// use(i, j, sums), j their first column; columns from n on are 0.
template <int K, int Step, int V, class Type, int P, class Use>
HWY_INLINE void sum_powers_of_windows(const Powers<Type, P>& powers, const typename Type::Storage* const* rows,
                                      std::int64_t count, std::int64_t n, const Use& use) {
  using Acc = typename Type::Acc;
  using Terms = Columns<Type, P, V>;
  static_assert(Step < K && K <= 3 && V <= 2);
  // to = sums + a row. Squares are added while they are taken: additions and products have execution units apart, and
  // the sums along the line are additions too.
  const auto add_row = [&](const Acc* sums, const Terms& row, Acc* to) HWY_ATTR {
    const auto sum = [&](Acc a, Vd value, Acc power) HWY_ATTR {
      return P == 2 && std::is_same_v<Acc, Single> ? powers.add_term(a, value) : add(a, power);
    };
    to[0] = sum(sums[0], row.values[0], row.powers[0]);
    if constexpr (V == 2) to[1] = sum(sums[1], row.values[1], row.powers[1]);
  };
  const auto add_powers = [](const Acc* a, const Acc* b, Acc* to) HWY_ATTR {
    to[0] = add(a[0], b[0]);
    if constexpr (V == 2) to[1] = add(a[1], b[1]);
  };
  const auto column = [&](std::int64_t j, const auto& load_row) HWY_ATTR {
    const auto* const* row = rows;
    const auto next = [&]() HWY_ATTR {
      Terms r;
      load_row(*row, 0, r.values[0], r.powers[0]);
      if constexpr (V == 2) load_row(*row, lanes(), r.values[1], r.powers[1]);
      ++row;
      return r;
    };
    Acc sums[V];
    if constexpr (K == 3 && Step == 1) {
      const Terms top = next();
      Terms middle = next();
      Acc pair[V];
      add_powers(top.powers, middle.powers, pair);
      for (std::int64_t i = 0; i < count; ++i) {
        const Terms bottom = next();
        add_row(pair, bottom, sums);
        use(i, j, sums);
        add_powers(middle.powers, bottom.powers, pair);
        middle = bottom;
      }
    } else {
      Terms top = next();
      for (std::int64_t i = 0; i < count; ++i) {
        if constexpr (K == 3) add_row(top.powers, next(), top.powers);
        const Terms bottom = next();
        add_row(top.powers, bottom, sums);
        use(i, j, sums);
        top = bottom;
      }
    }
  };
  const std::int64_t step = V * lanes();
  std::int64_t j = 0;
  for (; j + step <= n; j += step) {
    column(j, [&](const auto* row, std::int64_t offset, Vd& value, Acc& power) HWY_ATTR {
      value = powers.value(row + j + offset);
      power = powers.term(value);
    });
  }
  if (j == n) return;
  column(j, [&](const auto* row, std::int64_t offset, Vd& value, Acc& power) HWY_ATTR {
    const std::int64_t left = std::clamp<std::int64_t>(n - j - offset, 0, lanes());
    value = left == lanes() ? powers.value(row + j + offset) : powers.part(row + j + offset, left);
    power = left == lanes() ? powers.term(value) : powers.first_part(value, left);
  });
}

// The same for up to K + 1 windows of K rows, each one row after the one before: rows[0 .. 2K - 1]. With the rows cut
// in two halves, a window is the end of the first and the beginning of the second: three additions for a window. Sums
// are plain doubles.
template <int K, class Type, int P, class Use>
HWY_INLINE void sum_powers_of_halves(const Powers<Type, P>& powers, const typename Type::Storage* const* rows,
                                     std::int64_t count, std::int64_t n, const Use& use) {
  using Acc = typename Type::Acc;
  const std::int64_t whole = n / lanes() * lanes();
  for (std::int64_t j = 0; j < n; j += lanes()) {
    Vd values[2 * K];
    if (HWY_LIKELY(j < whole)) {
#pragma GCC unroll 14
      for (int i = 0; i < 2 * K; ++i) values[i] = powers.value(rows[i] + j);
    } else {
      for (int i = 0; i < 2 * K; ++i) values[i] = powers.part(rows[i] + j, n - j);
    }
    Acc ends[K];  // sums of rows i .. K - 1
    ends[K - 1] = powers.term(values[K - 1]);
#pragma GCC unroll 7
    for (int i = K - 2; i >= 0; --i) ends[i] = powers.add_term(ends[i + 1], values[i]);
    if (HWY_UNLIKELY(j >= whole)) {
      // Lanes that are no elements hold nothing but a square's addend.
      const Mask elements = hn::FirstN(D(), static_cast<std::size_t>(n - j));
      for (Acc& end : ends) end.hi = hn::IfThenElseZero(elements, end.hi);
    }
    use(0, j, &ends[0]);
    Acc begin = powers.first_part(values[K], HWY_LIKELY(j < whole) ? lanes() : n - j);
#pragma GCC unroll 7
    for (int i = 1; i < K; ++i) {
      if (i > 1) begin = powers.add_term(begin, values[K + i - 1]);
      const Acc sum = add(ends[i], begin);
      if (i < count) use(i, j, &sum);
    }
    if (K < count) {
      begin = powers.add_term(begin, values[2 * K - 1]);
      use(K, j, &begin);
    }
  }
}

// Two neighbouring windows of k lines that hold sums already, the second `step` lines after the first; n a multiple of
// the vector length. What they share is added up once.
template <class Acc>
HWY_INLINE void sum_lines_of_two_windows(const Line* lines, std::int64_t k, std::int64_t step, std::int64_t n,
                                         Line first, Line second) {
  for (std::int64_t j = 0; j < n; j += lanes()) {
    Acc shared = load<Acc>(lines[step] + j);
    for (std::int64_t i = step + 1; i < k; ++i) shared = add(shared, load<Acc>(lines[i] + j));
    Acc a = shared, b = shared;
    for (std::int64_t i = 0; i < step; ++i) a = add(a, load<Acc>(lines[i] + j));
    for (std::int64_t i = k; i < k + step; ++i) b = add(b, load<Acc>(lines[i] + j));
    store(a, first + j);
    store(b, second + j);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#endif  // LPPOOL_KERNELS_LINES_INL_H
