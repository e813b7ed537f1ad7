// Activations: one scalar function each. What is a product, a comparison or a sum is done in the element type; all that
// needs an exponential runs in double and is rounded once. The forms below are those that stay accurate for large and
// small arguments, not always the ones the specification writes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lppool/ops/elementwise.h"
#include "lppool/ops/shape_rules.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

constexpr OpVersion kReluVersions[] = {
    {1, "X:T", "Y:T", "consumed_inputs:ints", "T=floats"},
    {6, "X:T", "Y:T", "", "T=floats"},
    {13, "X:T", "Y:T", "", "T=floats|bfloat16"},
    {14, "X:T", "Y:T", "", "T=floats|int32|int8|int16|int64|bfloat16"},
};
constexpr OpVersion kSigmoidVersions[] = {
    {1, "X:T", "Y:T", "consumed_inputs:ints", "T=floats"},
    {6, "X:T", "Y:T", "", "T=floats"},
    {13, "X:T", "Y:T", "", "T=floats|bfloat16"},
};
constexpr OpVersion kLeakyReluVersions[] = {
    {1, "X:T", "Y:T", "alpha:float=0.01 consumed_inputs:ints", "T=floats"},
    {6, "X:T", "Y:T", "alpha:float=0.01", "T=floats"},
    {16, "X:T", "Y:T", "alpha:float=0.01", "T=floats|bfloat16"},
};
constexpr OpVersion kEluVersions[] = {
    {1, "X:T", "Y:T", "alpha:float=1.0 consumed_inputs:ints", "T=floats"},
    {6, "X:T", "Y:T", "alpha:float=1.0", "T=floats"},
    {22, "X:T", "Y:T", "alpha:float=1.0", "T=floats|bfloat16"},
};
constexpr OpVersion kSeluVersions[] = {
    {1, "X:T", "Y:T", "alpha:float=1.6732 consumed_inputs:ints gamma:float=1.0507", "T=floats"},
    {6, "X:T", "Y:T", "alpha:float=1.67326319217681884765625 gamma:float=1.05070102214813232421875", "T=floats"},
    {22, "X:T", "Y:T", "alpha:float=1.67326319217681884765625 gamma:float=1.05070102214813232421875",
     "T=floats|bfloat16"},
};
constexpr OpVersion kCeluVersions[] = {
    {12, "X:T", "Y:T", "alpha:float=1.0", "T=float32"},
    {28, "X:T", "Y:T", "alpha:float=1.0", "T=floats|bfloat16"},
};
constexpr OpVersion kHardSigmoidVersions[] = {
    {1, "X:T", "Y:T", "alpha:float=0.2 beta:float=0.5 consumed_inputs:ints", "T=floats"},
    {6, "X:T", "Y:T", "alpha:float=0.2 beta:float=0.5", "T=floats"},
    {22, "X:T", "Y:T", "alpha:float=0.2 beta:float=0.5", "T=floats|bfloat16"},
};
constexpr OpVersion kHardSwishVersions[] = {
    {14, "X:T", "Y:T", "", "T=floats"},
    {22, "X:T", "Y:T", "", "T=floats|bfloat16"},
};
constexpr OpVersion kSoftplusVersions[] = {
    {1, "X:T", "Y:T", "", "T=floats"},
    {22, "X:T", "Y:T", "", "T=floats|bfloat16"},
};
constexpr OpVersion kSoftsignVersions[] = {
    {1, "input:T", "output:T", "", "T=floats"},
    {22, "input:T", "output:T", "", "T=floats|bfloat16"},
};
constexpr OpVersion kMishVersions[] = {
    {18, "X:T", "Y:T", "", "T=floats"},
    {22, "X:T", "Y:T", "", "T=floats|bfloat16"},
};
constexpr OpVersion kGeluVersions[] = {{20, "X:T", "Y:T", "approximate:string=none", "T=floats|bfloat16"}};
constexpr OpVersion kSwishVersions[] = {{24, "X:T", "Y:T", "alpha:float=1.0", "T=floats|bfloat16"}};
constexpr OpVersion kThresholdedReluVersions[] = {
    {10, "X:T", "Y:T", "alpha:float=1.0", "T=floats"},
    {22, "X:T", "Y:T", "alpha:float=1.0", "T=floats|bfloat16"},
};
constexpr OpVersion kShrinkVersions[] = {{9, "input:T", "output:T", "bias:float=0.0 lambd:float=0.5", "T=num11"}};

