// Gemm: Y = alpha * A' * B' + beta * C. Versions 1 and 6 broadcast C only where the attribute `broadcast` says so; from 7 on
// C always may be broadcast, from 11 on it may be missing.
#include <fmt/format.h>

#include <array>

#include "lppool/ops/compute_type.h"
#include "lppool/ops/product.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "A:T B:T C:T", "Y:T", "alpha:float=1.0 beta:float=1.0 broadcast:int=0 transA:int=0 transB:int=0", "T=floats"},
    {6, "A:T B:T C:T", "Y:T", "alpha:float=1.0 beta:float=1.0 broadcast:int=0 transA:int=0 transB:int=0", "T=floats"},
    {7, "A:T B:T C:T", "Y:T", "alpha:float=1.0 beta:float=1.0 transA:int=0 transB:int=0", "T=floats"},
    {9, "A:T B:T C:T", "Y:T", "alpha:float=1.0 beta:float=1.0 transA:int=0 transB:int=0", "T=wide7"},
    {11, "A:T B:T C?:T", "Y:T", "alpha:float=1.0 beta:float=1.0 transA:int=0 transB:int=0", "T=wide7"},
    {13, "A:T B:T C?:T", "Y:T", "alpha:float=1.0 beta:float=1.0 transA:int=0 transB:int=0", "T=wide7|bfloat16"},
};

[[noreturn]] void do_not_fit(std::int64_t a, std::int64_t b) {
  fail(ErrorKind::kRuntime, "matrices do not fit: the left one has {} columns, the right one {} rows", a, b);
}

void infer(InferContext& context) {
  const DataType dtype = context.input(0).dtype;
  const bool trans_a = context.attributes.i("transA") != 0, trans_b = context.attributes.i("transB") != 0;
  const auto side = [&](std::size_t input, bool columns) -> Dim {
    const std::vector<Dim>* shape = context.shape(input);
    if (shape == nullptr) return {};
    if (shape->size() != 2) fail(ErrorKind::kRuntime, "input {} has rank {}, expected 2", input, shape->size());
    return (*shape)[columns ? 1 : 0];
  };
  const Dim m = side(0, trans_a), left = side(0, !trans_a), right = side(1, trans_b), n = side(1, !trans_b);
  if (left.value() && right.value() && !same(left, right)) do_not_fit(*left.value(), *right.value());
  context.set_output(0, dtype, std::vector<Dim>{m, n});
}

// C as a matrix that may repeat: strides of 0 along broadcast axes.
struct Term {
  std::int64_t row_stride = 0, column_stride = 0;
};

Term place_term(const Tensor& c, std::int64_t m, std::int64_t n, bool broadcast) {
  const Shape& shape = c.shape();
  const std::int64_t rows = shape.rank() == 2 ? shape[0] : 1;
  const std::int64_t columns = shape.rank() >= 1 ? shape[shape.rank() - 1] : 1;
  const bool exact = shape.rank() == 2 && rows == m && columns == n;
  const bool fits = shape.rank() <= 2 && (rows == m || rows == 1) && (columns == n || columns == 1);
  if (!(broadcast ? fits : exact)) {
    fail(ErrorKind::kRuntime, "C has shape {}, expected {}{}x{}", to_string(shape), broadcast ? "one that broadcasts to " : "",
         m, n);
  }
  return {rows == 1 ? 0 : columns, columns == 1 ? 0 : 1};
}

struct Product {
  std::int64_t m, n, k;
  bool trans_a, trans_b;
};

// y = alpha * y + beta * c, in T.
template <typename T, typename Scale>
void finish_rows(T* y, const Product& p, const T* c, Term term, Scale alpha, Scale beta, ThreadPool& pool) {
  if (c == nullptr && alpha == Scale{1}) return;
  pool.parallel_for(p.m, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(p.n, 1)),
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t r = begin; r < end; ++r) {
                        T* row = y + r * p.n;
                        if (alpha != Scale{1}) {
                          for (std::int64_t i = 0; i < p.n; ++i) row[i] = static_cast<T>(alpha * static_cast<Scale>(row[i]));
                        }
                        if (c == nullptr) continue;
                        const T* from = c + r * term.row_stride;
                        for (std::int64_t i = 0; i < p.n; ++i) {
                          row[i] = static_cast<T>(static_cast<Scale>(row[i]) +
                                                  beta * static_cast<Scale>(from[i * term.column_stride]));
                        }
                      }
                    });
}

