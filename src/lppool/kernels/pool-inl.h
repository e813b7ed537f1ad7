// The fast pooling of one box, compiled once for each instruction set and included by pool_<type>.cc, which defines
// LPPOOL_ELEMENT (Float32, ...) and LPPOOL_ENTRY (pool_box_f32, ...).
//
// A window is a product of intervals, so its sum of powers is a sum of sums, one axis after the other. The outermost
// axis is streamed: for each of its outputs the slabs (rows, or planes of rows) under the window are added up, and the
// slab that results is pooled along the remaining axes in the same way. The last axis works on a line with zeros on
// both sides, takes the root and rounds. Overlapping windows share their sums by doubling or by a queue of suffix sums;
// nothing is ever subtracted, so a NaN or a large value never outlives the windows it belongs to.
#if defined(LPPOOL_KERNELS_POOL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LPPOOL_KERNELS_POOL_INL_H
#undef LPPOOL_KERNELS_POOL_INL_H
#else
#define LPPOOL_KERNELS_POOL_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "lppool/base/checked.h"
#include "lppool/kernels/double_double.h"
#include "lppool/kernels/job.h"
#include "lppool/kernels/lines-inl.h"
#include "lppool/kernels/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {

// Windows up to this many slabs are added up one by one; longer ones share sums.
constexpr std::int64_t kDirectSlabs = 8;
// The same for elements along a line.
constexpr std::int64_t kDirectTaps = 5;
// Windows up to this many elements are put together from equal parts; longer ones by doubling.
constexpr std::int64_t kPartedTaps = 36;
// Up to this many rows are widened and raised to the power again for every output rather than kept.
constexpr std::int64_t kRepeatedRows = 3;
// Rows of windows whose sums are taken at a time, as far as their lines fit half of a first-level cache.
constexpr std::int64_t kMaxLines = 8;
constexpr std::int64_t kLineDoubles = 2048;

// How many sums one term passes through, at most: each adds a rounding error of 2^-53 (3 * 2^-106 in double-double).
inline std::int64_t sum_depth(const std::vector<BoxAxis>& axes) {
  std::int64_t depth = 0;
  for (const BoxAxis& axis : axes) depth += axis.max_taps();
  return depth;
}

template <class Type, int P>
class BoxPooler {
 public:
  using T = typename Type::Storage;
  using Acc = typename Type::Acc;

  BoxPooler(const Box& box, const LpNorm& norm, Workspace& workspace)
      : box_(box), norm_(norm), workspace_(workspace), last_(box.axes.size() - 1), position_(box.axes.size()) {}

  void run() {
    for (const BoxAxis& axis : box_.axes) {
      if (axis.out == 0) return;
    }
    T* y = static_cast<T*>(box_.y);
    for (const BoxAxis& axis : box_.axes) {
      if (axis.in == 0) return fill_zero_output(0, y);
    }
    rounding_ = plan_rounding<Type, P>(box_, norm_, sum_depth(box_.axes));
    powers_.p = norm_.whole;
    powers_.scale = rounding_.scale;
    plan_line();
    if (line_begin_ == line_end_) return fill_zero_output(0, y);
    plan_scratch();
    if (last_ == 0) {
      const T* row = static_cast<const T*>(box_.x);
      sum_powers(powers_, &row, 1, axis(0).in, line(0) + margin_left_);
      finish_line(line(0), y);
    } else {
      reduce(0, RawSlabs{*this, static_cast<const T*>(box_.x)}, y);
    }
  }

 private:
  const BoxAxis& axis(std::size_t a) const { return box_.axes[a]; }

  // The dense problem of one residue: slab j is input residue + j*dilation, window m is [first + m*advance, ... +
  // kernel).
  struct Stream {
    std::int64_t residue, dilation, slabs, first, advance, kernel;

    std::pair<std::int64_t, std::int64_t> window(std::int64_t m) const {
      const std::int64_t begin = first + m * advance;
      if (begin >= slabs) return {0, 0};
      // kernel is cut before it is added: begin + kernel may exceed the input by far.
      return {std::max<std::int64_t>(begin, 0), std::min(kernel, slabs - begin) + begin};
    }
  };

  // ---- Slabs: what an axis is streamed over. A slab is rows_[a] rows of `width_` sums (the last axis), one after
  // another.

  struct RawSlabs {  // of the input itself
    const BoxPooler& pooler;
    const T* x;

