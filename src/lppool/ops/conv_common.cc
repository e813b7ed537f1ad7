#include "lppool/ops/conv_common.h"

#include <fmt/format.h>

#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

std::int64_t group_of(const AttributeView& attributes) {
  const std::int64_t group = attributes.i("group", 1);
  if (group < 1) fail(ErrorKind::kRuntime, "attribute 'group' is {}, expected 1 or more", group);
  return group;
}

void check_channels(std::int64_t channels, std::int64_t of_weights, std::int64_t group) {
  const bool fits = of_weights != 0 ? channels % of_weights == 0 && channels / of_weights == group : channels == 0;
  if (!fits) {
    fail(ErrorKind::kRuntime, "the input has {} channels, but the weights are for {} in {} groups", channels, of_weights,
         group);
  }
}

void check_output_channels(std::int64_t channels, std::int64_t group) {
  if (channels % group != 0) {
    fail(ErrorKind::kRuntime, "the weights give {} output channels, which {} groups cannot share", channels, group);
  }
}

}  // namespace

void check_conv(CheckContext& context) {
  check_window(context);
  if (const std::int64_t group = context.attributes.i("group", 1); group < 1) {
    context.error(kBadValue, "group", fmt::format("attribute 'group' is {}, expected 1 or more", group));
  }
}

void infer_conv(InferContext& context, std::size_t weights, DataType dtype) {
  const std::vector<Dim>* x = context.shape(0);
  const std::vector<Dim>* w = context.shape(weights);
  context.set_output(0, dtype, std::nullopt);
  if (x == nullptr) return;
  const std::size_t rank = spatial_rank(x->size());
  const std::int64_t group = group_of(context.attributes);
  Dim channels;
  std::vector<std::int64_t> kernel;
  if (w != nullptr) {
    if (w->size() != x->size()) {
      fail(ErrorKind::kRuntime, "the weights have rank {}, expected {} as the input has", w->size(), x->size());
    }
    channels = (*w)[0];
    if (channels.value()) check_output_channels(*channels.value(), group);
    if ((*x)[1].value() && (*w)[1].value()) check_channels(*(*x)[1].value(), *(*w)[1].value(), group);
    for (std::size_t i = 2; i < w->size() && (*w)[i].value(); ++i) kernel.push_back(*(*w)[i].value());
    if (kernel.size() != rank) kernel.clear();
  }
  if (kernel.empty() && context.attributes.ints("kernel_shape").empty()) {
    std::vector<Dim> dims(x->size());
    dims[0] = (*x)[0];
    dims[1] = channels;
    context.set_output(0, dtype, std::move(dims));
    return;
  }
  infer_window_output(context, read_window(context.attributes, rank, kernel), channels, dtype);
}

ConvPlan plan_conv(const AttributeView& attributes, const Shape& x, const Shape& w) {
  const std::size_t rank = spatial_rank(x.rank());
  if (w.rank() != x.rank()) {
    fail(ErrorKind::kRuntime, "the weights have rank {}, expected {} as the input has", w.rank(), x.rank());
  }
  const std::int64_t group = group_of(attributes);
  check_channels(x[1], w[1], group);
  check_output_channels(w[0], group);
  const Window window = read_window(attributes, rank, {w.begin() + 2, w.end()});
  ConvPlan plan;
  plan.axes = resolve_axes(window, x);
  plan.output = output_shape(plan.axes, x[0], w[0]);
  plan.geometry = {x[0], group, w[1], w[0] / group, pool_axes(plan.axes)};
  return plan;
}

void check_bias(const Tensor& bias, std::int64_t channels) {
  if (bias.rank() != 1 || bias.size() != channels) {
    fail(ErrorKind::kRuntime, "the bias has shape {}, expected {}", to_string(bias.shape()), channels);
  }
}

}  // namespace lppool
