#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lppool/graph/dim.h"
#include "lppool/kernels/lp_pool.h"
#include "lppool/ops/op.h"

// The sliding window that convolutions and poolings share: what kernel_shape, strides, dilations, pads, auto_pad and
// ceil_mode say, and the output sizes that follow. Sources: ONNX Conv 1, 11, 22 and the pooling operators 1 to 22;
// shared decisions: sizes are exact 64-bit integers, divisions round down (up with ceil_mode) for negative numbers too.
namespace lppool {

enum class AutoPad { kNotSet, kSameUpper, kSameLower, kValid };

// "" counts as NOTSET. Throws kRuntime for any word but the four.
AutoPad parse_auto_pad(std::string_view word);

struct Window {
  std::vector<std::int64_t> kernel, strides, dilations;  // one per spatial axis, all >= 1
  std::vector<std::int64_t> pads_begin, pads_end;        // >= 0; meaningless unless auto_pad is kNotSet
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  // With ceil_mode: leave out a last window that starts in the end padding (pooling from opset 22 on).
  bool drop_padding_window = false;

  std::size_t rank() const { return kernel.size(); }
};

// Reads a node's window over `rank` spatial axes. `kernel` is the window's size where the weights give it; empty: the
// attribute kernel_shape does. Attributes the schema lacks count as their defaults. Throws kRuntime for lists of the wrong
// length, numbers out of range, a kernel_shape that differs from the weights, or pads that contradict auto_pad (pads of
// zero beside auto_pad are taken as not given).
Window read_window(const AttributeView& attributes, std::size_t rank, const std::vector<std::int64_t>& kernel = {});

// Output size along `axis` for an input of size `input`. Unknown where the input is. Throws kRuntime where it is negative.
Dim output_size(const Window& window, std::size_t axis, const Dim& input);

// The same as text, for `infer --explain`: "floor((H + 2 - 3)/2) + 1".
std::string output_formula(const Window& window, std::size_t axis, const Dim& input);

// One axis with its padding worked out. As the kernels take it, and the padding after the input besides.
struct WindowAxis : kernels::PoolAxis {
  std::int64_t pad_end = 0;
};

// As output_size() for a known input. Throws kRuntime for a negative output, kLimit where numbers leave 63 bits.
WindowAxis resolve_axis(const Window& window, std::size_t axis, std::int64_t input);
// All axes; `shape` is N x C x spatial sizes.
std::vector<WindowAxis> resolve_axes(const Window& window, const Shape& shape);
// N x channels x output sizes.
Shape output_shape(const std::vector<WindowAxis>& axes, std::int64_t batch, std::int64_t channels);
std::vector<kernels::PoolAxis> pool_axes(const std::vector<WindowAxis>& axes);

// Number of spatial axes of an input of `rank` axes. Throws kRuntime below 3.
std::size_t spatial_rank(std::size_t rank);

// Sets output `output` to N x `channels` x the window's sizes, with formulas; input 0 gives N and the sizes.
void infer_window_output(InferContext& context, const Window& window, const Dim& channels, DataType dtype,
                         std::size_t output = 0);

}  // namespace lppool
