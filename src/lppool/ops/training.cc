// Optimizer steps and Gradient (ai.onnx.preview.training).
#include <array>
#include <cmath>

#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr std::string_view kDomain = "ai.onnx.preview.training";

constexpr OpVersion kAdagradVersions[] = {
    {1, "R:T1 T:T2 inputs**:T3", "outputs**:T3", "decay_factor:float=0.0 epsilon:float=0.0 norm_coefficient:float=0.0",
     "T1=float32|float64; T2=int64; T3=float32|float64"},
};
constexpr OpVersion kAdamVersions[] = {
    {1, "R:T1 T:T2 inputs**:T3", "outputs**:T3",
     "alpha:float=0.9 beta:float=0.999 epsilon:float=0.0 norm_coefficient:float=0.0 norm_coefficient_post:float=0.0",
     "T1=float32|float64; T2=int64; T3=float32|float64"},
};
constexpr OpVersion kGradientVersions[] = {
    {1, "Inputs**:T1", "Outputs**:T2", "xs!:strings y!:string zs:strings", "T1=all15; T2=floats"},
};
constexpr OpVersion kMomentumVersions[] = {
    {1, "R:T1 T:T2 inputs**:T3", "outputs**:T3", "alpha!:float beta!:float mode!:string norm_coefficient!:float",
     "T1=float32|float64; T2=int64; T3=float32|float64"},
};

// Inputs after R and T come as all X, then all G, then all of each state; outputs as all X, then all of each state.
std::size_t optimized(std::size_t inputs, std::size_t states) {
  const std::size_t each = 2 + states;
  if (inputs < 2 + each || (inputs - 2) % each != 0) {
    fail(ErrorKind::kRuntime, "{} inputs, expected 2 and a multiple of {}", inputs, each);
  }
  return (inputs - 2) / each;
}

template <std::size_t kStates>
void infer(InferContext& ctx) {
  const std::size_t n = optimized(ctx.input_count(), kStates);
  for (std::size_t i = 0; i < n; ++i) {
    ctx.set_output(i, ctx.input(2 + i));
    for (std::size_t s = 0; s < kStates; ++s) ctx.set_output((s + 1) * n + i, ctx.input(2 + (s + 2) * n + i));
  }
}

// Calls step(x, g, states) for every element, in double; it changes x and the states.
template <std::size_t kStates, typename Step>
void for_each_element(KernelContext& ctx, Step&& step) {
  const std::size_t n = optimized(ctx.input_count(), kStates);
  for (std::size_t i = 0; i < n; ++i) {
    const Tensor x = as_float64(ctx.input(2 + i)), g = as_float64(ctx.input(2 + n + i));
    const Shape& shape = x.shape();
    Tensor x_new = Tensor::allocate(DataType::kFloat64, shape);
    std::array<Tensor, kStates> old, updated;
    for (std::size_t s = 0; s < kStates; ++s) {
      old[s] = as_float64(ctx.input(2 + (s + 2) * n + i));
      updated[s] = Tensor::allocate(DataType::kFloat64, shape);
      if (old[s].shape() != shape || g.shape() != shape) {
        fail(ErrorKind::kRuntime, "tensor {} has shape {}, its gradient or state another", i, to_string(shape));
      }
    }
    for (std::size_t k = 0; k < static_cast<std::size_t>(x.size()); ++k) {
      double value = x.data<double>()[k];
      std::array<double, kStates> states;
      for (std::size_t s = 0; s < kStates; ++s) states[s] = old[s].template data<double>()[k];
      step(value, g.data<double>()[k], states);
      x_new.mutable_data<double>()[k] = value;
      for (std::size_t s = 0; s < kStates; ++s) updated[s].template mutable_data<double>()[k] = states[s];
    }
    const auto write = [&](std::size_t output, const Tensor& from, DataType dtype) {
      if (ctx.wants_output(output))
        store(std::span<const double>(from.data<double>()), ctx.output(output, dtype, shape));
    };
    write(i, x_new, ctx.input(2 + i).dtype());
    for (std::size_t s = 0; s < kStates; ++s)
      write((s + 1) * n + i, updated[s], ctx.input(2 + (s + 2) * n + i).dtype());
  }
}

