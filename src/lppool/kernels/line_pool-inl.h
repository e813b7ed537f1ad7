// The last axis of a box: windows along one line of sums, roots and rounding. Compiled once for each instruction set.
#if defined(LPPOOL_KERNELS_LINE_POOL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LPPOOL_KERNELS_LINE_POOL_INL_H
#undef LPPOOL_KERNELS_LINE_POOL_INL_H
#else
#define LPPOOL_KERNELS_LINE_POOL_INL_H
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lppool/base/checked.h"
#include "lppool/kernels/double_double.h"
#include "lppool/kernels/job.h"
#include "lppool/kernels/line_finish-inl.h"
#include "lppool/kernels/lines-inl.h"
#include "lppool/kernels/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {

// Windows up to this many elements are added up one by one along a line.
constexpr std::int64_t kDirectTaps = 5;
// Windows up to this many elements are put together from eights of registers, where vectors have 8 lanes and allow it.
[[maybe_unused]] constexpr std::int64_t kEightsTaps = 64;
// Windows up to this many elements are put together from equal parts; longer ones by doubling.
constexpr std::int64_t kPartedTaps = 36;

// A line is `left_margin()` zeros, the sums of the elements of the axis, and zeros again, in `line_size()` doubles of
// which all but the elements stay 0.
template <class Type, int P>
class LinePooler : private LineFinisher<Type, P> {
 public:
  using Finisher = LineFinisher<Type, P>;
  using typename Finisher::Acc;
  using typename Finisher::T;

  LinePooler(const Box& box, const LpNorm& norm, const Rounding& rounding) : Finisher(box, norm, rounding) {
    plan();
    left_margin_ = round_up(left_);
    line_size_ = left_margin_ + round_up(axis_.in) + round_up(right_) + kSlack;
    sums_size_ = std::max(round_up(end_ - begin_), line_size_) + kSlack;
    const std::int64_t k = axis_.kernel;
    const bool shape = axis_.stride == 1
                           ? k == 2 || k == 3 || ((k == 5 || k == 7) && axis_.dilation == 1)
                           : axis_.stride == 2 && axis_.dilation == 1 && (k == 3 || (k == 2 && !starts_odd()));
    quick_ = LPPOOL_QUICK_ROOT && std::is_same_v<Acc, Single> && (P == 1 || P == 2) && shape && begin_ == 0 &&
             end_ == axis_.out && end_ >= lanes() && !ends_;
  }

  // No window meets the input.
  bool empty() const { return begin_ == end_; }
  std::int64_t left_margin() const { return left_margin_; }
  std::int64_t line_size() const { return line_size_; }
  // How many sums one element passes through here, at most: long windows are shared by doubling, twice 63 levels at
  // most.
  std::int64_t depth() const {
    const std::int64_t taps = axis_.max_taps();
    const bool doubled = axis_.stride == 1 || prefers_dense(axis_.kernel, axis_.stride);
    return doubled ? std::min<std::int64_t>(taps, 126) : taps;
  }
  // Doubles (or pairs of them) of scratch this needs, to be given before use.
  std::int64_t scratch_size() const { return 2 * sums_size_; }
  void set_scratch(Line scratch) { sums_ = scratch; }

  // Whether pool_quickly is worth a try, now that the rounding is known; and whether it wants folded lines.
  bool quick() const {
#if LPPOOL_QUICK_ROOT
    return quick_ && can_check_runs<Type, P>(rounding_);
#else
    return false;
#endif
  }
  bool folds() const {
    return quick_ && axis_.stride == 2;
  }
  // Windows begin at odd places.
  bool starts_odd() const {
    return (axis_.start & 1) != 0;
  }

