// Attention: scaled dot products of queries and keys, weighed sums of values, with an optional cache.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/heads.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"
#include "lppool/ops/packed_matrix.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {23, "Q:T1 K:T1 V:T2 attn_mask?:U past_key?:T1 past_value?:T2",
     "Y:T1 present_key?:T1 present_value?:T2 qk_matmul_output?:T1",
     "is_causal:int=0 kv_num_heads:int q_num_heads:int qk_matmul_output_mode:int=0 scale:float softcap:float=0.0 "
     "softmax_precision:int",
     "T1=floats|bfloat16; T2=floats|bfloat16; U=num12|bool"},
    {24, "Q:T1 K:T1 V:T2 attn_mask?:U past_key?:T1 past_value?:T2 nonpad_kv_seqlen?:int64",
     "Y:T1 present_key?:T1 present_value?:T2 qk_matmul_output?:T1",
     "is_causal:int=0 kv_num_heads:int q_num_heads:int qk_matmul_output_mode:int=0 scale:float softcap:float=0.0 "
     "softmax_precision:int",
     "T1=floats|bfloat16; T2=floats|bfloat16; U=num12|bool"},
    {25, "Q:T1 K:T1 V:T2 attn_mask?:U past_key?:T1 past_value?:T2 nonpad_kv_seqlen?:int64",
     "Y:T1 present_key?:T1 present_value?:T2 qk_matmul_output?:T1",
     "is_causal:int=0 kv_num_heads:int left_window_size:int=-1 q_num_heads:int qk_matmul_output_mode:int=0 "
     "right_window_size:int=-1 scale:float softcap:float=0.0 softmax_precision:int",
     "T1=floats|bfloat16; T2=floats|bfloat16; U=num12|bool"},
};

enum Input : std::size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kNonpad };

void check(CheckContext& ctx) {
  const auto error = [&](std::string name, std::string message) {
    ctx.error(kBadValue, std::move(name), std::move(message));
  };
  const std::int64_t mode = ctx.attributes.i("qk_matmul_output_mode");
  if (mode < 0 || mode > 3) {
    error("qk_matmul_output_mode", fmt::format("attribute 'qk_matmul_output_mode' is {}, expected 0 to 3", mode));
  }
  for (const char* name : {"q_num_heads", "kv_num_heads"}) {
    const std::int64_t heads = ctx.attributes.i(name, 1);
    if (heads < 1) error(name, fmt::format("attribute '{}' is {}, expected 1 or more", name, heads));
  }
  for (const char* name : {"left_window_size", "right_window_size"}) {
    const std::int64_t size = ctx.attributes.i(name, -1);
    if (size < -1) error(name, fmt::format("attribute '{}' is {}, expected -1 or more", name, size));
  }
  if (!(ctx.attributes.f("softcap") >= 0)) {
    error("softcap", fmt::format("attribute 'softcap' is {}, expected 0 or more", ctx.attributes.f("softcap")));
  }
  if (const std::int64_t type = ctx.attributes.i("softmax_precision", 1);
      type != 1 && type != 10 && type != 11 && type != 16) {
    error("softmax_precision",
          fmt::format(
              "attribute 'softmax_precision' is {}, expected 1 (float), 10 (float16), 11 (double) or 16 (bfloat16)",
              type));
  }
}

void explain_heads(InferContext& ctx, std::size_t output, const heads::Dims& from, std::size_t axis, std::string_view attribute) {
  if (from.known && from.packed && (output != 0)) ctx.explain(output, axis, fmt::format("attribute {}", attribute));
}

