#include <algorithm>

#include "lppool/ops/numbers.h"
#include "lppool/ops/rnn_common.h"

namespace lppool {
namespace {

using rnn::Activation;
using rnn::Function;

constexpr Activation kDefaults[] = {{Function::kSigmoid}, {Function::kTanh}, {Function::kTanh}};

constexpr OpVersion kVersions[] = {
    {1, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T initial_c?:T P?:T", "Y?:T Y_h?:T Y_c?:T",
     "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string=forward "
     "hidden_size:int "
     "input_forget:int=0 output_sequence:int=0",
     "T=floats; T1=int32"},
    {7, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T initial_c?:T P?:T", "Y?:T Y_h?:T Y_c?:T",
     "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string=forward "
     "hidden_size:int "
     "input_forget:int=0",
     "T=floats; T1=int32"},
    {14, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T initial_c?:T P?:T", "Y?:T Y_h?:T Y_c?:T",
     "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string=forward "
     "hidden_size:int "
     "input_forget:int=0 layout:int=0",
     "T=floats; T1=int32"},
    {22, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T initial_c?:T P?:T", "Y?:T Y_h?:T Y_c?:T",
     "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string=forward "
     "hidden_size:int "
     "input_forget:int=0 layout:int=0",
     "T=floats|bfloat16; T1=int32"},
};

// Gates in the order i (input), o (output), f (forget), c (cell); peepholes i, o, f. The clip bounds the input of every
// activation, h's included, never the stored cell.
template <typename T>
void run_as(KernelContext& ctx) {
  const auto p = rnn::read_problem<T>(ctx, 4, kDefaults);
  const std::int64_t hidden = p.hidden, width = 4 * hidden, directions = p.settings.directions;
  Tensor c_tensor = p.initial(ctx, 6, "input initial_c");
  Tensor peepholes;
  if (const Tensor* given = ctx.optional_input(7)) {
    const Shape expected{directions, 3 * hidden};
    if (given->shape() != expected) {
      fail(ErrorKind::kRuntime, "input P has shape {}, expected {}", to_string(given->shape()), to_string(expected));
    }
    peepholes = as_compute<T>(*given);
  }
  const bool coupled = ctx.attributes.i("input_forget", 0) != 0;
  const double clip = p.settings.clip;

  const auto start = [&](std::int64_t d, T* row) {
    const T* bias = p.bias_of(d);
    for (std::int64_t k = 0; k < width; ++k) row[k] = bias == nullptr ? T{0} : bias[k] + bias[width + k];
  };
  Tensor squashed_tensor = Tensor::allocate(type_of<T>(), Shape{hidden});
  T* const squashed = squashed_tensor.template mutable_data<T>().data();
  const auto step = [&](std::int64_t d, const std::vector<bool>& active, T* gates, T* h) {
    const std::size_t at = static_cast<std::size_t>(d);
    const Activation* functions = &p.settings.activations[3 * at];
    p.weights[at].r.multiply_add(h, hidden, p.batch, gates, width);
    const T* peep = peepholes.defined() ? peepholes.template data<T>().data() + d * 3 * hidden : nullptr;
    for (std::int64_t b = 0; b < p.batch; ++b) {
      if (!active[static_cast<std::size_t>(b)]) continue;
      T *i = gates + b * width, *o = i + hidden, *f = o + hidden, *g = f + hidden;
      T* const c = c_tensor.template mutable_data<T>().data() + (d * p.batch + b) * hidden;
      for (std::int64_t k = 0; k < hidden && peep != nullptr; ++k) {
        i[k] += peep[k] * c[k];
        f[k] += peep[2 * hidden + k] * c[k];
      }
      rnn::apply(functions[0], clip, i, hidden);
      if (coupled) {
        for (std::int64_t k = 0; k < hidden; ++k) f[k] = 1 - i[k];
      } else {
        rnn::apply(functions[0], clip, f, hidden);
      }
      rnn::apply(functions[1], clip, g, hidden);
      for (std::int64_t k = 0; k < hidden; ++k) c[k] = f[k] * c[k] + i[k] * g[k];
      for (std::int64_t k = 0; k < hidden && peep != nullptr; ++k) o[k] += peep[hidden + k] * c[k];
      rnn::apply(functions[0], clip, o, hidden);
      std::copy_n(c, hidden, squashed);
      rnn::apply(functions[2], clip, squashed, hidden);
      for (std::int64_t k = 0; k < hidden; ++k) h[b * hidden + k] = o[k] * squashed[k];
    }
  };
  rnn::walk<T>(ctx, p, start, step);
  rnn::write_state(ctx, p, 2, c_tensor);
}

void run(KernelContext& ctx) {
  if (ctx.input(0).dtype() == DataType::kFloat64)
    run_as<double>(ctx);
  else
    run_as<float>(ctx);
}

}  // namespace

extern const OpDef kLSTM;
const OpDef kLSTM = {
    .domain = "",
    .type = "LSTM",
    .summary =
        "One layer of long short-term memory: input, output and forget gates guard a cell that carries state through "
        "time.",
    .versions = kVersions,
    .infer = [](InferContext& ctx) { rnn::infer(ctx, 4); },
    .run = run,
    .check = [](CheckContext& ctx) { rnn::check(ctx, 3); },
};

}  // namespace lppool
