#pragma once

#include <algorithm>
#include <cstdint>

namespace lppool::kernels {

// The elements of one window that lie inside the input, along one axis: `count` of them from `first`, `step` apart.
struct Taps {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t step = 1;
};

// Of the elements start + i*dilation, 0 <= i < kernel, those in [0, in).
inline Taps clip_window(std::int64_t start, std::int64_t in, std::int64_t kernel, std::int64_t dilation) {
  if (start >= in) return {};
  const std::int64_t begin = start >= 0 ? 0 : (-start - 1) / dilation + 1;
  const std::int64_t end = std::min((in - 1 - start) / dilation + 1, kernel);
  if (begin >= end) return {};
  return {start + begin * dilation, end - begin, dilation};
}

// Window `o` of an axis (PoolAxis, or any other description with these members).
template <typename Axis>
Taps clip_window(const Axis& axis, std::int64_t o) {
  return clip_window(o * axis.stride - axis.pad_begin, axis.in, axis.kernel, axis.dilation);
}

}  // namespace lppool::kernels