using kernels::Function;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// NaN stays NaN: it is below nothing.
void run_relu(KernelContext& ctx) {
  run_unary(ctx, Floats{} + SignedInts{}, []<typename A>(A x) { return x < A{0} ? A{0} : x; });
}

void run_sigmoid(KernelContext& ctx) {
  run_function(ctx, Floats{}, sigmoid, Function::kSigmoid);
}

void run_leaky_relu(KernelContext& ctx) {
  const float alpha = ctx.attributes.f("alpha");
  run_unary(ctx, Floats{}, [=]<typename A>(A x) { return x < A{0} ? static_cast<A>(alpha) * x : x; });
}

void run_thresholded_relu(KernelContext& ctx) {
  const float alpha = ctx.attributes.f("alpha");
  run_unary(ctx, Floats{}, [=]<typename A>(A x) { return x > static_cast<A>(alpha) ? x : A{0}; });
}

void run_elu(KernelContext& ctx) {
  const double alpha = ctx.attributes.f("alpha");
  run_function(
      ctx, Floats{}, [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; }, Function::kExpLinear, alpha, 1, 1);
}

void run_selu(KernelContext& ctx) {
  const double alpha = ctx.attributes.f("alpha"), gamma = ctx.attributes.f("gamma");
  run_function(
      ctx, Floats{}, [=](double x) { return gamma * (x <= 0 ? alpha * std::expm1(x) : x); }, Function::kExpLinear,
      gamma * alpha, 1, gamma);
}

void run_celu(KernelContext& ctx) {
  const double alpha = ctx.attributes.f("alpha");
  if (alpha == 0) fail(ErrorKind::kRuntime, "attribute 'alpha' is 0, expected another number: x / alpha has no value");
  // max(0, x) + min(0, alpha * (exp(x / alpha) - 1)): for either sign of alpha, one of the two is 0.
  run_function(
      ctx, Floats{}, [=](double x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; }, Function::kExpLinear, alpha,
      1 / alpha, 1);
}

double hard_sigmoid(double x, double alpha, double beta) {
  const double y = alpha * x + beta;
  const double low = y < 0 ? 0 : y;  // two steps, which vectorise; NaN passes
  return low > 1 ? 1 : low;
}

void run_hard_sigmoid(KernelContext& ctx) {
  const double alpha = ctx.attributes.f("alpha"), beta = ctx.attributes.f("beta");
  run_unary_wide(ctx, Floats{}, [=](double x) { return hard_sigmoid(x, alpha, beta); });
}

void run_hard_swish(KernelContext& ctx) {
  run_unary_wide(ctx, Floats{}, [](double x) { return x * hard_sigmoid(x, 1.0 / 6, 0.5); });
}

void run_softplus(KernelContext& ctx) {
  run_function(
      ctx, Floats{}, [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); },
      Function::kSoftplus);
}

void run_softsign(KernelContext& ctx) {
  run_unary_wide(ctx, Floats{}, [](double x) { return x / (1 + std::fabs(x)); });
}

// tanh(ln(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2), with e = exp(x).
void run_mish(KernelContext& ctx) {
  const auto mish = [](double x) {
    if (x > 40) return x;  // the factor rounds to 1
    const double e = std::exp(x), n = e * (e + 2);
    return x * (n / (n + 2));
  };
  run_function(ctx, Floats{}, mish, Function::kMish);
}

void run_gelu(KernelContext& ctx) {
  const std::string approximate = ctx.attributes.s("approximate");
  if (approximate == "none") {
    // 1 + erf(z) = erfc(-z), which keeps its digits where x is far below zero.
    run_function(ctx, Floats{}, [](double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); }, Function::kGelu);
  } else if (approximate == "tanh") {
    // 0.5 * (1 + tanh(z)) = sigmoid(2 z)
    const auto gelu = [](double x) { return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); };
    run_function(ctx, Floats{}, gelu, Function::kGeluTanh);
  } else {
    fail(ErrorKind::kRuntime, "attribute 'approximate' is '{}', expected none or tanh", approximate);
  }
}