    static constexpr bool kRaw = true;
    void sum(std::int64_t first, std::int64_t step, std::int64_t count, Line target, std::int64_t target_step) const {
      const std::int64_t x_step = pooler.axis(0).x_step;
      for (std::size_t r = 0; r < pooler.row_offsets_.size(); ++r) {
        const T* const base = x + pooler.row_offsets_[r];
        pooler.row_pointers_.resize(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i) {
          pooler.row_pointers_[static_cast<std::size_t>(i)] = base + (first + i * step) * x_step;
        }
        sum_powers(pooler.powers_, pooler.row_pointers_.data(), count, pooler.axis(pooler.last_).in,
                   target + static_cast<std::int64_t>(r) * target_step);
      }
    }
    // Windows m, m + 1, ... of overlapping rows, as many as are full and have a line, into lines 0, 1, ...; returns
    // their number, 0 if the windows are not of a shape this is compiled for.
    std::int64_t sum_run(const Stream& stream, std::int64_t m, std::int64_t outputs) const {
      const std::int64_t k = stream.kernel, step = stream.advance, begin = stream.first + m * step;
      if (k > kRepeatedRows || step >= k || begin < 0 || begin + k > stream.slabs) return 0;
      const std::int64_t count =
          std::min({(stream.slabs - begin - k) / step + 1, outputs - m, static_cast<std::int64_t>(pooler.lines_)});
      if (count < 2) return 0;
      const T* rows[2 * kMaxLines + kRepeatedRows];
      const std::int64_t x_step = pooler.axis(0).x_step;
      for (std::int64_t i = 0; i < (count - 1) * step + k; ++i) {
        rows[i] = x + (stream.residue + (begin + i) * stream.dilation) * x_step;
      }
      const auto sum = [&](auto kernel, auto advance) HWY_ATTR {
        sum_powers_of_windows<kernel.value, advance.value>(pooler.powers_, rows, count, pooler.axis(pooler.last_).in,
                                                           pooler.line(0) + pooler.margin_left_, pooler.line_size_);
      };
      using One = std::integral_constant<int, 1>;
      using Two = std::integral_constant<int, 2>;
      using Three = std::integral_constant<int, 3>;
      if (k == 2) {
        sum(Two(), One());
      } else if (step == 1) {
        sum(Three(), One());
      } else {
        sum(Three(), Two());
      }
      return count;
    }
  };

  struct LineSlabs {  // of a slab an outer axis has produced
    const BoxPooler& pooler;
    Line base;
    std::int64_t rows;  // in each slab

