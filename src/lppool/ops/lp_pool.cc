// LpPool: the Lp norm of every position of a sliding window. This is the worked example of an operator ("Add an
// operator" in src/README.md), to be read from top to bottom: what ONNX says (versions), which attribute values are
// wrong (check), types and shapes (infer), numbers (run), and the constant that ties them together.
//
// The window's rules are in lp_window.h, the exponent's in lp_norm.h (GlobalLpPool shares them), the arithmetic in
// kernels/lp_pool.h. Tested in tests/unit/ops/lp_pool_test.cc.
#include "lppool/kernels/lp_pool.h"

#include <fmt/format.h>

#include "lppool/base/checked.h"
#include "lppool/ops/lp_norm.h"
#include "lppool/ops/lp_window.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

// ---- versions

constexpr OpVersion kVersions[] = {
    {.since = 1,
     .inputs = "X:T",
     .outputs = "Y:T",
     .attributes = "auto_pad:string=NOTSET kernel_shape:ints p:float=2.0 pads:ints strides:ints",
     .types = "T=floats",
     .summary =
         "Slides a window over the spatial axes of X (N x C x D1 x ... x Dn) and gives its Lp norm at each position.\n"
         "Y = (sum of |x|^p over the window)^(1/p); padding counts as 0 and nothing is averaged.\n"
         "p is a float and need not be whole.\n"
         "kernel_shape may be left out of the model, but without it there is no window to compute with.\n"
         "Output size with explicit pads: floor((input + pads - kernel) / stride) + 1.\n"
         "Output size with auto_pad SAME_UPPER or SAME_LOWER: ceil(input / stride); with VALID as without padding."},
    {.since = 2,
     .inputs = "X:T",
     .outputs = "Y:T",
     .attributes = "auto_pad:string=NOTSET kernel_shape!:ints p:int=2 pads:ints strides:ints",
     .types = "T=floats",
     .summary =
         "Slides a window over the spatial axes of X (N x C x D1 x ... x Dn) and gives its Lp norm at each position.\n"
         "Y = (sum of |x|^p over the window)^(1/p); padding counts as 0 and nothing is averaged.\n"
         "p is a whole number.\n"
         "Output size with explicit pads: floor((input + pads - kernel) / stride) + 1.\n"
         "Output size with auto_pad SAME_UPPER or SAME_LOWER: ceil(input / stride); with VALID as without padding.",
     .rule_changes = "output size: ONNX infers shapes from this version on, by the same rule"},
    {.since = 11,
     .inputs = "X:T",
     .outputs = "Y:T",
     .attributes = "auto_pad:string=NOTSET kernel_shape!:ints p:int=2 pads:ints strides:ints",
     .types = "T=floats",
     .summary =
         "Slides a window over the spatial axes of X (N x C x D1 x ... x Dn) and gives its Lp norm at each position.\n"
         "Y = (sum of |x|^p over the window)^(1/p); padding counts as 0 and nothing is averaged.\n"
         "p is a whole number. strides left out means 1 along each axis.\n"
         "Output size with explicit pads: floor((input + pads - kernel) / stride) + 1.\n"
         "Output size with auto_pad SAME_UPPER or SAME_LOWER: ceil(input / stride); with VALID as without padding.\n"
         "The padding of the SAME modes is split in halves; an odd one goes to the end for SAME_UPPER, to the "
         "beginning for SAME_LOWER.",
     .rule_changes = "auto_pad: the text now says ceil(input / stride), which inference did before as well"},
    {.since = 18,
     .inputs = "X:T",
     .outputs = "Y:T",
     .attributes =
         "auto_pad:string=NOTSET ceil_mode:int=0 dilations:ints kernel_shape!:ints p:int=2 pads:ints strides:ints",
     .types = "T=floats",
     .summary =
         "Slides a window over the spatial axes of X (N x C x D1 x ... x Dn) and gives its Lp norm at each position.\n"
         "Y = (sum of |x|^p over the window)^(1/p); padding counts as 0 and nothing is averaged.\n"
         "p is a whole number. strides and dilations left out mean 1 along each axis.\n"
         "Dilations spread the window's elements: extent = (kernel - 1) * dilation + 1.\n"
         "Output size with explicit pads: floor((input + pads - extent) / stride) + 1.\n"
         "With ceil_mode 1 the quotient is rounded up; every window is kept, also one that starts in the end padding.\n"
         "Output size with auto_pad SAME_UPPER or SAME_LOWER: ceil(input / stride); with VALID as without padding.\n"
         "The padding of the SAME modes is split in halves; an odd one goes to the end for SAME_UPPER, to the "
         "beginning for SAME_LOWER.",
     .rule_changes =
         "output size: with ceil_mode 1 the quotient is rounded up and no window is dropped; as before with 0\n"
         "window: with dilations its extent is (kernel - 1) * dilation + 1; as before with 1"},
    {.since = 22,
     .inputs = "X:T",
     .outputs = "Y:T",
     .attributes =
         "auto_pad:string=NOTSET ceil_mode:int=0 dilations:ints kernel_shape!:ints p:int=2 pads:ints strides:ints",
     .types = "T=floats|bfloat16",
     .summary =
         "Slides a window over the spatial axes of X (N x C x D1 x ... x Dn) and gives its Lp norm at each position.\n"
         "Y = (sum of |x|^p over the window)^(1/p); padding counts as 0 and nothing is averaged.\n"
         "p is a whole number. strides and dilations left out mean 1 along each axis.\n"
         "Dilations spread the window's elements: extent = (kernel - 1) * dilation + 1.\n"
         "Output size with explicit pads: floor((input + pads - extent) / stride) + 1.\n"
         "With ceil_mode 1 the quotient is rounded up; a last window that would start at or after input + begin pad is "
         "left out.\n"
         "Output size with auto_pad SAME_UPPER or SAME_LOWER: ceil(input / stride); with VALID as without padding.\n"
         "The padding of the SAME modes is split in halves; an odd one goes to the end for SAME_UPPER, to the "
         "beginning for SAME_LOWER.",
     .rule_changes =
         "!output size @ceil_mode: with ceil_mode 1 a last window that would start at or after input + begin pad is dropped"},
};

