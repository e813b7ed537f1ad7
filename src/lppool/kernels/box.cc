#include "lppool/kernels/box.h"

#include <algorithm>

#include "lppool/base/checked.h"

namespace lppool::kernels {
namespace {

// Outputs below which a band is not worth a thread's wake-up.
constexpr std::int64_t kMinBandWork = 1 << 14;
// Scratch a box may fill: well inside a core's second-level cache.
constexpr std::int64_t kScratchDoubles = std::int64_t{384} * 1024 / 8;
// Most scratch a thread may take where a window is so deep that the cache is out of the question.
constexpr std::int64_t kMaxScratchDoubles = std::int64_t{16} * 1024 * 1024 / 8;
constexpr std::int64_t kMinTile = 64;
constexpr std::int64_t kMaxTile = 1536;

bool is_identity(const BoxAxis& a) {
  return a.kernel == 1 && a.stride == 1 && a.start == 0 && a.in == a.out;
}

}  // namespace

std::int64_t BoxAxis::max_taps() const {
  return std::min(kernel, in == 0 ? 0 : (in - 1) / dilation + 1);
}

Box cut(Box box, std::size_t axis, std::int64_t begin, std::int64_t end, std::int64_t element) {
  BoxAxis& a = box.axes[axis];
  a.out = end - begin;
  a.start += begin * a.stride;
  box.y = static_cast<char*>(box.y) + begin * a.y_step * element;
  // The inputs the windows reach. The last window's start lies below 2^63; how far it reaches is cut at `in` first.
  const std::int64_t last = a.start + (a.out - 1) * a.stride;
  const std::int64_t first_in = std::clamp<std::int64_t>(a.start, 0, a.in);
  std::int64_t end_in = a.in;
  if (last < a.in) {
    const std::int64_t left = a.in - 1 - last;  // may exceed `in` for a start far in the padding
    const std::int64_t taps = std::min(a.kernel - 1, left / a.dilation);
    // Where the last window is cut, one before it may reach further, up to the end of the input.
    if (taps == a.kernel - 1) end_in = std::clamp<std::int64_t>(last + taps * a.dilation + 1, first_in, a.in);
  }
  box.x = static_cast<const char*>(box.x) + first_in * a.x_step * element;
  a.in = end_in - first_in;
  a.start -= first_in;
  return box;
}

BoxPlan::BoxPlan(const PoolGeometry& geometry, std::int64_t element, std::int64_t row_doubles, int threads)
    : planes_(geometry.planes), element_(element) {
  std::vector<BoxAxis> axes;
  for (const PoolAxis& a : geometry.axes) {
    axes.push_back({a.in, a.out, a.kernel, a.stride, a.dilation, -a.pad_begin, 1, 1});
  }
  trivial_ = std::all_of(axes.begin(), axes.end(), [](const BoxAxis& a) { return a.max_taps() <= 1; });
  // Leading axes the window does not span are more planes; a run of such axes elsewhere is one long axis.
  std::size_t leading = 0;
  for (; leading < axes.size() && is_identity(axes[leading]); ++leading) planes_ *= axes[leading].in;
  for (std::size_t i = leading; i < axes.size(); ++i) {
    if (is_identity(axes[i]) && !axes_.empty() && is_identity(axes_.back())) {
      axes_.back().in *= axes[i].in;
      axes_.back().out *= axes[i].out;
    } else {
      axes_.push_back(axes[i]);
    }
  }
  if (axes_.empty()) {
    axes_.push_back({.in = planes_, .out = planes_});
    planes_ = 1;
  }
  for (std::size_t i = axes_.size(); i-- > 0;) {
    axes_[i].x_step = plane_in_;
    axes_[i].y_step = plane_out_;
    plane_in_ *= axes_[i].in;
    plane_out_ *= axes_[i].out;
  }
  if (planes_ == 0 || plane_out_ == 0) return;

  // Tiles along the last axis: what one row of tiles needs in scratch should fit the cache. Never narrower than twice
  // the reach of the window, or the overlap would cost more than it saves.
  const BoxAxis& last = axes_.back();
  std::int64_t slab = row_doubles;  // doubles of scratch for each column
  for (std::size_t i = 0; i + 1 < axes_.size(); ++i) {
    std::int64_t depth = std::min<std::int64_t>(axes_[i].max_taps(), axes_[i].in) + 2;
    for (std::size_t j = i + 1; j + 1 < axes_.size(); ++j) depth *= axes_[j].in;
    slab += depth * row_doubles;
  }
  const std::int64_t reach = std::max<std::int64_t>(last.max_taps() - 1, 0) * last.dilation;
  const std::int64_t narrowest = std::clamp<std::int64_t>(kMaxScratchDoubles / slab, 1, kMinTile);
  const std::int64_t width = std::clamp(kScratchDoubles / slab, narrowest, kMaxTile);
  const std::int64_t wanted_width = std::max(width, std::min(2 * reach, kMaxScratchDoubles / slab));
  const std::int64_t tile_out = wanted_width / last.stride + 1;
  tiles_ = ceil_div(last.out, std::min(tile_out, last.out));

  // Bands along the first axis with more than one output, where planes and tiles are too few for the threads.
  while (band_axis_ + 1 < axes_.size() && axes_[band_axis_].out == 1) ++band_axis_;
  const std::int64_t work = std::max(plane_in_, plane_out_);
  if (threads > 1 && planes_ * tiles_ < std::int64_t{threads} * 4) {
    const BoxAxis& a = axes_[band_axis_];
    const std::int64_t wanted = ceil_div(std::int64_t{threads} * 4, planes_ * tiles_);
    // Rows a band reads beyond those it owns; they should be a small part of it.
    const std::int64_t overlap = ceil_div(std::max<std::int64_t>(a.max_taps() - 1, 0) * a.dilation, a.stride);
    const std::int64_t most = std::max<std::int64_t>(std::min(work / kMinBandWork, a.out / (2 * overlap + 1)), 1);
    const std::int64_t least = work >= kMinBandWork * threads ? std::min<std::int64_t>(threads, a.out) : 1;
    if (band_axis_ + 1 == axes_.size()) {
      tiles_ = std::clamp(tiles_ * wanted, tiles_, std::max(tiles_, std::max(most, least)));
    } else {
      bands_ = std::min(wanted, std::max(most, least));
    }
  }
  grain_ = std::max<std::int64_t>(
      kMinBandWork * planes_ / std::max<std::int64_t>(work * planes_ / (bands_ * tiles_), 1) / planes_, 1);
  if (planes_ > 1 && boxes() / grain_ < threads * 4)
    grain_ = std::max<std::int64_t>(boxes() / (std::int64_t{threads} * 4), 1);
  if (work * planes_ < kMinBandWork) grain_ = boxes();
}

Box BoxPlan::box(std::int64_t index, const void* x, void* y) const {
  const std::int64_t tile = index % tiles_, band = index / tiles_ % bands_, plane = index / tiles_ / bands_;
  Box box{static_cast<const char*>(x) + plane * plane_in_ * element_,
          static_cast<char*>(y) + plane * plane_out_ * element_, axes_};
  const auto part = [](std::int64_t n, std::int64_t parts, std::int64_t i) {
    return n / parts * i + std::min(i, n % parts);
  };
  if (tiles_ > 1) {
    const std::int64_t n = axes_.back().out;
    box = cut(std::move(box), axes_.size() - 1, part(n, tiles_, tile), part(n, tiles_, tile + 1), element_);
  }
  if (bands_ > 1) {
    const std::int64_t n = axes_[band_axis_].out;
    box = cut(std::move(box), band_axis_, part(n, bands_, band), part(n, bands_, band + 1), element_);
  }
  return box;
}

}  // namespace lppool::kernels
