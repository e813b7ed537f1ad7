#include "lppool/ops/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "lppool/base/checked.h"

namespace lppool {
namespace {

[[noreturn]] void too_large(const Window& window, std::size_t axis) {
  fail(ErrorKind::kLimit, "window of axis {}: kernel {}, dilation {} and pads leave 63 bits", axis, window.kernel[axis],
       window.dilations[axis]);
}

// (kernel - 1) * dilation + 1: the elements a dilated window spans.
std::int64_t span_of(const Window& window, std::size_t axis) {
  const auto reach = checked_mul(window.kernel[axis] - 1, window.dilations[axis]);
  const auto span = reach ? checked_add(*reach, 1) : std::nullopt;
  if (!span) too_large(window, axis);
  return *span;
}

std::vector<std::int64_t> read_list(const AttributeView& attributes, std::string_view name, std::size_t length,
                                    std::int64_t fallback, std::int64_t least) {
  std::vector<std::int64_t> values = attributes.ints(name);
  if (values.empty()) values.assign(length, fallback);
  if (values.size() != length) {
    fail(ErrorKind::kRuntime, "{} has {} values, expected {}", name, values.size(), length);
  }
  for (const std::int64_t value : values) {
    if (value < least) fail(ErrorKind::kRuntime, "{} has the value {}, expected at least {}", name, value, least);
  }
  return values;
}

[[noreturn]] void negative_output(std::size_t axis, std::int64_t input, std::int64_t output) {
  fail(ErrorKind::kRuntime, "spatial axis {} of size {} would give an output of size {}: the window does not fit", axis,
       input, output);
}

bool is_same(AutoPad mode) { return mode == AutoPad::kSameUpper || mode == AutoPad::kSameLower; }

}  // namespace

AutoPad parse_auto_pad(std::string_view word) {
  if (word == "NOTSET" || word.empty()) return AutoPad::kNotSet;
  if (word == "SAME_UPPER") return AutoPad::kSameUpper;
  if (word == "SAME_LOWER") return AutoPad::kSameLower;
  if (word == "VALID") return AutoPad::kValid;
  fail(ErrorKind::kRuntime, "auto_pad is '{}', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", word);
}

std::size_t spatial_rank(std::size_t rank) {
  if (rank < 3) fail(ErrorKind::kRuntime, "the input has {} axes, expected at least 3 (N, C and spatial ones)", rank);
  return rank - 2;
}

Window read_window(const AttributeView& attributes, std::size_t rank, const std::vector<std::int64_t>& kernel) {
  Window window;
  window.kernel = attributes.ints("kernel_shape");
  if (window.kernel.empty()) window.kernel = kernel;
  if (window.kernel.size() != rank) {
    fail(ErrorKind::kRuntime, "kernel_shape has {} values, but the input has {} spatial axes", window.kernel.size(), rank);
  }
  if (!kernel.empty() && kernel != window.kernel) {
    fail(ErrorKind::kRuntime, "kernel_shape is {}, but the weights have {}", to_string(Shape(window.kernel)),
         to_string(Shape(kernel)));
  }
  for (const std::int64_t size : window.kernel) {
    if (size < 1) fail(ErrorKind::kRuntime, "kernel_shape has the value {}, expected at least 1", size);
  }
  window.strides = read_list(attributes, "strides", rank, 1, 1);
  window.dilations = read_list(attributes, "dilations", rank, 1, 1);
  const std::vector<std::int64_t> pads = read_list(attributes, "pads", 2 * rank, 0, 0);
  window.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  window.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  window.auto_pad = parse_auto_pad(attributes.s("auto_pad", "NOTSET"));
  if (window.auto_pad != AutoPad::kNotSet && std::ranges::any_of(pads, [](std::int64_t pad) { return pad != 0; })) {
    fail(ErrorKind::kRuntime, "pads and auto_pad are both given, expected one of them");
  }
  window.ceil_mode = attributes.i("ceil_mode", 0) != 0;
  return window;
}

Dim output_size(const Window& window, std::size_t axis, const Dim& input) {
  const Dim stride(window.strides[axis]);
  Dim output;
  if (is_same(window.auto_pad)) {
    output = ceil_div(input, stride);
  } else {
    const bool explicit_pads = window.auto_pad == AutoPad::kNotSet;
    const std::int64_t begin = explicit_pads ? window.pads_begin[axis] : 0;
    const std::int64_t end = explicit_pads ? window.pads_end[axis] : 0;
    const Dim room = input + Dim(begin) + Dim(end) - Dim(span_of(window, axis));
    output = (window.ceil_mode ? ceil_div(room, stride) : floor_div(room, stride)) + Dim(1);
    if (window.ceil_mode && window.drop_padding_window) {
      // The last window goes where (out - 1) * stride >= input + begin, that is out - 1 >= starts.
      const Dim starts = ceil_div(input + Dim(begin), stride);
      if (output.value() && starts.value()) {
        output = *output.value() - 1 >= *starts.value() ? output - Dim(1) : output;
      } else {
        // While the end padding is no longer than the window, at most one window can start in it.
        output = end <= span_of(window, axis) ? min(output, starts) : Dim();
      }
    }
  }
  if (output.value() && *output.value() < 0) negative_output(axis, input.value().value_or(0), *output.value());
  return output;
}

std::string output_formula(const Window& window, std::size_t axis, const Dim& input) {
  const std::string size = input.to_string();
  if (is_same(window.auto_pad)) return fmt::format("ceil({}/{})", size, window.strides[axis]);
  const bool explicit_pads = window.auto_pad == AutoPad::kNotSet;
  const std::int64_t begin = explicit_pads ? window.pads_begin[axis] : 0;
  const std::int64_t end = explicit_pads ? window.pads_end[axis] : 0;
  std::string numerator = size;
  if (begin != 0 || end != 0) numerator += fmt::format(" + {} + {}", begin, end);
  if (window.dilations[axis] == 1) {
    numerator += fmt::format(" - {}", window.kernel[axis]);
  } else {
    numerator += fmt::format(" - (({} - 1)*{} + 1)", window.kernel[axis], window.dilations[axis]);
  }
  std::string text = fmt::format("{}(({})/{}) + 1", window.ceil_mode ? "ceil" : "floor", numerator, window.strides[axis]);
  if (window.ceil_mode && window.drop_padding_window) text += ", less a last window that starts in the end padding";
  return text;
}

WindowAxis resolve_axis(const Window& window, std::size_t axis, std::int64_t input) {
  WindowAxis result;
  result.in = input;
  result.kernel = window.kernel[axis];
  result.stride = window.strides[axis];
  result.dilation = window.dilations[axis];
  const std::int64_t span = span_of(window, axis);
  if (is_same(window.auto_pad)) {
    result.out = ceil_div(input, result.stride);
    const auto last = checked_mul(result.out - 1, result.stride);  // (out - 1) * stride < input, so only out = 0 is special
    const auto reach = last ? checked_add(*last, span) : std::nullopt;
    if (!reach) too_large(window, axis);
    const std::int64_t total = std::max<std::int64_t>(0, *reach - input);
    const std::int64_t small = total / 2;
    result.pad_begin = window.auto_pad == AutoPad::kSameUpper ? small : total - small;
    result.pad_end = total - result.pad_begin;
    return result;
  }
  if (window.auto_pad == AutoPad::kNotSet) {
    result.pad_begin = window.pads_begin[axis];
    result.pad_end = window.pads_end[axis];
  }
  const auto padded = checked_add(result.pad_begin, result.pad_end);
  const auto whole = padded ? checked_add(*padded, input) : std::nullopt;
  const auto room = whole ? checked_sub(*whole, span) : std::nullopt;
  if (!room) too_large(window, axis);
  result.out = (window.ceil_mode ? ceil_div(*room, result.stride) : floor_div(*room, result.stride)) + 1;
  if (window.ceil_mode && window.drop_padding_window && result.out - 1 >= ceil_div(input + result.pad_begin, result.stride)) {
    --result.out;
  }
  if (result.out < 0) negative_output(axis, input, result.out);
  return result;
}

std::vector<WindowAxis> resolve_axes(const Window& window, const Shape& shape) {
  std::vector<WindowAxis> axes;
  for (std::size_t axis = 0; axis < window.rank(); ++axis) axes.push_back(resolve_axis(window, axis, shape[axis + 2]));
  return axes;
}

Shape output_shape(const std::vector<WindowAxis>& axes, std::int64_t batch, std::int64_t channels) {
  Shape shape{batch, channels};
  for (const WindowAxis& axis : axes) shape.push_back(axis.out);
  return shape;
}

std::vector<kernels::PoolAxis> pool_axes(const std::vector<WindowAxis>& axes) { return {axes.begin(), axes.end()}; }

void infer_window_output(InferContext& context, const Window& window, const Dim& channels, DataType dtype,
                         std::size_t output) {
  const std::vector<Dim>& shape = *context.shape(0);
  std::vector<Dim> dims{shape[0], channels};
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    dims.push_back(output_size(window, axis, shape[axis + 2]));
    context.explain(output, axis + 2, output_formula(window, axis, shape[axis + 2]));
  }
  context.set_output(output, dtype, std::move(dims));
}

}  // namespace lppool
