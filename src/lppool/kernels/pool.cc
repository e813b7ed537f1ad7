#include "lppool/kernels/pool.h"

#include <algorithm>
#include <type_traits>

#include "lppool/kernels/window.h"

namespace lppool::kernels {
namespace {

// Windows are worked off by output rows: first the input rows a window covers are combined into one line, elementwise and
// therefore in vectors, then each output combines its few neighbours of that line.

template <typename T>
struct Max {
  using Value = T;
  static T combine(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<bool>(b > a) | static_cast<bool>(b != b) ? b : a;  // NaN once met stays: nothing is above it
    } else {
      return b > a ? b : a;
    }
  }
};

template <typename T>
struct Sum {
  using Value = double;
  static double combine(double a, double b) { return a + b; }
};

struct Rows {
  std::int64_t in_plane = 1, out_plane = 1;  // elements of a plane
  std::int64_t out_rows = 1;                 // rows of an output plane
  std::vector<std::vector<Taps>> taps;       // per outer axis and output position
  std::vector<Taps> line;                    // along the last axis
};

Rows make_rows(const PoolGeometry& geometry) {
  Rows rows;
  for (std::size_t a = 0; a < geometry.axes.size(); ++a) {
    const PoolAxis& axis = geometry.axes[a];
    rows.in_plane *= axis.in;
    rows.out_plane *= axis.out;
    std::vector<Taps> taps;
    for (std::int64_t o = 0; o < axis.out; ++o) taps.push_back(clip_window(axis, o));
    if (a + 1 == geometry.axes.size()) {
      rows.line = std::move(taps);
    } else {
      rows.out_rows *= axis.out;
      rows.taps.push_back(std::move(taps));
    }
  }
  return rows;
}

// Where a walk over input rows stands; kept from row to row for its memory.
struct Walk {
  std::vector<const Taps*> taps;
  std::vector<std::int64_t> at;
};

// The windows' elements along the outer axes at output row `row`: calls body(input row) for each.
template <typename Body>
void for_each_input_row(const PoolGeometry& geometry, const Rows& rows, std::int64_t row, Walk& walk, Body&& body) {
  const std::size_t outer = rows.taps.size();
  auto& [taps, at] = walk;
  taps.resize(outer);
  at.assign(outer, 0);
  for (std::size_t a = outer; a-- > 0;) {
    taps[a] = &rows.taps[a][static_cast<std::size_t>(row % geometry.axes[a].out)];
    row /= geometry.axes[a].out;
    if (taps[a]->count == 0) return;
  }
  while (true) {
    std::int64_t input_row = 0;
    for (std::size_t a = 0; a < outer; ++a) {
      input_row = input_row * geometry.axes[a].in + taps[a]->first + at[a] * taps[a]->step;
    }
    body(input_row);
    std::size_t a = outer;
    while (a > 0 && ++at[a - 1] == taps[a - 1]->count) at[--a] = 0;
    if (a == 0) return;
  }
}

// values[o] = what window o combines of `line`, for the windows that are not cut. Each tap is taken for all of them, which
// the compiler makes vectors of where the stride is known.
template <typename Operation, std::int64_t Stride, typename Value>
void combine_whole_windows(const Value* line, const PoolAxis& axis, std::int64_t count, Value* values) {
  const std::int64_t stride = Stride > 0 ? Stride : axis.stride;
  for (std::int64_t o = 0; o < count; ++o) values[o] = line[o * stride];
  for (std::int64_t i = 1; i < axis.kernel; ++i) {
    const Value* tap = line + i * axis.dilation;
    for (std::int64_t o = 0; o < count; ++o) values[o] = Operation::combine(values[o], tap[o * stride]);
  }
}

// Windows of one line: the cut ones at its ends one by one, the others together.
template <typename Operation, typename Value>
void combine_line(const std::vector<Value>& line, const PoolAxis& axis, const std::vector<Taps>& windows,
                  std::int64_t whole_begin, std::int64_t whole_end, Value* values) {
  const auto one = [&](std::int64_t o) {
    const Taps& taps = windows[static_cast<std::size_t>(o)];
    Value value = taps.count > 0 ? line[static_cast<std::size_t>(taps.first)] : Value{0};
    for (std::int64_t i = 1; i < taps.count; ++i) {
      value = Operation::combine(value, line[static_cast<std::size_t>(taps.first + i * taps.step)]);
    }
    values[o] = value;
  };
  for (std::int64_t o = 0; o < whole_begin; ++o) one(o);
  for (std::int64_t o = whole_end; o < axis.out; ++o) one(o);
  if (whole_begin == whole_end) return;
  const Value* first = line.data() + windows[static_cast<std::size_t>(whole_begin)].first;
  const auto together = axis.stride == 1   ? combine_whole_windows<Operation, 1, Value>
                        : axis.stride == 2 ? combine_whole_windows<Operation, 2, Value>
                                           : combine_whole_windows<Operation, 0, Value>;
  together(first, axis, whole_end - whole_begin, values + whole_begin);
}

// finish(values, output row, to) turns what the windows of a row combined to into a row of y.
template <typename Operation, typename T, typename Finish>
void pool_rows(const T* x, T* y, const PoolGeometry& geometry, ThreadPool& pool, Finish&& finish) {
  using Value = typename Operation::Value;
  const Rows rows = make_rows(geometry);
  const PoolAxis& last = geometry.axes.back();
  const auto width = static_cast<std::size_t>(last.in);
  const auto is_cut = [&](const Taps& taps) { return taps.count < last.kernel; };
  const auto whole_begin = std::ranges::find_if_not(rows.line, is_cut);
  const auto whole_end = std::find_if(whole_begin, rows.line.end(), is_cut);
  const std::int64_t begin_whole = whole_begin - rows.line.begin(), end_whole = whole_end - rows.line.begin();
  pool.parallel_for(geometry.planes * rows.out_rows, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Value> line(width), values(static_cast<std::size_t>(last.out));
    Walk walk;
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t plane = r / rows.out_rows, row = r % rows.out_rows;
      const T* from = x + plane * rows.in_plane;
      bool first = true;
      for_each_input_row(geometry, rows, row, walk, [&](std::int64_t input_row) {
        const T* source = from + input_row * last.in;
        if (first) {
          for (std::size_t i = 0; i < width; ++i) line[i] = static_cast<Value>(source[i]);
        } else {
          for (std::size_t i = 0; i < width; ++i) line[i] = Operation::combine(line[i], static_cast<Value>(source[i]));
        }
        first = false;
      });
      if (first) std::fill(line.begin(), line.end(), Value{0});  // a window wholly in the padding
      combine_line<Operation>(line, last, rows.line, begin_whole, end_whole, values.data());
      finish(values.data(), row, y + plane * rows.out_plane + row * last.out);
    }
  });
}

}  // namespace

