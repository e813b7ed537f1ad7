// DeformConv (Dai et al. 2017; with mask: Zhu et al. 2018): a convolution whose window elements are read at positions shifted
// by `offset`, between elements by multilinear interpolation, outside the input as 0.
#include <fmt/format.h>

#include <cmath>

#include "lppool/ops/compute_type.h"
#include "lppool/ops/conv_common.h"
#include "lppool/ops/product.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {19, "X:T W:T offset:T B?:T mask?:T", "Y:T",
     "dilations:ints group:int=1 kernel_shape:ints offset_group:int=1 pads:ints strides:ints", "T=floats"},
    {22, "X:T W:T offset:T B?:T mask?:T", "Y:T",
     "dilations:ints group:int=1 kernel_shape:ints offset_group:int=1 pads:ints strides:ints", "T=floats|bfloat16"},
};

void check(CheckContext& context) {
  check_conv(context);
  if (const std::int64_t groups = context.attributes.i("offset_group"); groups < 1) {
    context.error(kBadValue, "offset_group", fmt::format("attribute 'offset_group' is {}, expected 1 or more", groups));
  }
}

void infer(InferContext& context) { infer_conv(context, 1, context.input(0).dtype); }

// The value of a plane at a position, interpolated from its 2^rank neighbours; 0 outside.
template <typename T>
double interpolate(const T* plane, const std::vector<WindowAxis>& axes, const double* position) {
  const std::size_t rank = axes.size();
  for (std::size_t a = 0; a < rank; ++a) {
    if (position[a] <= -1 || position[a] >= static_cast<double>(axes[a].in)) return 0;
    if (std::isnan(position[a])) return position[a];
  }
  double value = 0;
  for (std::size_t corner = 0; corner < std::size_t{1} << rank; ++corner) {
    double weight = 1;
    std::int64_t index = 0;
    bool inside = true;
    for (std::size_t a = 0; a < rank && inside; ++a) {
      const double low = std::floor(position[a]), part = position[a] - low;
      const bool upper = (corner >> a & 1u) != 0;
      weight *= upper ? part : 1 - part;
      const std::int64_t at = static_cast<std::int64_t>(low) + (upper ? 1 : 0);
      inside = at >= 0 && at < axes[a].in;
      index = index * axes[a].in + at;
    }
    if (inside && weight != 0) value += weight * static_cast<double>(plane[index]);
  }
  return value;
}

template <typename T>
struct Inputs {
  Tensor x, w, offset, bias, mask;
};

// The matrix of sampled windows of one image and group: a row for each channel and window element, a column for each output.
template <typename T>
void sample(const Inputs<T>& in, const ConvPlan& plan, std::int64_t image, std::int64_t group, std::int64_t offset_groups,
            T* columns, ThreadPool& pool) {
  const std::vector<WindowAxis>& axes = plan.axes;
  const auto rank = static_cast<std::int64_t>(axes.size());
  const std::int64_t channels = plan.geometry.in_channels, all_channels = channels * plan.geometry.groups;
  const std::int64_t kernel = plan.geometry.kernel_size(), out = plan.geometry.out_size(), size = plan.geometry.in_size();
  pool.parallel_for(channels * kernel, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> position(axes.size());
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t channel = group * channels + row / kernel, tap = row % kernel;
      const std::int64_t offset_group = channel / (all_channels / offset_groups);
      const std::int64_t place = (image * offset_groups + offset_group) * kernel + tap;
      const T* plane = in.x.template data<T>().data() + (image * all_channels + channel) * size;
      const T* shifts = in.offset.template data<T>().data() + place * rank * out;
      const T* factors = in.mask.defined() ? in.mask.template data<T>().data() + place * out : nullptr;
      for (std::int64_t o = 0; o < out; ++o) {
        std::int64_t at = o, taps = tap;
        for (std::size_t a = axes.size(); a-- > 0;) {
          const std::int64_t base = at % axes[a].out * axes[a].stride - axes[a].pad_begin + taps % axes[a].kernel * axes[a].dilation;
          at /= axes[a].out;
          taps /= axes[a].kernel;
          position[a] = static_cast<double>(base) + static_cast<double>(shifts[static_cast<std::int64_t>(a) * out + o]);
        }
        double value = interpolate(plane, axes, position.data());
        if (factors != nullptr) value *= static_cast<double>(factors[o]);
        columns[row * out + o] = static_cast<T>(value);
      }
    }
  });
}

