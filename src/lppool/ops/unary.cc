// Unary mathematics. Functions that IEEE 754 rounds exactly run in the element type; all others in double, rounded
// once, so that float32 and the 16-bit types come out correctly rounded in all but about one case in 2^28.
#include <cmath>
#include <cstdlib>

#include "lppool/ops/elementwise.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kAbsVersions[] = {
    {1, "X:T", "Y:T", "consumed_inputs:ints", "T=floats"},
    {6, "X:T", "Y:T", "", "T=num11"},
    {13, "X:T", "Y:T", "", "T=num12"},
};
constexpr OpVersion kNegVersions[] = {
    {1, "X:T", "Y:T", "consumed_inputs:ints", "T=floats"},
    {6, "X:T", "Y:T", "", "T=floats|int32|int8|int16|int64"},
    {13, "X:T", "Y:T", "", "T=floats|int32|int8|int16|int64|bfloat16"},
};
constexpr OpVersion kSignVersions[] = {
    {9, "input:T", "output:T", "", "T=num11"},
    {13, "input:T", "output:T", "", "T=num12"},
};
constexpr OpVersion kErfVersions[] = {
    {9, "input:T", "output:T", "", "T=num11"},
    {13, "input:T", "output:T", "", "T=floats|bfloat16"},
};
constexpr OpVersion kRoundVersions[] = {
    {11, "X:T", "Y:T", "", "T=floats"},
    {22, "X:T", "Y:T", "", "T=floats|bfloat16"},
};
// Ceil, Floor, Sqrt, Reciprocal.
constexpr OpVersion kFrom1[] = {
    {1, "X:T", "Y:T", "consumed_inputs:ints", "T=floats"},
    {6, "X:T", "Y:T", "", "T=floats"},
    {13, "X:T", "Y:T", "", "T=floats|bfloat16"},
};
// Exp, Log, Tanh: as above with other names.
constexpr OpVersion kNamedFrom1[] = {
    {1, "input:T", "output:T", "consumed_inputs:ints", "T=floats"},
    {6, "input:T", "output:T", "", "T=floats"},
    {13, "input:T", "output:T", "", "T=floats|bfloat16"},
};
// Sin, Cos, Tan, Asin, Acos, Atan.
constexpr OpVersion kFrom7[] = {
    {7, "input:T", "output:T", "", "T=floats"},
    {22, "input:T", "output:T", "", "T=floats|bfloat16"},
};
// Sinh, Cosh, Asinh, Acosh, Atanh.
constexpr OpVersion kFrom9[] = {
    {9, "input:T", "output:T", "", "T=floats"},
    {22, "input:T", "output:T", "", "T=floats|bfloat16"},
};

void run_abs(KernelContext& ctx) {
  run_unary(ctx, Numbers{}, []<typename A>(A x) {
    if constexpr (std::is_floating_point_v<A>)
      return std::fabs(x);
    else if constexpr (std::is_signed_v<A>)
      return x < 0 ? wrap_neg(x) : x;
    else
      return x;
  });
}

void run_neg(KernelContext& ctx) {
  run_unary(ctx, Floats{} + SignedInts{}, [](auto x) { return wrap_neg(x); });
}

void run_sign(KernelContext& ctx) {
  run_unary(ctx, Numbers{}, []<typename A>(A x) {
    if constexpr (std::is_floating_point_v<A>) {
      if (std::isnan(x)) return x;
    }
    return static_cast<A>((x > A{0} ? 1 : 0) - (x < A{0} ? 1 : 0));
  });
}

// The integers that opset 9 allows give 0, 1 or -1: erf is less than 1 everywhere, yet rounds to it from 6 on.
void run_erf(KernelContext& ctx) {
  run_function(
      ctx, Numbers{}, []<typename A>(A x) { return static_cast<A>(std::erf(static_cast<double>(x))); },
      kernels::Function::kErf);
}

void run_exp(KernelContext& ctx) {
  run_function(ctx, Floats{}, [](double x) { return std::exp(x); }, kernels::Function::kExp);
}
void run_log(KernelContext& ctx) {
  run_function(ctx, Floats{}, [](double x) { return std::log(x); }, kernels::Function::kLog);
}
void run_tanh(KernelContext& ctx) {
  run_function(ctx, Floats{}, [](double x) { return std::tanh(x); }, kernels::Function::kTanh);
}

#define LPPOOL_EXACT(name, expression)                           \
  void name(KernelContext& ctx) {                                \
    run_unary(ctx, Floats{}, [](auto x) { return expression; }); \
  }
#define LPPOOL_WIDE(name, expression)                                   \
  void name(KernelContext& ctx) {                                       \
    run_unary_wide(ctx, Floats{}, [](double x) { return expression; }); \
  }
