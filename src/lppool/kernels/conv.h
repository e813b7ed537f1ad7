#pragma once

#include <cstdint>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/kernels/lp_pool.h"

namespace lppool::kernels {

// A convolution of dense arrays: x is batch x (groups * in_channels) x axes[].in, w is (groups * out_channels) x in_channels
// x axes[].kernel, y is batch x (groups * out_channels) x axes[].out, all contiguous.
struct ConvGeometry {
  std::int64_t batch = 0;
  std::int64_t groups = 1;
  std::int64_t in_channels = 0;   // of one group
  std::int64_t out_channels = 0;  // of one group
  std::vector<PoolAxis> axes;     // at least one

  std::int64_t in_size() const;      // elements of one channel of x
  std::int64_t out_size() const;     // of one channel of y
  std::int64_t kernel_size() const;  // of one channel of w
};

// y[n, g*M + m, o] = bias[g*M + m] + sum over c, i of w[g*M + m, c, i] * x[n, g*C + c, o*stride - pad + i*dilation];
// positions outside x count as zero. bias may be null. T as for multiply(); sums run in T. Source: ONNX Conv.
template <typename T>
void convolve(const T* x, const T* w, const T* bias, T* y, const ConvGeometry& geometry, ThreadPool& pool);

// The adjoint: adds columns[(c * kernel_size + i), o] to y[c, o*stride - pad + i*dilation] for every channel c, kernel
// element i and output position o, and drops positions outside y. Here axes[].in are the sizes of y and axes[].out those of
// the positions; y is set first, to bias[c] or zero. Source: ONNX ConvTranspose and Col2Im.
template <typename T>
void scatter_columns(const T* columns, const T* bias, T* y, std::int64_t channels, const std::vector<PoolAxis>& axes,
                     ThreadPool& pool);

}  // namespace lppool::kernels
