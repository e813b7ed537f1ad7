#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<float> numbers(std::int64_t count, std::int64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    values[static_cast<std::size_t>(i)] = static_cast<float>((i * 37 + seed * 101 + i * i * 3) % 41 - 20) / 16.0f;
  }
  return values;
}

void check_values(const Tensor& got, const std::vector<double>& expected) {
  const auto values = to_doubles(got);
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(i);
    CHECK(values[i] == Approx(expected[i]).epsilon(2e-5).margin(2e-6));
  }
}

// The text's definition over rank-4 arrays, one query at a time.
struct Naive {
  std::int64_t batch, q_heads, kv_heads, queries, keys, size, v_size;
  std::vector<float> q, k, v;
  double scale, softcap = 0;
  std::function<double(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)> bias = [](auto...) {
    return 0.0;
  };

  std::vector<double> y = {}, stages[4] = {};
  void run() {
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t h = 0; h < q_heads; ++h) {
        const std::int64_t kv = b * kv_heads + h / (q_heads / kv_heads);
        for (std::int64_t i = 0; i < queries; ++i) {
          std::vector<double> p;
          double largest = -kInfinity, sum = 0;
          for (std::int64_t j = 0; j < keys; ++j) {
            double dot = 0;
            for (std::int64_t d = 0; d < size; ++d) {
              dot += double(q[((b * q_heads + h) * queries + i) * size + d]) * double(k[(kv * keys + j) * size + d]);
            }
            stages[0].push_back(dot * scale);
            stages[1].push_back(softcap > 0 ? softcap * std::tanh(dot * scale / softcap) : dot * scale);
            stages[2].push_back(stages[1].back() + bias(b, h, i, j));
            p.push_back(stages[2].back());
            largest = std::max(largest, p.back());
          }
          for (double& value : p) sum += value = largest == -kInfinity ? 0 : std::exp(value - largest);
          for (double& value : p) value = sum == 0 ? 0 : value / sum;
          stages[3].insert(stages[3].end(), p.begin(), p.end());
          for (std::int64_t d = 0; d < v_size; ++d) {
            double total = 0;
            for (std::int64_t j = 0; j < keys; ++j) total += p[j] * double(v[(kv * keys + j) * v_size + d]);
            y.push_back(total);
          }
        }
      }
    }
  }
};

// batch x heads x length x size to batch x length x (heads * size).
template <typename T>
std::vector<T> pack(const std::vector<T>& x, std::int64_t batch, std::int64_t heads, std::int64_t length,
                    std::int64_t size) {
  std::vector<T> result;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < length; ++i) {
      for (std::int64_t h = 0; h < heads; ++h) {
        const auto* row = &x[((b * heads + h) * length + i) * size];
        result.insert(result.end(), row, row + size);
      }
    }
  }
  return result;
}

Naive example(std::int64_t q_heads, std::int64_t kv_heads, std::int64_t queries, std::int64_t keys) {
  Naive n{2, q_heads, kv_heads, queries, keys, 5, 3, {}, {}, {}, 1 / std::sqrt(5.0)};
  n.q = numbers(2 * q_heads * queries * 5, 1);
  n.k = numbers(2 * kv_heads * keys * 5, 2);
  n.v = numbers(2 * kv_heads * keys * 3, 3);
  return n;
}

}  // namespace

