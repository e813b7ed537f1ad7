#include "lppool/kernels/conv.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "lppool/kernels/gemm.h"
#include "lppool/kernels/pointwise.h"

namespace lppool::kernels {
namespace {

std::int64_t product(const std::vector<PoolAxis>& axes, std::int64_t PoolAxis::*size) {
  std::int64_t result = 1;
  for (const PoolAxis& axis : axes) result *= axis.*size;
  return result;
}

// Coordinates of a flat index over the given sizes of the axes.
void unravel(std::int64_t index, const std::vector<PoolAxis>& axes, std::int64_t PoolAxis::*size, std::int64_t* at) {
  for (std::size_t a = axes.size(); a-- > 0;) {
    at[a] = index % (axes[a].*size);
    index /= axes[a].*size;
  }
}

// The outputs o of [0, axis.out) whose element `tap` of the window lies inside the input: [begin, end).
struct Range {
  std::int64_t begin, end;
};
Range outputs_inside(const PoolAxis& axis, std::int64_t tap) {
  const std::int64_t shift = axis.pad_begin - tap * axis.dilation;  // input position = o * stride - shift
  const auto first_at = [&](std::int64_t position) {                // first o with o * stride - shift >= position
    const std::int64_t distance = position + shift;
    return distance <= 0 ? 0 : (distance - 1) / axis.stride + 1;
  };
  const std::int64_t end = std::min(axis.out, first_at(axis.in));
  return {std::min(first_at(0), end), end};
}

// Walks the rows of one plane: for every output row (all axes but the last) and every kernel row that meets the input
// there, calls row(output row index, input row index, kernel row index).
template <typename Row>
void for_each_row(const std::vector<PoolAxis>& axes, Row&& row) {
  const std::size_t outer = axes.size() - 1;
  const std::vector<PoolAxis> rows(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(outer));
  const std::int64_t output_rows = product(rows, &PoolAxis::out);
  const std::int64_t kernel_rows = product(rows, &PoolAxis::kernel);
  std::vector<std::int64_t> at(outer), tap(outer);
  for (std::int64_t o = 0; o < output_rows; ++o) {
    unravel(o, rows, &PoolAxis::out, at.data());
    for (std::int64_t k = 0; k < kernel_rows; ++k) {
      unravel(k, rows, &PoolAxis::kernel, tap.data());
      std::int64_t input_row = 0;
      bool inside = true;
      for (std::size_t a = 0; a < outer && inside; ++a) {
        const std::int64_t position = at[a] * rows[a].stride - rows[a].pad_begin + tap[a] * rows[a].dilation;
        inside = position >= 0 && position < rows[a].in;
        input_row = input_row * rows[a].in + position;
      }
      if (inside) row(o, input_row, k);
    }
  }
}

// The matrix of all windows of one group of one image: a row for each channel and kernel element, a column for each output
// position. Panels of it are made when the product asks for them.
template <typename T>
class WindowMatrix {
 public:
  WindowMatrix(const T* x, const ConvGeometry& geometry)
      : x_(x), axes_(geometry.axes), kernel_size_(geometry.kernel_size()), plane_(geometry.in_size()) {}

