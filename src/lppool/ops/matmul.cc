// MatMul: products of (stacks of) matrices, as numpy.matmul has them.
#include "lppool/ops/compute_type.h"
#include "lppool/ops/matmul_common.h"
#include "lppool/ops/product.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "A:T B:T", "Y:T", "", "T=floats"},
    {9, "A:T B:T", "Y:T", "", "T=wide7"},
    {13, "A:T B:T", "Y:T", "", "T=wide7|bfloat16"},
};

void infer(InferContext& context) { infer_matmul(context, 0, 1, context.input(0).dtype); }

template <typename T>
void multiply(const MatMulPlan& plan, const T* a, const T* b, T* y, ThreadPool& pool) {
  for_each_product(plan, y, pool, [&](MatMulPlan::Pair pair, T* out) {
    multiply_matrices<T>(plan.m, plan.n, plan.k, {a + pair.a * plan.m * plan.k, plan.k, 1},
                         {b + pair.b * plan.k * plan.n, plan.n, 1}, out, plan.n, pool);
  });
}

// Signed integers are multiplied as unsigned ones, which wrap without undefined behaviour to the same bits.
template <typename Unsigned>
void multiply_integers(KernelContext& context, const MatMulPlan& plan) {
  Tensor& y = context.output(0, context.input(0).dtype(), plan.output);
  multiply<Unsigned>(plan, context.input(0).data<Unsigned>().data(), context.input(1).data<Unsigned>().data(),
                     y.mutable_data<Unsigned>().data(), context.threads());
}

void run(KernelContext& context) {
  const MatMulPlan plan = plan_matmul(context.input(0).shape(), context.input(1).shape());
  const DataType dtype = context.input(0).dtype();
  if (dtype == DataType::kInt32 || dtype == DataType::kUInt32) return multiply_integers<std::uint32_t>(context, plan);
  if (dtype == DataType::kInt64 || dtype == DataType::kUInt64) return multiply_integers<std::uint64_t>(context, plan);
  with_compute_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    const Tensor a = as_compute<T>(context.input(0)), b = as_compute<T>(context.input(1));
    ComputedOutput<T> y(context, 0, dtype, plan.output);
    multiply<T>(plan, a.data<T>().data(), b.data<T>().data(), y.data(), context.threads());
    y.finish();
  });
}

}  // namespace

extern const OpDef kMatMul;
const OpDef kMatMul = {
    .domain = "",
    .type = "MatMul",
    .summary = "Matrix product of A and B. Axes before the last two are stacks of matrices and broadcast; a vector counts as a "
               "row on the left and as a column on the right.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
};

}  // namespace lppool
