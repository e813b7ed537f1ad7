// Depthwise convolution, one channel at a time. The channel is first copied with its padding along the last axis, and each of
// its rows is split into `stride` rows: elements 0, s, 2s, ... then 1, s + 1, ... Every window element then reads consecutive
// places for consecutive outputs, whatever stride and dilation are, and nothing has to be checked at the borders.
#include "lppool/kernels/depthwise.h"

#include <algorithm>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lppool/kernels/depthwise.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef LPPOOL_KERNELS_DEPTHWISE_JOB
#define LPPOOL_KERNELS_DEPTHWISE_JOB
namespace lppool::kernels {

// One output row: the sum over `rows` input rows (already shifted to the row's first output) and their weights.
struct DepthwiseRow {
  const float* const* rows;    // padded, split input rows that meet the window
  const float* const* weights; // of each of them, `taps` elements
  std::int64_t row_count;
  const std::int64_t* offsets; // where element k of the window reads, for output 0
  std::int64_t taps;
  std::int64_t count;          // outputs
  float start;                 // the bias
  float* out;
};

}  // namespace lppool::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Input rows are readable for a vector past their end; the output row is not.
void depthwise_row(const DepthwiseRow& job) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr std::int64_t kUnroll = 4;
  std::int64_t o = 0;
  for (; o + kUnroll * lanes <= job.count; o += kUnroll * lanes) {
    auto s0 = hn::Set(d, job.start), s1 = s0, s2 = s0, s3 = s0;
    for (std::int64_t r = 0; r < job.row_count; ++r) {
      for (std::int64_t k = 0; k < job.taps; ++k) {
        const auto weight = hn::Set(d, job.weights[r][k]);
        const float* from = job.rows[r] + job.offsets[k] + o;
        s0 = hn::MulAdd(weight, hn::LoadU(d, from), s0);
        s1 = hn::MulAdd(weight, hn::LoadU(d, from + lanes), s1);
        s2 = hn::MulAdd(weight, hn::LoadU(d, from + 2 * lanes), s2);
        s3 = hn::MulAdd(weight, hn::LoadU(d, from + 3 * lanes), s3);
      }
    }
    hn::StoreU(s0, d, job.out + o);
    hn::StoreU(s1, d, job.out + o + lanes);
    hn::StoreU(s2, d, job.out + o + 2 * lanes);
    hn::StoreU(s3, d, job.out + o + 3 * lanes);
  }
  for (; o < job.count; o += lanes) {
    auto sum = hn::Set(d, job.start);
    for (std::int64_t r = 0; r < job.row_count; ++r) {
      for (std::int64_t k = 0; k < job.taps; ++k) {
        sum = hn::MulAdd(hn::Set(d, job.weights[r][k]), hn::LoadU(d, job.rows[r] + job.offsets[k] + o), sum);
      }
    }
    if (o + lanes <= job.count) {
      hn::StoreU(sum, d, job.out + o);
    } else {
      hn::BlendedStore(sum, hn::FirstN(d, static_cast<std::size_t>(job.count - o)), d, job.out + o);
    }
  }
}

}  // namespace lppool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "lppool/kernels/dispatch.h"

namespace lppool::kernels {

HWY_EXPORT(depthwise_row);

namespace {

// Floats readable past the end of a row: the longest vector there is.
constexpr std::int64_t kSlack = 64;

// A channel, padded and split along the last axis.
class SplitChannel {
 public:
  SplitChannel(const ConvGeometry& geometry, std::int64_t rows) : axis_(geometry.axes.back()) {
    const std::int64_t last = (axis_.out - 1) * axis_.stride + (axis_.kernel - 1) * axis_.dilation;
    part_ = last / axis_.stride + 1;
    pitch_ = part_ * axis_.stride + kSlack;
    data_.assign(static_cast<std::size_t>(rows * pitch_), 0.0f);
    for (std::int64_t k = 0; k < axis_.kernel; ++k) {
      const std::int64_t position = k * axis_.dilation;
      offsets_.push_back(position % axis_.stride * part_ + position / axis_.stride);
    }
    // The part of an input row that outputs read: [first_, end_).
    end_ = std::min(axis_.in, last - axis_.pad_begin + 1);
  }

  const float* row(std::int64_t index) const { return data_.data() + index * pitch_; }
  const std::int64_t* offsets() const { return offsets_.data(); }

  void load_row(std::int64_t index, const float* from) {
    float* to = data_.data() + index * pitch_;
    const std::int64_t stride = axis_.stride;
    if (stride == 1) {
      if (end_ > 0) std::copy_n(from, end_, to + axis_.pad_begin);
      return;
    }
    for (std::int64_t phase = 0; phase < stride; ++phase) {
      // Padded positions phase, phase + stride, ...: the first that is not padding.
      const std::int64_t skip = axis_.pad_begin <= phase ? 0 : (axis_.pad_begin - phase + stride - 1) / stride;
      float* part = to + phase * part_;
      std::int64_t position = phase + skip * stride - axis_.pad_begin;
      for (std::int64_t i = skip; position < end_; ++i, position += stride) part[i] = from[position];
    }
  }