void run_adagrad(KernelContext& ctx) {
  const auto a = [&](std::string_view name) { return static_cast<double>(ctx.attributes.f(name)); };
  const double norm = a("norm_coefficient"), epsilon = a("epsilon");
  const double count = static_cast<double>(read_integer(ctx.input(1), "input T"));
  const double rate = read_number(ctx.input(0), "input R") / (1 + count * a("decay_factor"));
  for_each_element<1>(ctx, [&](double& x, double gradient, std::array<double, 1>& h) {
    const double g = norm * x + gradient;
    h[0] += g * g;
    x -= rate * g / (std::sqrt(h[0]) + epsilon);
  });
}

void run_adam(KernelContext& ctx) {
  const auto a = [&](std::string_view name) { return static_cast<double>(ctx.attributes.f(name)); };
  const double norm = a("norm_coefficient"), post = a("norm_coefficient_post"), epsilon = a("epsilon");
  const double alpha = a("alpha"), beta = a("beta");
  const std::int64_t count = read_integer(ctx.input(1), "input T");
  double rate = read_number(ctx.input(0), "input R");
  if (count > 0) {
    const double t = static_cast<double>(count);
    rate *= std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t));
  }
  for_each_element<2>(ctx, [&](double& x, double gradient, std::array<double, 2>& state) {
    const double g = norm * x + gradient;
    state[0] = alpha * state[0] + (1 - alpha) * g;
    state[1] = beta * state[1] + (1 - beta) * g * g;
    x = (1 - post) * (x - rate * state[0] / (std::sqrt(state[1]) + epsilon));
  });
}

bool known_mode(std::string_view mode) {
  return mode == "standard" || mode == "nesterov";
}

void run_momentum(KernelContext& ctx) {
  const auto a = [&](std::string_view name) { return static_cast<double>(ctx.attributes.f(name)); };
  const std::string mode = ctx.attributes.s("mode");
  if (!known_mode(mode)) fail(ErrorKind::kRuntime, "attribute 'mode' is '{}', expected standard or nesterov", mode);
  const bool nesterov = mode == "nesterov";
  const double norm = a("norm_coefficient"), alpha = a("alpha");
  const double beta = read_integer(ctx.input(1), "input T") > 0 ? a("beta") : 1;
  const double rate = read_number(ctx.input(0), "input R");
  for_each_element<1>(ctx, [&](double& x, double gradient, std::array<double, 1>& v) {
    const double g = norm * x + gradient;
    v[0] = alpha * v[0] + beta * g;
    x -= rate * (nesterov ? g + alpha * v[0] : v[0]);
  });
}

void check_momentum(CheckContext& ctx) {
  const std::string mode = ctx.attributes.s("mode", "");
  if (known_mode(mode)) return;
  ctx.error(kBadValue, "mode", fmt::format("attribute 'mode' is '{}', expected standard or nesterov", mode));
}

// Gradient names values of the graph around it, which a rule cannot see: their types stay unknown.
void infer_gradient(InferContext&) {}

}  // namespace

extern const OpDef kAdagrad;
const OpDef kAdagrad = {
    .domain = kDomain,
    .type = "Adagrad",
    .summary = "One step of Adagrad: each number's learning rate falls with the squares of its past gradients.",
    .versions = kAdagradVersions,
    .infer = infer<1>,
    .run = run_adagrad,
};

extern const OpDef kAdam;
const OpDef kAdam = {
    .domain = kDomain,
    .type = "Adam",
    .summary = "One step of Adam: running means of gradients and of their squares steer each number.",
    .versions = kAdamVersions,
    .infer = infer<2>,
    .run = run_adam,
};

extern const OpDef kGradient;
const OpDef kGradient = {
    .domain = kDomain,
    .type = "Gradient",
    .summary = "Partial derivatives of one value of the graph with respect to others. Known to check, not executed.",
    .versions = kGradientVersions,
    .infer = infer_gradient,
};

extern const OpDef kMomentum;
const OpDef kMomentum = {
    .domain = kDomain,
    .type = "Momentum",
    .summary = "One step of gradient descent with standard or Nesterov's momentum.",
    .versions = kMomentumVersions,
    .infer = infer<1>,
    .run = run_momentum,
    .check = check_momentum,
};

}  // namespace lppool