void run_swish(KernelContext& ctx) {
  const double alpha = ctx.attributes.f("alpha");
  run_function(ctx, Floats{}, [=](double x) { return x * sigmoid(alpha * x); }, Function::kSwish, alpha);
}

void run_shrink(KernelContext& ctx) {
  const double bias = ctx.attributes.f("bias"), lambd = ctx.attributes.f("lambd");
  run_unary_wide(ctx, Numbers{}, [=]<typename A>(A element) {
    const auto x = static_cast<double>(element);
    const double y = x < -lambd ? x + bias : x > lambd ? x - bias : 0.0;
    if constexpr (std::is_integral_v<A>)
      return truncate_to_integer<A>(y);
    else
      return y;
  });
}

void check_gelu(CheckContext& ctx) {
  const std::string approximate = ctx.attributes.s("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    ctx.error(kBadValue, "approximate", "attribute 'approximate' is '" + approximate + "', expected none or tanh");
  }
}

void check_celu(CheckContext& ctx) {
  if (ctx.attributes.f("alpha", 1) == 0) {
    ctx.error(kBadValue, "alpha", "attribute 'alpha' is 0, expected another number: x / alpha has no value");
  }
}

}  // namespace

#define LPPOOL_ACTIVATION(op, text, table, kernel, is_function, ...) \
  extern const OpDef k##op;                                          \
  const OpDef k##op = {.domain = "",                                 \
                       .type = #op,                                  \
                       .summary = text,                              \
                       .versions = table,                            \
                       .infer = infer_same,                          \
                       .run = kernel,                                \
                       __VA_ARGS__ __VA_OPT__(, ).facts = {.function = is_function},  \
                       .packed = PackedUse::kElementwise};

LPPOOL_ACTIVATION(Relu, "max(0, x).", kReluVersions, run_relu, true)
LPPOOL_ACTIVATION(Sigmoid, "1 / (1 + exp(-x)).", kSigmoidVersions, run_sigmoid, false)
LPPOOL_ACTIVATION(LeakyRelu, "x, or alpha * x below zero.", kLeakyReluVersions, run_leaky_relu, true)
LPPOOL_ACTIVATION(ThresholdedRelu, "x above alpha, else 0.", kThresholdedReluVersions, run_thresholded_relu, true)
LPPOOL_ACTIVATION(Elu, "x, or alpha * (exp(x) - 1) below zero.", kEluVersions, run_elu, true)
LPPOOL_ACTIVATION(Selu, "gamma * x, or gamma * alpha * (exp(x) - 1) up to zero.", kSeluVersions, run_selu, true)
LPPOOL_ACTIVATION(Celu, "max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).", kCeluVersions, run_celu, true,
                  .check = check_celu)
LPPOOL_ACTIVATION(HardSigmoid, "alpha * x + beta, held within 0 and 1.", kHardSigmoidVersions, run_hard_sigmoid, true)
LPPOOL_ACTIVATION(HardSwish, "x * (x / 6 + 1/2), the factor held within 0 and 1.", kHardSwishVersions, run_hard_swish,
                  true)
LPPOOL_ACTIVATION(Softplus, "ln(1 + exp(x)).", kSoftplusVersions, run_softplus, true)
LPPOOL_ACTIVATION(Softsign, "x / (1 + |x|).", kSoftsignVersions, run_softsign, true)
LPPOOL_ACTIVATION(Mish, "x * tanh(ln(1 + exp(x))).", kMishVersions, run_mish, true)
LPPOOL_ACTIVATION(Gelu, "x times the normal distribution function of x, or its approximation by tanh.", kGeluVersions,
                  run_gelu, true, .check = check_gelu)
LPPOOL_ACTIVATION(Swish, "x * sigmoid(alpha * x).", kSwishVersions, run_swish, true)
LPPOOL_ACTIVATION(Shrink, "x moved toward zero by bias, or 0 where |x| <= lambd.", kShrinkVersions, run_shrink, true)
#undef LPPOOL_ACTIVATION

}  // namespace lppool
