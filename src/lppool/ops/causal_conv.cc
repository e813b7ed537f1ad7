// CausalConvWithState: a depthwise convolution over time that sees the present and the past only; the last k - 1 inputs are
// carried from call to call.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/compute_type.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {27, "input:T weight:T bias?:T past_state?:T", "output:T present_state:T", "activation:string=none",
     "T=float32|float16|bfloat16"},
};

bool is_activation(std::string_view word) { return word == "none" || word == "silu" || word == "swish"; }

void check(CheckContext& context) {
  if (const std::string word = context.attributes.s("activation"); !is_activation(word)) {
    context.error(kBadValue, "activation", fmt::format("attribute 'activation' is '{}', expected none, silu or swish", word));
  }
}

void infer(InferContext& context) {
  const ValueType& x = context.input(0);
  context.set_output(0, x.dtype, x.shape);
  const std::vector<Dim>* weight = context.shape(1);
  if (x.shape && x.shape->size() != 3) fail(ErrorKind::kRuntime, "the input has rank {}, expected 3", x.shape->size());
  if (weight != nullptr && weight->size() != 3) fail(ErrorKind::kRuntime, "the weight has rank {}, expected 3", weight->size());
  std::vector<Dim> state(3);
  if (x.shape) std::copy_n(x.shape->begin(), 2, state.begin());
  if (weight != nullptr) {
    state[2] = (*weight)[2] - Dim(1);
    if (context.explaining) context.explain(1, 2, fmt::format("{} - 1", term((*weight)[2])));
  }
  context.set_output(1, x.dtype, std::move(state));
}

void run(KernelContext& context) {
  const std::string activation = context.attributes.s("activation");
  if (!is_activation(activation)) {
    fail(ErrorKind::kRuntime, "activation is '{}', expected none, silu or swish", activation);
  }
  const DataType dtype = context.input(0).dtype();
  const Tensor x = as_float32(context.input(0)), w = as_float32(context.input(1));
  if (x.rank() != 3) fail(ErrorKind::kRuntime, "the input has shape {}, expected N x C x L", to_string(x.shape()));
  const std::int64_t batch = x.shape()[0], channels = x.shape()[1], length = x.shape()[2];
  if (w.rank() != 3 || w.shape()[0] != channels || w.shape()[1] != 1 || w.shape()[2] < 1) {
    fail(ErrorKind::kRuntime, "the weight has shape {}, expected {}x1xK", to_string(w.shape()), channels);
  }
  const std::int64_t kernel = w.shape()[2], carried = kernel - 1;
  const Tensor bias = context.has_input(2) ? as_float32(context.input(2)) : Tensor();
  if (bias.defined() && bias.shape() != Shape{channels}) {
    fail(ErrorKind::kRuntime, "the bias has shape {}, expected {}", to_string(bias.shape()), channels);
  }
  const Shape state_shape{batch, channels, carried};
  const Tensor past = context.has_input(3) ? as_float32(context.input(3)) : Tensor::zeros(DataType::kFloat32, state_shape);
  if (past.shape() != state_shape) {
    fail(ErrorKind::kRuntime, "past_state has shape {}, expected {}", to_string(past.shape()), to_string(state_shape));
  }
  ComputedOutput<float> y(context, 0, dtype, x.shape()), present(context, 1, dtype, state_shape);
  float* out = y.data();
  float* state = present.data();
  context.threads().parallel_for(batch * channels, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> line(static_cast<std::size_t>(carried + length));
    for (std::int64_t row = begin; row < end; ++row) {
      std::copy_n(past.data<float>().data() + row * carried, carried, line.data());
      std::copy_n(x.data<float>().data() + row * length, length, line.data() + carried);
      const float* weights = w.data<float>().data() + row % channels * kernel;
      float* to = out + row * length;
      std::fill_n(to, length, bias.defined() ? bias.data<float>()[static_cast<std::size_t>(row % channels)] : 0.0f);
      for (std::int64_t k = 0; k < kernel; ++k) {
        for (std::int64_t i = 0; i < length; ++i) to[i] += weights[k] * line[static_cast<std::size_t>(i + k)];
      }
      if (activation != "none") {
        for (std::int64_t i = 0; i < length; ++i) to[i] = to[i] / (1.0f + std::exp(-to[i]));
      }
      std::copy_n(line.data() + length, carried, state + row * carried);
    }
  });
  y.finish();
  present.finish();
}

}  // namespace

extern const OpDef kCausalConvWithState;
const OpDef kCausalConvWithState = {
    .domain = "",
    .type = "CausalConvWithState",
    .summary = "Depthwise convolution over time that looks at the present and the past only. present_state carries the last "
               "inputs to the next call's past_state.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check,
    .facts = {.function = true},
};

}  // namespace lppool
