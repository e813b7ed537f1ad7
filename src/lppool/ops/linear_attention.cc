#include <algorithm>
#include <cmath>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/heads.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {27, "query:T key:T value:T past_state?:S decay?:T beta?:T", "output:T present_state:S",
     "chunk_size:int=64 kv_num_heads!:int q_num_heads!:int scale:float=0.0 update_rule:string=gated_delta",
     "T=float16|bfloat16|float32; S=float16|bfloat16|float32"},
};

struct Rule {
  std::string_view name;
  bool decays, corrects;
};
constexpr Rule kRules[] = {
    {"linear", false, false}, {"gated", true, false}, {"delta", false, true}, {"gated_delta", true, true}};

const Rule* find_rule(std::string_view name) {
  const auto* rule = std::ranges::find(kRules, name, &Rule::name);
  return rule == std::end(kRules) ? nullptr : rule;
}

void check(CheckContext& ctx) {
  const std::string rule = ctx.attributes.s("update_rule");
  if (find_rule(rule) == nullptr) {
    ctx.error(kBadValue, "update_rule",
              fmt::format("attribute 'update_rule' is '{}', expected linear, gated, delta or gated_delta", rule));
  }
  const std::int64_t q = ctx.attributes.i("q_num_heads", 1), kv = ctx.attributes.i("kv_num_heads", 1);
  if (kv < 1 || q < 1 || q % kv != 0) {
    ctx.error(kBadValue, "q_num_heads",
              fmt::format("attribute 'q_num_heads' is {}, expected a multiple of kv_num_heads, {}", q, kv));
  }
}

void infer(InferContext& ctx) {
  const auto q = heads::dims(ctx, 0, "query", "q_num_heads"), k = heads::dims(ctx, 1, "key", "kv_num_heads");
  const auto v = heads::dims(ctx, 2, "value", "kv_num_heads");
  const Dim q_heads = ctx.attributes.i("q_num_heads"), kv_heads = ctx.attributes.i("kv_num_heads");
  ctx.set_output(0, ctx.input(0).dtype, {{q.batch, q.length, q_heads * v.size}});
  const DataType state = ctx.has_input(3) ? ctx.input(3).dtype : ctx.input(0).dtype;
  ctx.set_output(1, state, {{q.batch, kv_heads, k.size, v.size}});
  if (!ctx.explaining) return;
  ctx.explain(0, 2, fmt::format("{}*{} (heads times their size)", term(q_heads), term(v.size)));
  ctx.explain(1, 1, "attribute kv_num_heads");
  if (k.known && k.packed) ctx.explain(1, 2, fmt::format("{}/{}", term((*ctx.shape(1))[2]), term(k.heads)));
  if (v.known && v.packed) ctx.explain(1, 3, fmt::format("{}/{}", term((*ctx.shape(2))[2]), term(v.heads)));
}

// One key-value head of one batch: its state is d_k x d_v, its inputs are rows of `step` numbers.
struct Head {
  const float *k, *v, *decay, *beta;  // decay, beta: nullptr where the rule has none
  std::int64_t k_step, v_step, decay_step, beta_step;
  bool decay_by_key;  // one number for each row of the state, else one for all
};

// What a token does to the state before it is read.
void update(const Head& head, std::int64_t t, std::int64_t d_k, std::int64_t d_v, float* state, float* change) {
  const float *k = head.k + t * head.k_step, *v = head.v + t * head.v_step;
  if (head.decay != nullptr) {
    const float* g = head.decay + t * head.decay_step;
    for (std::int64_t i = 0; i < d_k; ++i) {
      const float factor = std::exp(g[head.decay_by_key ? i : 0]);
      for (std::int64_t j = 0; j < d_v; ++j) state[i * d_v + j] *= factor;
    }
  }
  std::copy_n(v, d_v, change);
  if (head.beta != nullptr) {
    // beta * (v - S^T k): only what the state does not answer yet is written.
    for (std::int64_t i = 0; i < d_k; ++i) {
      for (std::int64_t j = 0; j < d_v; ++j) change[j] -= state[i * d_v + j] * k[i];
    }
    const float rate = head.beta[t * head.beta_step];
    for (std::int64_t j = 0; j < d_v; ++j) change[j] *= rate;
  }
  for (std::int64_t i = 0; i < d_k; ++i) {
    for (std::int64_t j = 0; j < d_v; ++j) state[i * d_v + j] += k[i] * change[j];
  }
}

Tensor optional_rows(KernelContext& ctx, std::size_t i, std::string_view name, bool needed, const heads::Sizes& q) {
  const Tensor* given = ctx.optional_input(i);
  if (given == nullptr) {
    if (needed)
      fail(ErrorKind::kRuntime, "input {} is absent, update_rule '{}' needs it", name, ctx.attributes.s("update_rule"));
    return {};
  }
  if (given->rank() != 3 || given->shape()[0] != q.batch || given->shape()[1] != q.length) {
    fail(ErrorKind::kRuntime, "input {} has shape {}, expected {}x{} rows", name, to_string(given->shape()), q.batch,
         q.length);
  }
  return needed ? as_float32(*given) : Tensor();
}