  // Pools `count` lines, line_size() apart and given by their first element, into rows of outputs y_step apart. False,
  // and what is in the outputs means nothing, if any output needs a closer look. Where the axis folds(), a line is two:
  // the sums of elements 2i and 2i + 1, and then elements 2i, or 2i + 1 where windows start at odd places. Rows of
  // input at `next`, next_step apart, are fetched into the cache on the way.
  bool pool_quickly([[maybe_unused]] Line lines, [[maybe_unused]] std::int64_t count, [[maybe_unused]] T* y,
                    [[maybe_unused]] std::int64_t y_step, [[maybe_unused]] const T* next,
                    [[maybe_unused]] std::int64_t next_step) {
#if LPPOOL_QUICK_ROOT
    if constexpr (std::is_same_v<Acc, Single> && (P == 1 || P == 2)) {
      const std::int64_t k = axis_.kernel, d = axis_.dilation, start = axis_.start, size = line_size_;
      if (axis_.stride == 1) {
        if (k == 2) {
          return this->finish_lines(
              [=](Line line, std::int64_t j) HWY_ATTR {
                const Line at = line + (start + j);
                return add(load<Acc>(at), load<Acc>(at + d));
              },
              lines, size, count, y, y_step, next, next_step);
        }
        if (k == 5) {
          return this->finish_lines([=](Line line, std::int64_t j) HWY_ATTR { return sum_of_5(line + (start + j)); },
                                    lines, size, count, y, y_step, next, next_step);
        }
        if (k == 7) {
          return this->finish_lines([=](Line line, std::int64_t j) HWY_ATTR { return sum_of_7(line + (start + j)); },
                                    lines, size, count, y, y_step, next, next_step);
        }
        return this->finish_lines(
            [=](Line line, std::int64_t j) HWY_ATTR {
              const Line at = line + (start + j);
              return add(add(load<Acc>(at), load<Acc>(at + d)), load<Acc>(at + 2 * d));
            },
            lines, size, count, y, y_step, next, next_step);
      }
      const std::int64_t pair = ceil_div(start, 2);  // the first whole one of the first window
      if (k == 2) {
        return this->finish_lines([=](Line line, std::int64_t j) HWY_ATTR { return load<Acc>(line + (pair + j)); },
                                  lines, 2 * size, count, y, y_step, next, next_step);
      }
      const std::int64_t single = size + (starts_odd() ? pair - 1 : pair + 1);
      return this->finish_lines(
          [=](Line line, std::int64_t j)
              HWY_ATTR { return add(load<Acc>(line + (pair + j)), load<Acc>(line + (single + j))); },
          lines, 2 * size, count, y, y_step, next, next_step);
    }
#endif
    return false;
  }

  // Pools a line, given by its first element, into one row of outputs. position: the indices of the row along the axes
  // before this one, followed by a place for the index along it.
  void pool(Line elements, T* y, std::int64_t* position) {
    position_ = position;
    const BoxAxis& ax = axis_;
    std::fill_n(y, begin_, T{});
    std::fill(y + end_, y + ax.out, T{});
    const std::int64_t n = end_ - begin_;
    const Line line = elements + (ax.start + begin_ * ax.stride);
    const std::int64_t k = ax.kernel, d = ax.dilation;
    T* const target = y + begin_;
    if (ends_) {
      sum_from_ends(elements);
    } else if (k == 1 && ax.stride == 1) {
      return finish([&](std::int64_t j) HWY_ATTR { return load<Acc>(line + j); }, n, target);
    } else if (k == 2 && ax.stride == 1) {
      return use([&](std::int64_t j) HWY_ATTR { return add(load<Acc>(line + j), load<Acc>(line + (j + d))); }, n,
                 target);
    } else if (k == 3 && ax.stride == 1) {
      return use(
          [&](std::int64_t j) HWY_ATTR {
            return add(add(load<Acc>(line + j), load<Acc>(line + (j + d))), load<Acc>(line + (j + 2 * d)));
          },
          n, target);
#if LPPOOL_QUICK_ROOT
    } else if (std::is_same_v<Acc, Single> && ax.stride == 1 && d == 1 && k <= kEightsTaps) {
      const std::int64_t eights = k / 8;
      const bool rest = k % 8 != 0;
      const Line sums_of_8 = sums_ + sums_size_;
      sum_by_eights(line, n);
      return use(
          [&](std::int64_t j) HWY_ATTR {
            Acc sum = load<Acc>((rest ? sums_ : sums_of_8) + j);
            for (std::int64_t i = rest ? 0 : 1; i < eights; ++i) sum = add(sum, load<Acc>(sums_of_8 + (j + 8 * i)));
            return sum;
          },
          n, target);
#endif
    } else if (k <= kDirectTaps && ax.stride == 1) {
      fill_sums(
          [&](std::int64_t j) HWY_ATTR {
            Acc sum = load<Acc>(line + j);
            for (std::int64_t i = 1; i < k; ++i) sum = add(sum, load<Acc>(line + (j + i * d)));
            return sum;
          },
          n);
    } else if (k <= kPartedTaps && ax.stride == 1) {
      sum_by_parts(line, n);
    } else if (ax.stride == 1) {
      sum_by_doubling(line, n);
#if HWY_TARGET != HWY_SCALAR
    } else if (ax.stride == 2 && d == 1 && k == 2) {
      return use([&](std::int64_t j)
                     HWY_ATTR { return add(every_other(line + 2 * j, 0), every_other(line + 2 * j, 1)); },
                 n, target);
    } else if (ax.stride == 2 && d == 1 && k == 3) {
      return use(
          [&](std::int64_t j) HWY_ATTR {
            const Line at = line + 2 * j;
            return add(add(every_other(at, 0), every_other(at, 1)), every_other(at + 2, 0));
          },
          n, target);
#endif
    } else if (prefers_dense(k, ax.stride)) {
      sum_by_doubling(line, (n - 1) * ax.stride + 1);
      pick(sums_, n);
    } else {
      sum_strided(line, n);
    }
    finish([&](std::int64_t j) HWY_ATTR { return load<Acc>(sums_ + j); }, n, target);
  }