    static constexpr bool kRaw = false;
    void sum(std::int64_t first, std::int64_t step, std::int64_t count, Line target, std::int64_t target_step) const {
      pooler.line_pointers_.resize(static_cast<std::size_t>(count));
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t i = 0; i < count; ++i) {
          pooler.line_pointers_[static_cast<std::size_t>(i)] = base + ((first + i * step) * rows + r) * pooler.width_;
        }
        sum_lines<Acc>(pooler.line_pointers_.data(), count, pooler.width_, target + r * target_step);
      }
    }
  };

  // Pools axis `a` (not the last) of `source` and, for each output, the axes after it.
  template <class Source>
  void reduce(std::size_t a, const Source& source, T* y) {
    const BoxAxis& ax = axis(a);
    // With dilation d, window o meets only slabs of the residue (start + o*stride) mod d: each residue is a dense
    // problem.
    const std::int64_t common = std::gcd(ax.stride, ax.dilation);
    const std::int64_t period = ax.dilation / common;  // outputs apart that share a residue
    for (std::int64_t phase = 0; phase < std::min(period, ax.out); ++phase) {
      const std::int64_t start = ax.start + phase * ax.stride;
      const std::int64_t first = floor_div(start, ax.dilation);
      const std::int64_t residue = start - first * ax.dilation;
      Stream stream{residue, ax.dilation,        residue < ax.in ? (ax.in - 1 - residue) / ax.dilation + 1 : 0,
                    first,   ax.stride / common, ax.kernel};
      const std::int64_t outputs = (ax.out - 1 - phase) / period + 1;
      const std::int64_t taps = std::min(ax.kernel, stream.slabs);
      const bool overlap = stream.advance < taps;
      if (overlap && taps > kDirectSlabs) {
        reduce_queue(a, source, y, stream, phase, period, outputs);
      } else if (overlap && taps > kRepeatedRows && Source::kRaw) {
        reduce_ring(a, source, y, stream, phase, period, outputs);
      } else {
        for (std::int64_t m = 0; m < outputs; ++m) {
          const auto [begin, end] = stream.window(m);
          const std::int64_t o = phase + m * period;
          if constexpr (Source::kRaw) {
            const std::int64_t run = a + 1 == last_ ? source.sum_run(stream, m, outputs) : 0;
            for (std::int64_t i = 0; i < run; ++i) emit_line(i, a, o + i * period, y);
            if (run > 0) {
              m += run - 1;
              continue;
            }
          }
          if (begin < end) {
            source.sum(residue + begin * ax.dilation, ax.dilation, end - begin, result(a), width_);
            emit(a, o, y);
          } else {
            fill_zero_output(a + 1, y + o * ax.y_step);
          }
        }
      }
    }
  }

  // Each slab is raised to the power once and kept until the last window that needs it.
  template <class Source>
  void reduce_ring(std::size_t a, const Source& source, T* y, const Stream& stream, std::int64_t phase,
                   std::int64_t period, std::int64_t outputs) {
    const std::int64_t capacity = std::min(stream.kernel, stream.slabs) + stream.advance;
    const std::int64_t slab = rows(a) * width_;
    std::int64_t filled = 0;  // slabs below this are in the ring or no longer needed
    for (std::int64_t m = 0; m < outputs; ++m) {
      auto [begin, end] = stream.window(m);
      const bool two = a + 1 == last_ && lines_ > 1 && end - begin == stream.kernel && m + 1 < outputs &&
                       end + stream.advance <= stream.slabs;
      if (two) end += stream.advance;
      const std::int64_t o = phase + m * period;
      if (begin >= end) {
        fill_zero_output(a + 1, y + o * axis(a).y_step);
        continue;
      }
      for (filled = std::max(filled, begin); filled < end; ++filled) {
        source.sum(stream.residue + filled * stream.dilation, 1, 1, ring(a) + filled % capacity * slab, width_);
      }
      line_pointers_.resize(static_cast<std::size_t>(end - begin));
      for (std::int64_t r = 0; r < rows(a); ++r) {
        for (std::int64_t j = begin; j < end; ++j) {
          line_pointers_[static_cast<std::size_t>(j - begin)] = ring(a) + (j % capacity * slab + r * width_);
        }
        if (two) {
          sum_lines_of_two_windows<Acc>(line_pointers_.data(), stream.kernel, stream.advance, width_, result(a),
                                        line(1) + margin_left_);
          emit_line(0, a, o, y);
          ++m;
          emit_line(1, a, o + period, y);
          continue;
        }
        sum_lines<Acc>(line_pointers_.data(), end - begin, width_, result(a) + r * width_);
      }
      if (!two) emit(a, o, y);
    }
  }

  // A queue as two stacks: slabs [begin, middle) as sums up to `middle`, slabs [middle, end) as one sum besides
  // themselves. A window is the sum of one entry of each; an input slab costs three additions, however long the window
  // is.
  template <class Source>
  void reduce_queue(std::size_t a, const Source& source, T* y, const Stream& stream, std::int64_t phase,
                    std::int64_t period, std::int64_t outputs) {
    const std::int64_t capacity = std::min(stream.kernel, stream.slabs);
    const std::int64_t slab = rows(a) * width_;
    const auto entry = [&](std::int64_t j) { return ring(a) + j % capacity * slab; };
    const Line back = ring(a) + capacity * slab;
    std::int64_t middle = 0, filled = 0;
    bool back_empty = true;
    for (std::int64_t m = 0; m < outputs; ++m) {
      const auto [begin, end] = stream.window(m);
      const std::int64_t o = phase + m * period;
      if (begin >= end) {
        fill_zero_output(a + 1, y + o * axis(a).y_step);
        continue;
      }
      for (filled = std::max(filled, begin); filled < end; ++filled) {
        source.sum(stream.residue + filled * stream.dilation, 1, 1, entry(filled), width_);
        if (back_empty) {
          copy(entry(filled), slab, back);
        } else {
          add_lines<Acc>(back, entry(filled), slab, back);
        }
        back_empty = false;
      }
      if (begin >= middle) {
        middle = end;
        for (std::int64_t j = end - 2; j >= begin; --j) add_lines<Acc>(entry(j), entry(j + 1), slab, entry(j));
        back_empty = true;
      }
      if (back_empty) {
        copy(entry(begin), slab, result(a));
      } else {
        add_lines<Acc>(entry(begin), back, slab, result(a));
      }
      emit(a, o, y);
    }
  }

  void copy(Line from, std::int64_t n, Line to) const {
    std::copy_n(from.p, n, to.p);
    if constexpr (std::is_same_v<Acc, Pair>) std::copy_n(from.p + from.low, n, to.p + to.low);
  }

  // result(a) holds output `o` of axis `a`: pools the axes after it.
  void emit(std::size_t a, std::int64_t o, T* y) {
    position_[a] = o;
    y += o * axis(a).y_step;
    if (a + 1 == last_) {
      finish_line(line(0), y);
    } else {
      reduce(a + 1, LineSlabs{*this, result(a), rows(a + 1)}, y);
    }
  }

  // The same for what line `i` holds, where axis `a` is the last but one.
  void emit_line(std::int64_t i, std::size_t a, std::int64_t o, T* y) {
    position_[a] = o;
    finish_line(line(i), y + o * axis(a).y_step);
  }

  void fill_zero_output(std::size_t a, T* y) const {
    if (a > last_) {
      *y = T{};
    } else if (a == last_) {
      std::fill_n(y, axis(a).out, T{});
    } else {
      for (std::int64_t o = 0; o < axis(a).out; ++o) fill_zero_output(a + 1, y + o * axis(a).y_step);
    }
  }

  // ---- The last axis.

  // Which outputs meet the input at all, and how many zeros the line needs on both sides.
  void plan_line() {
    const BoxAxis& ax = axis(last_);
    const auto reach = checked_mul(ax.kernel - 1, ax.dilation);
    line_begin_ = 0;
    if (ax.start < 0 && reach && *reach < -ax.start)
      line_begin_ = std::min(ceil_div(-ax.start - *reach, ax.stride), ax.out);
    line_end_ = ax.start >= ax.in ? 0 : std::min(ax.out, (ax.in - 1 - ax.start) / ax.stride + 1);
    line_end_ = std::max(line_end_, line_begin_);
    // Windows that reach far beyond the line are summed from its ends instead: the zeros would cost more than the line.
    ends_ = !reach || *reach > 2 * ax.in + 1024;
    margin_left_ = 0;
    margin_right_ = 0;
    if (line_begin_ == line_end_) return;
    if (!ends_) {
      margin_left_ = std::max<std::int64_t>(0, -(ax.start + line_begin_ * ax.stride));
      margin_right_ = std::max<std::int64_t>(0, ax.start + (line_end_ - 1) * ax.stride + *reach - (ax.in - 1));
    }
  }

  // Lays out the scratch memory: for each streamed axis its ring and its result, then the line and the sums along it.
  void plan_scratch() {
    width_ = round_up(axis(last_).in);
    const std::int64_t pad = 4 * lanes();  // vector loads run over the end of a line
    std::int64_t total = 0;
    std::vector<std::int64_t> rings(last_), results(last_);
    rows_.assign(last_ + 1, 1);
    for (std::size_t a = last_; a-- > 1;) rows_[a - 1] = rows_[a] * axis(a).in;
    for (std::size_t a = 0; a < last_; ++a) {
      const BoxAxis& ax = axis(a);
      rings[a] = total;
      const std::int64_t taps = ax.max_taps();
      if (taps > (a == 0 ? kRepeatedRows : kDirectSlabs)) {
        // One more for the queue's back, or as many as lie between two neighbouring windows.
        const std::int64_t advance = ax.stride / std::gcd(ax.stride, ax.dilation);
        total += (taps + (advance < taps ? advance : 1)) * rows(a) * width_;
      }
      results[a] = total;
      if (a + 1 < last_) total += rows(a) * width_;
    }
    const std::int64_t left = round_up(margin_left_);
    const std::int64_t line = total;
    line_size_ = left + width_ + round_up(margin_right_) + pad;
    lines_ = last_ == 0 ? 1 : std::clamp<std::int64_t>(kLineDoubles / line_size_, 1, kMaxLines);
    total += lines_ * line_size_;
    const std::int64_t sums = total;
    sums_size_ = std::max(round_up(line_end_ - line_begin_), line_size_) + pad;
    total += 2 * sums_size_;

    constexpr bool kPair = std::is_same_v<Acc, Pair>;
    total = round_up(total);
    double* const p = workspace_.doubles(kPair ? 2 * total : total);
    first_line_ = Line{p + line, total} + (left - margin_left_);
    fill_zero<Acc>(Line{p + line, total}, lines_ * line_size_);
    sums_ = {p + sums, total};
    rings_.clear();
    results_.clear();
    for (std::size_t a = 0; a < last_; ++a) {
      rings_.push_back({p + rings[a], total});
      results_.push_back(a + 1 == last_ ? first_line_ + margin_left_ : Line{p + results[a], total});
    }
    // Where the rows of one slab of axis 0 lie in the input.
    row_offsets_.assign(1, 0);
    for (std::size_t a = 1; a < last_; ++a) {
      std::vector<std::int64_t> next;
      for (const std::int64_t offset : row_offsets_) {
        for (std::int64_t i = 0; i < axis(a).in; ++i) next.push_back(offset + i * axis(a).x_step);
      }
      row_offsets_ = std::move(next);
    }
  }

  std::int64_t rows(std::size_t a) const { return rows_[a]; }
  Line ring(std::size_t a) const { return rings_[a]; }
  Line result(std::size_t a) const { return results_[a]; }
  // One of `lines_` lines of the last axis, each with its margins; a streamed axis fills several before they are
  // pooled.
  Line line(std::int64_t i) const { return first_line_ + i * line_size_; }

  // Pools a line into one row of outputs.
  void finish_line(Line whole, T* y) {
    const BoxAxis& ax = axis(last_);
    std::fill_n(y, line_begin_, T{});
    std::fill(y + line_end_, y + ax.out, T{});
    const std::int64_t n = line_end_ - line_begin_;
    const Line line = whole + (margin_left_ + ax.start + line_begin_ * ax.stride);
    const std::int64_t k = ax.kernel, d = ax.dilation;
    T* const target = y + line_begin_;
    if (ends_) {
      sum_from_ends(whole);
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

  // Windows as parts of r elements each, whose sums neighbouring windows share, and what is left: about 2 sqrt(k)
  // additions in two passes.
  void sum_by_parts(Line line, std::int64_t n) {
    const std::int64_t k = axis(last_).kernel, d = axis(last_).dilation;
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
    const std::int64_t d = axis(last_).dilation;
    std::int64_t rest = axis(last_).kernel;
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
      const std::int64_t length = round_up(n + (axis(last_).kernel - 2 * size) * d);
      for (std::int64_t j = 0; j < length; j += lanes()) {
        store(add(load<Acc>(current + j), load<Acc>(current + (j + size * d))), scratch + j);
      }
      current = scratch;
    }
  }

  void pick(Line from, std::int64_t n) const {
    const std::int64_t s = axis(last_).stride;
    for (std::int64_t o = 1; o < n; ++o) {
      from.p[o] = from.p[o * s];
      if constexpr (std::is_same_v<Acc, Pair>) from.p[from.low + o] = from.p[from.low + o * s];
    }
  }

  // Windows that overlap little: the elements i of `lanes` windows at a time.
  void sum_strided(Line line, std::int64_t n) {
    const BoxAxis& ax = axis(last_);
    const D d;
    const auto index = hn::Mul(hn::Iota(Di(), 0), hn::Set(Di(), ax.stride));
    for (std::int64_t j = 0; j < n; j += lanes()) {
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
  }

  // Every window contains one end of its chain of elements `dilation` apart, so its sum is a sum from that end.
  void sum_from_ends(Line whole) {
    const BoxAxis& ax = axis(last_);
    const Line line = whole + margin_left_;
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
    for (std::int64_t o = line_begin_; o < line_end_; ++o) {
      const std::int64_t start = ax.start + o * ax.stride;
      const std::int64_t first = start >= 0 ? start : start - floor_div(start, ax.dilation) * ax.dilation;
      const std::int64_t skipped = (first - start) / ax.dilation;
      DoubleDouble sum;
      if (first < ax.in && skipped < ax.kernel) {
        const std::int64_t taps = std::min(ax.kernel - skipped, (ax.in - 1 - first) / ax.dilation + 1);
        const std::int64_t last = first + (taps - 1) * ax.dilation;
        sum = skipped > 0 || first < ax.dilation ? at(from_left, last) : at(from_right, first);
      }
      sums_.p[o - line_begin_] = sum.hi;
      if constexpr (std::is_same_v<Acc, Pair>) sums_.p[sums_.low + o - line_begin_] = sum.lo;
    }
  }

  // ---- Root and rounding. sum(j) gives the sums of outputs j .. j + lanes - 1.

  template <class Sum>
  HWY_INLINE void finish(const Sum& sum, std::int64_t n, T* y) {
    std::int64_t j = 0;
#if LPPOOL_QUICK_ROOT
    if constexpr (std::is_same_v<Acc, Single> && (P == 1 || P == 2)) {
      constexpr std::int64_t kRun = 64;  // vectors
      while (j + lanes() <= n) {
        const std::int64_t end = std::min(j + kRun * lanes(), n / lanes() * lanes());
        if (!finish_run(sum, j, end, y)) finish_with_care(sum, j, end, y);
        j = end;
      }
    }
#endif
    finish_with_care(sum, j, n, y);
  }

#if LPPOOL_QUICK_ROOT
  // Outputs [j, end), whole vectors, without a branch; false if any of them needs a closer look. Zero sums do not.
  template <class Sum>
  HWY_INLINE bool finish_run(const Sum& sum, std::int64_t j, std::int64_t end, T* y) {
    if (P == 1 && rounding_.certain) {
      for (; j < end; j += lanes()) Type::store(sum(j).hi, y + j);
      return true;
    }
    RunCheck<Type, P> check(rounding_);
    for (; j < end; j += lanes()) {
      const Vd r = quick_root(sum(j).hi);
      Type::store(r, y + j);
      check.look(r);
    }
    return check.passed();
  }

  static HWY_INLINE Vd quick_root(Vd sum) {
    return P == 1 ? sum : quick_sqrt(sum);
  }
#endif

  // Outputs [j, n), each vector with its checks.
  template <class Sum>
  HWY_INLINE void finish_with_care(const Sum& sum, std::int64_t j, std::int64_t n, T* y) {
    const std::int64_t step = lanes();
    for (; j + step <= n; j += step) {
      const Rounded<Type> r = round_sums<Type, P>(sum(j), rounding_);
      Type::store(r.value, y + j);
      if (HWY_UNLIKELY(!hn::AllFalse(D(), r.doubt))) settle_lanes(r.doubt, j, step, y);
    }
    if (j == n) return;
    const Rounded<Type> r = round_sums<Type, P>(sum(j), rounding_);
    HWY_ALIGN T tail[hn::MaxLanes(D())];
    Type::store(r.value, tail);
    std::copy_n(tail, n - j, y + j);
    if (HWY_UNLIKELY(!hn::AllFalse(D(), r.doubt))) settle_lanes(r.doubt, j, n - j, y);
  }

  HWY_NOINLINE void settle_lanes(Mask doubt, std::int64_t j, std::int64_t n, T* y) {
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(D(), doubt, bits);
    for (std::int64_t lane = 0; lane < n; ++lane) {
      if ((bits[lane / 8] >> (lane % 8) & 1) == 0) continue;
      position_[last_] = line_begin_ + j + lane;
      store_element(Type::kType, y, j + lane, settle(Type::kType, box_, position_.data(), norm_));
    }
  }

  const Box& box_;
  const LpNorm norm_;
  Workspace& workspace_;
  std::size_t last_;
  std::vector<std::int64_t> position_;
  Powers<Type, P> powers_;
  Rounding rounding_;

  std::int64_t width_ = 0;  // of a row of sums
  std::vector<std::int64_t> rows_, row_offsets_;
  std::vector<Line> rings_, results_;
  Line first_line_, sums_;
  std::int64_t lines_ = 1, line_size_ = 0, sums_size_ = 0;
  std::int64_t line_begin_ = 0, line_end_ = 0, margin_left_ = 0, margin_right_ = 0;
  bool ends_ = false;
  mutable std::vector<const T*> row_pointers_;
  mutable std::vector<Line> line_pointers_;
};

void LPPOOL_ENTRY(const Box& box, const LpNorm& norm, Workspace& workspace) {
  with_power_class(norm.whole, [&](auto power_class) HWY_ATTR {
    BoxPooler<LPPOOL_ELEMENT, power_class.value>(box, norm, workspace).run();
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#endif  // LPPOOL_KERNELS_POOL_INL_H