void infer(InferContext& ctx) {
  const DataType q_type = ctx.input(kQ).dtype, v_type = ctx.input(kV).dtype;
  const auto q = heads::dims(ctx, kQ, "Q", "q_num_heads"), k = heads::dims(ctx, kK, "K", "kv_num_heads");
  const auto v = heads::dims(ctx, kV, "V", "kv_num_heads");
  Dim total = k.length;
  std::string total_formula;
  if (ctx.has_input(kPastKey)) {
    const auto* past = ctx.shape(kPastKey);
    total_formula = fmt::format("{} + {} (past)", term(k.length), past != nullptr && past->size() == 4 ? term((*past)[2]) : "?");
    total = past != nullptr && past->size() == 4 ? total + (*past)[2] : Dim();
  }
  if (!q.known)
    ctx.set_output(0, q_type, std::nullopt);
  else if (q.packed)
    ctx.set_output(0, q_type, {{q.batch, q.length, q.heads * v.size}});
  else
    ctx.set_output(0, q_type, {{q.batch, q.heads, q.length, v.size}});
  ctx.set_output(1, q_type, {{k.batch, k.heads, total, k.size}});
  ctx.set_output(2, v_type, {{v.batch, v.heads, total, v.size}});
  ctx.set_output(3, q_type, {{q.batch, q.heads, q.length, total}});
  if (!ctx.explaining) return;
  if (q.known && !q.packed && v.known && v.packed) ctx.explain(0, 3, fmt::format("{}/{}", term((*ctx.shape(kV))[2]), term(v.heads)));
  if (q.known && q.packed) ctx.explain(0, 2, fmt::format("{}*{} (heads times their size)", term(q.heads), term(v.size)));
  explain_heads(ctx, 0, q, 1, "q_num_heads");
  explain_heads(ctx, 3, q, 1, "q_num_heads");
  for (const std::size_t i : {1, 2}) {
    const heads::Dims& from = i == 1 ? k : v;
    explain_heads(ctx, i, from, 1, "kv_num_heads");
    if (from.known && from.packed) ctx.explain(i, 3, fmt::format("{}/{}", term((*ctx.shape(i))[2]), term(from.heads)));
    if (ctx.has_input(kPastKey)) ctx.explain(i, 2, total_formula);
  }
  if (ctx.has_input(kPastKey)) ctx.explain(3, 3, total_formula);
}

// The additive mask of one batch and head: what a key costs a query, 0 or -infinity or any number.
class Bias {
 public:
  Bias(KernelContext& ctx, const heads::Sizes& q, std::int64_t total) : total_(total) {
    causal_ = ctx.attributes.i("is_causal") != 0;
    left_ = ctx.attributes.i("left_window_size", -1);
    right_ = ctx.attributes.i("right_window_size", -1);
    offsets_.assign(static_cast<std::size_t>(q.batch), 0);
    if (const Tensor* past = ctx.optional_input(kPastKey)) std::ranges::fill(offsets_, past->shape()[2]);
    if (const Tensor* valid = ctx.optional_input(kNonpad)) {
      if (ctx.has_input(kPastKey))
        fail(ErrorKind::kRuntime, "nonpad_kv_seqlen and past_key are given, expected at most one of them");
      valid_ = read_integers(*valid, "input nonpad_kv_seqlen");
      if (valid->shape() != Shape{q.batch}) {
        fail(ErrorKind::kRuntime, "input nonpad_kv_seqlen has shape {}, expected {}", to_string(valid->shape()),
             q.batch);
      }
      for (std::size_t b = 0; b < valid_.size(); ++b) {
        if (valid_[b] < 0 || valid_[b] > total) {
          fail(ErrorKind::kRuntime, "nonpad_kv_seqlen has {}, expected 0 to {}", valid_[b], total);
        }
        offsets_[b] = valid_[b] - q.length;
      }
    }
    if (const Tensor* mask = ctx.optional_input(kMask)) read_mask(*mask, q, ctx.since_version());
  }

  // Writes the row of query i; returns true where every key is masked out.
  template <typename T>
  bool row(std::int64_t b, std::int64_t h, std::int64_t i, T* out) const {
    constexpr T kMasked = -std::numeric_limits<T>::infinity();
    std::fill_n(out, total_, T{0});
    if (mask_.defined()) {
      const double* from = mask_.data<double>().data() + b * strides_[0] + h * strides_[1] + i * strides_[2];
      for (std::int64_t j = 0; j < total_; ++j) out[j] = j < width_ ? static_cast<T>(from[j * strides_[3]]) : kMasked;
    }
    const std::int64_t place = i + offsets_[static_cast<std::size_t>(b)];
    bool all = true;
    for (std::int64_t j = 0; j < total_; ++j) {
      const bool masked = (causal_ && j > place) || (left_ >= 0 && place - j > left_) ||
                          (right_ >= 0 && j - place > right_) ||
                          (!valid_.empty() && j >= valid_[static_cast<std::size_t>(b)]);
      if (masked) out[j] += kMasked;
      all = all && out[j] == kMasked;
    }
    return all;
  }

