#pragma once

#include "lppool/kernels/conv.h"

namespace lppool::kernels {

// Whether the convolution is one product of matrices for each group: a window of one element, no stride, no padding.
bool is_pointwise(const ConvGeometry& geometry);

// A pointwise float convolution, on vectors and without rearranging anything: good where groups have few channels.
// Otherwise as convolve(), also where a channel has fewer elements than a vector. Each sum starts with the bias and
// takes the channels in order, by fused multiply-adds where the instruction set has them, however the work is shared
// out.
void convolve_pointwise(const float* x, const float* w, const float* bias, float* y, const ConvGeometry& geometry,
                        ThreadPool& pool);

}  // namespace lppool::kernels