 private:
  using Finisher::axis_;
  using Finisher::begin_;
  using Finisher::end_;
  using Finisher::finish;
  using Finisher::position_;
  using Finisher::rounding_;

  // Vector loads run over the end of a line.
  static constexpr std::int64_t kSlack = 4 * static_cast<std::int64_t>(hn::MaxLanes(D()));

  // Which outputs meet the input at all, and how many zeros the line needs on both sides.
  void plan() {
    const BoxAxis& ax = axis_;
    const auto reach = checked_mul(ax.kernel - 1, ax.dilation);
    begin_ = 0;
    if (ax.start < 0 && reach && *reach < -ax.start) begin_ = std::min(ceil_div(-ax.start - *reach, ax.stride), ax.out);
    end_ = ax.start >= ax.in ? 0 : std::min(ax.out, (ax.in - 1 - ax.start) / ax.stride + 1);
    end_ = std::max(end_, begin_);
    // Windows that reach far beyond the line are summed from its ends instead: the zeros would cost more than the line.
    ends_ = !reach || *reach > 2 * ax.in + 1024;
    left_ = 0;
    right_ = 0;
    if (begin_ == end_) return;
    if (!ends_) {
      left_ = std::max<std::int64_t>(0, -(ax.start + begin_ * ax.stride));
      right_ = std::max<std::int64_t>(0, ax.start + (end_ - 1) * ax.stride + *reach - (ax.in - 1));
    }
  }

  // All windows of a dense line cost log2(k) additions each, and only every stride-th is wanted.
  static bool prefers_dense(std::int64_t k, std::int64_t stride) {
    const auto digits =
        64 - static_cast<std::int64_t>(hwy::Num0BitsAboveMS1Bit_Nonzero64(static_cast<std::uint64_t>(k)));
    return k * lanes() > 4 * stride * digits;
  }

  // The roots of sum(j): at once, or, where a root is much code, by way of memory.
  template <class Sum>
  HWY_INLINE void use(const Sum& sum, std::int64_t n, T* y) {
    if constexpr (P != 0) {
      finish(sum, n, y);
    } else {
      fill_sums(sum, n);
      finish([&](std::int64_t j) HWY_ATTR { return load<Acc>(sums_ + j); }, n, y);
    }
  }

  template <class Sum>
  HWY_INLINE void fill_sums(const Sum& sum, std::int64_t n) {
    for (std::int64_t j = 0; j < n; j += lanes()) store(sum(j), sums_ + j);
  }

#if HWY_TARGET != HWY_SCALAR
  // Elements odd, odd + 2, ... of a line.
  static HWY_INLINE Acc every_other(Line line, int odd) {
    const Acc a = load<Acc>(line), b = load<Acc>(line + lanes());
    return odd ? odd_lanes(b, a) : even_lanes(b, a);
  }
#endif

#if LPPOOL_QUICK_ROOT
  // Windows as whole vectors of 8 elements and a rest. Sums of 8 neighbours are made of pairs and fours by shifts of
  // registers, so that every element is loaded once; what is left of a window uses the same pairs and fours.
  // Leaves the sums of 8 behind sums_, and the rests of all windows in sums_ if there are any.
  void sum_by_eights(Line line, std::int64_t n) const {
    const std::int64_t eights = axis_.kernel / 8, rest = axis_.kernel % 8, vectors = (n + 7) / 8;
    const Line sums_of_8 = sums_ + sums_size_;
    const auto pairs = [](Vd next, Vd v) HWY_ATTR { return hn::Add(v, shifted<1>(next, v)); };
    const auto fours = [](Vd next_pairs, Vd p) HWY_ATTR { return hn::Add(p, shifted<2>(next_pairs, p)); };
    const D d;
    // What starts in vector i: elements v0, v1, ..., pairs p0, p1, ..., fours f0, f1.
    Vd v0 = hn::LoadU(d, line.p), v1 = hn::LoadU(d, line.p + 8), v2 = hn::LoadU(d, line.p + 16);
    Vd p0 = pairs(v1, v0), p1 = pairs(v2, v1), f0 = fours(p1, p0);
    for (std::int64_t i = 0; i < vectors + eights; ++i) {
      const Vd v3 = hn::LoadU(d, line.p + 8 * i + 24);
      const Vd p2 = pairs(v3, v2), f1 = fours(p2, p1);
      hn::StoreU(hn::Add(f0, shifted<4>(f1, f0)), d, sums_of_8.p + 8 * i);
      if (rest != 0 && i >= eights) {
        Vd sum = v0;
        if (rest == 2) sum = p0;
        if (rest == 3) sum = hn::Add(p0, shifted<2>(v1, v0));
        if (rest == 4) sum = f0;
        if (rest == 5) sum = hn::Add(f0, shifted<4>(v1, v0));
        if (rest == 6) sum = hn::Add(f0, shifted<4>(p1, p0));
        if (rest == 7) sum = hn::Add(hn::Add(f0, shifted<4>(p1, p0)), shifted<6>(v1, v0));
        hn::StoreU(sum, d, sums_.p + 8 * (i - eights));
      }
      v0 = v1, v1 = v2, v2 = v3;
      p0 = p1, p1 = p2;
      f0 = f1;
    }
  }
#endif

