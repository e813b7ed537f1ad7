#pragma once

#include "lppool/kernels/conv.h"

namespace lppool::kernels {

// A float convolution whose groups have one input channel each (geometry.in_channels == 1), on vectors; otherwise as
// convolve(). Sums are fused multiply-adds where the instruction set has them. Memory: one padded channel a thread.
void convolve_depthwise(const float* x, const float* w, const float* bias, float* y, const ConvGeometry& geometry,
                        ThreadPool& pool);

}  // namespace lppool::kernels