void run(KernelContext& ctx) {
  const Rule* rule = find_rule(ctx.attributes.s("update_rule"));
  if (rule == nullptr)
    fail(ErrorKind::kRuntime, "attribute 'update_rule' is '{}', which is unknown", ctx.attributes.s("update_rule"));
  const std::int64_t q_heads = ctx.attributes.i("q_num_heads"), kv_heads = ctx.attributes.i("kv_num_heads");
  const Tensor query = as_float32(heads::unpack(ctx.input(0), q_heads, "query"));
  const Tensor key = as_float32(heads::unpack(ctx.input(1), kv_heads, "key"));
  const Tensor value = as_float32(heads::unpack(ctx.input(2), kv_heads, "value"));
  const heads::Sizes q = heads::sizes(query), k = heads::sizes(key), v = heads::sizes(value);
  heads::expect_fit(q, k, v);
  if (q.length != k.length)
    fail(ErrorKind::kRuntime, "query has length {}, key {}, expected the same", q.length, k.length);
  const Tensor decay = optional_rows(ctx, 4, "decay", rule->decays, q),
               beta = optional_rows(ctx, 5, "beta", rule->corrects, q);
  const std::int64_t decay_width = decay.defined() ? decay.shape()[2] : 0,
                     beta_width = beta.defined() ? beta.shape()[2] : 0;
  if (decay.defined() && decay_width != kv_heads && decay_width != kv_heads * k.size) {
    fail(ErrorKind::kRuntime, "input decay has a last dimension of {}, expected {} or {}", decay_width, kv_heads,
         kv_heads * k.size);
  }
  if (beta.defined() && beta_width != kv_heads && beta_width != 1) {
    fail(ErrorKind::kRuntime, "input beta has a last dimension of {}, expected {} or 1", beta_width, kv_heads);
  }
  const Shape state_shape{q.batch, kv_heads, k.size, v.size};
  Tensor state = Tensor::zeros(DataType::kFloat32, state_shape);
  DataType state_type = ctx.input(0).dtype();
  if (const Tensor* past = ctx.optional_input(3)) {
    if (past->shape() != state_shape) {
      fail(ErrorKind::kRuntime, "input past_state has shape {}, expected {}", to_string(past->shape()),
           to_string(state_shape));
    }
    state_type = past->dtype();
    std::ranges::copy(as_float32(*past).data<float>(), state.mutable_data<float>().begin());
  }
  const float given_scale = ctx.attributes.f("scale");
  const float scale = given_scale != 0 ? given_scale : static_cast<float>(1 / std::sqrt(static_cast<double>(k.size)));

  const std::int64_t group = q_heads / kv_heads, d_k = k.size, d_v = v.size;
  const Shape y_shape{q.batch, q.length, q_heads * d_v};
  Tensor y = Tensor::zeros(DataType::kFloat32, y_shape);
  float* const out = y.mutable_data<float>().data();
  float* const states = state.mutable_data<float>().data();
  ctx.threads().parallel_for(q.batch * kv_heads, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> change(static_cast<std::size_t>(d_v));
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t b = at / kv_heads, kv = at % kv_heads;
      Head head{key.data<float>().data() + at * k.length * d_k,
                value.data<float>().data() + at * k.length * d_v,
                nullptr,
                nullptr,
                d_k,
                d_v,
                decay_width,
                beta_width,
                decay_width != kv_heads};
      if (decay.defined()) {
        head.decay = decay.data<float>().data() + b * q.length * decay_width + kv * (head.decay_by_key ? d_k : 1);
      }
      if (beta.defined())
        head.beta = beta.data<float>().data() + b * q.length * beta_width + (beta_width == 1 ? 0 : kv);
      float* const s = states + at * d_k * d_v;
      for (std::int64_t t = 0; t < q.length; ++t) {
        update(head, t, d_k, d_v, s, change.data());
        for (std::int64_t h = kv * group; h < (kv + 1) * group; ++h) {
          const float* x = query.data<float>().data() + ((b * q_heads + h) * q.length + t) * d_k;
          float* row = out + ((b * q.length + t) * q_heads + h) * d_v;
          for (std::int64_t i = 0; i < d_k; ++i) {
            for (std::int64_t j = 0; j < d_v; ++j) row[j] += x[i] * s[i * d_v + j];
          }
          for (std::int64_t j = 0; j < d_v; ++j) row[j] *= scale;
        }
      }
    }
  });
  const DataType dtype = ctx.input(0).dtype();
  if (dtype == DataType::kFloat32)
    ctx.set_output(0, y);
  else
    store(std::span<const float>(y.data<float>()), ctx.output(0, dtype, y_shape));
  if (!ctx.wants_output(1)) return;
  if (state_type == DataType::kFloat32)
    ctx.set_output(1, state);
  else
    store(std::span<const float>(state.data<float>()), ctx.output(1, state_type, state_shape));
}

}  // namespace

extern const OpDef kLinearAttention;
const OpDef kLinearAttention = {
    .domain = "",
    .type = "LinearAttention",
    .summary = "Attention as a recurrence: each token writes to a matrix of state, which queries read.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check,
    .facts = {.function = true},
};

}  // namespace lppool
