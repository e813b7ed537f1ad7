#pragma once

#include <cstdint>
#include <vector>

#include "lppool/tensor/tensor.h"

// Convolutions and poolings by their definitions, in float64, one output at a time: the yardstick of the operator tests. None
// of it uses the code under test.
namespace lppool::test {

// Numbers of all sizes between -2 and 2 that float16 and bfloat16 hold exactly (multiples of 1/32 with few bits); the same
// for the same stream.
std::vector<double> varied_numbers(std::int64_t count, std::uint64_t stream);
// A tensor of them as float32, float64, float16 or bfloat16.
Tensor varied_tensor(DataType dtype, Shape shape, std::uint64_t stream);

// One spatial axis; position of window element i of output o: o*stride - pad_begin + i*dilation.
struct NaiveAxis {
  std::int64_t in, out, kernel, stride, dilation, pad_begin;
};

// y of a convolution; x is N x (groups*C) x in..., w is (groups*M) x C x kernel..., bias M or empty.
std::vector<double> naive_conv(const std::vector<double>& x, const std::vector<double>& w, const std::vector<double>& bias,
                               std::int64_t batch, std::int64_t groups, std::int64_t in_channels,
                               std::int64_t out_channels, const std::vector<NaiveAxis>& axes);

// y of a transposed convolution: x is N x (groups*C) x axes.out..., w is (groups*C) x M x kernel..., y is N x (groups*M) x
// axes.in...: element i of position o goes to o*stride - pad_begin + i*dilation.
std::vector<double> naive_conv_transpose(const std::vector<double>& x, const std::vector<double>& w,
                                         const std::vector<double>& bias, std::int64_t batch, std::int64_t groups,
                                         std::int64_t in_channels, std::int64_t out_channels,
                                         const std::vector<NaiveAxis>& axes);

// Fails the current test unless `actual` has these numbers, within `relative` of the larger of 1 and the expected number.
void require_close(const Tensor& actual, const std::vector<double>& expected, double relative);

}  // namespace lppool::test
