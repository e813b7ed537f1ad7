#include "lppool/ops/rnn_activation.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

#include "lppool/base/error.h"

namespace lppool::rnn {
namespace {

// Which parameters a function takes, and their defaults: those of the operators of the same name. ScaledTanh has none.
struct FunctionRow {
  std::string_view name;
  Function function;
  int parameters;
  float alpha, beta;
};
constexpr FunctionRow kFunctions[] = {
    {"relu", Function::kRelu, 0, 0, 0},
    {"tanh", Function::kTanh, 0, 0, 0},
    {"sigmoid", Function::kSigmoid, 0, 0, 0},
    {"affine", Function::kAffine, 2, 1, 0},
    {"leakyrelu", Function::kLeakyRelu, 1, 0.01f, 0},
    {"thresholdedrelu", Function::kThresholdedRelu, 1, 1, 0},
    {"scaledtanh", Function::kScaledTanh, 2, 0, 0},
    {"hardsigmoid", Function::kHardSigmoid, 2, 0.2f, 0.5f},
    {"elu", Function::kElu, 1, 1, 0},
    {"softsign", Function::kSoftsign, 0, 0, 0},
    {"softplus", Function::kSoftplus, 0, 0, 0},
};

// Exporters write these names in either case.
const FunctionRow* find_function(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* row = std::ranges::find(kFunctions, name, &FunctionRow::name);
  return row == std::end(kFunctions) ? nullptr : row;
}

template <typename T>
T sigmoid(T x) {
  // The form whose exponential cannot overflow.
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const T e = std::exp(x);
  return e / (1 + e);
}

template <typename T>
T evaluate(const Activation& f, T x) {
  const T alpha = static_cast<T>(f.alpha), beta = static_cast<T>(f.beta);
  switch (f.function) {
    case Function::kRelu:
      return x < 0 ? T{0} : x;
    case Function::kTanh:
      return std::tanh(x);
    case Function::kSigmoid:
      return sigmoid(x);
    case Function::kAffine:
      return alpha * x + beta;
    case Function::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case Function::kThresholdedRelu:
      return x < alpha ? T{0} : x;
    case Function::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case Function::kHardSigmoid:
      return std::clamp(alpha * x + beta, T{0}, T{1});
    case Function::kElu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case Function::kSoftsign:
      return x / (1 + std::abs(x));
    case Function::kSoftplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
  return x;
}

}  // namespace

template <typename T>
void apply(const Activation& f, double limit, T* values, std::int64_t count) {
  if (limit >= 0) {
    const T bound = static_cast<T>(limit);
    for (std::int64_t i = 0; i < count; ++i) values[i] = std::clamp(values[i], -bound, bound);
  }
  for (std::int64_t i = 0; i < count; ++i) values[i] = evaluate(f, values[i]);
}
template void apply(const Activation&, double, float*, std::int64_t);
template void apply(const Activation&, double, double*, std::int64_t);

bool is_activation(std::string name) {
  return find_function(std::move(name)) != nullptr;
}

std::vector<Activation> named_activations(const std::vector<std::string>& names, const std::vector<float>& alphas,
                                          const std::vector<float>& betas) {
  std::vector<Activation> result;
  std::size_t alpha = 0, beta = 0;
  for (const std::string& name : names) {
    const FunctionRow* row = find_function(name);
    if (row == nullptr) fail(ErrorKind::kRuntime, "attribute 'activations' names an unknown function '{}'", name);
    const bool given = alpha < alphas.size() && beta < betas.size();
    if (row->function == Function::kScaledTanh && !given) {
      fail(ErrorKind::kUnsupported,
           "activation ScaledTanh without activation_alpha and activation_beta, which have no default");
    }
    Activation activation{row->function, row->alpha, row->beta};
    if (row->parameters >= 1 && alpha < alphas.size()) activation.alpha = alphas[alpha++];
    if (row->parameters >= 2 && beta < betas.size()) activation.beta = betas[beta++];
    result.push_back(activation);
  }
  return result;
}

}  // namespace lppool::rnn