  void operator()(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, T* out) const {
    constexpr std::int64_t kWidth = panel_width<T>();
    const std::size_t rank = axes_.size();
    std::vector<std::int64_t> corners(static_cast<std::size_t>(kWidth) * rank), tap(rank);
    for (std::int64_t c = 0; c < columns; ++c) {
      std::int64_t* corner = corners.data() + static_cast<std::size_t>(c) * rank;
      unravel(column + c, axes_, &PoolAxis::out, corner);
      for (std::size_t a = 0; a < rank; ++a) corner[a] = corner[a] * axes_[a].stride - axes_[a].pad_begin;
    }
    // Rows with the same kernel element differ by the channel only: their offsets are worked out once.
    const std::int64_t first_channel = row / kernel_size_;
    for (std::int64_t k = 0; k < kernel_size_; ++k) {
      const std::int64_t start = (row <= first_channel * kernel_size_ + k ? first_channel : first_channel + 1);
      if (start * kernel_size_ + k >= row + rows) continue;
      unravel(k, axes_, &PoolAxis::kernel, tap.data());
      std::array<std::int64_t, kWidth> offsets;
      offsets.fill(-1);
      for (std::int64_t c = 0; c < columns; ++c) {
        offsets[static_cast<std::size_t>(c)] = offset(corners.data() + static_cast<std::size_t>(c) * rank, tap.data());
      }
      bool in_line = offsets[0] >= 0;
      for (std::size_t c = 1; c < offsets.size(); ++c) in_line = in_line && offsets[c] == offsets[c - 1] + 1;
      for (std::int64_t channel = start; channel * kernel_size_ + k < row + rows; ++channel) {
        const T* plane = x_ + channel * plane_;
        T* to = out + (channel * kernel_size_ + k - row) * kWidth;
        if (in_line) {
          std::memcpy(to, plane + offsets[0], kWidth * sizeof(T));
        } else {
          for (std::size_t c = 0; c < offsets.size(); ++c) to[c] = offsets[c] >= 0 ? plane[offsets[c]] : T{0};
        }
      }
    }
  }

 private:
  // Position within a channel, -1 outside the input.
  std::int64_t offset(const std::int64_t* corner, const std::int64_t* tap) const {
    std::int64_t index = 0;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const std::int64_t position = corner[a] + tap[a] * axes_[a].dilation;
      if (position < 0 || position >= axes_[a].in) return -1;
      index = index * axes_[a].in + position;
    }
    return index;
  }

  const T* x_;
  const std::vector<PoolAxis>& axes_;
  std::int64_t kernel_size_, plane_;
};

// One output channel that sees few inputs (depthwise and nearly so): row by row, without a matrix.
template <typename T>
void convolve_plane(const T* x, const T* w, T start, T* y, const ConvGeometry& geometry) {
  const PoolAxis& line = geometry.axes.back();
  std::fill_n(y, geometry.out_size(), start);
  for (std::int64_t c = 0; c < geometry.in_channels; ++c) {
    const T* plane = x + c * geometry.in_size();
    const T* weights = w + c * geometry.kernel_size();
    for_each_row(geometry.axes, [&](std::int64_t output_row, std::int64_t input_row, std::int64_t kernel_row) {
      for (std::int64_t k = 0; k < line.kernel; ++k) {
        const T weight = weights[kernel_row * line.kernel + k];
        const auto [begin, end] = outputs_inside(line, k);
        if (begin >= end) continue;
        const T* from = plane + input_row * line.in + (begin * line.stride - line.pad_begin + k * line.dilation);
        T* to = y + output_row * line.out + begin;
        const std::int64_t count = end - begin;
        if (line.stride == 1) {
          for (std::int64_t o = 0; o < count; ++o) to[o] += weight * from[o];
        } else {
          for (std::int64_t o = 0; o < count; ++o) to[o] += weight * from[o * line.stride];
        }
      }
    });
  }
}

}  // namespace

std::int64_t ConvGeometry::in_size() const { return product(axes, &PoolAxis::in); }
std::int64_t ConvGeometry::out_size() const { return product(axes, &PoolAxis::out); }
std::int64_t ConvGeometry::kernel_size() const { return product(axes, &PoolAxis::kernel); }

