#include "lppool/ops/rnn_common.h"

#include <algorithm>
#include <cmath>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/shape_rules.h"

namespace lppool::rnn {
namespace {

void expect_shape(const Tensor& tensor, std::string_view what, const Shape& expected) {
  if (tensor.shape() != expected) {
    fail(ErrorKind::kRuntime, "{} has shape {}, expected {}", what, to_string(tensor.shape()), to_string(expected));
  }
}

}  // namespace

Settings read_settings(const AttributeView& attributes, std::span<const Activation> defaults) {
  Settings settings;
  const std::string direction = attributes.s("direction", "forward");
  // GRU 1 spells its own default "foward".
  if (direction == "bidirectional")
    settings.directions = 2;
  else if (direction == "reverse")
    settings.reverse_first = true;
  else if (direction != "forward" && direction != "foward") {
    fail(ErrorKind::kRuntime, "attribute 'direction' is '{}', expected forward, reverse or bidirectional", direction);
  }
  settings.batch_first = attributes.i("layout", 0) != 0;
  if (attributes.has("clip")) {
    settings.clip = attributes.f("clip");
    if (!(settings.clip >= 0)) fail(ErrorKind::kRuntime, "attribute 'clip' is {}, expected 0 or more", settings.clip);
  }

  const std::size_t wanted = defaults.size() * static_cast<std::size_t>(settings.directions);
  auto names = attributes.strings("activations");
  // RNN's schema has a default of two names; a single direction uses the first.
  if (!attributes.has("activations") && names.size() > wanted) names.resize(wanted);
  if (names.empty()) {
    for (std::int64_t d = 0; d < settings.directions; ++d) {
      settings.activations.insert(settings.activations.end(), defaults.begin(), defaults.end());
    }
    return settings;
  }
  if (names.size() != wanted) {
    fail(ErrorKind::kRuntime, "attribute 'activations' names {} functions, expected {}", names.size(), wanted);
  }
  settings.activations =
      named_activations(names, attributes.floats("activation_alpha"), attributes.floats("activation_beta"));
  return settings;
}

void check(CheckContext& ctx, std::size_t activations_per_direction) {
  const std::string direction = ctx.attributes.s("direction", "forward");
  const bool both = direction == "bidirectional";
  if (!both && direction != "forward" && direction != "reverse" && direction != "foward") {
    ctx.error(kBadValue, "direction",
              fmt::format("attribute 'direction' is '{}', expected forward, reverse or bidirectional", direction));
  }
  if (ctx.attributes.has("activations")) {
    const auto names = ctx.attributes.strings("activations");
    const std::size_t wanted = activations_per_direction * (both ? 2 : 1);
    if (names.size() != wanted) {
      ctx.error(kBadValue, "activations",
                fmt::format("attribute 'activations' names {} functions, expected {}", names.size(), wanted));
    }
    for (const std::string& name : names) {
      if (is_activation(name)) continue;
      ctx.error(kBadValue, "activations", fmt::format("attribute 'activations' names an unknown function '{}'", name));
    }
  }
  if (ctx.attributes.has("clip") && !(ctx.attributes.f("clip") >= 0)) {
    ctx.error(kBadValue, "clip", fmt::format("attribute 'clip' is {}, expected 0 or more", ctx.attributes.f("clip")));
  }
  if (ctx.attributes.i("layout", 0) != 0 && ctx.attributes.i("layout", 0) != 1) {
    ctx.error(kBadValue, "layout",
              fmt::format("attribute 'layout' is {}, expected 0 or 1", ctx.attributes.i("layout", 0)));
  }
}

void infer(InferContext& ctx, std::int64_t gates) {
  const DataType dtype = ctx.input(0).dtype;
  const bool batch_first = ctx.attributes.i("layout", 0) != 0;
  const Dim directions = ctx.attributes.s("direction", "forward") == "bidirectional" ? 2 : 1;
  const auto expect_rank = [&](std::size_t i, std::string_view what, std::size_t rank) {
    const auto* shape = ctx.shape(i);
    if (shape != nullptr && shape->size() != rank) {
      fail(ErrorKind::kRuntime, "{} has rank {}, expected {}", what, shape->size(), rank);
    }
    return shape;
  };
  const auto* x = expect_rank(0, "input X", 3);
  const auto* w = expect_rank(1, "input W", 3);
  const auto* r = expect_rank(2, "input R", 3);
  Dim time, batch, hidden;
  std::string hidden_formula;
  if (x != nullptr) {
    time = (*x)[batch_first ? 1 : 0];
    batch = (*x)[batch_first ? 0 : 1];
  }
  if (r != nullptr) hidden = (*r)[2];
  if (ctx.attributes.has("hidden_size")) {
    const std::int64_t given = ctx.attributes.i("hidden_size");
    if (hidden.value() && *hidden.value() != given) {
      fail(ErrorKind::kRuntime, "attribute 'hidden_size' is {}, input R has {}", given, *hidden.value());
    }
    hidden = given;
    hidden_formula = "attribute hidden_size";
  } else if (!hidden.known() && w != nullptr && (*w)[1].value() && *(*w)[1].value() % gates == 0) {
    hidden = *(*w)[1].value() / gates;
    hidden_formula = fmt::format("{}/{} (rows of W for each gate)", *(*w)[1].value(), gates);
  }
  const std::vector<Dim> state =
      batch_first ? std::vector<Dim>{batch, directions, hidden} : std::vector<Dim>{directions, batch, hidden};
  ctx.set_output(0, dtype,
                 batch_first ? std::vector<Dim>{batch, time, directions, hidden}
                             : std::vector<Dim>{time, directions, batch, hidden});
  ctx.set_output(1, dtype, state);
  ctx.set_output(2, dtype, state);
  if (!ctx.explaining) return;
  for (std::size_t i = 0; i < 3; ++i) {
    ctx.explain(i, (batch_first ? 1 : 0) + (i == 0 ? 1 : 0),
                fmt::format("{} (direction {})", directions.to_string(), ctx.attributes.s("direction", "forward")));
    if (!hidden_formula.empty()) ctx.explain(i, i == 0 ? 3 : 2, hidden_formula);
  }
}

namespace {

// layout 1 to layout 0 and back: swaps the two outer axes.
Tensor swap_outer(const Tensor& tensor) {
  const Shape& from = tensor.shape();
  Tensor result = Tensor::allocate(tensor.dtype(), Shape{from[1], from[0], from[2]});
  const std::size_t row = static_cast<std::size_t>(from[2]) * element_size(tensor.dtype());
  for (std::int64_t i = 0; i < from[0]; ++i) {
    for (std::int64_t j = 0; j < from[1]; ++j) {
      const auto source = static_cast<std::size_t>(i * from[1] + j) * row,
                 target = static_cast<std::size_t>(j * from[0] + i) * row;
      std::copy_n(tensor.raw() + source, row, result.mutable_raw() + target);
    }
  }
  return result;
}

}  // namespace

template <typename T>
Problem<T> read_problem(KernelContext& ctx, std::int64_t gates, std::span<const Activation> defaults) {
  Problem<T> p;
  p.settings = read_settings(ctx.attributes, defaults);
  p.gates = gates;
  const Tensor &x = ctx.input(0), &w = ctx.input(1), &r = ctx.input(2);
  p.dtype = x.dtype();
  if (x.rank() != 3) fail(ErrorKind::kRuntime, "input X has shape {}, expected rank 3", to_string(x.shape()));
  if (r.rank() != 3) fail(ErrorKind::kRuntime, "input R has shape {}, expected rank 3", to_string(r.shape()));
  p.hidden = r.shape()[2];
  p.input = x.shape()[2];
  p.time = x.shape()[p.settings.batch_first ? 1 : 0];
  p.batch = x.shape()[p.settings.batch_first ? 0 : 1];
  const std::int64_t d = p.settings.directions;
  if (ctx.attributes.has("hidden_size") && ctx.attributes.i("hidden_size") != p.hidden) {
    fail(ErrorKind::kRuntime, "attribute 'hidden_size' is {}, input R has {}", ctx.attributes.i("hidden_size"),
         p.hidden);
  }
  expect_shape(w, "input W", Shape{d, gates * p.hidden, p.input});
  expect_shape(r, "input R", Shape{d, gates * p.hidden, p.hidden});
  p.x = as_compute<T>(p.settings.batch_first ? swap_outer(x) : x);
  if (const Tensor* bias = ctx.optional_input(3)) {
    expect_shape(*bias, "input B", Shape{d, 2 * gates * p.hidden});
    p.bias = as_compute<T>(*bias);
  }
  p.lengths.assign(static_cast<std::size_t>(p.batch), p.time);
  if (const Tensor* lengths = ctx.optional_input(4)) {
    expect_shape(*lengths, "input sequence_lens", Shape{p.batch});
    p.lengths = read_integers(*lengths, "input sequence_lens");
    for (const std::int64_t length : p.lengths) {
      if (length < 0 || length > p.time) {
        fail(ErrorKind::kRuntime, "sequence_lens has {}, expected 0 to {}", length, p.time);
      }
    }
  }

  const bool constant = ctx.is_constant(1) && ctx.is_constant(2);
  if (const auto* kept = std::any_cast<std::vector<Weights<T>>>(&ctx.state()); constant && kept != nullptr) {
    p.weights = *kept;
    return p;
  }
  const Tensor w_values = as_compute<T>(w), r_values = as_compute<T>(r);
  for (std::int64_t i = 0; i < d; ++i) {
    const std::int64_t n = gates * p.hidden;
    p.weights.push_back({PackedMatrix<T>(w_values.data<T>().data() + i * n * p.input, p.input, n, 1, p.input),
                         PackedMatrix<T>(r_values.data<T>().data() + i * n * p.hidden, p.hidden, n, 1, p.hidden)});
  }
  if (constant) ctx.state() = p.weights;
  return p;
}
template Problem<float> read_problem(KernelContext&, std::int64_t, std::span<const Activation>);
template Problem<double> read_problem(KernelContext&, std::int64_t, std::span<const Activation>);

template <typename T>
Tensor Problem<T>::initial(KernelContext& ctx, std::size_t input_index, std::string_view what) const {
  const std::int64_t d = settings.directions;
  const Tensor* given = ctx.optional_input(input_index);
  Tensor state = Tensor::zeros(type_of<T>(), Shape{d, batch, hidden});
  if (given == nullptr) return state;
  expect_shape(*given, what, settings.batch_first ? Shape{batch, d, hidden} : Shape{d, batch, hidden});
  const Tensor values = as_compute<T>(settings.batch_first ? swap_outer(*given) : *given);
  std::ranges::copy(values.data<T>(), state.mutable_data<T>().begin());
  return state;
}

template <typename T>
Tensor Problem<T>::project(KernelContext& ctx, std::int64_t d, const T* start) const {
  const std::int64_t rows = time * batch, width = gates * hidden;
  Tensor result = Tensor::allocate(type_of<T>(), Shape{time, batch, width});
  T* out = result.mutable_data<T>().data();
  const T* in = x.data<T>().data();
  const PackedMatrix<T>& w = weights[static_cast<std::size_t>(d)].w;
  const auto rows_of = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (start != nullptr)
        std::copy_n(start, width, out + i * width);
      else
        std::fill_n(out + i * width, width, T{0});
    }
    w.multiply_add(in + begin * input, input, end - begin, out + begin * width, width);
  };
  if (rows * width * input < 1 << 18)
    rows_of(0, rows);
  else
    ctx.threads().parallel_for(rows, std::max<std::int64_t>(4, (rows / (4 * ctx.threads().threads()) + 3) / 4 * 4),
                               rows_of);
  return result;
}

