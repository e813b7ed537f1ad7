#include "lppool/report/window_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lppool/kernels/window.h"
#include "lppool/ops/lp_norm.h"
#include "lppool/ops/lp_window.h"
#include "lppool/tensor/convert.h"

namespace lppool::report {
namespace {

constexpr std::int64_t kMostPositions = 11;  // of one axis
constexpr std::size_t kMostSlices = 4;
constexpr std::int64_t kMostChannels = 256;  // looked at for a telling one

struct Axis {
  std::int64_t begin = 0, kernel = 1, dilation = 1, in = 0, o = 0;
};

// A window that touches the padding but not only it, else one in the middle.
std::int64_t telling_output(const kernels::PoolAxis& axis) {
  const auto partly = [&](std::int64_t o) {
    const std::int64_t count = kernels::clip_window(axis, o).count;
    return count > 0 && count < axis.kernel;
  };
  for (std::int64_t o = 0; o < std::min<std::int64_t>(axis.out, 8); ++o) {
    if (partly(o)) return o;
  }
  for (std::int64_t o = axis.out - 1; o >= 0 && o >= axis.out - 8; --o) {
    if (partly(o)) return o;
  }
  return axis.out / 2;
}

std::vector<kernels::PoolAxis> axes_of(const BoundNode& node, const Tensor& x) {
  std::vector<kernels::PoolAxis> axes;
  if (node.node.op_type == "GlobalLpPool") {
    for (std::size_t i = 2; i < x.rank(); ++i) axes.push_back({x.shape()[i], 1, x.shape()[i], 1, 1, 0});
    return axes;
  }
  const LpWindow window = read_lp_window(AttributeView(node.node, *node.schema), x.rank());
  for (std::size_t i = 0; i < window.axes.size(); ++i) {
    const AxisPlan plan = plan_axis(window, i, x.shape()[i + 2]);
    axes.push_back({x.shape()[i + 2], plan.out, window.axes[i].kernel, window.axes[i].stride, window.axes[i].dilation, plan.pad_begin});
  }
  return axes;
}

// The positions of an axis that are shown, -1 - for "and so on".
struct Shown {
  std::vector<std::int64_t> positions;
  bool more = false;
};

Shown shown_positions(const Axis& axis) {
  Shown shown;
  const std::int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
  if (extent <= kMostPositions) {
    for (std::int64_t i = 0; i < extent; ++i) shown.positions.push_back(axis.begin + i);
    return shown;
  }
  // Elements only, from a little before the first that is in the input.
  const kernels::Taps taps = kernels::clip_window(axis.begin, axis.in, axis.kernel, axis.dilation);
  const std::int64_t inside = taps.count > 0 ? (taps.first - axis.begin) / axis.dilation : 0;
  const std::int64_t from = std::max<std::int64_t>(0, std::min(inside - 2, axis.kernel - kMostPositions));
  for (std::int64_t i = from; i < std::min(axis.kernel, from + kMostPositions); ++i) shown.positions.push_back(axis.begin + i * axis.dilation);
  shown.more = axis.kernel > kMostPositions;
  return shown;
}

class Painter {
 public:
  Painter(const Tensor& x, const std::vector<Axis>& axes, std::int64_t n, std::int64_t c, WindowPicture& picture)
      : x_(x), axes_(axes), picture_(picture), strides_(x.shape().strides()), base_(n * strides_[0] + c * strides_[1]), n_(n), c_(c) {
    for (const Axis& axis : axes) shown_.push_back(shown_positions(axis));
  }

  void paint() {
    const std::size_t rank = axes_.size();
    std::vector<std::size_t> outer(rank >= 2 ? rank - 2 : 0, 0);
    for (std::size_t slice = 0; slice < kMostSlices; ++slice) {
      std::vector<std::int64_t> position(rank, 0);
      std::string caption;
      for (std::size_t i = 0; i < outer.size(); ++i) {
        position[i] = shown_[i].positions[outer[i]];
        caption += fmt::format("{}axis {}: {}", caption.empty() ? "" : ", ", i + 2, position[i]);
      }
      picture_.slices.push_back({caption, 0, {}});
      paint_slice(position, picture_.slices.back());
      std::size_t i = outer.size();
      while (i-- > 0) {
        if (++outer[i] < shown_[i].positions.size()) break;
        outer[i] = 0;
      }
      if (i == static_cast<std::size_t>(-1)) break;
    }
    collect_values(0, base_);
  }

