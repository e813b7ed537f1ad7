// The memory a box is pooled in: lines of sums, kept slabs. Compiled once for each instruction set.
#if defined(LPPOOL_KERNELS_BOX_SCRATCH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LPPOOL_KERNELS_BOX_SCRATCH_INL_H
#undef LPPOOL_KERNELS_BOX_SCRATCH_INL_H
#else
#define LPPOOL_KERNELS_BOX_SCRATCH_INL_H
#endif

#include <algorithm>
#include <numeric>
#include <vector>

#include "lppool/kernels/job.h"
#include "lppool/kernels/lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {

// Windows up to this many slabs are added up one by one; longer ones share sums.
constexpr std::int64_t kDirectSlabs = 8;
// Up to this many rows are widened and raised to the power again for every output rather than kept.
constexpr std::int64_t kRepeatedRows = 3;
// Rows of windows whose sums are taken at a time, as far as their lines fit most of a first-level cache.
constexpr std::int64_t kMaxLines = 8;
constexpr std::int64_t kLineDoubles = 3072;

// For each axis but the last a ring of slabs and a result, then lines of the last axis. A slab is rows(a) rows of
// width() sums.
template <class Type>
class BoxScratch {
 public:
  using T = typename Type::Storage;
  using Acc = typename Type::Acc;

  struct LineShape {
    std::int64_t margin, size;  // doubles before the first element, and in all
  };

  // Lays all out in `workspace` and zeroes what has to be. Returns the start of `more` further sums.
  Line plan(const Box& box, LineShape shape, std::int64_t more, Workspace& workspace) {
    const std::vector<BoxAxis>& axes = box.axes;
    const std::size_t last = axes.size() - 1;
    line_size_ = shape.size;
    width_ = round_up(axes[last].in);
    std::int64_t total = 0;
    std::vector<std::int64_t> rings(last), results(last);
    rows_.assign(last + 1, 1);
    for (std::size_t a = last; a-- > 1;) rows_[a - 1] = rows_[a] * axes[a].in;
    for (std::size_t a = 0; a < last; ++a) {
      rings[a] = total;
      const std::int64_t taps = axes[a].max_taps();
      if (taps > (a == 0 ? kRepeatedRows : kDirectSlabs)) {
        // One more for the queue's back, or as many as lie between two neighbouring windows.
        const std::int64_t advance = axes[a].stride / std::gcd(axes[a].stride, axes[a].dilation);
        total += (taps + (advance < taps ? advance : 1)) * rows(a) * width_;
      }
      results[a] = total;
      if (a + 1 < last) total += rows(a) * width_;
    }
    const std::int64_t line = total;
    lines_ = last == 0 ? 1 : std::clamp<std::int64_t>(kLineDoubles / line_size_, 1, kMaxLines);
    const std::int64_t lines = last == 0 ? 1 : lines_ + 1;
    total += lines * line_size_;
    const std::int64_t zero_row = total, zero_row_size = last == 0 ? 0 : axes[last].in;
    total += zero_row_size;
    const std::int64_t rest = total;
    total = round_up(total + more);

    double* const p = workspace.doubles(std::is_same_v<Acc, Pair> ? 2 * total : total);
    first_line_ = Line{p + line, total} + shape.margin;
    if (last == 0) {  // the elements are about to be written
      fill_zero<Acc>(Line{p + line, total}, shape.margin);
      fill_zero<Acc>(first_line_ + width_, line_size_ - shape.margin - width_);
    } else {
      fill_zero<Acc>(Line{p + line, total}, lines * line_size_);
    }
    std::fill_n(p + zero_row, zero_row_size, 0.0);
    zero_row_ = reinterpret_cast<const T*>(p + zero_row);
    rings_.clear();
    results_.clear();
    for (std::size_t a = 0; a < last; ++a) {
      rings_.push_back({p + rings[a], total});
      results_.push_back(a + 1 == last ? first_line_ : Line{p + results[a], total});
    }
    plan_row_offsets(axes);
    return {p + rest, total};
  }

  // Rows of a slab of axis a, and sums in a row of the last axis.
  std::int64_t rows(std::size_t a) const { return rows_[a]; }
  std::int64_t width() const { return width_; }
  // Where the rows of one slab of axis 0 lie in the input.
  const std::vector<std::int64_t>& row_offsets() const { return row_offsets_; }
  Line ring(std::size_t a) const { return rings_[a]; }
  Line result(std::size_t a) const { return results_[a]; }
  // The first element of one of lines() + 1 lines of the last axis (1 if it is the only axis); a streamed axis fills
  // several before they are pooled.
  Line line(std::int64_t i) const { return first_line_ + i * line_size_; }
  std::int64_t lines() const { return lines_; }
  // For rows of a window that lie outside the input.
  const T* zero_row() const { return zero_row_; }

 private:
  void plan_row_offsets(const std::vector<BoxAxis>& axes) {
    row_offsets_.assign(1, 0);
    for (std::size_t a = 1; a + 1 < axes.size(); ++a) {
      std::vector<std::int64_t> next;
      for (const std::int64_t offset : row_offsets_) {
        for (std::int64_t i = 0; i < axes[a].in; ++i) next.push_back(offset + i * axes[a].x_step);
      }
      row_offsets_ = std::move(next);
    }
  }

  std::int64_t width_ = 0, line_size_ = 0, lines_ = 1;
  std::vector<std::int64_t> rows_, row_offsets_;
  std::vector<Line> rings_, results_;
  Line first_line_;
  const T* zero_row_ = nullptr;
};

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#endif  // LPPOOL_KERNELS_BOX_SCRATCH_INL_H