  // Windows as parts of r elements each, whose sums neighbouring windows share, and what is left: about 2 sqrt(k)
  // additions in two passes.
  void sum_by_parts(Line line, std::int64_t n) {
    const std::int64_t k = axis_.kernel, d = axis_.dilation;
    std::int64_t r = 2;
    const auto cost = [k](std::int64_t part) { return part - 1 + k / part - 1 + k % part; };
    for (std::int64_t part = 3; part * part <= 2 * k; ++part) {
      if (cost(part) < cost(r)) r = part;
    }
    const Line parts = sums_ + sums_size_;
    const std::int64_t whole = k / r;
    for (std::int64_t j = 0; j < n + (whole - 1) * r * d; j += lanes()) {
      Acc sum = load<Acc>(line + j);
      for (std::int64_t i = 1; i < r; ++i) sum = add(sum, load<Acc>(line + (j + i * d)));
      store(sum, parts + j);
    }
    fill_sums(
        [&](std::int64_t j) HWY_ATTR {
          Acc sum = load<Acc>(parts + j);
          for (std::int64_t i = 1; i < whole; ++i) sum = add(sum, load<Acc>(parts + (j + i * r * d)));
          for (std::int64_t i = whole * r; i < k; ++i) sum = add(sum, load<Acc>(line + (j + i * d)));
          return sum;
        },
        n);
  }

  // sums_[j] = sum of line[j + i*d], 0 <= i < k: windows of 1, 2, 4, ... elements, put together by the binary digits of
  // k.
  void sum_by_doubling(Line line, std::int64_t n) {
    const std::int64_t d = axis_.dilation;
    std::int64_t rest = axis_.kernel;
    Line current = line;  // sums of `size` elements
    const Line scratch = sums_ + sums_size_;
    std::int64_t size = 1, done = 0;  // `done` elements of each window are in sums_
    for (;; size *= 2, rest /= 2) {
      if (rest & 1) {
        const Line part = current + done * d;
        if (done == 0) {
          for (std::int64_t j = 0; j < n; j += lanes()) store(load<Acc>(part + j), sums_ + j);
        } else {
          add_lines<Acc>(sums_, part, round_up(n), sums_);
        }
        done += size;
      }
      if (rest == 1) return;
      // The longer sums are needed as far as the windows that remain reach.
      const std::int64_t length = round_up(n + (axis_.kernel - 2 * size) * d);
      for (std::int64_t j = 0; j < length; j += lanes()) {
        store(add(load<Acc>(current + j), load<Acc>(current + (j + size * d))), scratch + j);
      }
      current = scratch;
    }
  }

  void pick(Line from, std::int64_t n) const {
    const std::int64_t s = axis_.stride;
    for (std::int64_t o = 1; o < n; ++o) {
      from.p[o] = from.p[o * s];
      if constexpr (std::is_same_v<Acc, Pair>) from.p[from.low + o] = from.p[from.low + o * s];
    }
  }