 private:
  void paint_slice(std::vector<std::int64_t>& position, WindowPicture::Slice& slice) {
    const std::size_t rank = axes_.size();
    const std::size_t last = rank - 1;
    slice.columns = shown_[last].positions.size() + (shown_[last].more ? 1 : 0);
    const std::vector<std::int64_t> one_row = {0};
    const auto& rows = rank >= 2 ? shown_[rank - 2].positions : one_row;
    for (const std::int64_t row : rows) {
      if (rank >= 2) position[rank - 2] = row;
      for (const std::int64_t column : shown_[last].positions) {
        position[last] = column;
        slice.cells.push_back(cell_at(position));
      }
      if (shown_[last].more) slice.cells.push_back({WindowPicture::Cell::Kind::kMore, 0, ""});
    }
    if (rank >= 2 && shown_[rank - 2].more) slice.cells.insert(slice.cells.end(), slice.columns, {WindowPicture::Cell::Kind::kMore, 0, ""});
  }

  WindowPicture::Cell cell_at(const std::vector<std::int64_t>& position) const {
    WindowPicture::Cell cell;
    std::string at = fmt::format("{}, {}", n_, c_);
    std::int64_t offset = base_;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      at += fmt::format(", {}", position[i]);
      const bool element = (position[i] - axes_[i].begin) % axes_[i].dilation == 0;
      const bool inside = position[i] >= 0 && position[i] < axes_[i].in;
      if (!element) cell.kind = WindowPicture::Cell::Kind::kSkipped;
      else if (!inside && cell.kind == WindowPicture::Cell::Kind::kInput) cell.kind = WindowPicture::Cell::Kind::kPadding;
      offset += position[i] * strides_[i + 2];
    }
    cell.at = at;
    if (cell.kind == WindowPicture::Cell::Kind::kInput) cell.value = element_as_double(x_, offset);
    return cell;
  }

  void collect_values(std::size_t i, std::int64_t offset) {
    if (picture_.values.size() >= WindowPicture::kMostTerms) return;
    if (i == axes_.size()) {
      picture_.values.push_back(element_as_double(x_, offset));
      return;
    }
    const Axis& axis = axes_[i];
    const kernels::Taps taps = kernels::clip_window(axis.begin, axis.in, axis.kernel, axis.dilation);
    for (std::int64_t k = 0; k < taps.count && picture_.values.size() < WindowPicture::kMostTerms; ++k) {
      collect_values(i + 1, offset + (taps.first + k * taps.step) * strides_[i + 2]);
    }
  }

  const Tensor& x_;
  const std::vector<Axis>& axes_;
  WindowPicture& picture_;
  std::vector<std::int64_t> strides_;
  std::int64_t base_, n_, c_;
  std::vector<Shown> shown_;
};

// The channel whose output at this place is largest: zeros tell little.
std::int64_t telling_channel(const Tensor& y, const std::vector<Axis>& axes) {
  const auto strides = y.shape().strides();
  std::int64_t offset = 0, best = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) offset += axes[i].o * strides[i + 2];
  double most = -1;
  for (std::int64_t c = 0; c < std::min(y.shape()[1], kMostChannels); ++c) {
    const double v = element_as_double(y, c * strides[1] + offset);
    if (!(v > most)) continue;
    most = v;
    best = c;
  }
  return best;
}

}  // namespace

std::optional<WindowPicture> picture_window(const BoundNode& node, const Tensor& x, const Tensor& y) {
  const bool lp = canonical_domain(node.node.domain).empty() && (node.node.op_type == "LpPool" || node.node.op_type == "GlobalLpPool");
  if (!lp || node.schema == nullptr || x.rank() < 3 || y.rank() != x.rank() || y.size() == 0 || x.size() == 0) return std::nullopt;
  WindowPicture picture;
  std::vector<Axis> axes;
  double elements = 1, inputs = 1;
  for (const kernels::PoolAxis& axis : axes_of(node, x)) {
    const std::int64_t o = telling_output(axis);
    axes.push_back({o * axis.stride - axis.pad_begin, axis.kernel, axis.dilation, axis.in, o});
    elements *= static_cast<double>(axis.kernel);
    inputs *= static_cast<double>(kernels::clip_window(axis, o).count);
  }
  if (elements > 1e15) return std::nullopt;
  const std::int64_t c = telling_channel(y, axes);
  const auto strides = y.shape().strides();
  std::int64_t offset = c * strides[1];
  picture.output_at = fmt::format("0, {}", c);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    offset += axes[i].o * strides[i + 2];
    picture.output_at += fmt::format(", {}", axes[i].o);
  }
  const kernels::LpNorm norm = read_lp_norm(AttributeView(node.node, *node.schema));
  picture.p = norm.whole > 0 ? fmt::format("{}", norm.whole) : fmt::format("{}", norm.fraction);
  picture.input = node.node.inputs[0];
  picture.output = node.node.outputs[0];
  picture.dtype = y.dtype();
  picture.result = element_as_double(y, offset);
  picture.inputs = static_cast<std::int64_t>(inputs);
  picture.padding = static_cast<std::int64_t>(elements - inputs);
  Painter(x, axes, 0, c, picture).paint();
  return picture;
}

}  // namespace lppool::report
