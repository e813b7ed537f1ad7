// The end of a line of windows: roots of its sums and their rounding. Compiled once for each instruction set.
#if defined(LPPOOL_KERNELS_LINE_FINISH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LPPOOL_KERNELS_LINE_FINISH_INL_H
#undef LPPOOL_KERNELS_LINE_FINISH_INL_H
#else
#define LPPOOL_KERNELS_LINE_FINISH_INL_H
#endif

#include <hwy/cache_control.h>

#include <algorithm>

#include "lppool/kernels/job.h"
#include "lppool/kernels/lines-inl.h"
#include "lppool/kernels/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {

#if LPPOOL_QUICK_ROOT
// Results of vectors of sums, stored and looked at without a branch. The steps of a root wait for each other, and a
// processor keeps only so many waiting instructions: each push takes the next step for four vectors, one after another.
template <class Type, int P>
class QuickResults {
 public:
  using T = typename Type::Storage;

  // nowhere: a vector of outputs of no use. Not a member, or stores of results might be taken for changes of the rest.
  HWY_INLINE QuickResults(const Rounding& rounding, T* nowhere)
      : check_(rounding), nowhere_(nowhere), sum_y_(nowhere), rooted_y_(nowhere), root_y_(nowhere) {
    sum_ = rooted_ = seed_ = root_ = hn::Set(D(), 1.0);
  }
  HWY_INLINE void push(Vd sum, T* y) {
    if constexpr (P == 1) {
      Type::store(sum, y);
      check_.look(sum);
    } else {
      Type::store(root_, root_y_);
      check_.look(root_);
      root_ = quick_sqrt(rooted_, seed_);
      root_y_ = rooted_y_;
      rooted_ = sum_;
      seed_ = quick_sqrt_seed(sum_);
      rooted_y_ = sum_y_;
      sum_ = sum;
      sum_y_ = y;
    }
  }
  // What is under way is stored. False, and what was stored means nothing, if any result needs a closer look.
  HWY_INLINE bool finish() {
    for (int i = 0; i < 3 && P != 1; ++i) push(hn::Set(D(), 1.0), nowhere_);
    return check_.passed();
  }

 private:
  RunCheck<Type, P> check_;
  Vd sum_, rooted_, seed_, root_;  // one vector each, further and further
  T *nowhere_, *sum_y_, *rooted_y_, *root_y_;
};
#endif

// Outputs of the last axis of a box. A function sum(j) gives the sums of outputs begin_ + j .. begin_ + j + lanes - 1.
template <class Type, int P>
class LineFinisher {
 protected:
  using T = typename Type::Storage;
  using Acc = typename Type::Acc;

  LineFinisher(const Box& box, const LpNorm& norm, const Rounding& rounding)
      : box_(box), axis_(box.axes.back()), norm_(norm), rounding_(rounding) {}

  template <class Sum>
  HWY_INLINE void finish(const Sum& sum, std::int64_t n, T* y) {
    std::int64_t j = 0;
#if LPPOOL_QUICK_ROOT
    if constexpr (std::is_same_v<Acc, Single> && (P == 1 || P == 2)) {
      constexpr std::int64_t kRun = 64;  // vectors
      while (j + lanes() <= n && can_check_runs<Type, P>(rounding_)) {
        const std::int64_t end = std::min(j + kRun * lanes(), n / lanes() * lanes());
        RunCheck<Type, P> check(rounding_);
        for (std::int64_t i = j; i < end; i += lanes()) store_quickly(sum(i).hi, y + i, check);
        if (!check.passed()) finish_with_care(sum, j, end, y);
        j = end;
      }
    }
#endif
    finish_with_care(sum, j, n, y);
  }

#if LPPOOL_QUICK_ROOT
  // All outputs of some lines; false if any of them needs a closer look. Zero sums do not.
  template <class Sum>
  HWY_INLINE bool finish_lines(const Sum& sum, Line line, std::int64_t line_step, std::int64_t count, T* y,
                               std::int64_t y_step, const T* next, std::int64_t next_step) const {
    const std::int64_t n = end_, stride = axis_.stride;
    if (P == 1 && rounding_.certain) {
      for (std::int64_t i = 0; i < count; ++i, line = line + line_step, y += y_step) {
        std::int64_t j = 0;
        for (; j + lanes() <= n; j += lanes()) Type::store(sum(line, j).hi, y + j);
        // The last vector laps over the one before it.
        if (j < n) Type::store(sum(line, n - lanes()).hi, y + (n - lanes()));
      }
      return true;
    }
    HWY_ALIGN T nowhere[8];
    QuickResults<Type, P> results(rounding_, nowhere);
    for (std::int64_t i = 0; i < count; ++i, line = line + line_step, y += y_step) {
      std::int64_t j = 0;
      for (; j + lanes() <= n; j += lanes()) {
        hwy::Prefetch(next + j * stride);
        results.push(sum(line, j).hi, y + j);
      }
      next += next_step * stride;
      if (j < n) results.push(sum(line, n - lanes()).hi, y + (n - lanes()));
    }
    return results.finish();
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
      position_[box_.axes.size() - 1] = begin_ + j + lane;
      store_element(Type::kType, y, j + lane, settle(Type::kType, box_, position_, norm_));
    }
  }

  const Box& box_;
  const BoxAxis& axis_;
  const LpNorm& norm_;
  const Rounding& rounding_;
  std::int64_t begin_ = 0, end_ = 0;  // the outputs whose windows meet the input
  std::int64_t* position_ = nullptr;  // of the row of outputs along the other axes, and a place for the last
};

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#endif  // LPPOOL_KERNELS_LINE_FINISH_INL_H
