#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/float_format.h"

namespace lppool::testing {

// One spatial axis of a pooling, as LpPool-22 describes it.
struct LiteralAxis {
  std::int64_t input = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t output = 1;
};

// How many windows an axis has without auto_pad, found by walking: a window counts if it ends inside input and end
// padding. With `ceil_mode` one more counts when the last one left some place unreached, but not (LpPool 22 and later,
// `drop_last`) if it would start at or beyond the end of begin padding plus input. May be 0.
std::int64_t literal_output_size(const LiteralAxis& axis, bool ceil_mode, bool drop_last);

// The values a window sees: those of one plane (row order, axes.size() axes) at output position `position`. Places
// outside the input are left out.
std::vector<double> literal_window(std::span<const double> plane, std::span<const LiteralAxis> axes,
                                   std::span<const std::int64_t> position);

// LpPool by the definition: `input` holds planes of format numbers one after the other; the result holds the bit
// patterns of the exactly rounded norms, in row order.
std::vector<std::uint64_t> literal_pool(const FloatFormat& format, std::span<const double> input,
                                        std::span<const LiteralAxis> axes, double p);

}  // namespace lppool::testing