// ---- check

void check(CheckContext& ctx) {
  check_lp_norm(ctx);
  check_lp_window(ctx);
}

// ---- infer

constexpr WindowRemarks kRemarks = {.empty = "LP016",
                                    .kept_last = "LP017",
                                    .does_not_fit = "LP018",
                                    .in_padding = "LP019",
                                    .unread = "LP020",
                                    .of_padding = "give 0"};

void infer(InferContext& ctx) {
  const DataType dtype = ctx.input(0).dtype;
  const std::vector<Dim>* x = ctx.shape(0);
  if (x == nullptr) return ctx.set_output(0, dtype, std::nullopt);
  if (!ctx.attributes.has("kernel_shape") && x->size() >= 3) {  // opset 1: the rank is all there is to know
    std::vector<Dim> y(x->size());
    y[0] = (*x)[0];
    y[1] = (*x)[1];
    return ctx.set_output(0, dtype, std::move(y));
  }
  const LpWindow window = read_lp_window(ctx.attributes, x->size());
  std::vector<Dim> y = {(*x)[0], (*x)[1]};
  for (std::size_t i = 0; i < window.axes.size(); ++i) {
    const Dim& n = (*x)[i + 2];
    y.push_back(output_dim(window, i, n));
    if (n.value()) remark_on_axis(ctx, window, i, *n.value(), kRemarks);
    if (n.known() && ctx.explaining) ctx.explain(0, i + 2, output_formula(window, i, n));
  }
  ctx.set_output(0, dtype, std::move(y));
}

// ---- run

void run(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  // The attributes never change, so a node reads them once for each rank it meets.
  const auto* cached = std::any_cast<LpWindow>(&ctx.state());
  if (cached == nullptr || cached->axes.size() + 2 != x.rank()) {
    cached = &ctx.state().emplace<LpWindow>(read_lp_window(ctx.attributes, x.rank()));
  }
  const LpWindow& window = *cached;

  kernels::PoolGeometry geometry;
  Shape y_shape{x.shape()[0], x.shape()[1]};
  for (std::size_t i = 0; i < window.axes.size(); ++i) {
    const LpWindow::Axis& axis = window.axes[i];
    const AxisPlan plan = plan_axis(window, i, x.shape()[i + 2]);
    geometry.axes.push_back({x.shape()[i + 2], plan.out, axis.kernel, axis.stride, axis.dilation, plan.pad_begin});
    y_shape.push_back(plan.out);
  }
  const kernels::ElementType type = lp_element_type(x.dtype());
  Tensor& y = ctx.output(0, x.dtype(), std::move(y_shape));
  if (y.size() == 0) return;
  geometry.planes = y.shape().elements(0, 2);
  kernels::lp_pool(type, x.raw(), y.mutable_raw(), geometry, read_lp_norm(ctx.attributes), ctx.threads());
}

}  // namespace

extern const OpDef kLpPool;
const OpDef kLpPool = {
    .domain = "",
    .type = "LpPool",
    .summary = "The Lp norm of every position of a sliding window.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check,
};

}  // namespace lppool