 private:
  void read_mask(const Tensor& mask, const heads::Sizes& q, int since_version) {
    if (mask.rank() < 1 || mask.rank() > 4) {
      fail(ErrorKind::kRuntime, "input attn_mask has shape {}, expected rank 1 to 4", to_string(mask.shape()));
    }
    const Shape full{q.batch, q.heads, q.length, total_};
    const std::size_t skipped = 4 - mask.rank();
    const auto own = mask.shape().strides();
    for (std::size_t axis = skipped; axis < 4; ++axis) {
      const std::int64_t dim = mask.shape()[axis - skipped];
      strides_[axis] = dim == 1 ? 0 : own[axis - skipped];
      // From version 24 on a shorter row stands for keys that nobody attends.
      const bool shorter = axis == 3 && since_version >= 24 && dim < full[3];
      if (shorter) {
        width_ = dim;
        strides_[3] = 1;
      } else if (dim != 1 && dim != full[axis]) {
        fail(ErrorKind::kRuntime, "input attn_mask has shape {}, which does not broadcast to {}",
             to_string(mask.shape()), to_string(full));
      } else if (axis == 3) {
        width_ = full[3];
      }
    }
    Tensor values = as_float64(mask);
    if (mask.dtype() == DataType::kBool) {
      for (double& value : values.mutable_data<double>())
        value = value != 0 ? 0 : -std::numeric_limits<double>::infinity();
    }
    mask_ = std::move(values);
  }

  std::int64_t total_ = 0, width_ = 0;
  bool causal_ = false;
  std::int64_t left_ = -1, right_ = -1;
  std::vector<std::int64_t> offsets_;  // by batch: keys that come before the first query
  std::vector<std::int64_t> valid_;    // by batch; empty: all
  Tensor mask_;
  std::int64_t strides_[4] = {};
};

struct Request {
  double scale = 1, softcap = 0;
  std::int64_t mode = 0;
};

// Queries are taken a few rows at a time, which bounds the scores in memory.
constexpr std::int64_t kRows = 32;

template <typename T>
void attend(KernelContext& ctx, const heads::Sizes& q, const heads::Sizes& kv, std::int64_t v_size, const Tensor& query,
            const Tensor& key, const Tensor& value, const Bias& bias, const Request& request, Tensor& y,
            Tensor* scores_out) {
  const std::int64_t group = q.heads / kv.heads, total = key.shape()[2], size = q.size;
  const std::int64_t y_row = q.packed ? q.heads * v_size : v_size;
  T* const out = y.mutable_data<T>().data();
  ctx.threads().parallel_for(q.batch * kv.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    Tensor scratch = Tensor::allocate(type_of<T>(), Shape{kRows, 2 * total + size});
    T* const scores = scratch.mutable_data<T>().data();
    T* const masks = scores + kRows * total;
    T* const rows = masks + kRows * total;
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t b = at / kv.heads;
      const PackedMatrix<T> keys(key.data<T>().data() + at * total * size, size, total, 1, size);
      const PackedMatrix<T> values(value.data<T>().data() + at * total * v_size, total, v_size, v_size, 1);
      for (std::int64_t h = at % kv.heads * group; h < (at % kv.heads + 1) * group; ++h) {
        for (std::int64_t first = 0; first < q.length; first += kRows) {
          const std::int64_t m = std::min(kRows, q.length - first);
          const T* from = query.data<T>().data() + ((b * q.heads + h) * q.length + first) * size;
          for (std::int64_t i = 0; i < m * size; ++i) rows[i] = from[i] * static_cast<T>(request.scale);
          std::fill_n(scores, m * total, T{0});
          keys.multiply_add(rows, size, m, scores, total);
          const auto publish = [&](std::int64_t mode) {
            if (scores_out == nullptr || mode != request.mode) return;
            store(std::span<const T>(scores, static_cast<std::size_t>(m * total)), *scores_out,
                  ((b * q.heads + h) * q.length + first) * total);
          };
          publish(0);
          if (request.softcap > 0) {
            const T cap = static_cast<T>(request.softcap);
            for (std::int64_t i = 0; i < m * total; ++i) scores[i] = cap * std::tanh(scores[i] / cap);
          }
          publish(1);
          bool empty[kRows];
          for (std::int64_t i = 0; i < m; ++i) empty[i] = bias.row(b, h, first + i, masks + i * total);
          for (std::int64_t i = 0; i < m * total; ++i) scores[i] += masks[i];
          publish(2);
          for (std::int64_t i = 0; i < m; ++i) {
            if (empty[i])
              std::fill_n(scores + i * total, total, T{0});
            else
              heads::softmax(scores + i * total, total);
          }
          publish(3);
          T* const target = out + (q.packed ? ((b * q.length + first) * q.heads + h) * v_size
                                            : ((b * q.heads + h) * q.length + first) * v_size);
          values.multiply_add(scores, total, m, target, y_row);
        }
      }
    }
  });
}

