#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/op.h"
#include "lppool/ops/packed_matrix.h"
#include "lppool/ops/rnn_activation.h"

// What LSTM, GRU and RNN share: the shapes of their inputs, the walk over time and directions. The
// operators themselves (lstm.cc, gru.cc, rnn.cc) give the step from one time to the next.
namespace lppool::rnn {

// The attributes common to the three, read and checked. Throws kRuntime (unknown activation, direction, wrong counts).
struct Settings {
  std::int64_t directions = 1;
  bool reverse_first = false;           // direction = reverse
  bool batch_first = false;             // layout = 1
  double clip = -1;                     // < 0: none
  std::vector<Activation> activations;  // per_direction of them for each direction

  bool reverse(std::int64_t direction) const { return direction == 1 || reverse_first; }
};
// `defaults`: the activations of one direction where the node names none.
Settings read_settings(const AttributeView& attributes, std::span<const Activation> defaults);

// Shape rule: outputs Y, Y_h and, for LSTM, Y_c.
void infer(InferContext& ctx, std::int64_t gates);
// Check rule: attribute values.
void check(CheckContext& ctx, std::size_t activations_per_direction);

// One direction's weights, ready for products: x * W^T and h * R^T, gates side by side.
template <typename T>
struct Weights {
  PackedMatrix<T> w, r;
};

// The inputs, converted to T and checked against each other. T is float (also for 16-bit types) or double.
template <typename T>
struct Problem {
  Settings settings;
  std::int64_t gates = 0, time = 0, batch = 0, input = 0, hidden = 0;
  Tensor x;                           // time x batch x input
  Tensor bias;                        // directions x 2 * gates * hidden; undefined: zeros
  std::vector<std::int64_t> lengths;  // of each sequence, 0 to time
  std::vector<Weights<T>> weights;    // by direction
  DataType dtype = DataType::kUndefined;

  // A copy of the initial state at `input_index` of the node, directions x batch x hidden; zeros where absent.
  Tensor initial(KernelContext& ctx, std::size_t input_index, std::string_view what) const;
  // bias of direction d: 2 * gates * hidden numbers, or nullptr.
  const T* bias_of(std::int64_t d) const {
    return bias.defined() ? bias.template data<T>().data() + d * 2 * gates * hidden : nullptr;
  }
  // The time index at step s of a sequence of direction d.
  std::int64_t time_at(std::int64_t d, std::int64_t s, std::int64_t b) const {
    return settings.reverse(d) ? lengths[static_cast<std::size_t>(b)] - 1 - s : s;
  }
  // x * W^T of direction d for all times and sequences, time x batch x (gates * hidden), plus `start`, a row that every
  // one begins with (gates * hidden numbers; nullptr: zeros).
  Tensor project(KernelContext& ctx, std::int64_t d, const T* start) const;
};

// Keeps packed weights in ctx.state() where W and R are constant.
template <typename T>
Problem<T> read_problem(KernelContext& ctx, std::int64_t gates, std::span<const Activation> defaults);

// Writes Y (output 0) from hidden states directions x time x batch x hidden.
template <typename T>
void write_sequence(KernelContext& ctx, const Problem<T>& problem, const Tensor& states);
// Writes a final state, directions x batch x hidden, to output i.
template <typename T>
void write_state(KernelContext& ctx, const Problem<T>& problem, std::size_t i, const Tensor& state);

// Walks all directions and sequences: step(d, active, previous, gates, h) is called for each time, `gates` (batch rows
// of gates * hidden numbers) holding x * W^T + start; it must fill the rows of h (batch x hidden, on entry the state
// before) for which active[b]. Then outputs Y and Y_h are written. `start(d, row)` fills the row that project() begins
// with.
template <typename T>
void walk(KernelContext& ctx, const Problem<T>& problem, FunctionRef<void(std::int64_t d, T* row)> start,
          FunctionRef<void(std::int64_t d, const std::vector<bool>& active, T* gates, T* h)> step);

extern template struct Problem<float>;
extern template struct Problem<double>;

}  // namespace lppool::rnn
