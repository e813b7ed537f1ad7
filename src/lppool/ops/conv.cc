// Conv. Float32 goes through oneDNN where it is built in (ops/onednn.h), everything else through kernels/conv.h.
#include <memory>

#include "lppool/ops/compute_type.h"
#include "lppool/ops/conv_common.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X:T W:T B?:T", "Y:T",
     "auto_pad:string=NOTSET dilations:ints group:int=1 kernel_shape:ints pads:ints strides:ints", "T=floats"},
    {11, "X:T W:T B?:T", "Y:T",
     "auto_pad:string=NOTSET dilations:ints group:int=1 kernel_shape:ints pads:ints strides:ints", "T=floats"},
    {22, "X:T W:T B?:T", "Y:T",
     "auto_pad:string=NOTSET dilations:ints group:int=1 kernel_shape:ints pads:ints strides:ints", "T=floats|bfloat16"},
};

void infer(InferContext& context) { infer_conv(context, 1, context.input(0).dtype); }

template <typename T>
void convolve(KernelContext& context, const ConvPlan& plan) {
  const Tensor x = as_compute<T>(context.input(0));
  const Tensor w = as_compute<T>(context.input(1));
  const Tensor bias = context.has_input(2) ? as_compute<T>(context.input(2)) : Tensor();
  ComputedOutput<T> y(context, 0, context.input(0).dtype(), plan.output);
  const T* terms = bias.defined() ? bias.data<T>().data() : nullptr;
  kernels::convolve<T>(x.data<T>().data(), w.data<T>().data(), terms, y.data(), plan.geometry, context.threads());
  y.finish();
}

void run(KernelContext& context) {
  const ConvPlan plan = plan_conv(context.attributes, context.input(0).shape(), context.input(1).shape());
  if (context.has_input(2)) check_bias(context.input(2), plan.output[1]);
  with_compute_type(context.input(0).dtype(), [&](auto zero) { convolve<decltype(zero)>(context, plan); });
}

}  // namespace

extern const OpDef kConv;
const OpDef kConv = {
    .domain = "",
    .type = "Conv",
    .summary = "Slides weights over the spatial axes of X and sums the products over channels and window; groups of channels "
               "are convolved apart. B is added to each output channel.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check_conv,
};

}  // namespace lppool