template <typename T>
void run_as(KernelContext& ctx) {
  const Tensor query = heads::unpack(ctx, kQ, "Q", "q_num_heads");
  Tensor key = heads::unpack(ctx, kK, "K", "kv_num_heads"), value = heads::unpack(ctx, kV, "V", "kv_num_heads");
  if (ctx.has_input(kPastKey) != ctx.has_input(kPastValue)) {
    fail(ErrorKind::kRuntime, "only one of past_key and past_value is given, expected both or neither");
  }
  heads::Sizes q = heads::sizes(query);
  const heads::Sizes k = heads::sizes(key), v = heads::sizes(value);
  q.packed = ctx.input(kQ).rank() == 3;
  if (ctx.input(kK).rank() != ctx.input(kQ).rank() || ctx.input(kV).rank() != ctx.input(kQ).rank()) {
    fail(ErrorKind::kRuntime, "Q, K and V have ranks {}, {} and {}, expected the same", ctx.input(kQ).rank(),
         ctx.input(kK).rank(), ctx.input(kV).rank());
  }
  heads::expect_fit(q, k, v);
  if (ctx.has_input(kPastKey)) {
    key = heads::append(ctx.input(kPastKey), key, "past_key");
    value = heads::append(ctx.input(kPastValue), value, "past_value");
    if (key.shape()[2] != value.shape()[2]) {
      fail(ErrorKind::kRuntime, "past_key and past_value have lengths that differ by {}",
           key.shape()[2] - value.shape()[2]);
    }
  }
  const std::int64_t total = key.shape()[2];
  const Bias bias(ctx, q, total);
  Request request;
  request.scale = ctx.attributes.has("scale") ? static_cast<double>(ctx.attributes.f("scale"))
                                              : 1 / std::sqrt(static_cast<double>(q.size));
  request.softcap = static_cast<double>(ctx.attributes.f("softcap"));
  request.mode = ctx.attributes.i("qk_matmul_output_mode");
  if (request.mode < 0 || request.mode > 3)
    fail(ErrorKind::kRuntime, "attribute 'qk_matmul_output_mode' is {}, expected 0 to 3", request.mode);

  const DataType dtype = ctx.input(kQ).dtype();
  Tensor* scores = ctx.wants_output(3) ? &ctx.output(3, dtype, Shape{q.batch, q.heads, q.length, total}) : nullptr;
  const Shape y_shape =
      q.packed ? Shape{q.batch, q.length, q.heads * v.size} : Shape{q.batch, q.heads, q.length, v.size};
  Tensor y = Tensor::zeros(type_of<T>(), y_shape);
  attend<T>(ctx, q, k, v.size, as_compute<T>(query), as_compute<T>(key), as_compute<T>(value), bias, request, y,
            scores);
  if (y.dtype() == dtype)
    ctx.set_output(0, std::move(y));
  else
    store(std::span<const T>(y.data<T>()), ctx.output(0, dtype, y_shape));
  if (ctx.wants_output(1)) ctx.set_output(1, std::move(key));
  if (ctx.wants_output(2)) ctx.set_output(2, std::move(value));
}

void run(KernelContext& ctx) {
  const bool wide = ctx.input(kQ).dtype() == DataType::kFloat64 || ctx.input(kV).dtype() == DataType::kFloat64 ||
                    ctx.attributes.i("softmax_precision", 1) == static_cast<std::int64_t>(DataType::kFloat64);
  if (wide)
    run_as<double>(ctx);
  else
    run_as<float>(ctx);
}

}  // namespace

extern const OpDef kAttention;
const OpDef kAttention = {
    .domain = "",
    .type = "Attention",
    .summary =
        "Scaled dot-product attention over one or several heads, with masks, grouped keys and values, and a cache.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check,
    .facts = {.function = true},
};

}  // namespace lppool
