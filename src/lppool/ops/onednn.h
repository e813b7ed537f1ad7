#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lppool/kernels/conv.h"
#include "lppool/kernels/gemm.h"

// oneDNN for float32 convolutions and matrix products. In a build without it (LPPOOL_WITH_ONEDNN=OFF) nothing here is
// available and callers use the kernels of this program. The library's threads are OpenMP's; every call sets their number.
namespace lppool::onednn {

// y = a * b as kernels::multiply() has it. False, with nothing done, where the library is not there or a matrix is
// contiguous along neither axis.
bool multiply(std::int64_t m, std::int64_t n, std::int64_t k, kernels::MatrixView<float> a, kernels::MatrixView<float> b,
              float* y, std::int64_t y_stride, int threads);

// A convolution compiled for one geometry and number of threads. Keeps packed weights where they never change. Not for
// several threads at a time.
class Convolution {
 public:
  // nullptr where the library is not there or does not implement the geometry. `pads_end` has one number for each axis.
  static std::unique_ptr<Convolution> make(const kernels::ConvGeometry& geometry, const std::vector<std::int64_t>& pads_end,
                                           bool has_bias, int threads);
  virtual ~Convolution() = default;

  // The block of channels in which the output comes without being rearranged; 0: as a plain tensor.
  virtual std::int64_t output_block() const = 0;

  // As kernels::convolve(), with x and y in blocks of channels (tensor/packed.h) where their block is not 0. The bits do not
  // depend on that. With `constant_weights` the weights of the first call are kept and `w` is not read again. Throws kLimit
  // where memory for rearranged tensors is not to be had.
  virtual void run(const float* x, std::int64_t x_block, const float* w, bool constant_weights, const float* bias, float* y,
                   std::int64_t y_block) = 0;

 protected:
  Convolution() = default;
};

}  // namespace lppool::onednn