template <typename T>
void convolve(KernelContext& context, const ConvPlan& plan, std::int64_t offset_groups) {
  Inputs<T> in{as_compute<T>(context.input(0)), as_compute<T>(context.input(1)), as_compute<T>(context.input(2)), {}, {}};
  if (context.has_input(3)) in.bias = as_compute<T>(context.input(3));
  if (context.has_input(4)) in.mask = as_compute<T>(context.input(4));
  ComputedOutput<T> y(context, 0, context.input(0).dtype(), plan.output);
  const kernels::ConvGeometry& g = plan.geometry;
  const std::int64_t depth = g.in_channels * g.kernel_size(), out = g.out_size();
  if (plan.output.elements() == 0) return;
  Tensor columns = Tensor::allocate(type_of<T>(), Shape{depth, out});
  for (std::int64_t part = 0; part < g.batch * g.groups; ++part) {
    const std::int64_t group = part % g.groups;
    sample(in, plan, part / g.groups, group, offset_groups, columns.mutable_data<T>().data(), context.threads());
    T* to = y.data() + part * g.out_channels * out;
    multiply_matrices<T>(g.out_channels, out, depth, {in.w.template data<T>().data() + group * g.out_channels * depth, depth, 1},
                         {columns.data<T>().data(), out, 1}, to, out, context.threads());
    if (!in.bias.defined()) continue;
    for (std::int64_t i = 0; i < g.out_channels * out; ++i) {
      to[i] += in.bias.template data<T>()[static_cast<std::size_t>(group * g.out_channels + i / out)];
    }
  }
  y.finish();
}

void check_shape(const Tensor& tensor, Shape expected, const ConvPlan& plan, const char* what) {
  for (const WindowAxis& axis : plan.axes) expected.push_back(axis.out);
  if (tensor.shape() == expected) return;
  fail(ErrorKind::kRuntime, "{} has shape {}, expected {}", what, to_string(tensor.shape()), to_string(expected));
}

void run(KernelContext& context) {
  const ConvPlan plan = plan_conv(context.attributes, context.input(0).shape(), context.input(1).shape());
  const std::int64_t batch = plan.output[0], groups = context.attributes.i("offset_group");
  const std::int64_t channels = context.input(0).shape()[1], kernel = plan.geometry.kernel_size();
  if (groups < 1 || channels % groups != 0) {
    fail(ErrorKind::kRuntime, "offset_group is {}, expected a divisor of the {} channels", groups, channels);
  }
  const auto rank = static_cast<std::int64_t>(plan.axes.size());
  if (rank > 8) fail(ErrorKind::kUnsupported, "{} spatial axes are not supported, at most 8 are", rank);
  check_shape(context.input(2), Shape{batch, groups * kernel * rank}, plan, "offset");
  if (context.has_input(3)) check_bias(context.input(3), plan.output[1]);
  if (context.has_input(4)) check_shape(context.input(4), Shape{batch, groups * kernel}, plan, "mask");
  with_compute_type(context.input(0).dtype(), [&](auto zero) { convolve<decltype(zero)>(context, plan, groups); });
}

}  // namespace

extern const OpDef kDeformConv;
const OpDef kDeformConv = {
    .domain = "",
    .type = "DeformConv",
    .summary = "A convolution whose window elements are read at positions shifted by `offset`, interpolated between elements and "
               "weighted by `mask`.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check,
};

}  // namespace lppool
