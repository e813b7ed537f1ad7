// ConvInteger and QLinearConv: convolutions of 8-bit tensors, exact in 32 bits. Padding counts as the zero point of x.
#include <bit>

#include "lppool/ops/conv_common.h"
#include "lppool/ops/quantized.h"

namespace lppool {
namespace {

constexpr OpVersion kConvIntegerVersions[] = {
    {10, "x:T1 w:T2 x_zero_point?:T1 w_zero_point?:T2", "y:T3",
     "auto_pad:string=NOTSET dilations:ints group:int=1 kernel_shape:ints pads:ints strides:ints",
     "T1=int8|uint8; T2=int8|uint8; T3=int32"},
};

constexpr OpVersion kQLinearConvVersions[] = {
    {10,
     "x:T1 x_scale:float32 x_zero_point:T1 w:T2 w_scale:float32 w_zero_point:T2 y_scale:float32 y_zero_point:T3 B?:T4", "y:T3",
     "auto_pad:string=NOTSET dilations:ints group:int=1 kernel_shape:ints pads:ints strides:ints",
     "T1=int8|uint8; T2=int8|uint8; T3=int8|uint8; T4=int32"},
};

// The stored numbers less the zero point of their line (of as many equal lines as there are zero points), wrapping.
std::vector<std::uint32_t> centred(const Tensor& tensor, const std::vector<std::int32_t>& zeros) {
  const std::vector<std::int32_t> stored = as_int32(tensor);
  const std::size_t line = zeros.empty() ? 1 : std::max<std::size_t>(stored.size() / zeros.size(), 1);
  std::vector<std::uint32_t> result(stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    result[i] = static_cast<std::uint32_t>(stored[i]) - static_cast<std::uint32_t>(zeros[i / line]);
  }
  return result;
}

// The sums for all outputs; positions of x, its zero point, w and its zero point among the inputs.
std::vector<std::uint32_t> convolve(const KernelContext& context, const ConvPlan& plan, std::size_t x, std::size_t x_zero,
                                    std::size_t w, std::size_t w_zero, const std::uint32_t* bias) {
  const auto in = centred(context.input(x), zero_points(context, x_zero, 1, "x_zero_point"));
  const auto weights = centred(context.input(w), zero_points(context, w_zero, plan.output[1], "w_zero_point"));
  std::vector<std::uint32_t> sums(static_cast<std::size_t>(plan.output.elements()));
  kernels::convolve<std::uint32_t>(in.data(), weights.data(), bias, sums.data(), plan.geometry, context.threads());
  return sums;
}

void infer_integer(InferContext& context) { infer_conv(context, 1, DataType::kInt32); }

void run_integer(KernelContext& context) {
  const ConvPlan plan = plan_conv(context.attributes, context.input(0).shape(), context.input(1).shape());
  Tensor& y = context.output(0, DataType::kInt32, plan.output);
  std::ranges::copy(convolve(context, plan, 0, 2, 1, 3, nullptr), y.mutable_data<std::uint32_t>().begin());
}

void infer_qlinear(InferContext& context) { infer_conv(context, 3, context.input(7).dtype); }

void run_qlinear(KernelContext& context) {
  const ConvPlan plan = plan_conv(context.attributes, context.input(0).shape(), context.input(3).shape());
  const std::int64_t channels = plan.output[1];
  std::vector<std::uint32_t> bias;
  if (context.has_input(8)) {
    check_bias(context.input(8), channels);
    const auto data = context.input(8).data<std::uint32_t>();
    bias.assign(data.begin(), data.end());
  }
  const Tensor& zero = context.input(7);
  Tensor& y = context.output(0, zero.dtype(), plan.output);
  const auto sums = convolve(context, plan, 0, 2, 3, 5, bias.empty() ? nullptr : bias.data());
  const double x_scale = scales(context, 1, 1, "x_scale").front(), y_scale = scales(context, 6, 1, "y_scale").front();
  const auto w_scale = scales(context, 4, channels, "w_scale");
  const std::int32_t zero_point = zero_points(context, 7, 1, "y_zero_point").front();
  const std::int64_t size = plan.geometry.out_size();
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const double factor = x_scale * w_scale[static_cast<std::size_t>(i / size % channels)] / y_scale;
    store_quantized(std::bit_cast<std::int32_t>(sums[static_cast<std::size_t>(i)]) * factor, zero_point, y, i);
  }
}

}  // namespace

extern const OpDef kConvInteger;
const OpDef kConvInteger = {
    .domain = "",
    .type = "ConvInteger",
    .summary = "Convolution of two 8-bit integer tensors less their zero points, as 32-bit integers.",
    .versions = kConvIntegerVersions,
    .infer = infer_integer,
    .run = run_integer,
    .check = check_conv,
};

extern const OpDef kQLinearConv;
const OpDef kQLinearConv = {
    .domain = "",
    .type = "QLinearConv",
    .summary = "Convolution of two quantised tensors, quantised again with the scale and zero point of y. B is stored in units of "
               "x_scale * w_scale.",
    .versions = kQLinearConvVersions,
    .infer = infer_qlinear,
    .run = run_qlinear,
    .check = check_conv,
};

}  // namespace lppool
