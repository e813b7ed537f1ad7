#include "lppool/ops/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lppool/base/error.h"
#include "lppool/ops/numbers.h"
#include "lppool/tensor/memory.h"

namespace lppool::resample {

double coordinate(const Axis& a, Transform transform, std::int64_t x) {
  const auto place = static_cast<double>(x), length = static_cast<double>(a.input);
  const double half_pixel = (place + 0.5) * a.denominator / a.numerator - 0.5;
  // The length that the scale asks for; a.output is its whole part.
  const double wanted = length * a.numerator / a.denominator;
  switch (transform) {
    case Transform::kHalfPixel:
      return half_pixel;
    case Transform::kHalfPixelSymmetric:
      return length / 2 * (1 - static_cast<double>(a.output) / wanted) + half_pixel;
    case Transform::kPytorchHalfPixel:
      return a.output > 1 ? half_pixel : 0;
    // The published cases divide by the fractional length, not by the whole one.
    case Transform::kAlignCorners:
      return wanted == 1 ? 0 : place * (length - 1) / (wanted - 1);
    case Transform::kAsymmetric:
      return place * a.denominator / a.numerator;
    case Transform::kTfHalfPixelForNn:
      return (place + 0.5) * a.denominator / a.numerator;
    case Transform::kTfCropAndResize:
      if (a.output <= 1) return 0.5 * (a.roi_start + a.roi_end) * (length - 1);
      return a.roi_start * (length - 1) +
             place * (a.roi_end - a.roi_start) * (length - 1) / (static_cast<double>(a.output) - 1);
  }
  return half_pixel;
}

namespace {

std::int64_t nearest_place(double x, Nearest rule, bool shrinks) {
  switch (rule) {
    case Nearest::kRoundPreferFloor:
      return static_cast<std::int64_t>(std::ceil(x - 0.5));
    case Nearest::kRoundPreferCeil:
      return static_cast<std::int64_t>(std::floor(x + 0.5));
    case Nearest::kFloor:
      return static_cast<std::int64_t>(std::floor(x));
    case Nearest::kCeil:
      return static_cast<std::int64_t>(std::ceil(x));
    case Nearest::kSimple:
      return static_cast<std::int64_t>(shrinks ? std::ceil(x) : std::floor(x));
  }
  return 0;
}

double linear_filter(double x) {
  return std::max(0.0, 1 - std::abs(x));
}

// Keys' cubic convolution.
double cubic_filter(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

}  // namespace

Table make_table(const Axis& axis, const Method& method) {
  Table table;
  const std::int64_t last = axis.input - 1;
  const double scale = axis.numerator / axis.denominator;
  // Antialiasing stretches the filter by 1 / scale where the axis shrinks.
  const double stretch = method.antialias && method.mode != Mode::kNearest ? std::min(scale, 1.0) : 1.0;
  std::int64_t first = 0;  // of the taps, relative to floor(coordinate)
  if (method.mode != Mode::kNearest) {
    const double reach = method.mode == Mode::kCubic ? 2 : 1;
    first = static_cast<std::int64_t>(std::floor(-reach / stretch)) + 1;
    table.taps = 2 - 2 * first;
    table.weights.reserve(static_cast<std::size_t>(table.taps * axis.output));
  }
  table.places.reserve(static_cast<std::size_t>(table.taps * axis.output));
  table.outside.resize(static_cast<std::size_t>(axis.output));
  std::vector<double> weights(static_cast<std::size_t>(table.taps));
  for (std::int64_t o = 0; o < axis.output; ++o) {
    double x = coordinate(axis, method.transform, o);
    if (method.transform == Transform::kTfCropAndResize && !(x >= 0 && x <= static_cast<double>(last))) {
      table.outside[static_cast<std::size_t>(o)] = true;
      x = 0;
    }
    if (method.mode == Mode::kNearest) {
      table.places.push_back(std::clamp<std::int64_t>(nearest_place(x, method.nearest, scale < 1), 0, last));
      continue;
    }
    const double base = std::floor(x);
    double sum = 0;
    for (std::int64_t t = 0; t < table.taps; ++t) {
      const double at = (static_cast<double>(first + t) - (x - base)) * stretch;
      double& weight = weights[static_cast<std::size_t>(t)];
      weight = method.mode == Mode::kCubic ? cubic_filter(at, method.cubic_a) : linear_filter(at);
      const std::int64_t place = static_cast<std::int64_t>(base) + first + t;
      if (method.exclude_outside && (place < 0 || place > last)) weight = 0;
      sum += weight;
      table.places.push_back(std::clamp<std::int64_t>(place, 0, last));
    }
    const bool normalise = (stretch < 1 || method.exclude_outside) && sum != 0;
    for (const double weight : weights) table.weights.push_back(normalise ? weight / sum : weight);
  }
  return table;
}

namespace {

// The tensor seen along one axis: outer x length x inner.
struct Split {
  std::int64_t outer, inner;
};
Split split_at(const Shape& shape, std::size_t axis) {
  return {shape.elements(0, axis), shape.elements(axis + 1, shape.rank())};
}

Shape with_axis(Shape shape, const Axis& axis) {
  shape[axis.axis] = axis.output;
  return shape;
}

// Rows enough that a task is worth starting.
std::int64_t grain_for(std::int64_t work_per_row) {
  return std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, work_per_row));
}

template <typename Element>
void move_nearest(const Tensor& from, Tensor& to, const Axis& axis, const Table& table, ThreadPool& threads) {
  const auto [outer, inner] = split_at(from.shape(), axis.axis);
  const auto* in = reinterpret_cast<const Element*>(from.raw());
  auto* out = reinterpret_cast<Element*>(to.mutable_raw());
  const std::int64_t n = inner, length = axis.input, output = axis.output;
  threads.parallel_for(outer, grain_for(output * n), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Element* source = in + i * length * n;
      Element* target = out + i * output * n;
      if (n == 1) {
        for (std::int64_t o = 0; o < output; ++o) target[o] = source[table.places[static_cast<std::size_t>(o)]];
      } else {
        for (std::int64_t o = 0; o < output; ++o) {
          std::copy_n(source + table.places[static_cast<std::size_t>(o)] * n, n, target + o * n);
        }
      }
    }
  });
}

