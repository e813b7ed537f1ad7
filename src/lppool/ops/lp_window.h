#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lppool/graph/dim.h"
#include "lppool/ops/op.h"

// The sliding window of LpPool: what the attributes say, and how large the output is. One rule serves inference
// (numbers and symbols), execution and every tool that explains or converts a node.
//
// Per axis, with n = input size, k = kernel, d = dilation, s = stride, b and e = padding at the two ends,
// extent = (k - 1)*d + 1 and room = n + b + e - extent:
//
//   NOTSET, VALID (b = e = 0)   floor(room / s) + 1
//   the same with ceil_mode     ceil(room / s) + 1; LpPool 22 leaves out the last window where it would start at or
//                               after n + b, LpPool 18 keeps it
//   SAME_UPPER, SAME_LOWER      ceil(n / s), whatever ceil_mode says; the padding that takes is split in halves, an odd
//                               one at the end (UPPER) or at the beginning (LOWER)
//
// Sources: operator texts and shape inference of LpPool 1, 2, 11, 18 and 22. ONNX itself disagreed over the last window
// of LpPool 18: its releases 1.16.0 to 1.16.2 left it out.
namespace lppool {

enum class AutoPad { kNotSet, kValid, kSameUpper, kSameLower };

struct LpWindow {
  struct Axis {
    std::int64_t kernel = 1, stride = 1, dilation = 1;  // >= 1
    std::int64_t pad_begin = 0, pad_end = 0;            // >= 0; as given, so 0 for the SAME modes
    std::int64_t extent = 1;                            // (kernel - 1)*dilation + 1
  };
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  bool drops_last_window = false;  // LpPool 22
  std::vector<Axis> axes;          // one for each spatial axis

  bool same() const { return auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower; }
};

// Adds findings about the attributes of an LpPool node as far as they can be judged without its input: LP001, LP002, LP006
// to LP015 and LP021.
void check_lp_window(CheckContext& ctx);

// The attributes for an input of `rank` dimensions, defaults filled in. Throws kRuntime for whatever check_lp_window
// calls an error, a rank below 3, a list that does not fit the rank, and a missing kernel_shape.
LpWindow read_lp_window(const AttributeView& attributes, std::size_t rank);

// What becomes of one axis of n elements (n >= 0).
struct AxisPlan {
  std::int64_t out = 0;  // >= 0
  std::int64_t pad_begin = 0, pad_end = 0;
  bool last_window_dropped = false;     // the rule of LpPool 22 took one away
  bool last_window_in_padding = false;  // ceil_mode of LpPool 18 kept one that starts past the input and its begin pad
};

// Throws kRuntime where the window does not fit (the size would be negative) and where a number leaves 64 bits.
AxisPlan plan_axis(const LpWindow& window, std::size_t axis, std::int64_t n);

// The output size as an expression; for a number the same as plan_axis. Unknown stays unknown.
Dim output_dim(const LpWindow& window, std::size_t axis, const Dim& n);

// The rule with its numbers filled in: "floor((224 + 2 - 3)/2) + 1".
std::string output_formula(const LpWindow& window, std::size_t axis, const Dim& n);

// The codes under which an operator's axes are remarked on, and what a window in the padding comes to.
struct WindowRemarks {
  const char* empty;         // the output has size 0
  const char* kept_last;     // ceil_mode keeps a last window in the end padding, which version 22 drops
  const char* does_not_fit;  // runtimes that divide toward zero give one more
  const char* in_padding;    // windows wholly in the padding
  const char* unread;        // a part of the input is in no window; "": not worth a word
  const char* of_padding;    // "give 0"
};

// Warnings and notes on an axis of n elements that is not wrong.
void remark_on_axis(InferContext& ctx, const LpWindow& window, std::size_t axis_index, std::int64_t n,
                    const WindowRemarks& codes);

}  // namespace lppool