  // Windows that overlap little: the elements i of `lanes` windows at a time.
  void sum_strided(Line line, std::int64_t n) {
    const BoxAxis& ax = axis_;
    const D d;
    const auto index = hn::Mul(hn::Iota(Di(), 0), hn::Set(Di(), ax.stride));
    std::int64_t j = 0;
    for (; j + lanes() <= n; j += lanes()) {
      const Line at = line + j * ax.stride;
      Acc sum = zero<Acc>();
      for (std::int64_t i = 0; i < ax.kernel; ++i) {
        Acc v;
        from_double(hn::GatherIndex(d, at.p + i * ax.dilation, index), v);
        if constexpr (std::is_same_v<Acc, Pair>) v.lo = hn::GatherIndex(d, at.p + at.low + i * ax.dilation, index);
        sum = add(sum, v);
      }
      store(sum, sums_ + j);
    }
    // One by one: the lanes that are no windows would lie far outside the line.
    for (; j < n; ++j) {
      DoubleDouble sum;
      for (std::int64_t i = 0; i < ax.kernel; ++i) {
        const std::int64_t at = j * ax.stride + i * ax.dilation;
        sum = kernels::add(sum, {line.p[at], std::is_same_v<Acc, Pair> ? line.p[line.low + at] : 0.0});
      }
      sums_.p[j] = sum.hi;
      if constexpr (std::is_same_v<Acc, Pair>) sums_.p[sums_.low + j] = sum.lo;
    }
  }

  // Every window contains one end of its chain of elements `dilation` apart, so its sum is a sum from that end.
  void sum_from_ends(Line line) {
    const BoxAxis& ax = axis_;
    std::vector<DoubleDouble> from_left(static_cast<std::size_t>(ax.in)), from_right(from_left.size());
    const auto value = [&](std::int64_t j) {
      return DoubleDouble{line.p[j], std::is_same_v<Acc, Pair> ? line.p[line.low + j] : 0.0};
    };
    const auto at = [](std::vector<DoubleDouble>& v, std::int64_t j) -> DoubleDouble& {
      return v[static_cast<std::size_t>(j)];
    };
    for (std::int64_t j = 0; j < ax.in; ++j) {
      at(from_left, j) = j < ax.dilation ? value(j) : kernels::add(at(from_left, j - ax.dilation), value(j));
    }
    for (std::int64_t j = ax.in - 1; j >= 0; --j) {
      at(from_right, j) = ax.in - j <= ax.dilation ? value(j) : kernels::add(at(from_right, j + ax.dilation), value(j));
    }
    for (std::int64_t o = begin_; o < end_; ++o) {
      const std::int64_t start = ax.start + o * ax.stride;
      const std::int64_t first = start >= 0 ? start : start - floor_div(start, ax.dilation) * ax.dilation;
      const std::int64_t skipped = (first - start) / ax.dilation;
      DoubleDouble sum;
      if (first < ax.in && skipped < ax.kernel) {
        const std::int64_t taps = std::min(ax.kernel - skipped, (ax.in - 1 - first) / ax.dilation + 1);
        const std::int64_t last = first + (taps - 1) * ax.dilation;
        sum = skipped > 0 || first < ax.dilation ? at(from_left, last) : at(from_right, first);
      }
      sums_.p[o - begin_] = sum.hi;
      if constexpr (std::is_same_v<Acc, Pair>) sums_.p[sums_.low + o - begin_] = sum.lo;
    }
  }

#if LPPOOL_QUICK_ROOT
  // Lanes n, n + 1, ... of a and then of b.
  template <int N>
  static HWY_INLINE Vd shifted(Vd b, Vd a) {
    return Vd{_mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(b.raw), _mm512_castpd_si512(a.raw), N))};
  }
  // Sums of windows of 5 or 7 elements: neighbours are added once, and pairs shared. One load for each element would
  // take longer, as most of them lie across two cache lines.
  static HWY_INLINE Single sum_of_5(Line at) {
    const Vd a = load<Single>(at).hi, b = load<Single>(at + lanes()).hi;
    const Vd pairs = hn::Add(a, shifted<1>(b, a)), more = hn::Add(b, shifted<1>(b, b));
    return {hn::Add(hn::Add(pairs, shifted<2>(more, pairs)), shifted<4>(b, a))};
  }
  static HWY_INLINE Single sum_of_7(Line at) {
    const Vd a = load<Single>(at).hi, b = load<Single>(at + lanes()).hi;
    const Vd pairs = hn::Add(a, shifted<1>(b, a)), more = hn::Add(b, shifted<1>(b, b));
    return {hn::Add(hn::Add(pairs, shifted<2>(more, pairs)), hn::Add(shifted<4>(more, pairs), shifted<6>(b, a)))};
  }
#endif

  std::int64_t left_ = 0, right_ = 0;
  bool ends_ = false;
  bool quick_ = false;  // the shape is one of pool_quickly
  std::int64_t left_margin_ = 0, line_size_ = 0, sums_size_ = 0;
  Line sums_;
};

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#endif  // LPPOOL_KERNELS_LINE_POOL_INL_H