template <typename T>
void convolve(const T* x, const T* w, const T* bias, T* y, const ConvGeometry& geometry, ThreadPool& pool) {
  const std::int64_t in_size = geometry.in_size(), out_size = geometry.out_size();
  const std::int64_t in_plane = geometry.in_channels * in_size, depth = geometry.in_channels * geometry.kernel_size();
  const std::int64_t channels = geometry.groups * geometry.out_channels;
  if (out_size == 0) return;
  if (geometry.groups > 1 && geometry.out_channels < 4) {
    pool.parallel_for(geometry.batch * channels, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t plane = begin; plane < end; ++plane) {
        const std::int64_t image = plane / channels, channel = plane % channels;
        const std::int64_t group = image * geometry.groups + channel / geometry.out_channels;
        convolve_plane(x + group * in_plane, w + channel * depth, bias != nullptr ? bias[channel] : T{0},
                       y + plane * out_size, geometry);
      }
    });
    return;
  }
  for (std::int64_t part = 0; part < geometry.batch * geometry.groups; ++part) {
    const std::int64_t first_channel = part % geometry.groups * geometry.out_channels;
    const MatrixView<T> weights{w + first_channel * depth, depth, 1};
    T* out = y + part * geometry.out_channels * out_size;
    const T* in = x + part * in_plane;
    if (is_pointwise(geometry)) {
      multiply<T>(geometry.out_channels, out_size, depth, weights, MatrixView<T>{in, in_size, 1}, out, out_size, pool);
    } else {
      const WindowMatrix<T> windows(in, geometry);
      multiply<T>(geometry.out_channels, out_size, depth, weights, MatrixSource<T>(windows), out, out_size, pool);
    }
    if (bias == nullptr) continue;
    pool.parallel_for(geometry.out_channels, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t channel = begin; channel < end; ++channel) {
        T* plane = out + channel * out_size;
        const T term = bias[first_channel + channel];
        for (std::int64_t i = 0; i < out_size; ++i) plane[i] += term;
      }
    });
  }
}

template <typename T>
void scatter_columns(const T* columns, const T* bias, T* y, std::int64_t channels, const std::vector<PoolAxis>& axes,
                     ThreadPool& pool) {
  const std::int64_t in_size = product(axes, &PoolAxis::in), positions = product(axes, &PoolAxis::out);
  const std::int64_t kernel_size = product(axes, &PoolAxis::kernel);
  const PoolAxis& line = axes.back();
  pool.parallel_for(channels, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t channel = first; channel < last; ++channel) {
      T* plane = y + channel * in_size;
      std::fill_n(plane, in_size, bias != nullptr ? bias[channel] : T{0});
      const T* from = columns + channel * kernel_size * positions;
      for_each_row(axes, [&](std::int64_t output_row, std::int64_t input_row, std::int64_t kernel_row) {
        for (std::int64_t k = 0; k < line.kernel; ++k) {
          const auto [begin, end] = outputs_inside(line, k);
          if (begin >= end) continue;
          const T* values = from + (kernel_row * line.kernel + k) * positions + output_row * line.out + begin;
          T* to = plane + input_row * line.in + (begin * line.stride - line.pad_begin + k * line.dilation);
          for (std::int64_t o = 0; o < end - begin; ++o) to[o * line.stride] = static_cast<T>(to[o * line.stride] + values[o]);
        }
      });
    }
  });
}

#define LPPOOL_INSTANTIATE(T)                                                                              \
  template void convolve<T>(const T*, const T*, const T*, T*, const ConvGeometry&, ThreadPool&);          \
  template void scatter_columns<T>(const T*, const T*, T*, std::int64_t, const std::vector<PoolAxis>&, ThreadPool&);
LPPOOL_INSTANTIATE(float)
LPPOOL_INSTANTIATE(double)
LPPOOL_INSTANTIATE(std::uint32_t)
LPPOOL_INSTANTIATE(std::uint64_t)
#undef LPPOOL_INSTANTIATE
template void scatter_columns<std::uint8_t>(const std::uint8_t*, const std::uint8_t*, std::uint8_t*, std::int64_t,
                                            const std::vector<PoolAxis>&, ThreadPool&);
template void scatter_columns<std::uint16_t>(const std::uint16_t*, const std::uint16_t*, std::uint16_t*, std::int64_t,
                                             const std::vector<PoolAxis>&, ThreadPool&);

}  // namespace lppool::kernels
