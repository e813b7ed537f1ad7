#include "support/literal_pool.h"

#include "support/exact_lp.h"

namespace lppool::testing {
namespace {

// Counts `index` up in row order within `sizes`; false after the last one.
bool advance(std::vector<std::int64_t>& index, const std::vector<std::int64_t>& sizes) {
  for (std::size_t axis = sizes.size(); axis > 0; --axis) {
    if (++index[axis - 1] < sizes[axis - 1]) return true;
    index[axis - 1] = 0;
  }
  return false;
}

}  // namespace

std::int64_t literal_output_size(const LiteralAxis& axis, bool ceil_mode, bool drop_last) {
  const std::int64_t padded = axis.pad_begin + axis.input + axis.pad_end;
  const std::int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
  std::int64_t count = 0;
  while (count * axis.stride + reach <= padded) ++count;
  if (!ceil_mode) return count;
  // Windows start every `stride` places; one more is taken if the last end (with none so far: the end of an imagined
  // window one stride earlier) is short of the padded end.
  const std::int64_t last_end = (count - 1) * axis.stride + reach;
  if (last_end < padded) ++count;
  if (drop_last && count > 0 && (count - 1) * axis.stride >= axis.input + axis.pad_begin) --count;
  return count;
}

std::vector<double> literal_window(std::span<const double> plane, std::span<const LiteralAxis> axes,
                                   std::span<const std::int64_t> position) {
  std::vector<std::int64_t> kernel;
  for (const LiteralAxis& axis : axes) kernel.push_back(axis.kernel);
  std::vector<std::int64_t> tap(axes.size(), 0);
  std::vector<double> values;
  do {
    std::int64_t offset = 0;
    bool inside = true;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t place = position[i] * axes[i].stride - axes[i].pad_begin + tap[i] * axes[i].dilation;
      inside = inside && place >= 0 && place < axes[i].input;
      offset = offset * axes[i].input + place;
    }
    if (inside) values.push_back(plane[static_cast<std::size_t>(offset)]);
  } while (advance(tap, kernel));
  return values;
}

std::vector<std::uint64_t> literal_pool(const FloatFormat& format, std::span<const double> input,
                                        std::span<const LiteralAxis> axes, double p) {
  std::int64_t plane_size = 1;
  std::int64_t outputs = 1;
  std::vector<std::int64_t> output;
  for (const LiteralAxis& axis : axes) {
    plane_size *= axis.input;
    outputs *= axis.output;
    output.push_back(axis.output);
  }
  std::vector<std::uint64_t> result;
  if (plane_size == 0 || outputs == 0) return result;
  const auto step = static_cast<std::size_t>(plane_size);
  for (std::size_t plane = 0; plane < input.size(); plane += step) {
    std::vector<std::int64_t> position(axes.size(), 0);
    do {
      const std::vector<double> values = literal_window(input.subspan(plane, step), axes, position);
      result.push_back(exact_lp(format, values, p));
    } while (advance(position, output));
  }
  return result;
}

}  // namespace lppool::testing