template <typename T>
void max_pool(const T* x, T* y, const PoolGeometry& geometry, ThreadPool& pool) {
  const std::int64_t width = geometry.axes.back().out;
  pool_rows<Max<T>>(x, y, geometry, pool, [=](const T* values, std::int64_t, T* to) { std::copy_n(values, width, to); });
}

template <typename T>
void max_pool_positions(const T* x, T* y, std::int64_t* positions, const PoolGeometry& geometry, bool column_major,
                        ThreadPool& pool) {
  const Rows rows = make_rows(geometry);
  const PoolAxis& last = geometry.axes.back();
  // Position within a plane of row-major index `index`, with the first axis fastest.
  const auto to_column_major = [&](std::int64_t index) {
    std::int64_t result = 0, size = rows.in_plane;
    for (std::size_t a = geometry.axes.size(); a-- > 0;) {
      size /= geometry.axes[a].in;
      result += index % geometry.axes[a].in * size;
      index /= geometry.axes[a].in;
    }
    return result;
  };
  pool.parallel_for(geometry.planes * rows.out_rows, [&](std::int64_t begin, std::int64_t end) {
    Walk walk;
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t plane = r / rows.out_rows, row = r % rows.out_rows;
      const T* from = x + plane * rows.in_plane;
      for (std::int64_t o = 0; o < last.out; ++o) {
        const Taps& taps = rows.line[static_cast<std::size_t>(o)];
        std::int64_t best = -1;
        for_each_input_row(geometry, rows, row, walk, [&](std::int64_t input_row) {
          for (std::int64_t i = 0; i < taps.count; ++i) {
            const std::int64_t index = input_row * last.in + taps.first + i * taps.step;
            const T value = from[index];
            if (best < 0 || value > from[best] || (value != value && from[best] == from[best])) best = index;
          }
        });
        const std::int64_t out = plane * rows.out_plane + row * last.out + o;
        y[out] = from[best];
        positions[out] = plane * rows.in_plane + (column_major ? to_column_major(best) : best);
      }
    }
  });
}

template <typename T>
void average_pool(const T* x, T* y, const PoolGeometry& geometry, const std::vector<std::vector<std::int64_t>>& counts,
                  ThreadPool& pool) {
  const std::size_t outer = geometry.axes.size() - 1;
  const std::vector<double> last(counts[outer].begin(), counts[outer].end());
  pool_rows<Sum<T>>(x, y, geometry, pool, [&](const double* sums, std::int64_t row, T* to) {
    double others = 1;
    for (std::size_t a = outer; a-- > 0;) {
      others *= static_cast<double>(counts[a][static_cast<std::size_t>(row % geometry.axes[a].out)]);
      row /= geometry.axes[a].out;
    }
    for (std::size_t o = 0; o < last.size(); ++o) to[o] = static_cast<T>(sums[o] / (others * last[o]));
  });
}

template void max_pool<float>(const float*, float*, const PoolGeometry&, ThreadPool&);
template void max_pool<double>(const double*, double*, const PoolGeometry&, ThreadPool&);
template void max_pool<std::int8_t>(const std::int8_t*, std::int8_t*, const PoolGeometry&, ThreadPool&);
template void max_pool<std::uint8_t>(const std::uint8_t*, std::uint8_t*, const PoolGeometry&, ThreadPool&);
template void max_pool_positions<float>(const float*, float*, std::int64_t*, const PoolGeometry&, bool, ThreadPool&);
template void max_pool_positions<double>(const double*, double*, std::int64_t*, const PoolGeometry&, bool, ThreadPool&);
template void max_pool_positions<std::int8_t>(const std::int8_t*, std::int8_t*, std::int64_t*, const PoolGeometry&, bool,
                                              ThreadPool&);
template void max_pool_positions<std::uint8_t>(const std::uint8_t*, std::uint8_t*, std::int64_t*, const PoolGeometry&, bool,
                                               ThreadPool&);
template void average_pool<float>(const float*, float*, const PoolGeometry&, const std::vector<std::vector<std::int64_t>>&,
                                  ThreadPool&);
template void average_pool<double>(const double*, double*, const PoolGeometry&,
                                   const std::vector<std::vector<std::int64_t>>&, ThreadPool&);

}  // namespace lppool::kernels
