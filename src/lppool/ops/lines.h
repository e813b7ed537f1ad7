#pragma once

#include <algorithm>
#include <cstdint>

#include "lppool/base/thread_pool.h"
#include "lppool/tensor/shape.h"

// Tensors as lines along one axis, for operators that work along it.
namespace lppool {

// Element i of line (o, k) is x[o * length * inner + i * inner + k].
struct Lines {
  std::int64_t outer = 1, length = 1, inner = 1;
};

// Lines along `axis`, counted from the front.
inline Lines lines_along(const Shape& shape, std::size_t axis) {
  return {shape.elements(0, axis), shape[axis], shape.elements(axis + 1, shape.rank())};
}

// Neighbouring lines are worked on side by side, at most this many at once.
inline constexpr std::int64_t kSide = 64;

// Calls body(first, width) so that every line is covered once: `width` neighbouring lines whose first elements are
// x[first] to x[first + width - 1]. Calls may come from several threads at once; none comes for an empty tensor.
template <typename Body>
void for_lines(ThreadPool& threads, const Lines& lines, Body body) {
  if (lines.outer == 0 || lines.length == 0 || lines.inner == 0) return;
  const std::int64_t blocks = lines.inner / kSide + (lines.inner % kSide != 0);
  const std::int64_t side = std::min(lines.inner, kSide);
  constexpr std::int64_t kWork = 8192;  // elements per range
  const std::int64_t grain = std::max<std::int64_t>(1, kWork / (std::min(lines.length, kWork) * side));
  threads.parallel_for(lines.outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t column = unit % blocks * kSide;
      body(unit / blocks * lines.length * lines.inner + column, std::min(kSide, lines.inner - column));
    }
  });
}

}  // namespace lppool