Tensor nearest_axis(const Tensor& from, const Axis& axis, const Table& table, ThreadPool& threads) {
  Tensor to = Tensor::allocate(from.dtype(), with_axis(from.shape(), axis));
  if (from.dtype() == DataType::kString) {
    const auto [outer, inner] = split_at(from.shape(), axis.axis);
    for (std::int64_t i = 0; i < outer * axis.output; ++i) {
      const std::int64_t o = i % axis.output;
      const std::int64_t source = (i / axis.output * axis.input + table.places[static_cast<std::size_t>(o)]) * inner;
      for (std::int64_t k = 0; k < inner; ++k) {
        to.mutable_strings()[static_cast<std::size_t>(i * inner + k)] =
            from.strings()[static_cast<std::size_t>(source + k)];
      }
    }
    return to;
  }
  struct Sixteen {
    std::uint64_t halves[2];
  };
  switch (element_size(from.dtype())) {
    case 1:
      move_nearest<std::uint8_t>(from, to, axis, table, threads);
      break;
    case 2:
      move_nearest<std::uint16_t>(from, to, axis, table, threads);
      break;
    case 4:
      move_nearest<std::uint32_t>(from, to, axis, table, threads);
      break;
    case 8:
      move_nearest<std::uint64_t>(from, to, axis, table, threads);
      break;
    default:
      move_nearest<Sixteen>(from, to, axis, table, threads);
      break;
  }
  return to;
}

// target[k] = sum over taps of weight * source row k: the rows are contiguous, so the loop runs over whole vectors.
template <typename T>
void blend_rows(const T* source, const std::int64_t* places, const T* weights, std::int64_t taps, std::int64_t n,
                T* target) {
  const T* row = source + places[0] * n;
  const T w0 = weights[0];
  if (taps == 2) {
    const T* next = source + places[1] * n;
    const T w1 = weights[1];
    for (std::int64_t k = 0; k < n; ++k) target[k] = w0 * row[k] + w1 * next[k];
    return;
  }
  for (std::int64_t k = 0; k < n; ++k) target[k] = w0 * row[k];
  for (std::int64_t t = 1; t < taps; ++t) {
    const T* next = source + places[t] * n;
    const T w = weights[t];
    for (std::int64_t k = 0; k < n; ++k) target[k] += w * next[k];
  }
}