LPPOOL_EXACT(run_ceil, std::ceil(x))
LPPOOL_EXACT(run_floor, std::floor(x))
LPPOOL_EXACT(run_round,
             std::nearbyint(x))  // ties to even in the default rounding mode, which this library never changes
LPPOOL_EXACT(run_sqrt, std::sqrt(x))
LPPOOL_EXACT(run_reciprocal, 1 / x)
LPPOOL_WIDE(run_sin, std::sin(x))
LPPOOL_WIDE(run_cos, std::cos(x))
LPPOOL_WIDE(run_tan, std::tan(x))
LPPOOL_WIDE(run_asin, std::asin(x))
LPPOOL_WIDE(run_acos, std::acos(x))
LPPOOL_WIDE(run_atan, std::atan(x))
LPPOOL_WIDE(run_sinh, std::sinh(x))
LPPOOL_WIDE(run_cosh, std::cosh(x))
LPPOOL_WIDE(run_asinh, std::asinh(x))
LPPOOL_WIDE(run_acosh, std::acosh(x))
LPPOOL_WIDE(run_atanh, std::atanh(x))
#undef LPPOOL_EXACT
#undef LPPOOL_WIDE

void infer_neg(InferContext& ctx) {
  infer_same(ctx);
  const auto* elements = ctx.elements(0);
  if (elements == nullptr) return;
  std::vector<Dim> negated;
  for (const Dim& element : *elements) negated.push_back(fits(Dim(0) - element, input_dtype(ctx, 0)));
  ctx.set_elements(0, std::move(negated));
}

}  // namespace

LPPOOL_ELEMENTWISE(Abs, "Absolute value of each element.", kAbsVersions, infer_same, run_abs)
LPPOOL_ELEMENTWISE(Neg, "Each element with its sign flipped.", kNegVersions, infer_neg, run_neg)
LPPOOL_ELEMENTWISE(Sign, "-1, 0 or 1 by the sign of each element; NaN stays NaN.", kSignVersions, infer_same, run_sign)
LPPOOL_ELEMENTWISE(Ceil, "Each element rounded up to a whole number.", kFrom1, infer_same, run_ceil)
LPPOOL_ELEMENTWISE(Floor, "Each element rounded down to a whole number.", kFrom1, infer_same, run_floor)
LPPOOL_ELEMENTWISE(Round, "Each element rounded to the nearest whole number, halves to the even one.", kRoundVersions,
                   infer_same, run_round)
LPPOOL_ELEMENTWISE(Sqrt, "Square root of each element; NaN below zero.", kFrom1, infer_same, run_sqrt)
LPPOOL_ELEMENTWISE(Reciprocal, "One divided by each element.", kFrom1, infer_same, run_reciprocal)
LPPOOL_ELEMENTWISE(Exp, "e to the power of each element.", kNamedFrom1, infer_same, run_exp)
LPPOOL_ELEMENTWISE(Log, "Natural logarithm of each element.", kNamedFrom1, infer_same, run_log)
LPPOOL_ELEMENTWISE(Tanh, "Hyperbolic tangent of each element.", kNamedFrom1, infer_same, run_tanh)
LPPOOL_ELEMENTWISE(Erf, "Gauss error function of each element.", kErfVersions, infer_same, run_erf)
LPPOOL_ELEMENTWISE(Sin, "Sine of each element, in radians.", kFrom7, infer_same, run_sin)
LPPOOL_ELEMENTWISE(Cos, "Cosine of each element, in radians.", kFrom7, infer_same, run_cos)
LPPOOL_ELEMENTWISE(Tan, "Tangent of each element, in radians.", kFrom7, infer_same, run_tan)
LPPOOL_ELEMENTWISE(Asin, "Arc sine of each element; NaN outside [-1, 1].", kFrom7, infer_same, run_asin)
LPPOOL_ELEMENTWISE(Acos, "Arc cosine of each element; NaN outside [-1, 1].", kFrom7, infer_same, run_acos)
LPPOOL_ELEMENTWISE(Atan, "Arc tangent of each element.", kFrom7, infer_same, run_atan)
LPPOOL_ELEMENTWISE(Sinh, "Hyperbolic sine of each element.", kFrom9, infer_same, run_sinh)
LPPOOL_ELEMENTWISE(Cosh, "Hyperbolic cosine of each element.", kFrom9, infer_same, run_cosh)
LPPOOL_ELEMENTWISE(Asinh, "Inverse hyperbolic sine of each element.", kFrom9, infer_same, run_asinh)
LPPOOL_ELEMENTWISE(Acosh, "Inverse hyperbolic cosine of each element; NaN below 1.", kFrom9, infer_same, run_acosh)
LPPOOL_ELEMENTWISE(Atanh, "Inverse hyperbolic tangent of each element; NaN outside [-1, 1].", kFrom9, infer_same,
                   run_atanh)

}  // namespace lppool