 private:
  PoolAxis axis_;
  std::int64_t part_ = 0, pitch_ = 0, end_ = 0;
  std::vector<float> data_;
  std::vector<std::int64_t> offsets_;
};

std::int64_t outer_product(const std::vector<PoolAxis>& axes, std::int64_t PoolAxis::*size) {
  std::int64_t result = 1;
  for (std::size_t a = 0; a + 1 < axes.size(); ++a) result *= axes[a].*size;
  return result;
}

// For every output row: the input rows and the kernel rows that meet there, one after another.
struct RowMap {
  std::vector<std::int64_t> begin;  // of each output row, into the lists; one more at the end
  std::vector<std::int64_t> input_rows, kernel_rows;
};

RowMap map_rows(const std::vector<PoolAxis>& axes) {
  const std::int64_t output_rows = outer_product(axes, &PoolAxis::out), kernel_rows = outer_product(axes, &PoolAxis::kernel);
  RowMap map;
  for (std::int64_t o = 0; o < output_rows; ++o) {
    map.begin.push_back(static_cast<std::int64_t>(map.input_rows.size()));
    for (std::int64_t k = 0; k < kernel_rows; ++k) {
      std::int64_t out = o, tap = k, input_row = 0, step = 1;
      bool inside = true;
      for (std::size_t a = axes.size() - 1; a-- > 0;) {
        const std::int64_t position = out % axes[a].out * axes[a].stride - axes[a].pad_begin + tap % axes[a].kernel * axes[a].dilation;
        out /= axes[a].out;
        tap /= axes[a].kernel;
        inside = inside && position >= 0 && position < axes[a].in;
        input_row += position * step;
        step *= axes[a].in;
      }
      if (!inside) continue;
      map.input_rows.push_back(input_row);
      map.kernel_rows.push_back(k);
    }
  }
  map.begin.push_back(static_cast<std::int64_t>(map.input_rows.size()));
  return map;
}

// Whether a padded channel stays within 64 MiB: a stride far beyond the input would need much for nothing.
bool fits_memory(const ConvGeometry& geometry) {
  const PoolAxis& line = geometry.axes.back();
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  const std::int64_t last = (line.out - 1) * line.stride + (line.kernel - 1) * line.dilation;
  const std::int64_t rows = outer_product(geometry.axes, &PoolAxis::in);
  return line.stride < kMost && last < kMost && rows < kMost && rows * (last + line.stride + kSlack) < kMost;
}

}  // namespace

void convolve_depthwise(const float* x, const float* w, const float* bias, float* y, const ConvGeometry& geometry,
                        ThreadPool& pool) {
  if (geometry.out_size() == 0) return;
  if (!fits_memory(geometry)) return convolve(x, w, bias, y, geometry, pool);
  const auto row_function = HWY_DISPATCH_TABLE(depthwise_row)[dispatch_index()];
  const PoolAxis& line = geometry.axes.back();
  const std::int64_t input_rows = outer_product(geometry.axes, &PoolAxis::in);
  const std::int64_t output_rows = outer_product(geometry.axes, &PoolAxis::out);
  const std::int64_t in_size = geometry.in_size(), out_size = geometry.out_size(), kernel_size = geometry.kernel_size();
  const RowMap map = map_rows(geometry.axes);
  pool.parallel_for(geometry.batch * geometry.groups, [&](std::int64_t begin, std::int64_t end) {
    SplitChannel channel(geometry, input_rows);
    std::vector<const float*> rows, weights;
    for (std::int64_t plane = begin; plane < end; ++plane) {
      for (std::int64_t r = 0; r < input_rows; ++r) channel.load_row(r, x + plane * in_size + r * line.in);
      for (std::int64_t m = 0; m < geometry.out_channels; ++m) {
        const std::int64_t output = plane % geometry.groups * geometry.out_channels + m;
        const float* kernel = w + output * kernel_size;
        float* out = y + (plane * geometry.out_channels + m) * out_size;
        for (std::int64_t o = 0; o < output_rows; ++o) {
          rows.clear();
          weights.clear();
          for (std::int64_t i = map.begin[static_cast<std::size_t>(o)]; i < map.begin[static_cast<std::size_t>(o) + 1]; ++i) {
            rows.push_back(channel.row(map.input_rows[static_cast<std::size_t>(i)]));
            weights.push_back(kernel + map.kernel_rows[static_cast<std::size_t>(i)] * line.kernel);
          }
          row_function({rows.data(), weights.data(), static_cast<std::int64_t>(rows.size()), channel.offsets(), line.kernel,
                        line.out, bias != nullptr ? bias[output] : 0.0f, out + o * line.out});
        }
      }
    }
  });
}

}  // namespace lppool::kernels
#endif
