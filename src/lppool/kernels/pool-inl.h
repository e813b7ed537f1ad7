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
#include <numeric>
#include <vector>

#include "lppool/base/checked.h"
#include "lppool/kernels/box_scratch-inl.h"
#include "lppool/kernels/job.h"
#include "lppool/kernels/line_pool-inl.h"
#include "lppool/kernels/lines-inl.h"
#include "lppool/kernels/scan-inl.h"
#include "lppool/kernels/squares-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {

// How often a way that may fail has served.
class Successes {
 public:
  bool record(bool success) {
    ++tries_;
    failures_ += success ? 0 : 1;
    return success;
  }
  bool worthwhile() const { return failures_ < 4 + tries_ / 4; }

 private:
  std::int64_t tries_ = 0, failures_ = 0;
};

template <class Type, int P>
class BoxPooler {
 public:
  using T = typename Type::Storage;
  using Acc = typename Type::Acc;

  BoxPooler(const Box& box, const LpNorm& norm, Workspace& workspace)
      : box_(box),
        norm_(norm),
        workspace_(workspace),
        last_(box.axes.size() - 1),
        position_(box.axes.size()),
        line_pooler_(box_, norm_, rounding_) {}

  void run() {
    for (const BoxAxis& axis : box_.axes) {
      if (axis.out == 0) return;
    }
    T* y = static_cast<T*>(box_.y);
    for (const BoxAxis& axis : box_.axes) {
      if (axis.in == 0) return fill_zero_output(0, y);
    }
    // How many sums one term passes through, at most.
    std::int64_t depth = line_pooler_.depth();
    for (std::size_t a = 0; a < last_; ++a) depth += axis(a).max_taps();
    rounding_ = plan_rounding<Type, P>(box_, norm_, depth);
    powers_.p = norm_.whole;
    powers_.scale = rounding_.scale;
    if (line_pooler_.empty()) return fill_zero_output(0, y);
    const Line rest = scratch_.plan(box_, {line_pooler_.left_margin(), line_pooler_.line_size()},
                                    line_pooler_.scratch_size(), workspace_);
    line_pooler_.set_scratch(rest);
    if (last_ == 0) {
      const T* row = static_cast<const T*>(box_.x);
      sum_powers(powers_, &row, 1, axis(0).in, scratch_.line(0));
      line_pooler_.pool(scratch_.line(0), y, position_.data());
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

  // ---- Slabs: what an axis is streamed over. A slab is rows(a) rows of width() sums (the last axis), one after
  // another.

  struct RawSlabs {  // of the input itself
    const BoxPooler& pooler;
    const T* x;

    static constexpr bool kRaw = true;
    void sum(std::int64_t first, std::int64_t step, std::int64_t count, Line target, std::int64_t target_step) const {
      const std::int64_t x_step = pooler.axis(0).x_step;
      for (std::size_t r = 0; r < pooler.scratch_.row_offsets().size(); ++r) {
        const T* const base = x + pooler.scratch_.row_offsets()[r];
        pooler.row_pointers_.resize(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i) {
          pooler.row_pointers_[static_cast<std::size_t>(i)] = base + (first + i * step) * x_step;
        }
        sum_powers(pooler.powers_, pooler.row_pointers_.data(), count, pooler.axis(pooler.last_).in,
                   target + static_cast<std::int64_t>(r) * target_step);
      }
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
          pooler.line_pointers_[static_cast<std::size_t>(i)] =
              base + ((first + i * step) * rows + r) * pooler.scratch_.width();
        }
        sum_lines<Acc>(pooler.line_pointers_.data(), count, pooler.scratch_.width(), target + r * target_step);
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
      const bool runs = Source::kRaw && a + 1 == last_ && runs_of_rows(stream);
      const bool squares = Source::kRaw && a + 1 == last_ && are_squares(stream);
      if (overlap && taps > kDirectSlabs) {
        reduce_queue(a, source, y, stream, phase, period, outputs);
      } else if (overlap && taps > kRepeatedRows && Source::kRaw && !runs) {
        reduce_ring(a, source, y, stream, phase, period, outputs);
      } else {
        for (std::int64_t m = 0; m < outputs; ++m) {
          const auto [begin, end] = stream.window(m);
          const std::int64_t o = phase + m * period;
          if constexpr (Source::kRaw) {
            std::int64_t run = 0;
            if (runs) run = pool_run(source, stream, m, outputs, o, period, y);
            if (squares) run = pool_square_rows(source, stream, m, outputs, y);
            if (run > 0) {
              m += run - 1;
              continue;
            }
          }
          if (begin < end) {
            source.sum(residue + begin * ax.dilation, ax.dilation, end - begin, scratch_.result(a), scratch_.width());
            emit(a, o, y);
          } else {
            fill_zero_output(a + 1, y + o * ax.y_step);
          }
        }
      }
    }
  }

  // Windows of 2 x 2 elements side by side, a vector of them or more in a row.
  bool are_squares(const Stream& stream) const {
    const BoxAxis& ax = axis(last_);
    return LPPOOL_QUICK_ROOT && std::is_same_v<Acc, Single> && (P == 1 || P == 2) && stream.kernel == 2 &&
           stream.advance == 2 && stream.dilation == 1 && ax.kernel == 2 && ax.stride == 2 && ax.dilation == 1 &&
           ax.start == 0 && 2 * ax.out <= ax.in && ax.out >= lanes();
  }

  // Pools rows m, m + 1, ... of such windows. Returns their number, 0 if a window is cut or needs a closer look.
  std::int64_t pool_square_rows([[maybe_unused]] const RawSlabs& source, [[maybe_unused]] const Stream& stream,
                                [[maybe_unused]] std::int64_t m, [[maybe_unused]] std::int64_t outputs,
                                [[maybe_unused]] T* y) {
#if LPPOOL_QUICK_ROOT
    if constexpr (std::is_same_v<Acc, Single> && (P == 1 || P == 2)) {
      const std::int64_t begin = stream.first + 2 * m;
      const std::int64_t out = axis(last_).out, x_step = axis(0).x_step, y_step = axis(0).y_step;
      if (begin < 0 || !can_check_runs<Type, P>(rounding_) || !quick_runs_.worthwhile()) return 0;
      const std::int64_t rows = std::min({outputs - m, (stream.slabs - begin) / 2, ceil_div(kCheckedOutputs, out)});
      const SquareRows<T> squares{source.x + begin * x_step, y + m * y_step, x_step, y_step, rows, out};
      if (rows > 0 && quick_runs_.record(pool_squares(powers_, rounding_, squares))) return rows;
    }
#endif
    return 0;
  }

  // Windows of so few rows are taken several at a time; five and seven rows only where the sums are cheap enough to be
  // worth the code, and all of them fit the lines.
  bool runs_of_rows(const Stream& stream) const {
    const std::int64_t k = stream.kernel;
    return (k <= kRepeatedRows && stream.advance < k) ||
           (runs_of_halves(k) && stream.advance == 1 && scratch_.lines() > k);
  }
  static bool runs_of_halves(std::int64_t k) {
    return (k == 5 || k == 7) && (P == 1 || P == 2) && std::is_same_v<Acc, Single>;
  }

  // Pools windows m, m + 1, ... of few, overlapping rows, output o and every period-th after it. Returns their number,
  // 0 if the windows are not of a shape this is compiled for.
  std::int64_t pool_run(const RawSlabs& source, const Stream& stream, std::int64_t m, std::int64_t outputs,
                        std::int64_t o, std::int64_t period, T* y) {
    const std::int64_t k = stream.kernel, step = stream.advance, begin = stream.first + m * step;
    if (begin <= -k || begin >= stream.slabs) return 0;
    const bool quick = line_pooler_.quick() && !(line_pooler_.folds() && runs_of_halves(k)) && quick_runs_.worthwhile();
    const bool folded = quick && line_pooler_.folds();
    std::int64_t count = std::min(outputs - m, folded ? scratch_.lines() / 2 : scratch_.lines());
    count = std::min(count, (stream.slabs - 1 - begin) / step + 1);
    if (runs_of_halves(k)) count = std::min(count, k + 1);
    if (count < 2) return 0;
    const T* rows[2 * kMaxLines + kRepeatedRows];
    const std::int64_t x_step = axis(0).x_step;
    const std::int64_t taken = runs_of_halves(k) ? 2 * k : (count - 1) * step + k;
    for (std::int64_t i = 0; i < taken; ++i) {
      const std::int64_t slab = begin + i;
      const bool inside = slab >= 0 && slab < stream.slabs;
      rows[i] = inside ? source.x + (stream.residue + slab * stream.dilation) * x_step : scratch_.zero_row();
    }
    // Line 0 is left to what needs full lines.
    const Line lines = folded ? scratch_.line(1) : scratch_.line(0);
    const std::int64_t line_size = line_pooler_.line_size();
    const std::int64_t n = axis(last_).in;
    const auto keep = [&](std::int64_t i, std::int64_t j, const Acc* sums)
                          HWY_ATTR { store(sums[0], lines + (i * line_size + j)); };
    const auto sum = [&](auto kernel, auto advance) HWY_ATTR {
#if HWY_TARGET != HWY_SCALAR
      if (folded) {
        const bool odd = line_pooler_.starts_odd();
        const auto fold = [&](std::int64_t i, std::int64_t j, const Acc* sums) HWY_ATTR {
          const Acc even_columns = even_lanes(sums[1], sums[0]), odd_columns = odd_lanes(sums[1], sums[0]);
          const Line target = lines + (2 * i * line_size + j / 2);
          store(add(even_columns, odd_columns), target);
          store(odd ? odd_columns : even_columns, target + line_size);
        };
        return sum_powers_of_windows<kernel.value, advance.value, 2>(powers_, rows, count, n, fold);
      }
#endif
      sum_powers_of_windows<kernel.value, advance.value, 1>(powers_, rows, count, n, keep);
    };
    if constexpr ((P == 1 || P == 2) && std::is_same_v<Acc, Single>) {
      if (k == 5) sum_powers_of_halves<5>(powers_, rows, count, n, keep);
      if (k == 7) sum_powers_of_halves<7>(powers_, rows, count, n, keep);
    }
    using One = std::integral_constant<int, 1>;
    using Two = std::integral_constant<int, 2>;
    using Three = std::integral_constant<int, 3>;
    if (k == 2) {
      sum(Two(), One());
    } else if (k == 3 && step == 1) {
      sum(Three(), One());
    } else if (k == 3) {
      sum(Three(), Two());
    }
    if (quick) {
      const std::int64_t y_step = axis(0).y_step;
      // The rows of the next run, which it walks column by column: caches do not foresee that.
      const std::int64_t after = std::min(begin + taken, stream.slabs - 1);
      const T* const next = source.x + (stream.residue + after * stream.dilation) * x_step;
      if (quick_runs_.record(line_pooler_.pool_quickly(lines, count, y + o * y_step, period * y_step, next,
                                                       stream.dilation * x_step))) {
        return count;
      }
    }
    for (std::int64_t i = 0; i < count; ++i) {
      if (folded) {
        const auto [first, end] = stream.window(m + i);
        source.sum(stream.residue + first * stream.dilation, stream.dilation, end - first, scratch_.line(0),
                   scratch_.width());
      }
      emit_line(folded ? 0 : i, 0, o + i * period, y);
    }
    return count;
  }

  // Each slab is raised to the power once and kept until the last window that needs it.
  template <class Source>
  void reduce_ring(std::size_t a, const Source& source, T* y, const Stream& stream, std::int64_t phase,
                   std::int64_t period, std::int64_t outputs) {
    const std::int64_t capacity = std::min(stream.kernel, stream.slabs) + stream.advance;
    const std::int64_t slab = scratch_.rows(a) * scratch_.width();
    std::int64_t filled = 0;  // slabs below this are in the ring or no longer needed
    for (std::int64_t m = 0; m < outputs; ++m) {
      auto [begin, end] = stream.window(m);
      const bool two = a + 1 == last_ && scratch_.lines() > 1 && end - begin == stream.kernel && m + 1 < outputs &&
                       end + stream.advance <= stream.slabs;
      if (two) end += stream.advance;
      const std::int64_t o = phase + m * period;
      if (begin >= end) {
        fill_zero_output(a + 1, y + o * axis(a).y_step);
        continue;
      }
      for (filled = std::max(filled, begin); filled < end; ++filled) {
        source.sum(stream.residue + filled * stream.dilation, 1, 1, scratch_.ring(a) + filled % capacity * slab,
                   scratch_.width());
      }
      line_pointers_.resize(static_cast<std::size_t>(end - begin));
      for (std::int64_t r = 0; r < scratch_.rows(a); ++r) {
        for (std::int64_t j = begin; j < end; ++j) {
          line_pointers_[static_cast<std::size_t>(j - begin)] =
              scratch_.ring(a) + (j % capacity * slab + r * scratch_.width());
        }
        if (two) {
          sum_lines_of_two_windows<Acc>(line_pointers_.data(), stream.kernel, stream.advance, scratch_.width(),
                                        scratch_.result(a), scratch_.line(1));
          emit_line(0, a, o, y);
          ++m;
          emit_line(1, a, o + period, y);
          continue;
        }
        sum_lines<Acc>(line_pointers_.data(), end - begin, scratch_.width(), scratch_.result(a) + r * scratch_.width());
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
    const std::int64_t slab = scratch_.rows(a) * scratch_.width();
    const auto entry = [&](std::int64_t j) { return scratch_.ring(a) + j % capacity * slab; };
    const Line back = scratch_.ring(a) + capacity * slab;
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
        source.sum(stream.residue + filled * stream.dilation, 1, 1, entry(filled), scratch_.width());
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
        copy(entry(begin), slab, scratch_.result(a));
      } else {
        add_lines<Acc>(entry(begin), back, slab, scratch_.result(a));
      }
      emit(a, o, y);
    }
  }

  void copy(Line from, std::int64_t n, Line to) const {
    std::copy_n(from.p, n, to.p);
    if constexpr (std::is_same_v<Acc, Pair>) std::copy_n(from.p + from.low, n, to.p + to.low);
  }

  // scratch_.result(a) holds output `o` of axis `a`: pools the axes after it.
  void emit(std::size_t a, std::int64_t o, T* y) {
    position_[a] = o;
    y += o * axis(a).y_step;
    if (a + 1 == last_) {
      line_pooler_.pool(scratch_.line(0), y, position_.data());
    } else {
      reduce(a + 1, LineSlabs{*this, scratch_.result(a), scratch_.rows(a + 1)}, y);
    }
  }

  // The same for what line `i` holds, where axis `a` is the last but one.
  void emit_line(std::int64_t i, std::size_t a, std::int64_t o, T* y) {
    position_[a] = o;
    line_pooler_.pool(scratch_.line(i), y + o * axis(a).y_step, position_.data());
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

  const Box& box_;
  const LpNorm norm_;
  Workspace& workspace_;
  std::size_t last_;
  std::vector<std::int64_t> position_;
  Powers<Type, P> powers_;
  Rounding rounding_;

  Successes quick_runs_;
  LinePooler<Type, P> line_pooler_;
  BoxScratch<Type> scratch_;
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