TEST_CASE("Attention weighs values by the softmax of scaled dot products", "[ops][Attention]") {
  const std::int64_t kv_heads = GENERATE(1, 2, 4), queries = GENERATE(1, 35);
  const bool packed = GENERATE(false, true);
  const std::int64_t mode = GENERATE(0, 1, 2, 3);
  Naive n = example(4, kv_heads, queries, 9);
  n.softcap = 0.75;
  n.scale = 0.5;
  // A mask of rank 2 that broadcasts over queries.
  const std::vector<float> mask = {0.5f, -1, 0, 2, -static_cast<float>(kInfinity), 0, 1, 1, 0};
  n.bias = [&](std::int64_t, std::int64_t, std::int64_t, std::int64_t j) {
    return static_cast<double>(mask[static_cast<std::size_t>(j)]);
  };
  n.run();
  OpCall call{.op_type = "Attention", .opset = 23, .outputs = 4};
  call.threads = 2;
  call.attributes = {attr_f("scale", 0.5f), attr_f("softcap", 0.75f), attr_i("qk_matmul_output_mode", mode)};
  const Tensor m = Tensor::of<float>({1, 9}, mask);
  if (packed) {
    call.inputs = {Tensor::of<float>({2, queries, 20}, pack(n.q, 2, 4, queries, 5)),
                   Tensor::of<float>({2, 9, kv_heads * 5}, pack(n.k, 2, kv_heads, 9, 5)),
                   Tensor::of<float>({2, 9, kv_heads * 3}, pack(n.v, 2, kv_heads, 9, 3)), m};
    call.attributes.push_back(attr_i("q_num_heads", 4));
    call.attributes.push_back(attr_i("kv_num_heads", kv_heads));
  } else {
    call.inputs = {Tensor::of<float>({2, 4, queries, 5}, n.q), Tensor::of<float>({2, kv_heads, 9, 5}, n.k),
                   Tensor::of<float>({2, kv_heads, 9, 3}, n.v), m};
  }
  const auto out = run_op(call);
  check_values(out[0].tensor(), packed ? pack(n.y, 2, 4, queries, 3) : n.y);
  CHECK(out[0].tensor().shape() == (packed ? Shape{2, queries, 12} : Shape{2, 4, queries, 3}));
  check_values(out[1].tensor(), {n.k.begin(), n.k.end()});
  check_values(out[3].tensor(), n.stages[mode]);
}

TEST_CASE("Attention masks what is ahead, outside the window, padded, or told to be", "[ops][Attention]") {
  const bool causal = GENERATE(false, true), masked = GENERATE(false, true), padded = GENERATE(false, true);
  const std::int64_t left = GENERATE(-1, 2), right = GENERATE(-1, 1);
  Naive n = example(2, 2, 4, 6);
  const std::vector<std::int64_t> valid = {6, 3};
  // The mask is a key short, which masks the last key, and a whole query is masked.
  const auto allowed = [](std::int64_t h, std::int64_t i, std::int64_t j) {
    return j < 5 && i != 2 && (i + j + h) % 3 != 0;
  };
  n.bias = [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    const std::int64_t place = i + (padded ? valid[static_cast<std::size_t>(b)] - 4 : 0);
    const bool off = (causal && j > place) || (left >= 0 && j < place - left) || (right >= 0 && j > place + right) ||
                     (padded && j >= valid[static_cast<std::size_t>(b)]) || (masked && !allowed(h, i, j));
    return off ? -kInfinity : 0.0;
  };
  n.run();
  OpCall call{.op_type = "Attention", .opset = 25};
  call.inputs = {Tensor::of<float>({2, 2, 4, 5}, n.q),
                 Tensor::of<float>({2, 2, 6, 5}, n.k),
                 Tensor::of<float>({2, 2, 6, 3}, n.v),
                 {},
                 {},
                 {},
                 {}};
  if (padded) call.inputs[6] = Tensor::of<std::int64_t>({2}, valid);
  if (masked) {
    Tensor mask = Tensor::allocate(DataType::kBool, Shape{2, 4, 5});
    for (std::int64_t at = 0; at < 40; ++at)
      mask.mutable_data<bool>()[static_cast<std::size_t>(at)] = allowed(at / 20, at / 5 % 4, at % 5);
    call.inputs[3] = mask;
  }
  call.attributes = {attr_i("is_causal", causal), attr_i("left_window_size", left), attr_i("right_window_size", right)};
  check_values(run_op1(call), n.y);
}