template <typename T>
void product(const Product& p, const T* a, const T* b, T* y, ThreadPool& pool) {
  const kernels::MatrixView<T> left{a, p.trans_a ? 1 : p.k, p.trans_a ? p.m : 1};
  const kernels::MatrixView<T> right{b, p.trans_b ? 1 : p.n, p.trans_b ? p.k : 1};
  multiply_matrices<T>(p.m, p.n, p.k, left, right, y, p.n, pool);
}

// Integers: the product wraps; alpha and beta must be whole numbers, since the text gives no rounding for others.
template <typename Unsigned>
void run_integers(KernelContext& context, const Product& p, float alpha, float beta, Term term) {
  const auto whole = [](float factor) {
    const auto number = static_cast<std::int32_t>(std::clamp(factor, -1e9f, 1e9f));
    if (static_cast<float>(number) != factor) {
      fail(ErrorKind::kUnsupported, "alpha or beta is {} with integer matrices; only whole numbers are supported", factor);
    }
    return static_cast<Unsigned>(number);
  };
  Tensor& y = context.output(0, context.input(0).dtype(), Shape{p.m, p.n});
  Unsigned* out = y.mutable_data<Unsigned>().data();
  product<Unsigned>(p, context.input(0).data<Unsigned>().data(), context.input(1).data<Unsigned>().data(), out,
                    context.threads());
  const Unsigned* c = context.has_input(2) ? context.input(2).data<Unsigned>().data() : nullptr;
  finish_rows<Unsigned, Unsigned>(out, p, c, term, whole(alpha), whole(beta), context.threads());
}

void run(KernelContext& context) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  if (a.rank() != 2) fail(ErrorKind::kRuntime, "A has shape {}, expected a matrix", to_string(a.shape()));
  if (b.rank() != 2) fail(ErrorKind::kRuntime, "B has shape {}, expected a matrix", to_string(b.shape()));
  Product p{};
  p.trans_a = context.attributes.i("transA") != 0;
  p.trans_b = context.attributes.i("transB") != 0;
  p.m = a.shape()[p.trans_a ? 1 : 0];
  p.k = a.shape()[p.trans_a ? 0 : 1];
  p.n = b.shape()[p.trans_b ? 0 : 1];
  if (b.shape()[p.trans_b ? 1 : 0] != p.k) do_not_fit(p.k, b.shape()[p.trans_b ? 1 : 0]);
  const float alpha = context.attributes.f("alpha"), beta = context.attributes.f("beta");
  const bool broadcast = context.since_version() >= 7 || context.attributes.i("broadcast") != 0;
  const Term term = context.has_input(2) ? place_term(context.input(2), p.m, p.n, broadcast) : Term{};

  const DataType dtype = a.dtype();
  if (dtype == DataType::kInt32 || dtype == DataType::kUInt32) {
    return run_integers<std::uint32_t>(context, p, alpha, beta, term);
  }
  if (dtype == DataType::kInt64 || dtype == DataType::kUInt64) {
    return run_integers<std::uint64_t>(context, p, alpha, beta, term);
  }
  with_compute_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    const Tensor left = as_compute<T>(a), right = as_compute<T>(b);
    const Tensor c = context.has_input(2) && beta != 0 ? as_compute<T>(context.input(2)) : Tensor();
    ComputedOutput<T> y(context, 0, dtype, Shape{p.m, p.n});
    product<T>(p, left.data<T>().data(), right.data<T>().data(), y.data(), context.threads());
    finish_rows<T, T>(y.data(), p, c.defined() ? c.data<T>().data() : nullptr, term, static_cast<T>(alpha),
                      static_cast<T>(beta), context.threads());
    y.finish();
  });
}

}  // namespace

extern const OpDef kGemm;
const OpDef kGemm = {
    .domain = "",
    .type = "Gemm",
    .summary = "Y = alpha * A * B + beta * C for matrices A and B, either of which may be given transposed; C is broadcast to "
               "the shape of the product.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
};

}  // namespace lppool
