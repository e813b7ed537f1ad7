// Pointwise convolution: tiles of several output channels by several vectors of places, kept in registers while the
// input channels go by. Rows of the input are read in place; a tile reads each of them once.
#include "lppool/kernels/pointwise.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lppool/kernels/pointwise.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef LPPOOL_KERNELS_POINTWISE_JOB
#define LPPOOL_KERNELS_POINTWISE_JOB
namespace lppool::kernels {

// Output channels [0, channels) of one group, at places [begin, end) of `size`.
struct PointwiseJob {
  const float* x;     // depth rows of `size`
  const float* w;     // channels rows of depth
  const float* bias;  // of each channel, or nullptr
  float* y;           // channels rows of `size`
  std::int64_t channels, depth, size, begin, end;
};

}  // namespace lppool::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;

// Rows by vectors of a tile: as many sums as registers hold beside a line of the input and a weight.
constexpr int kRows = 6;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr int kVectors = 4;
#else
constexpr int kVectors = 2;
#endif

// Channels channel .. channel + R - 1 at places place .. place + V vectors - 1.
template <int R, int V>
HWY_INLINE void pointwise_tile(const PointwiseJob& job, std::int64_t channel, std::int64_t place) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float* const w = job.w + channel * job.depth;
  hn::Vec<Floats> sums[R][V];
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
    const auto start = hn::Set(d, job.bias != nullptr ? job.bias[channel + r] : 0.0f);
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sums[r][v] = start;
  }
  const float* x = job.x + place;
  for (std::int64_t k = 0; k < job.depth; ++k, x += job.size) {
    hn::Vec<Floats> line[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) line[v] = hn::LoadU(d, x + v * lanes);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      const auto weight = hn::Set(d, w[r * job.depth + k]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sums[r][v] = hn::MulAdd(weight, line[v], sums[r][v]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) hn::StoreU(sums[r][v], d, job.y + (channel + r) * job.size + place + v * lanes);
  }
}

template <int V>
void pointwise_column(const PointwiseJob& job, std::int64_t place) {
  std::int64_t channel = 0;
  for (; channel + kRows <= job.channels; channel += kRows) pointwise_tile<kRows, V>(job, channel, place);
  for (; channel + 2 <= job.channels; channel += 2) pointwise_tile<2, V>(job, channel, place);
  if (channel < job.channels) pointwise_tile<1, V>(job, channel, place);
}

// job.end - job.begin is a vector or more; the last one laps over the one before it.
void pointwise(const PointwiseJob& job) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t place = job.begin;
  for (; place + kVectors * lanes <= job.end; place += kVectors * lanes) pointwise_column<kVectors>(job, place);
  for (; place + lanes <= job.end; place += lanes) pointwise_column<1>(job, place);
  if (place < job.end) pointwise_column<1>(job, job.end - lanes);
}

}  // namespace lppool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "lppool/kernels/dispatch.h"

namespace lppool::kernels {

HWY_EXPORT(pointwise);

bool is_pointwise(const ConvGeometry& geometry) {
  return std::ranges::all_of(geometry.axes, [](const PoolAxis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.out == axis.in;
  });
}

void convolve_pointwise(const float* x, const float* w, const float* bias, float* y, const ConvGeometry& geometry,
                        ThreadPool& pool) {
  constexpr std::int64_t kLongestVector = 16;
  const std::int64_t size = geometry.out_size(), parts = geometry.batch * geometry.groups;
  if (!is_pointwise(geometry) || size < kLongestVector) return convolve(x, w, bias, y, geometry, pool);
  const auto kernel = HWY_DISPATCH_TABLE(pointwise)[dispatch_index()];
  // Pieces of the places, so that there is work for all threads where there are few groups.
  const std::int64_t wanted = (2 * pool.threads() + parts - 1) / parts;
  const std::int64_t pieces = pool.threads() == 1 ? 1 : std::clamp<std::int64_t>(size / 256, 1, wanted);
  pool.parallel_for(parts * pieces, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t part = i / pieces, piece = i % pieces,
                         channel = part % geometry.groups * geometry.out_channels;
      kernel({x + part * geometry.in_channels * size, w + channel * geometry.in_channels,
              bias != nullptr ? bias + channel : nullptr, y + part * geometry.out_channels * size,
              geometry.out_channels, geometry.in_channels, size, size * piece / pieces, size * (piece + 1) / pieces});
    }
  });
}

}  // namespace lppool::kernels
#endif