TEST_CASE("Attention appends to its cache and counts the cached keys as past", "[ops][Attention]") {
  Naive n = example(2, 1, 2, 5);
  n.bias = [](std::int64_t, std::int64_t, std::int64_t i, std::int64_t j) { return j > i + 3 ? -kInfinity : 0.0; };
  n.run();
  // Of five keys three are cached.
  std::vector<float> past_k, past_v, k, v;
  for (std::int64_t b = 0; b < 2; ++b) {
    past_k.insert(past_k.end(), &n.k[b * 25], &n.k[b * 25 + 15]);
    k.insert(k.end(), &n.k[b * 25 + 15], &n.k[b * 25 + 15] + 10);
    past_v.insert(past_v.end(), &n.v[b * 15], &n.v[b * 15 + 9]);
    v.insert(v.end(), &n.v[b * 15 + 9], &n.v[b * 15 + 9] + 6);
  }
  OpCall call{.op_type = "Attention", .opset = 23, .outputs = 3};
  call.inputs = {Tensor::of<float>({2, 2, 2, 5}, n.q),    Tensor::of<float>({2, 1, 2, 5}, k),
                 Tensor::of<float>({2, 1, 2, 3}, v),      {},
                 Tensor::of<float>({2, 1, 3, 5}, past_k), Tensor::of<float>({2, 1, 3, 3}, past_v)};
  call.attributes = {attr_i("is_causal", 1)};
  const auto out = run_op(call);
  check_values(out[0].tensor(), n.y);
  check_values(out[1].tensor(), {n.k.begin(), n.k.end()});
  check_values(out[2].tensor(), {n.v.begin(), n.v.end()});
  call.inputs.pop_back();
  CHECK_THROWS_WITH(run_op(call), Catch::Contains("only one of past_key and past_value"));
}

TEST_CASE("FlexAttention without modifiers is plain attention over groups of heads", "[ops][FlexAttention]") {
  Naive n = example(4, 2, 3, 7);
  n.run();
  OpCall call{.op_type = "FlexAttention", .opset = 1, .domain = "ai.onnx.preview"};
  call.inputs = {Tensor::of<float>({2, 4, 3, 5}, n.q), Tensor::of<float>({2, 2, 7, 5}, n.k),
                 Tensor::of<float>({2, 2, 7, 3}, n.v)};
  check_values(run_op1(call), n.y);
}

TEST_CASE("LinearAttention follows its recurrences", "[ops][LinearAttention]") {
  struct Case {
    const char* rule;
    bool decays, corrects;
  };
  const Case c = GENERATE(Case{"linear", false, false}, Case{"gated", true, false}, Case{"delta", false, true},
                          Case{"gated_delta", true, true});
  const bool by_key = GENERATE(false, true);
  CAPTURE(c.rule, by_key);
  const std::int64_t batch = 2, length = 4, kv = 2, group = 2, d_k = 3, d_v = 5;
  const auto q = numbers(batch * length * kv * group * d_k, 1), k = numbers(batch * length * kv * d_k, 2),
             v = numbers(batch * length * kv * d_v, 3), decay = numbers(batch * length * kv * (by_key ? d_k : 1), 4),
             beta = numbers(batch * length * kv, 5), past = numbers(batch * kv * d_k * d_v, 6);
  std::vector<double> y(static_cast<std::size_t>(batch * length * kv * group * d_v)), present;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < kv; ++h) {
      std::vector<double> s(&past[(b * kv + h) * d_k * d_v], &past[(b * kv + h) * d_k * d_v] + d_k * d_v);
      for (std::int64_t t = 0; t < length; ++t) {
        const std::int64_t row = (b * length + t) * kv + h;
        for (std::int64_t i = 0; i < d_k && c.decays; ++i) {
          for (std::int64_t j = 0; j < d_v; ++j)
            s[i * d_v + j] *= std::exp(double(by_key ? decay[row * d_k + i] : decay[row]));
        }
        std::vector<double> change(&v[row * d_v], &v[row * d_v] + d_v);
        for (std::int64_t j = 0; j < d_v && c.corrects; ++j) {
          for (std::int64_t i = 0; i < d_k; ++i) change[j] -= s[i * d_v + j] * double(k[row * d_k + i]);
          change[j] *= double(beta[row]);
        }
        for (std::int64_t i = 0; i < d_k; ++i) {
          for (std::int64_t j = 0; j < d_v; ++j) s[i * d_v + j] += double(k[row * d_k + i]) * change[j];
        }
        for (std::int64_t g = 0; g < group; ++g) {
          const std::int64_t head = (b * length + t) * kv * group + h * group + g;
          for (std::int64_t j = 0; j < d_v; ++j) {
            for (std::int64_t i = 0; i < d_k; ++i)
              y[head * d_v + j] += double(q[head * d_k + i]) * s[i * d_v + j] / std::sqrt(3.0);
          }
        }
      }
      present.insert(present.end(), s.begin(), s.end());
    }
  }
  OpCall call{.op_type = "LinearAttention", .opset = 27, .outputs = 2};
  call.inputs = {Tensor::of<float>({batch, length, kv * group * d_k}, q),
                 Tensor::of<float>({batch, length, kv * d_k}, k),
                 Tensor::of<float>({batch, length, kv * d_v}, v),
                 Tensor::of<float>({batch, kv, d_k, d_v}, past),
                 Tensor::of<float>({batch, length, kv * (by_key ? d_k : 1)}, decay),
                 Tensor::of<float>({batch, length, kv}, beta)};
  call.attributes = {attr_i("q_num_heads", kv * group), attr_i("kv_num_heads", kv), attr_s("update_rule", c.rule)};
  const auto out = run_op(call);
  check_values(out[0].tensor(), y);
  check_values(out[1].tensor(), present);
}

