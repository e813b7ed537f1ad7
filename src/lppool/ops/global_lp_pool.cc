// GlobalLpPool: the Lp norm of each channel as a whole. Version 2 made p an int, version 22 added bfloat16. ONNX has no
// shape inference for version 1, whose text knows images only; the rule of the later versions serves it too. A rank of
// 2 has no spatial axis: each value is its own norm, |x|.
#include <fmt/format.h>

#include "lppool/kernels/lp_pool.h"
#include "lppool/ops/lp_norm.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {.since = 1,
     .inputs = "X:T",
     .outputs = "Y:T",
     .attributes = "p:float=2.0",
     .types = "T=floats",
     .summary = "The Lp norm of each channel of X (N x C x D1 x ... x Dn) over all its spatial axes.\n"
                "Y = (sum of |x|^p over the channel)^(1/p), of shape N x C x 1 x ... x 1.\n"
                "p is a float and need not be whole."},
    {.since = 2,
     .inputs = "X:T",
     .outputs = "Y:T",
     .attributes = "p:int=2",
     .types = "T=floats",
     .summary = "The Lp norm of each channel of X (N x C x D1 x ... x Dn) over all its spatial axes.\n"
                "Y = (sum of |x|^p over the channel)^(1/p), of shape N x C x 1 x ... x 1.\n"
                "p is a whole number."},
    {.since = 22,
     .inputs = "X:T",
     .outputs = "Y:T",
     .attributes = "p:int=2",
     .types = "T=floats|bfloat16",
     .summary = "The Lp norm of each channel of X (N x C x D1 x ... x Dn) over all its spatial axes.\n"
                "Y = (sum of |x|^p over the channel)^(1/p), of shape N x C x 1 x ... x 1.\n"
                "p is a whole number."},
};

void check(CheckContext& ctx) {
  check_lp_norm(ctx);
}

void require_rank(std::size_t rank) {
  if (rank < 2) fail(ErrorKind::kRuntime, "the input has rank {}, expected 2 or more: N, C and spatial axes", rank);
}

void infer(InferContext& ctx) {
  const DataType dtype = ctx.input(0).dtype;
  const std::vector<Dim>* x = ctx.shape(0);
  if (x == nullptr) return ctx.set_output(0, dtype, std::nullopt);
  require_rank(x->size());
  std::vector<Dim> y(x->size(), Dim(1));
  y[0] = (*x)[0];
  y[1] = (*x)[1];
  for (std::size_t i = 2; i < y.size(); ++i) ctx.explain(0, i, "1 (the whole axis is one window)");
  ctx.set_output(0, dtype, std::move(y));
}

void run(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  require_rank(x.rank());
  const kernels::ElementType type = lp_element_type(x.dtype());
  Shape y_shape(std::vector<std::int64_t>(x.rank(), 1));
  y_shape[0] = x.shape()[0];
  y_shape[1] = x.shape()[1];
  Tensor& y = ctx.output(0, x.dtype(), std::move(y_shape));
  if (y.size() == 0) return;
  kernels::global_lp_pool(type, x.raw(), y.mutable_raw(), y.size(), x.shape().elements(2, x.rank()),
                          read_lp_norm(ctx.attributes), ctx.threads());
}

}  // namespace

extern const OpDef kGlobalLpPool;
const OpDef kGlobalLpPool = {
    .domain = "",
    .type = "GlobalLpPool",
    .summary = "The Lp norm of each channel over all its spatial axes.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check,
};

}  // namespace lppool
