#pragma once

#include <cstdint>
#include <vector>

#include "lppool/kernels/lp_pool.h"
#include "lppool/ops/lp_window.h"
#include "lppool/ops/op.h"

// The sliding window of convolutions and poolings other than LpPool. How large the output is and where the padding goes is
// the one rule of lp_window.h; what differs is the reading of the attributes: a convolution's window may come from its
// weights, and pads of zero beside auto_pad (exporters write them) are taken as not given.
// Sources: ONNX Conv 1, 11, 22 and the pooling operators 1 to 22.
namespace lppool {

using Window = LpWindow;

// Findings (AT003) about kernel_shape, strides, dilations, pads, auto_pad and ceil_mode that need no input. Attributes the
// schema lacks are passed over.
void check_window(CheckContext& context);

// A node's window over `rank` spatial axes. `kernel` is its size where the weights give it; empty: the attribute
// kernel_shape does. Throws kRuntime for what check_window() finds, lists of the wrong length, and a kernel_shape that
// differs from the weights.
Window read_window(const AttributeView& attributes, std::size_t rank, const std::vector<std::int64_t>& kernel = {});

// One axis with its padding worked out: as the kernels take it, and the padding after the input besides.
struct WindowAxis : kernels::PoolAxis {
  std::int64_t pad_end = 0;
};

// All axes for an input of shape N x C x spatial sizes. Throws as plan_axis() does.
std::vector<WindowAxis> resolve_axes(const Window& window, const Shape& shape);
std::vector<kernels::PoolAxis> pool_axes(const std::vector<WindowAxis>& axes);
// N x channels x output sizes.
Shape output_shape(const std::vector<WindowAxis>& axes, std::int64_t batch, std::int64_t channels);

// A pooling node's window laid over an input of shape N x C x spatial sizes. Throws as the functions above do.
struct PoolPlan {
  std::vector<WindowAxis> axes;
  Shape output;
};
PoolPlan plan_pool(const AttributeView& attributes, const Shape& input);

// Number of spatial axes of an input of `rank` axes. Throws kRuntime below 3.
std::size_t spatial_rank(std::size_t rank);

// Sets output `output` to N x `channels` x the window's sizes, with formulas; input 0, whose rank is known, gives N and the
// input sizes.
void infer_window_output(InferContext& context, const Window& window, const Dim& channels, DataType dtype,
                         std::size_t output = 0);

}  // namespace lppool