TEST_CASE("RotaryEmbedding turns pairs of numbers by the angle of their position", "[ops][RotaryEmbedding]") {
  const bool interleaved = GENERATE(false, true), packed = GENERATE(false, true), ids = GENERATE(false, true);
  const std::int64_t batch = 2, heads = 3, length = 4, size = 6, half = 2;
  const auto x = numbers(batch * heads * length * size, 1), c = numbers(batch * length * half, 2),
             s = numbers(batch * length * half, 3);
  const std::vector<std::int64_t> positions = {7, 0, 3, 1, 2, 2, 5, 6};
  std::vector<double> y(x.begin(), x.end());
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t t = 0; t < length; ++t) {
        const std::int64_t row = ((b * heads + h) * length + t) * size;
        const std::int64_t at = ids ? positions[static_cast<std::size_t>(b * length + t)] : b * length + t;
        for (std::int64_t i = 0; i < half; ++i) {
          const std::int64_t first = row + (interleaved ? 2 * i : i),
                             second = row + (interleaved ? 2 * i + 1 : half + i);
          const double co = c[at * half + i], si = s[at * half + i];
          y[first] = co * double(x[first]) - si * double(x[second]);
          y[second] = si * double(x[first]) + co * double(x[second]);
        }
      }
    }
  }
  OpCall call{.op_type = "RotaryEmbedding", .opset = 23};
  const Shape cache = ids ? Shape{8, half} : Shape{batch, length, half};
  call.inputs = {packed ? Tensor::of<float>({batch, length, heads * size}, pack(x, batch, heads, length, size))
                        : Tensor::of<float>({batch, heads, length, size}, x),
                 Tensor::of<float>(cache, c), Tensor::of<float>(cache, s)};
  if (ids) call.inputs.push_back(Tensor::of<std::int64_t>({batch, length}, positions));
  call.attributes = {attr_i("interleaved", interleaved), attr_i("rotary_embedding_dim", 2 * half),
                     attr_i("num_heads", heads)};
  check_values(run_op1(call), packed ? pack(y, batch, heads, length, size) : y);
}

TEST_CASE("Attention infers the shapes of output and cache", "[ops][Attention]") {
  const auto f32 = DataType::kFloat32;
  OpCall call{.op_type = "Attention", .opset = 23, .outputs = 4};
  call.attributes = {attr_i("q_num_heads", 8), attr_i("kv_num_heads", 2)};
  const Dim n = Dim::symbol("N"), s = Dim::symbol("S"), p = Dim::symbol("P");
  const auto types = infer_op(call, {ValueType::tensor(f32, {{n, s, 64}}),
                                     ValueType::tensor(f32, {{n, s, 16}}),
                                     ValueType::tensor(f32, {{n, s, 8}}),
                                     {},
                                     ValueType::tensor(f32, {{n, 2, p, 8}}),
                                     ValueType::tensor(f32, {{n, 2, p, 4}})});
  CHECK(to_string(types[0]) == "float32 NxSx32");
  CHECK(same((*types[1].shape)[2], s + p));
  CHECK(same((*types[3].shape)[3], s + p));
}
