// AveragePool. count_include_pad since 7, ceil_mode since 10, dilations since 19; from 22 on a last window that starts in the
// end padding is left out. With count_include_pad the divisor counts the window's places inside the padded input: what
// ceil_mode lets hang over its end is not counted, as in PyTorch and the ONNX reference.
#include "lppool/kernels/channel_blocks.h"
#include "lppool/kernels/pool.h"
#include "lppool/kernels/window.h"
#include "lppool/ops/compute_type.h"
#include "lppool/ops/window.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X:T", "Y:T", "auto_pad:string=NOTSET kernel_shape!:ints pads:ints strides:ints", "T=floats"},
    {7, "X:T", "Y:T", "auto_pad:string=NOTSET count_include_pad:int=0 kernel_shape!:ints pads:ints strides:ints", "T=floats"},
    {10, "X:T", "Y:T",
     "auto_pad:string=NOTSET ceil_mode:int=0 count_include_pad:int=0 kernel_shape!:ints pads:ints strides:ints", "T=floats"},
    {11, "X:T", "Y:T",
     "auto_pad:string=NOTSET ceil_mode:int=0 count_include_pad:int=0 kernel_shape!:ints pads:ints strides:ints", "T=floats"},
    {19, "X:T", "Y:T",
     "auto_pad:string=NOTSET ceil_mode:int=0 count_include_pad:int=0 dilations:ints kernel_shape!:ints pads:ints strides:ints",
     "T=floats"},
    {22, "X:T", "Y:T",
     "auto_pad:string=NOTSET ceil_mode:int=0 count_include_pad:int=0 dilations:ints kernel_shape!:ints pads:ints strides:ints",
     "T=floats|bfloat16"},
};

void infer(InferContext& context) {
  const DataType dtype = context.input(0).dtype;
  context.set_output(0, dtype, std::nullopt);
  const std::vector<Dim>* shape = context.shape(0);
  if (shape == nullptr) return;
  infer_window_output(context, read_window(context.attributes, spatial_rank(shape->size())), (*shape)[1], dtype);
}

// For each axis and each output position along it: how many places of its window count.
std::vector<std::vector<std::int64_t>> count_places(const KernelContext& context, const std::vector<WindowAxis>& axes) {
  const bool include_pad = context.attributes.i("count_include_pad", 0) != 0;
  std::vector<std::vector<std::int64_t>> counts;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    WindowAxis counted = axes[a];
    if (include_pad) {  // the padding becomes part of the input
      counted.in += counted.pad_begin + counted.pad_end;
      counted.pad_begin = 0;
    }
    counts.emplace_back();
    for (std::int64_t o = 0; o < counted.out; ++o) {
      counts.back().push_back(kernels::clip_window(counted, o).count);
      if (counts.back().back() > 0) continue;
      fail(ErrorKind::kUnsupported, "window {} of axis {} covers nothing that counts, so that there is no average", o, a + 2);
    }
  }
  return counts;
}

void run_packed(KernelContext& context, const PackedTensor& x) {
  const auto [axes, shape] = plan_pool(context.attributes, x.shape);
  PackedTensor& y = context.packed_output(0, shape, x.block());
  if (shape.elements() == 0) return;
  kernels::average_pool_blocks(x.blocks.data<float>().data(), y.blocks.mutable_data<float>().data(),
                               {x.images() * x.groups(), x.block(), pool_axes(axes)}, count_places(context, axes),
                               context.threads());
}

void run(KernelContext& context) {
  if (const PackedTensor* packed = context.packed_input(0)) return run_packed(context, *packed);
  const Tensor& x = context.input(0);
  const PoolPlan plan = plan_pool(context.attributes, x.shape());
  const Shape& shape = plan.output;
  const kernels::PoolGeometry geometry{x.shape().elements(0, 2), pool_axes(plan.axes)};
  with_compute_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    ComputedOutput<T> y(context, 0, x.dtype(), shape);  // first: it bounds the number of windows
    if (shape.elements() == 0) return;
    const Tensor wide = as_compute<T>(x);
    kernels::average_pool<T>(wide.data<T>().data(), y.data(), geometry, count_places(context, plan.axes), context.threads());
    y.finish();
  });
}

}  // namespace

extern const OpDef kAveragePool;
const OpDef kAveragePool = {
    .domain = "",
    .type = "AveragePool",
    .summary = "The mean of every window that slides over the spatial axes of X. Padding adds nothing; count_include_pad says "
               "whether it counts in the divisor.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check_window,
    .packed = PackedUse::kOwn,
};

}  // namespace lppool
