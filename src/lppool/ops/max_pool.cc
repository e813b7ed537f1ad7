// MaxPool. Indices since 8, ceil_mode and dilations since 10, 8-bit integers since 12; from 22 on a last window that starts
// in the end padding is left out, before that it is kept - and refused at run time, since nothing has no maximum.
#include "lppool/kernels/channel_blocks.h"
#include "lppool/kernels/pool.h"
#include "lppool/kernels/window.h"
#include "lppool/ops/compute_type.h"
#include "lppool/ops/window.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X:T", "Y:T", "auto_pad:string=NOTSET kernel_shape!:ints pads:ints strides:ints", "T=floats"},
    {8, "X:T", "Y:T Indices?:I", "auto_pad:string=NOTSET kernel_shape!:ints pads:ints storage_order:int=0 strides:ints",
     "T=floats; I=int64"},
    {10, "X:T", "Y:T Indices?:I",
     "auto_pad:string=NOTSET ceil_mode:int=0 dilations:ints kernel_shape!:ints pads:ints storage_order:int=0 strides:ints",
     "T=floats; I=int64"},
    {11, "X:T", "Y:T Indices?:I",
     "auto_pad:string=NOTSET ceil_mode:int=0 dilations:ints kernel_shape!:ints pads:ints storage_order:int=0 strides:ints",
     "T=floats; I=int64"},
    {12, "X:T", "Y:T Indices?:I",
     "auto_pad:string=NOTSET ceil_mode:int=0 dilations:ints kernel_shape!:ints pads:ints storage_order:int=0 strides:ints",
     "T=floats|int8|uint8; I=int64"},
    {22, "X:T", "Y:T Indices?:I",
     "auto_pad:string=NOTSET ceil_mode:int=0 dilations:ints kernel_shape!:ints pads:ints storage_order:int=0 strides:ints",
     "T=floats|bfloat16|int8|uint8; I=int64"},
};

void infer(InferContext& context) {
  const DataType dtype = context.input(0).dtype;
  context.set_output(0, dtype, std::nullopt);
  context.set_output(1, DataType::kInt64, std::nullopt);
  const std::vector<Dim>* shape = context.shape(0);
  if (shape == nullptr) return;
  const Window window = read_window(context.attributes, spatial_rank(shape->size()));
  infer_window_output(context, window, (*shape)[1], dtype);
  infer_window_output(context, window, (*shape)[1], DataType::kInt64, 1);
}

void check_windows_meet_input(const kernels::PoolGeometry& geometry) {
  for (std::size_t a = 0; a < geometry.axes.size(); ++a) {
    const kernels::PoolAxis& axis = geometry.axes[a];
    for (std::int64_t o = 0; o < axis.out; ++o) {
      if (kernels::clip_window(axis, o).count > 0) continue;
      fail(ErrorKind::kUnsupported, "window {} of axis {} lies wholly in the padding, where there is no largest element", o,
           a + 2);
    }
  }
}

template <typename T>
void pool(KernelContext& context, const Tensor& x, Tensor& y, const kernels::PoolGeometry& geometry, const Shape& shape) {
  check_windows_meet_input(geometry);  // after y was allocated, which bounds the number of windows
  const T* from = x.data<T>().data();
  T* to = y.mutable_data<T>().data();
  if (!context.wants_output(1)) return kernels::max_pool<T>(from, to, geometry, context.threads());
  const bool column_major = context.attributes.i("storage_order", 0) != 0;
  std::int64_t* positions = context.output(1, DataType::kInt64, shape).mutable_data<std::int64_t>().data();
  kernels::max_pool_positions<T>(from, to, positions, geometry, column_major, context.threads());
}

void run_packed(KernelContext& context, const PackedTensor& x) {
  const auto [axes, shape] = plan_pool(context.attributes, x.shape);
  PackedTensor& y = context.packed_output(0, shape, x.block());
  if (shape.elements() == 0) return;
  check_windows_meet_input({0, pool_axes(axes)});
  kernels::max_pool_blocks(x.blocks.data<float>().data(), y.blocks.mutable_data<float>().data(),
                           {x.images() * x.groups(), x.block(), pool_axes(axes)}, context.threads());
}

void run(KernelContext& context) {
  if (context.wants_output(1)) context.unpack_input(0);
  if (const PackedTensor* packed = context.packed_input(0)) return run_packed(context, *packed);
  const Tensor& x = context.input(0);
  const PoolPlan plan = plan_pool(context.attributes, x.shape());
  const Shape& shape = plan.output;
  const kernels::PoolGeometry geometry{x.shape().elements(0, 2), pool_axes(plan.axes)};
  const DataType dtype = x.dtype();
  if (shape.elements() == 0) {
    context.output(0, dtype, shape);
    if (context.wants_output(1)) context.output(1, DataType::kInt64, shape);
    return;
  }
  if (dtype == DataType::kInt8) {
    return pool<std::int8_t>(context, x, context.output(0, dtype, shape), geometry, shape);
  }
  if (dtype == DataType::kUInt8) {
    return pool<std::uint8_t>(context, x, context.output(0, dtype, shape), geometry, shape);
  }
  with_compute_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    const Tensor wide = as_compute<T>(x);
    Tensor result = Tensor::allocate(type_of<T>(), shape);
    pool<T>(context, wide, result, geometry, shape);
    if (dtype == type_of<T>()) {
      context.set_output(0, Value(result));
    } else {
      store(std::span<const T>(result.data<T>()), context.output(0, dtype, shape));
    }
  });
}

}  // namespace

extern const OpDef kMaxPool;
const OpDef kMaxPool = {
    .domain = "",
    .type = "MaxPool",
    .summary = "The largest element of every window that slides over the spatial axes of X; padding does not take part. "
               "Indices are positions in X flattened.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check_window,
    .packed = PackedUse::kOwn,
};

}  // namespace lppool
