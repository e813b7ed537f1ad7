#include <algorithm>
#include <cmath>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/heads.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"
#include "lppool/ops/packed_matrix.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "Q:T1 K:T1 V:T1", "Y:T1", "prob_mod:graph scale:float score_mod:graph softmax_precision:int",
     "T1=floats|bfloat16"},
};

// The type of the scores that the modifier graphs see.
DataType score_type(const AttributeView& attributes, DataType input) {
  const bool wide = input == DataType::kFloat64;
  const std::int64_t fallback = static_cast<std::int64_t>(wide ? DataType::kFloat64 : DataType::kFloat32);
  const std::int64_t number = attributes.i("softmax_precision", fallback);
  for (const DataType type : {DataType::kFloat32, DataType::kFloat16, DataType::kFloat64, DataType::kBFloat16}) {
    if (number == static_cast<std::int64_t>(type)) return type;
  }
  fail(ErrorKind::kRuntime,
       "attribute 'softmax_precision' is {}, expected 1 (float), 10 (float16), 11 (double) or 16 (bfloat16)", number);
}

void infer(InferContext& ctx) {
  std::optional<std::vector<Dim>> y, scores;
  const std::vector<Dim>* shapes[3];
  for (std::size_t i = 0; i < 3; ++i) {
    shapes[i] = ctx.shape(i);
    if (shapes[i] != nullptr && shapes[i]->size() != 4) {
      fail(ErrorKind::kRuntime, "input {} has rank {}, expected 4", "QKV"[i], shapes[i] -> size());
    }
  }
  if (shapes[0] != nullptr) {
    const auto& q = *shapes[0];
    y = {q[0], q[1], q[2], shapes[2] != nullptr ? (*shapes[2])[3] : Dim()};
    scores = {q[0], q[1], q[2], shapes[1] != nullptr ? (*shapes[1])[2] : Dim()};
  }
  ctx.set_output(0, ctx.input(0).dtype, y);
  for (const char* name : {"score_mod", "prob_mod"}) {
    const Graph* graph = ctx.attributes.graph(name);
    if (graph != nullptr)
      ctx.infer_subgraph(*graph, {ValueType::tensor(score_type(ctx.attributes, ctx.input(0).dtype), scores)});
  }
}

// Passes `values` (in T) through the graph as a tensor of `dtype`, which must come back in the same shape and type.
template <typename T>
Tensor modified(KernelContext& ctx, std::string_view name, Tensor values, DataType dtype) {
  const Graph* graph = ctx.attributes.graph(name);
  if (graph == nullptr) return values;
  const Shape shape = values.shape();
  Tensor argument = values;
  if (dtype != values.dtype()) {
    argument = Tensor::allocate(dtype, shape);
    store(std::span<const T>(values.data<T>()), argument);
  }
  values = Tensor();
  std::vector<Value> arguments;
  arguments.emplace_back(std::move(argument));
  const std::vector<Value> results = ctx.run_subgraph(*graph, std::move(arguments));
  if (results.size() != 1 || !results[0].is_tensor()) {
    fail(ErrorKind::kRuntime, "graph '{}' gives {} outputs, expected one tensor", name, results.size());
  }
  const Tensor& result = results[0].tensor();
  if (result.shape() != shape || result.dtype() != dtype) {
    fail(ErrorKind::kRuntime, "graph '{}' gives {} of shape {}, expected {} of shape {}", name,
         lppool::name(result.dtype()), to_string(result.shape()), lppool::name(dtype), to_string(shape));
  }
  // A copy where the graph gave its storage away to others, too.
  if (result.dtype() != type_of<T>()) return as_compute<T>(result);
  Tensor copy = Tensor::allocate(type_of<T>(), shape);
  std::ranges::copy(result.data<T>(), copy.mutable_data<T>().begin());
  return copy;
}

template <typename T>
void run_as(KernelContext& ctx, DataType scores_as) {
  const Tensor &q_in = ctx.input(0), &k_in = ctx.input(1), &v_in = ctx.input(2);
  for (std::size_t i = 0; i < 3; ++i) {
    if (ctx.input(i).rank() == 4) continue;
    fail(ErrorKind::kRuntime, "input {} has shape {}, expected rank 4", "QKV"[i], to_string(ctx.input(i).shape()));
  }
  const heads::Sizes q = heads::sizes(q_in), k = heads::sizes(k_in), v = heads::sizes(v_in);
  heads::expect_fit(q, k, v);
  const Tensor query = as_compute<T>(q_in), key = as_compute<T>(k_in), value = as_compute<T>(v_in);
  const T scale = static_cast<T>(ctx.attributes.has("scale") ? static_cast<double>(ctx.attributes.f("scale"))
                                                             : 1 / std::sqrt(static_cast<double>(q.size)));
  const std::int64_t group = q.heads / k.heads, total = k.length;

  Tensor scores = Tensor::zeros(type_of<T>(), Shape{q.batch, q.heads, q.length, total});
  T* const s = scores.mutable_data<T>().data();
  ctx.threads().parallel_for(q.batch * k.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) {
      const PackedMatrix<T> keys(key.data<T>().data() + at * total * q.size, q.size, total, 1, q.size);
      // The queries of a group lie next to each other.
      T* const target = s + at * group * q.length * total;
      keys.multiply_add(query.data<T>().data() + at * group * q.length * q.size, q.size, group * q.length, target,
                        total);
      for (std::int64_t i = 0; i < group * q.length * total; ++i) target[i] *= scale;
    }
  });
  scores = modified<T>(ctx, "score_mod", std::move(scores), scores_as);
  T* const p = scores.mutable_data<T>().data();
  ctx.threads().parallel_for(q.batch * q.heads * q.length, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) heads::softmax(p + row * total, total);
  });
  const Tensor probabilities = modified<T>(ctx, "prob_mod", std::move(scores), scores_as);

  const Shape y_shape{q.batch, q.heads, q.length, v.size};
  Tensor y = Tensor::zeros(type_of<T>(), y_shape);
  T* const out = y.mutable_data<T>().data();
  ctx.threads().parallel_for(q.batch * k.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) {
      const PackedMatrix<T> values(value.data<T>().data() + at * total * v.size, total, v.size, v.size, 1);
      const std::int64_t rows = group * q.length;
      values.multiply_add(probabilities.data<T>().data() + at * rows * total, total, rows, out + at * rows * v.size,
                          v.size);
    }
  });
  if (y.dtype() == q_in.dtype()) return ctx.set_output(0, std::move(y));
  store(std::span<const T>(y.data<T>()), ctx.output(0, q_in.dtype(), y_shape));
}

void run(KernelContext& ctx) {
  const DataType scores_as = score_type(ctx.attributes, ctx.input(0).dtype());
  if (scores_as == DataType::kFloat64 || ctx.input(0).dtype() == DataType::kFloat64)
    run_as<double>(ctx, scores_as);
  else
    run_as<float>(ctx, scores_as);
}

}  // namespace

extern const OpDef kFlexAttention;
const OpDef kFlexAttention = {
    .domain = "ai.onnx.preview",
    .type = "FlexAttention",
    .summary = "Scaled dot-product attention whose scores and probabilities pass through graphs of the model's own.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .constant_foldable = false,
    .facts = {.function = true, .experimental = true},
};

}  // namespace lppool
