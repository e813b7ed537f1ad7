#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/op.h"
#include "lppool/tensor/shape.h"

// The loop under all reductions. The axes are brought to as few as possible, each either kept or reduced; the innermost
// one is contiguous. Where it is reduced, an output is a sum along rows, in eight interleaved parts; where it is kept,
// a block of outputs grows side by side. Results do not depend on the number of threads.
namespace lppool {

struct ReductionPlan {
  Shape out;                                           // keepdims applied
  std::int64_t outputs = 0;                            // elements of the output
  std::int64_t reduced = 0;                            // elements that go into each
  bool inner_reduced = false;                          // the innermost axis is reduced
  std::int64_t inner = 1;                              // its length
  std::vector<std::int64_t> kept_sizes, kept_strides;  // the other axes, outermost first
  std::vector<std::int64_t> reduced_sizes, reduced_strides;
};

// `reduces[axis]` tells which axes of `shape` are reduced.
ReductionPlan plan_reduction(const Shape& shape, const std::vector<bool>& reduces, bool keepdims);

// Calls body(offset) for every combination of indices, in row-major order.
template <typename Body>
void for_each_offset(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides, Body&& body) {
  std::vector<std::int64_t> index(sizes.size(), 0);
  for (std::int64_t offset = 0;;) {
    body(offset);
    std::size_t axis = sizes.size();
    while (axis-- > 0) {
      offset += strides[axis];
      if (++index[axis] < sizes[axis]) break;
      offset -= strides[axis] * sizes[axis];
      index[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1)) return;
  }
}

inline constexpr std::int64_t kReductionBlock = 128;

// Folds `width` neighbouring outputs (1 where the innermost axis is reduced) whose first element is x[0].
template <typename T, typename Acc, typename Lift, typename Combine>
void reduce_block(const T* x, const ReductionPlan& plan, std::int64_t width, Acc* acc, Lift lift, Combine combine) {
  for_each_offset(plan.reduced_sizes, plan.reduced_strides, [&](std::int64_t offset) {
    const T* row = x + offset;
    if (!plan.inner_reduced) {
      for (std::int64_t i = 0; i < width; ++i) acc[i] = combine(acc[i], lift(row[i], i));
      return;
    }
    constexpr int kParts = 8;
    std::int64_t i = 0;
    if (plan.inner >= 2 * kParts) {
      Acc parts[kParts];
      for (int p = 0; p < kParts; ++p) parts[p] = lift(row[p], 0);
      for (i = kParts; i + kParts <= plan.inner; i += kParts) {
        for (int p = 0; p < kParts; ++p) parts[p] = combine(parts[p], lift(row[i + p], 0));
      }
      for (int half = kParts / 2; half > 0; half /= 2) {
        for (int p = 0; p < half; ++p) parts[p] = combine(parts[p], parts[p + half]);
      }
      acc[0] = combine(acc[0], parts[0]);
    }
    for (; i < plan.inner; ++i) acc[0] = combine(acc[0], lift(row[i], 0));
  });
}

// y[o] = finish(fold of lift(x[i], pivot[o]) over the elements of output o, pivot[o]), where pivot[o] = prepare(largest
// magnitude(x[i])), or 0 where `magnitude` is nullptr: for what must be scaled before it is summed.
template <typename T, typename Out, typename Acc, typename Magnitude, typename Prepare, typename Lift, typename Combine,
          typename Finish>
void reduce(const T* x, Out* y, const ReductionPlan& plan, ThreadPool& threads, Acc identity, Magnitude magnitude,
            Prepare prepare, Lift lift, Combine combine, Finish finish) {
  if (plan.outputs == 0) return;
  if (plan.reduced == 0) {
    std::fill(y, y + plan.outputs, finish(identity, 0.0));
    return;
  }
  const std::int64_t block = plan.inner_reduced ? 1 : std::min(plan.inner, kReductionBlock);
  const std::int64_t row = plan.inner_reduced ? 1 : plan.inner;  // outputs in one innermost row
  const std::int64_t blocks = row / block + (row % block != 0), rows = plan.outputs / row;
  constexpr std::int64_t kWork = 32768;  // elements per range
  const std::int64_t grain =
      std::max<std::int64_t>(1, kWork / std::max<std::int64_t>(1, std::min(kWork, plan.reduced) * block));
  threads.parallel_for(rows * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    Acc acc[kReductionBlock];
    double pivot[kReductionBlock] = {};
    for (std::int64_t unit = begin; unit < end; ++unit) {
      std::int64_t rest = unit / blocks;
      const std::int64_t column = unit % blocks * block, width = std::min(block, row - column);
      const std::int64_t to = rest * row + column;
      std::int64_t from = column;
      for (std::size_t axis = plan.kept_sizes.size(); axis-- > 0;) {
        from += rest % plan.kept_sizes[axis] * plan.kept_strides[axis];
        rest /= plan.kept_sizes[axis];
      }
      if constexpr (!std::is_same_v<Magnitude, std::nullptr_t>) {
        std::fill(pivot, pivot + width, -std::numeric_limits<double>::infinity());
        reduce_block(
            x + from, plan, width, pivot, [&](T v, std::int64_t) { return magnitude(v); },
            [](double a, double b) { return b > a ? b : a; });
        for (std::int64_t i = 0; i < width; ++i) pivot[i] = prepare(pivot[i]);
      }
      std::fill(acc, acc + width, identity);
      reduce_block(
          x + from, plan, width, acc, [&](T v, std::int64_t i) { return lift(v, pivot[i]); }, combine);
      for (std::int64_t i = 0; i < width; ++i) y[to + i] = finish(acc[i], pivot[i]);
    }
  });
}

// A sum of doubles that keeps what each addition rounds off (TwoSum; Ogita, Rump, Oishi 2005, Sum2).
struct CompensatedSum {
  double sum = 0, error = 0;
  double value() const { return std::isfinite(error) ? sum + error : sum; }
};
inline CompensatedSum operator+(const CompensatedSum& a, const CompensatedSum& b) {
  const double sum = a.sum + b.sum;
  const double part = sum - a.sum;
  return {sum, a.error + b.error + ((a.sum - (sum - part)) + (b.sum - part))};
}

}  // namespace lppool