template struct Problem<float>;
template struct Problem<double>;

template <typename T>
void write_sequence(KernelContext& ctx, const Problem<T>& p, const Tensor& states) {
  if (!ctx.wants_output(0)) return;
  const std::int64_t d = p.settings.directions;
  const bool batch_first = p.settings.batch_first;
  Tensor& y =
      ctx.output(0, p.dtype, batch_first ? Shape{p.batch, p.time, d, p.hidden} : Shape{p.time, d, p.batch, p.hidden});
  const auto data = states.data<T>();
  for (std::int64_t i = 0; i < d; ++i) {
    for (std::int64_t t = 0; t < p.time; ++t) {
      for (std::int64_t b = 0; b < p.batch; ++b) {
        const std::int64_t row = batch_first ? (b * p.time + t) * d + i : (t * d + i) * p.batch + b;
        const std::int64_t from = ((i * p.time + t) * p.batch + b) * p.hidden;
        store(data.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(p.hidden)), y, row * p.hidden);
      }
    }
  }
}
template void write_sequence(KernelContext&, const Problem<float>&, const Tensor&);
template void write_sequence(KernelContext&, const Problem<double>&, const Tensor&);

template <typename T>
void write_state(KernelContext& ctx, const Problem<T>& p, std::size_t i, const Tensor& state) {
  if (!ctx.wants_output(i)) return;
  const std::int64_t d = p.settings.directions;
  Tensor& out =
      ctx.output(i, p.dtype, p.settings.batch_first ? Shape{p.batch, d, p.hidden} : Shape{d, p.batch, p.hidden});
  const auto data = state.data<T>();
  for (std::int64_t row = 0; row < d * p.batch; ++row) {
    const std::int64_t target = p.settings.batch_first ? (row % p.batch) * d + row / p.batch : row;
    const auto from = data.subspan(static_cast<std::size_t>(row * p.hidden), static_cast<std::size_t>(p.hidden));
    store(from, out, target * p.hidden);
  }
}
template void write_state(KernelContext&, const Problem<float>&, std::size_t, const Tensor&);
template void write_state(KernelContext&, const Problem<double>&, std::size_t, const Tensor&);

