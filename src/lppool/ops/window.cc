#include "lppool/ops/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "lppool/base/checked.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

void check_list(CheckContext& context, const char* name, std::int64_t least) {
  if (context.attributes.schema().find_attribute(name) == nullptr) return;
  for (const std::int64_t value : context.attributes.ints(name)) {
    if (value >= least) continue;
    context.error(kBadValue, name, fmt::format("attribute '{}' has the value {}, expected {} or more", name, value, least));
  }
}

bool any_pad(const AttributeView& attributes) {
  return std::ranges::any_of(attributes.ints("pads"), [](std::int64_t pad) { return pad != 0; });
}

std::vector<std::int64_t> read_list(const AttributeView& attributes, const char* name, std::size_t length,
                                    std::int64_t fallback) {
  std::vector<std::int64_t> values = attributes.ints(name);
  if (values.empty()) values.assign(length, fallback);
  if (values.size() != length) fail(ErrorKind::kRuntime, "{} has {} values, expected {}", name, values.size(), length);
  return values;
}

std::int64_t extent_of(std::int64_t kernel, std::int64_t dilation) {
  const auto reach = checked_mul(kernel - 1, dilation);
  const auto extent = reach ? checked_add(*reach, 1) : std::nullopt;
  if (!extent) fail(ErrorKind::kRuntime, "the window ({} - 1)*{} + 1 leaves 64 bits", kernel, dilation);
  return *extent;
}

AutoPad read_auto_pad(const AttributeView& attributes) {
  const std::string word = attributes.s("auto_pad", "NOTSET");
  if (word == "SAME_UPPER") return AutoPad::kSameUpper;
  if (word == "SAME_LOWER") return AutoPad::kSameLower;
  return word == "VALID" ? AutoPad::kValid : AutoPad::kNotSet;
}

// A convolution leaves elements out on purpose (a kernel of 1 with a stride of 2), a pooling seldom does.
WindowRemarks remarks_of(const OpSchema& schema) {
  const bool pooling = schema.name.ends_with("Pool");
  const char* of_padding = !pooling ? "give the bias alone" : schema.name == "MaxPool" ? "have no maximum" : "have no average of their own";
  return {.empty = "WI001", .kept_last = "WI002", .does_not_fit = "WI003", .in_padding = "WI004", .unread = pooling ? "WI005" : "", .of_padding = of_padding};
}

}  // namespace

void check_window(CheckContext& context) {
  check_list(context, "kernel_shape", 1);
  check_list(context, "strides", 1);
  check_list(context, "dilations", 1);
  check_list(context, "pads", 0);
  const std::string word = context.attributes.s("auto_pad", "NOTSET");
  if (word != "NOTSET" && word != "VALID" && word != "SAME_UPPER" && word != "SAME_LOWER" && !word.empty()) {
    context.error(kBadValue, "auto_pad",
                  fmt::format("attribute 'auto_pad' is '{}', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", word));
  } else if (word != "NOTSET" && !word.empty() && any_pad(context.attributes)) {
    context.error(kBadValue, "pads", fmt::format("pads and auto_pad {} exclude each other", word));
  }
}

Window read_window(const AttributeView& attributes, std::size_t rank, const std::vector<std::int64_t>& kernel) {
  CheckContext findings(attributes.node(), attributes.schema());
  check_window(findings);
  if (!findings.findings.empty()) fail(ErrorKind::kRuntime, "{}", findings.findings.front().message);

  std::vector<std::int64_t> sizes = attributes.ints("kernel_shape");
  if (sizes.empty()) sizes = kernel;
  if (sizes.size() != rank) {
    fail(ErrorKind::kRuntime, "the window has {} axes, but the input has {} spatial ones", sizes.size(), rank);
  }
  if (!kernel.empty() && kernel != sizes) {
    fail(ErrorKind::kRuntime, "kernel_shape is {}, but the weights have {}", to_string(Shape(sizes)),
         to_string(Shape(kernel)));
  }
  for (const std::int64_t size : sizes) {
    if (size < 1) fail(ErrorKind::kRuntime, "the window has size {}, expected 1 or more", size);
  }
  const auto strides = read_list(attributes, "strides", rank, 1);
  const auto dilations = read_list(attributes, "dilations", rank, 1);
  auto pads = read_list(attributes, "pads", 2 * rank, 0);
  Window window;
  window.auto_pad = read_auto_pad(attributes);
  if (window.auto_pad != AutoPad::kNotSet) pads.assign(2 * rank, 0);
  window.ceil_mode = attributes.i("ceil_mode", 0) != 0;
  window.drops_last_window = attributes.schema().since_version >= 22;
  for (std::size_t i = 0; i < rank; ++i) {
    window.axes.push_back({sizes[i], strides[i], dilations[i], pads[i], pads[i + rank], extent_of(sizes[i], dilations[i])});
  }
  return window;
}

std::vector<WindowAxis> resolve_axes(const Window& window, const Shape& shape) {
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < window.axes.size(); ++i) {
    const AxisPlan plan = plan_axis(window, i, shape[i + 2]);
    WindowAxis axis;
    axis.in = shape[i + 2];
    axis.out = plan.out;
    axis.kernel = window.axes[i].kernel;
    axis.stride = window.axes[i].stride;
    axis.dilation = window.axes[i].dilation;
    axis.pad_begin = plan.pad_begin;
    axis.pad_end = plan.pad_end;
    axes.push_back(axis);
  }
  return axes;
}

std::vector<kernels::PoolAxis> pool_axes(const std::vector<WindowAxis>& axes) { return {axes.begin(), axes.end()}; }

Shape output_shape(const std::vector<WindowAxis>& axes, std::int64_t batch, std::int64_t channels) {
  Shape shape{batch, channels};
  for (const WindowAxis& axis : axes) shape.push_back(axis.out);
  return shape;
}

PoolPlan plan_pool(const AttributeView& attributes, const Shape& input) {
  PoolPlan plan;
  plan.axes = resolve_axes(read_window(attributes, spatial_rank(input.rank())), input);
  plan.output = output_shape(plan.axes, input[0], input[1]);
  return plan;
}

std::size_t spatial_rank(std::size_t rank) {
  if (rank < 3) fail(ErrorKind::kRuntime, "the input has rank {}, expected 3 or more: N, C and a spatial axis", rank);
  return rank - 2;
}

void infer_window_output(InferContext& context, const Window& window, const Dim& channels, DataType dtype,
                         std::size_t output) {
  const std::vector<Dim>& shape = *context.shape(0);
  std::vector<Dim> dims{shape[0], channels};
  for (std::size_t i = 0; i < window.axes.size(); ++i) {
    dims.push_back(output_dim(window, i, shape[i + 2]));
    if (context.explaining) context.explain(output, i + 2, output_formula(window, i, shape[i + 2]));
    if (output == 0 && shape[i + 2].value()) remark_on_axis(context, window, i, *shape[i + 2].value(), remarks_of(context.attributes.schema()));
  }
  context.set_output(output, dtype, std::move(dims));
}

}  // namespace lppool
