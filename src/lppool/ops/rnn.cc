// RNN and GRU: h is the only state.
#include <algorithm>

#include "lppool/ops/numbers.h"
#include "lppool/ops/rnn_common.h"

namespace lppool {
namespace {

using rnn::Activation;
using rnn::Function;

constexpr Activation kRnnDefaults[] = {{Function::kTanh}};
constexpr Activation kGruDefaults[] = {{Function::kSigmoid}, {Function::kTanh}};

constexpr OpVersion kRnnVersions[] = {
    {1, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T", "Y?:T Y_h?:T",
     "activation_alpha:floats activation_beta:floats activations:strings=[Tanh,Tanh] clip:float "
     "direction:string=forward "
     "hidden_size:int output_sequence:int=0",
     "T=floats; T1=int32"},
    {7, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T", "Y?:T Y_h?:T",
     "activation_alpha:floats activation_beta:floats activations:strings=[Tanh,Tanh] clip:float "
     "direction:string=forward "
     "hidden_size:int",
     "T=floats; T1=int32"},
    {14, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T", "Y?:T Y_h?:T",
     "activation_alpha:floats activation_beta:floats activations:strings=[Tanh,Tanh] clip:float "
     "direction:string=forward "
     "hidden_size:int layout:int=0",
     "T=floats; T1=int32"},
    {22, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T", "Y?:T Y_h?:T",
     "activation_alpha:floats activation_beta:floats activations:strings=[Tanh,Tanh] clip:float "
     "direction:string=forward "
     "hidden_size:int layout:int=0",
     "T=floats|bfloat16; T1=int32"},
};

// GRU 1 spells its default direction "foward"; the schema keeps it, the reader takes it as forward.
constexpr OpVersion kGruVersions[] = {
    {1, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T", "Y?:T Y_h:T",
     "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string=foward "
     "hidden_size:int "
     "output_sequence:int=0",
     "T=floats; T1=int32"},
    {3, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T", "Y?:T Y_h?:T",
     "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string=forward "
     "hidden_size:int "
     "linear_before_reset:int=0 output_sequence:int=0",
     "T=floats; T1=int32"},
    {7, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T", "Y?:T Y_h?:T",
     "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string=forward "
     "hidden_size:int "
     "linear_before_reset:int=0",
     "T=floats; T1=int32"},
    {14, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T", "Y?:T Y_h?:T",
     "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string=forward "
     "hidden_size:int "
     "layout:int=0 linear_before_reset:int=0",
     "T=floats; T1=int32"},
    {22, "X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T", "Y?:T Y_h?:T",
     "activation_alpha:floats activation_beta:floats activations:strings clip:float direction:string=forward "
     "hidden_size:int "
     "layout:int=0 linear_before_reset:int=0",
     "T=floats|bfloat16; T1=int32"},
};

template <typename T>
void run_rnn_as(KernelContext& ctx) {
  const auto p = rnn::read_problem<T>(ctx, 1, kRnnDefaults);
  const std::int64_t hidden = p.hidden;
  const auto start = [&](std::int64_t d, T* row) {
    const T* bias = p.bias_of(d);
    for (std::int64_t i = 0; i < hidden; ++i) row[i] = bias == nullptr ? T{0} : bias[i] + bias[hidden + i];
  };
  const auto step = [&](std::int64_t d, const std::vector<bool>& active, T* gates, T* h) {
    p.weights[static_cast<std::size_t>(d)].r.multiply_add(h, hidden, p.batch, gates, hidden);
    for (std::int64_t b = 0; b < p.batch; ++b) {
      if (!active[static_cast<std::size_t>(b)]) continue;
      rnn::apply(p.settings.activations[static_cast<std::size_t>(d)], p.settings.clip, gates + b * hidden, hidden);
      std::copy_n(gates + b * hidden, hidden, h + b * hidden);
    }
  };
  rnn::walk<T>(ctx, p, start, step);
}

// Gates in the order z (update), r (reset), h (hidden).
template <typename T>
void run_gru_as(KernelContext& ctx) {
  const auto p = rnn::read_problem<T>(ctx, 3, kGruDefaults);
  const std::int64_t hidden = p.hidden, width = 3 * hidden;
  const bool linear_before_reset = ctx.attributes.i("linear_before_reset", 0) != 0;
  // R as [z r] and [h]: the default form multiplies R_h by the reset state, which is known only after r.
  std::vector<PackedMatrix<T>> r_gates, r_hidden;
  const Tensor r = as_compute<T>(ctx.input(2));
  for (std::int64_t d = 0; d < p.settings.directions && !linear_before_reset; ++d) {
    const T* from = r.data<T>().data() + d * width * hidden;
    r_gates.emplace_back(from, hidden, 2 * hidden, 1, hidden);
    r_hidden.emplace_back(from + 2 * hidden * hidden, hidden, hidden, 1, hidden);
  }
  const auto start = [&](std::int64_t d, T* row) {
    const T* bias = p.bias_of(d);
    for (std::int64_t i = 0; i < width; ++i) {
      // With linear_before_reset, Rb of the hidden gate belongs inside the reset product.
      const bool recurrent = !(linear_before_reset && i >= 2 * hidden);
      row[i] = bias == nullptr ? T{0} : recurrent ? bias[i] + bias[width + i] : bias[i];
    }
  };
  Tensor scratch_tensor = Tensor::allocate(type_of<T>(), Shape{p.batch, width});
  T* const scratch = scratch_tensor.template mutable_data<T>().data();
  const auto step = [&](std::int64_t d, const std::vector<bool>& active, T* gates, T* h) {
    const std::size_t at = static_cast<std::size_t>(d);
    const Activation& f = p.settings.activations[2 * at];
    const Activation& g = p.settings.activations[2 * at + 1];
    const double clip = p.settings.clip;
    if (linear_before_reset) {
      std::fill_n(scratch, p.batch * width, T{0});
      p.weights[at].r.multiply_add(h, hidden, p.batch, scratch, width);
      const T* bias = p.bias_of(d);
      for (std::int64_t b = 0; b < p.batch; ++b) {
        T *gate = gates + b * width, *recurrent = scratch + b * width;
        for (std::int64_t i = 0; i < 2 * hidden; ++i) gate[i] += recurrent[i];
        rnn::apply(f, clip, gate, 2 * hidden);
        for (std::int64_t i = 0; i < hidden; ++i) {
          const T sum = recurrent[2 * hidden + i] + (bias == nullptr ? T{0} : bias[width + 2 * hidden + i]);
          gate[2 * hidden + i] += gate[hidden + i] * sum;
        }
      }
    } else {
      r_gates[at].multiply_add(h, hidden, p.batch, gates, width);
      for (std::int64_t b = 0; b < p.batch; ++b) {
        rnn::apply(f, clip, gates + b * width, 2 * hidden);
        for (std::int64_t i = 0; i < hidden; ++i)
          scratch[b * hidden + i] = gates[b * width + hidden + i] * h[b * hidden + i];
      }
      r_hidden[at].multiply_add(scratch, hidden, p.batch, gates + 2 * hidden, width);
    }
    for (std::int64_t b = 0; b < p.batch; ++b) {
      if (!active[static_cast<std::size_t>(b)]) continue;
      T *z = gates + b * width, *candidate = z + 2 * hidden, *state = h + b * hidden;
      rnn::apply(g, clip, candidate, hidden);
      for (std::int64_t i = 0; i < hidden; ++i) state[i] = (1 - z[i]) * candidate[i] + z[i] * state[i];
    }
  };
  rnn::walk<T>(ctx, p, start, step);
}

void run_rnn(KernelContext& ctx) {
  if (ctx.input(0).dtype() == DataType::kFloat64)
    run_rnn_as<double>(ctx);
  else
    run_rnn_as<float>(ctx);
}

void run_gru(KernelContext& ctx) {
  if (ctx.input(0).dtype() == DataType::kFloat64)
    run_gru_as<double>(ctx);
  else
    run_gru_as<float>(ctx);
}

}  // namespace

extern const OpDef kRNN;
const OpDef kRNN = {
    .domain = "",
    .type = "RNN",
    .summary =
        "One layer of a simple recurrent network: the next state is an activation of input and state, each times a "
        "matrix.",
    .versions = kRnnVersions,
    .infer = [](InferContext& ctx) { rnn::infer(ctx, 1); },
    .run = run_rnn,
    .check = [](CheckContext& ctx) { rnn::check(ctx, 1); },
};

extern const OpDef kGRU;
const OpDef kGRU = {
    .domain = "",
    .type = "GRU",
    .summary =
        "One layer of gated recurrent units: an update and a reset gate weigh the old state against a new candidate.",
    .versions = kGruVersions,
    .infer = [](InferContext& ctx) { rnn::infer(ctx, 3); },
    .run = run_gru,
    .check = [](CheckContext& ctx) { rnn::check(ctx, 2); },
};

}  // namespace lppool