template <typename T>
void walk(KernelContext& ctx, const Problem<T>& p, FunctionRef<void(std::int64_t, T*)> start,
          FunctionRef<void(std::int64_t, const std::vector<bool>&, T*, T*)> step) {
  const std::int64_t width = p.gates * p.hidden, state_size = p.batch * p.hidden;
  Tensor h_tensor = p.initial(ctx, 5, "input initial_h");
  // Zero beyond each sequence's length, where no step writes.
  Tensor y = Tensor::zeros(type_of<T>(), Shape{p.settings.directions, p.time, p.batch, p.hidden});
  Tensor gates_tensor = Tensor::allocate(type_of<T>(), Shape{p.batch, width});
  Tensor row_tensor = Tensor::allocate(type_of<T>(), Shape{width});
  T* const gates = gates_tensor.mutable_data<T>().data();
  std::vector<bool> active(static_cast<std::size_t>(p.batch));
  const std::int64_t steps = p.lengths.empty() ? 0 : *std::ranges::max_element(p.lengths);
  for (std::int64_t d = 0; d < p.settings.directions; ++d) {
    start(d, row_tensor.mutable_data<T>().data());
    const Tensor projected = p.project(ctx, d, row_tensor.data<T>().data());
    const T* const from = projected.data<T>().data();
    T* const h = h_tensor.mutable_data<T>().data() + d * state_size;
    for (std::int64_t s = 0; s < steps; ++s) {
      ctx.checkpoint();
      for (std::int64_t b = 0; b < p.batch; ++b) {
        active[static_cast<std::size_t>(b)] = s < p.lengths[static_cast<std::size_t>(b)];
        if (!active[static_cast<std::size_t>(b)])
          std::fill_n(gates + b * width, width, T{0});
        else
          std::copy_n(from + (p.time_at(d, s, b) * p.batch + b) * width, width, gates + b * width);
      }
      step(d, active, gates, h);
      for (std::int64_t b = 0; b < p.batch; ++b) {
        if (!active[static_cast<std::size_t>(b)]) continue;
        T* const to = y.mutable_data<T>().data() + ((d * p.time + p.time_at(d, s, b)) * p.batch + b) * p.hidden;
        std::copy_n(h + b * p.hidden, p.hidden, to);
      }
    }
  }
  write_sequence(ctx, p, y);
  write_state(ctx, p, 1, h_tensor);
}
template void walk(KernelContext&, const Problem<float>&, FunctionRef<void(std::int64_t, float*)>,
                   FunctionRef<void(std::int64_t, const std::vector<bool>&, float*, float*)>);
template void walk(KernelContext&, const Problem<double>&, FunctionRef<void(std::int64_t, double*)>,
                   FunctionRef<void(std::int64_t, const std::vector<bool>&, double*, double*)>);

}  // namespace lppool::rnn