template <typename T>
Tensor weighted_axis(const Tensor& from, const Axis& axis, const Table& table, ThreadPool& threads) {
  Tensor to = Tensor::allocate(type_of<T>(), with_axis(from.shape(), axis));
  const auto [outer, inner] = split_at(from.shape(), axis.axis);
  const std::vector<T> weights(table.weights.begin(), table.weights.end());
  const T* in = from.data<T>().data();
  T* out = to.mutable_data<T>().data();
  const std::int64_t n = inner, taps = table.taps, output = axis.output, length = axis.input;
  threads.parallel_for(outer * output, grain_for(n * taps), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t o = i % output;
      const T* source = in + i / output * length * n;
      const std::int64_t* places = table.places.data() + o * taps;
      const T* w = weights.data() + o * taps;
      if (n == 1) {
        T sum = 0;
        for (std::int64_t t = 0; t < taps; ++t) sum += w[t] * source[places[t]];
        out[i] = sum;
      } else {
        blend_rows(source, places, w, taps, n, out + i * n);
      }
    }
  });
  return to;
}

// Puts `value` wherever any axis is outside.
template <typename T>
void extrapolate(Tensor& tensor, const Axis& axis, const Table& table, T value) {
  const auto [outer, inner] = split_at(tensor.shape(), axis.axis);
  T* out = tensor.mutable_data<T>().data();
  for (std::int64_t i = 0; i < outer * axis.output; ++i) {
    if (table.outside[static_cast<std::size_t>(i % axis.output)]) std::fill_n(out + i * inner, inner, value);
  }
}

template <typename T>
Tensor weighted(const Tensor& input, const std::vector<Axis>& axes, const std::vector<Table>& tables,
                const Method& method, ThreadPool& threads) {
  Tensor work = as_compute<T>(input);
  for (std::size_t i = 0; i < axes.size(); ++i) work = weighted_axis<T>(work, axes[i], tables[i], threads);
  for (std::size_t i = 0; i < axes.size() && method.transform == Transform::kTfCropAndResize; ++i) {
    extrapolate(work, axes[i], tables[i], static_cast<T>(method.extrapolation));
  }
  if (work.dtype() == input.dtype()) return work;
  Tensor result = Tensor::allocate(input.dtype(), work.shape());
  store(std::span<const T>(work.data<T>()), result, 0, Fraction::kRoundHalfEven);
  return result;
}

}  // namespace

Tensor resample(const Tensor& input, const std::vector<Axis>& axes, const Method& method, ThreadPool& threads) {
  Shape shape = input.shape();
  for (const Axis& axis : axes) shape[axis.axis] = axis.output;
  if (shape.elements() == 0) return Tensor::allocate(input.dtype(), shape);
  if (input.size() == 0) {
    fail(ErrorKind::kRuntime, "input of shape {} is empty, the output of shape {} is not", to_string(input.shape()),
         to_string(shape));
  }
  // Shrinking axes first keeps what lies between small.
  std::vector<Axis> ordered = axes;
  std::ranges::stable_sort(ordered, {},
                           [](const Axis& a) { return static_cast<double>(a.output) / static_cast<double>(a.input); });
  std::vector<Table> tables;
  for (const Axis& axis : ordered) tables.push_back(make_table(axis, method));
  if (method.mode != Mode::kNearest) {
    const DataType dtype = input.dtype();
    const bool narrow = dtype == DataType::kFloat32 || dtype == DataType::kFloat16 || dtype == DataType::kBFloat16;
    return narrow ? weighted<float>(input, ordered, tables, method, threads)
                  : weighted<double>(input, ordered, tables, method, threads);
  }
  Tensor work = input;
  for (std::size_t i = 0; i < ordered.size(); ++i) work = nearest_axis(work, ordered[i], tables[i], threads);
  bool outside = false;
  for (const Table& table : tables) outside = outside || std::ranges::find(table.outside, true) != table.outside.end();
  if (!outside) return work;
  // The extrapolation value in the element type, put in place byte by byte.
  Tensor value = Tensor::allocate(input.dtype(), Shape{});
  store(std::span<const double>(&method.extrapolation, 1), value);
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const auto [outer, inner] = split_at(work.shape(), ordered[i].axis);
    for (std::int64_t row = 0; row < outer * ordered[i].output; ++row) {
      if (!tables[i].outside[static_cast<std::size_t>(row % ordered[i].output)]) continue;
      for (std::int64_t k = 0; k < inner; ++k) {
        std::memcpy(work.mutable_raw() + static_cast<std::size_t>(row * inner + k) * element_size(input.dtype()),
                    value.raw(), element_size(input.dtype()));
      }
    }
  }
  return work;
}

}  // namespace lppool::resample
