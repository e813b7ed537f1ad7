#pragma once

#include <cstdint>
#include <string>
#include <vector>

// The activation functions of LSTM, GRU and RNN.
namespace lppool::rnn {

enum class Function {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus
};

// An activation function; alpha and beta where it has them.
struct Activation {
  Function function = Function::kTanh;
  float alpha = 0, beta = 0;
};

// values[i] = f(clip(values[i])), clip to [-limit, limit] where limit >= 0.
template <typename T>
void apply(const Activation& f, double limit, T* values, std::int64_t count);

bool is_activation(std::string name);  // one that named_activations() knows

// The functions that attribute 'activations' names (in either case, as exporters write them). Each takes the next
// unused number of each list, if it has that parameter and the list has one left; else the default of the operator of
// its name. Throws kRuntime for an unknown name, kUnsupported for ScaledTanh without parameters, which has no default.
std::vector<Activation> named_activations(const std::vector<std::string>& names, const std::vector<float>& alphas,
                                          const std::vector<float>& betas);

}  // namespace lppool::rnn
