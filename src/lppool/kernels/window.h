#pragma once

#include <cstdint>

#include "lppool/kernels/lp_pool.h"

namespace lppool::kernels {

// The elements of one window that lie inside the input, along one axis: `count` of them from `first`, `step` apart.
struct Taps {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t step = 1;
};

// Clips window `o` of `axis` to the input.
inline Taps clip_window(const PoolAxis& axis, std::int64_t o) {
  const std::int64_t start = o * axis.stride - axis.pad_begin;
  // The first i with start + i*dilation >= 0, and the first with start + i*dilation >= in.
  std::int64_t begin = start >= 0 ? 0 : (-start - 1) / axis.dilation + 1;
  std::int64_t end = start >= axis.in ? 0 : (axis.in - 1 - start) / axis.dilation + 1;
  if (end > axis.kernel) end = axis.kernel;
  if (begin >= end) return {};
  return {start + begin * axis.dilation, end - begin, axis.dilation};
}

}  // namespace lppool::kernels
