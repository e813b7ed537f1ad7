// Conv. Float32 goes through oneDNN where it is built in (ops/onednn.h), everything else through kernels/conv.h.
#include <any>
#include <memory>

#include "lppool/kernels/depthwise.h"
#include "lppool/kernels/pointwise.h"
#include "lppool/ops/compute_type.h"
#include "lppool/ops/conv_common.h"
#include "lppool/ops/onednn.h"

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

// What a node keeps between runs: the convolution compiled for the shapes of the last one.
struct State {
  Shape x, w;
  bool has_bias = false;
  int threads = 0;
  bool constant_weights = false;
  std::unique_ptr<onednn::Convolution> compiled;  // nullptr: not to be had for these shapes
};

bool is_depthwise(const kernels::ConvGeometry& geometry) { return geometry.groups > 1 && geometry.in_channels == 1; }

// Groups of no whole blocks of channels, and one element of each.
bool is_small_product(const kernels::ConvGeometry& geometry) {
  const bool blocks = geometry.in_channels % 16 == 0 && geometry.out_channels % 16 == 0;
  return geometry.groups > 1 && !blocks && geometry.in_channels <= 256 && kernels::is_pointwise(geometry);
}

// Depthwise convolutions are faster here, but for whole blocks of channels, which may come and go packed; and so are
// products of small groups.
bool worth_compiling(const kernels::ConvGeometry& geometry) {
  if (is_depthwise(geometry)) return geometry.out_channels == 1 && geometry.groups % 16 == 0;
  return !is_small_product(geometry);
}

// The compiled convolution for this run, nullptr where the program's own kernel is to be used.
onednn::Convolution* compiled_for(KernelContext& context, const ConvPlan& plan) {
  if (plan.output.elements() == 0 || !worth_compiling(plan.geometry)) return nullptr;
  auto* state = std::any_cast<std::shared_ptr<State>>(&context.state());
  if (state == nullptr) {
    context.state() = std::make_shared<State>();
    state = std::any_cast<std::shared_ptr<State>>(&context.state());
  }
  State& kept = **state;
  const Shape &x = context.input_shape(0), &w = context.input(1).shape();
  const int threads = ThreadPool::in_task() ? 1 : context.threads().threads();
  const bool fits = kept.x == x && kept.w == w && kept.has_bias == context.has_input(2) && kept.threads == threads &&
                    kept.constant_weights == context.is_constant(1);
  if (!fits) {
    std::vector<std::int64_t> pads_end;
    for (const WindowAxis& axis : plan.axes) pads_end.push_back(axis.pad_end);
    kept = {x, w, context.has_input(2), threads, context.is_constant(1),
            onednn::Convolution::make(plan.geometry, pads_end, context.has_input(2), threads)};
  }
  return kept.compiled.get();
}

// Takes the input in blocks of channels or plain, and gives the output in blocks where the reader may get them so.
void run_compiled(KernelContext& context, const ConvPlan& plan, onednn::Convolution& compiled) {
  const PackedTensor* packed = context.packed_input(0);
  const float* x = (packed != nullptr ? packed->blocks : context.input(0)).data<float>().data();
  const float* bias = context.has_input(2) ? context.input(2).data<float>().data() : nullptr;
  const std::int64_t block = context.may_pack() ? compiled.output_block() : 0;
  float* y = (block != 0 ? context.packed_output(0, plan.output, block).blocks
                         : context.output(0, DataType::kFloat32, plan.output)).mutable_data<float>().data();
  compiled.run(x, packed != nullptr ? packed->block() : 0, context.input(1).data<float>().data(), context.is_constant(1), bias, y,
               block);
}

void compute(KernelContext& context, const ConvPlan& plan, const double* x, const double* w, const double* bias, double* y) {
  kernels::convolve<double>(x, w, bias, y, plan.geometry, context.threads());
}

void compute(KernelContext& context, const ConvPlan& plan, const float* x, const float* w, const float* bias, float* y) {
  if (onednn::Convolution* compiled = compiled_for(context, plan)) {
    compiled->run(x, 0, w, context.is_constant(1), bias, y, 0);
  } else if (is_depthwise(plan.geometry)) {
    kernels::convolve_depthwise(x, w, bias, y, plan.geometry, context.threads());
  } else if (is_small_product(plan.geometry)) {
    kernels::convolve_pointwise(x, w, bias, y, plan.geometry, context.threads());
  } else {
    kernels::convolve<float>(x, w, bias, y, plan.geometry, context.threads());
  }
}

template <typename T>
void convolve(KernelContext& context, const ConvPlan& plan) {
  const Tensor x = as_compute<T>(context.input(0));
  const Tensor w = as_compute<T>(context.input(1));
  const Tensor bias = context.has_input(2) ? as_compute<T>(context.input(2)) : Tensor();
  ComputedOutput<T> y(context, 0, context.input(0).dtype(), plan.output);
  compute(context, plan, x.data<T>().data(), w.data<T>().data(), bias.defined() ? bias.data<T>().data() : nullptr, y.data());
  y.finish();
}

void run(KernelContext& context) {
  const ConvPlan plan = plan_conv(context.attributes, context.input_shape(0), context.input(1).shape());
  if (context.has_input(2)) check_bias(context.input(2), plan.output[1]);
  if (context.input(1).dtype() == DataType::kFloat32) {
    if (onednn::Convolution* compiled = compiled_for(context, plan)) return run_compiled(context, plan, *compiled);
  }
  context.unpack_input(0);
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
    .packed = PackedUse::kOwn,
};

}  // namespace lppool
