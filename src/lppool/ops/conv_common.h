#pragma once

#include <string_view>
#include <vector>

#include "lppool/kernels/conv.h"
#include "lppool/ops/window.h"

// What Conv, ConvInteger, QLinearConv and DeformConv have in common: weights of shape M x C/group x kernel sizes.
namespace lppool {

// Output 0 is `dtype`, N x M x the window's sizes, as far as the shapes of input 0 and of the weights (input `weights`) tell.
// Throws kRuntime where the two do not fit.
void infer_conv(InferContext& context, std::size_t weights, DataType dtype);

// Attribute values: the window's, and group >= 1.
void check_conv(CheckContext& context);

struct ConvPlan {
  kernels::ConvGeometry geometry;
  std::vector<WindowAxis> axes;
  Shape output;
};
// The geometry for given shapes. Throws kRuntime where they do not fit.
ConvPlan plan_conv(const AttributeView& attributes, const Shape& x, const Shape& w);

// Throws kRuntime unless `bias` has one element per output channel.
void check_bias(const Tensor& bias, std::int64_t channels);

}  // namespace lppool
