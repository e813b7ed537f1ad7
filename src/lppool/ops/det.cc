#include <algorithm>
#include <cmath>
#include <vector>

#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {11, "X:T", "Y:T", "", "T=floats"},
    {22, "X:T", "Y:T", "", "T=floats|bfloat16"},
};

void infer(InferContext& ctx) {
  const auto* shape = ctx.shape(0);
  if (shape == nullptr) return ctx.set_output(0, ctx.input(0).dtype, std::nullopt);
  if (shape->size() < 2) fail(ErrorKind::kRuntime, "input X has rank {}, expected 2 or more", shape->size());
  const Dim &m = shape->back(), &n = (*shape)[shape->size() - 2];
  if (m.value() && n.value() && *m.value() != *n.value()) {
    fail(ErrorKind::kRuntime, "matrices are {} x {}, expected square ones", *n.value(), *m.value());
  }
  ctx.set_output(0, ctx.input(0).dtype, std::vector<Dim>(shape->begin(), shape->end() - 2));
}

// By elimination with the largest pivot of each column; a is destroyed.
double determinant(double* a, std::int64_t n) {
  double result = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    if (a[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
      result = -result;
    }
    result *= a[k * n + k];
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return result;
}

void run(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  const std::size_t rank = x.rank();
  if (rank < 2 || x.shape()[rank - 1] != x.shape()[rank - 2]) {
    fail(ErrorKind::kRuntime, "input X has shape {}, expected square matrices", to_string(x.shape()));
  }
  const std::int64_t n = x.shape()[rank - 1];
  Tensor& y = ctx.output(0, x.dtype(), Shape(std::span(x.shape().dims()).first(rank - 2)));
  Tensor work = Tensor::allocate(DataType::kFloat64, x.shape());
  std::ranges::copy(as_float64(x).data<double>(), work.mutable_data<double>().begin());
  for (std::int64_t i = 0; i < y.size(); ++i) {
    ctx.checkpoint();
    const double value = determinant(work.mutable_data<double>().data() + i * n * n, n);
    store(std::span(&value, 1), y, i);
  }
}

}  // namespace

extern const OpDef kDet;
const OpDef kDet = {
    .domain = "",
    .type = "Det",
    .summary = "Determinants of square matrices, or of a batch of them.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
};

}  // namespace lppool
