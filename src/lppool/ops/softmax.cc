// Softmax, LogSoftmax and Hardmax. Before opset 13 the input is seen as a matrix whose rows are the axes from `axis`
// on; from there on only the one axis counts. Exponentials and sums run in double and are rounded once. Source: ONNX
// Softmax-1, 11, 13.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lppool/kernels/functions.h"
#include "lppool/ops/element_types.h"
#include "lppool/ops/lines.h"
#include "lppool/ops/op.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "input:T", "output:T", "axis:int=1", "T=floats"},
    {11, "input:T", "output:T", "axis:int=1", "T=floats"},
    {13, "input:T", "output:T", "axis:int=-1", "T=floats|bfloat16", false, "",
     "!axis: only this axis is normalised; before, all axes from it on together"},
};

Lines lines_of(const KernelContext& ctx) {
  const Shape& shape = ctx.input(0).shape();
  const std::int64_t axis = ctx.attributes.i("axis");
  if (ctx.since_version() >= 13) return lines_along(shape, normalize_axis(axis, shape.rank()));
  // A matrix may have all its elements in one row (axis 0) or one in each (axis = rank).
  const auto rank = static_cast<std::int64_t>(shape.rank());
  if (axis < -rank || axis > rank) fail(ErrorKind::kRuntime, "axis {} is out of range for rank {}", axis, rank);
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  return {shape.elements(0, at), shape.elements(at, shape.rank()), 1};
}

template <typename T>
void find_largest(const T* x, const Lines& lines, std::int64_t width, double* largest) {
  std::fill(largest, largest + width, -std::numeric_limits<double>::infinity());
  for (std::int64_t i = 0; i < lines.length; ++i) {
    for (std::int64_t k = 0; k < width; ++k) {
      const auto v = static_cast<double>(x[i * lines.inner + k]);
      largest[k] = v > largest[k] ? v : largest[k];
    }
  }
}

// e^(x[i] - shift[i]) for n neighbouring elements; shift is one number where step is 0.
template <typename T>
void exponentials(const T* x, const double* shift, std::int64_t step, double* y, std::int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    kernels::exp_shifted(x, shift, step, y, n);
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = std::exp(static_cast<double>(x[i]) - shift[i * step]);
  }
}

// A block of one line, or a row of neighbouring lines: what is exponentiated at once.
constexpr std::int64_t kBlock = 256;
static_assert(kBlock % 8 == 0 && kBlock >= kSide);

// The sum of e^(x - m) over one contiguous line, in eight interleaved parts whatever the instruction set.
template <typename T>
double sum_of_line(const T* x, std::int64_t length, double largest) {
  double parts[8] = {}, block[kBlock];
  for (std::int64_t begin = 0; begin < length; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, length - begin);
    exponentials(x + begin, &largest, 0, block, n);
    for (std::int64_t i = n; i % 8 != 0; ++i) block[i] = 0;
    for (std::int64_t i = 0; i < n; i += 8) {
      for (int p = 0; p < 8; ++p) parts[p] += block[i + p];
    }
  }
  return ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

template <typename T>
void softmax_line(const T* x, T* y, std::int64_t length, bool logarithm) {
  double largest = -std::numeric_limits<double>::infinity(), block[kBlock];
  for (std::int64_t i = 0; i < length; ++i) {
    const auto v = static_cast<double>(x[i]);
    largest = v > largest ? v : largest;
  }
  const double sum = sum_of_line(x, length, largest);
  if (logarithm) {
    const double log_sum = std::log(sum);
    for (std::int64_t i = 0; i < length; ++i) y[i] = static_cast<T>(static_cast<double>(x[i]) - largest - log_sum);
    return;
  }
  for (std::int64_t begin = 0; begin < length; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, length - begin);
    exponentials(x + begin, &largest, 0, block, n);
    for (std::int64_t i = 0; i < n; ++i) y[begin + i] = static_cast<T>(block[i] / sum);
  }
}

// Lines side by side, element i of each in row i.
template <typename T>
void softmax_rows(const T* x, T* y, const Lines& lines, std::int64_t width, bool logarithm) {
  double largest[kSide], sum[kSide] = {}, row[kSide];
  find_largest(x, lines, width, largest);
  for (std::int64_t i = 0; i < lines.length; ++i) {
    exponentials(x + i * lines.inner, largest, 1, row, width);
    for (std::int64_t k = 0; k < width; ++k) sum[k] += row[k];
  }
  if (logarithm) {
    for (std::int64_t k = 0; k < width; ++k) sum[k] = std::log(sum[k]);
  }
  for (std::int64_t i = 0; i < lines.length; ++i) {
    const T* from = x + i * lines.inner;
    T* to = y + i * lines.inner;
    if (logarithm) {
      for (std::int64_t k = 0; k < width; ++k) to[k] = static_cast<T>(static_cast<double>(from[k]) - largest[k] - sum[k]);
    } else {
      exponentials(from, largest, 1, row, width);
      for (std::int64_t k = 0; k < width; ++k) to[k] = static_cast<T>(row[k] / sum[k]);
    }
  }
}

// y = exp(x - m) / sum exp(x - m), or x - m - log(sum exp(x - m)), with the largest element m of the line.
void run_lines(KernelContext& ctx, bool logarithm) {
  const Tensor x = ctx.input(0);
  const Lines lines = lines_of(ctx);
  for_type(Floats{}, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>().data();
    T* to = ctx.output_in_place(0, 0, x.dtype(), x.shape()).template mutable_data<T>().data();
    for_lines(ctx.threads(), lines, [&](std::int64_t first, std::int64_t width) {
      if (lines.inner == 1) softmax_line(from + first, to + first, lines.length, logarithm);
      else softmax_rows(from + first, to + first, lines, width, logarithm);
    });
  });
}
void run_softmax(KernelContext& ctx) { run_lines(ctx, false); }
void run_log_softmax(KernelContext& ctx) { run_lines(ctx, true); }

// 1 at the first largest element of each line, as numpy's argmax finds it (a NaN counts as largest), else 0.
void run_hardmax(KernelContext& ctx) {
  const Tensor x = ctx.input(0);
  const Lines lines = lines_of(ctx);
  for_type(Floats{}, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>().data();
    T* to = ctx.output(0, x.dtype(), x.shape()).template mutable_data<T>().data();
    for_lines(ctx.threads(), lines, [&](std::int64_t first, std::int64_t width) {
      for (std::int64_t k = first; k < first + width; ++k) {
        std::int64_t best = 0;
        auto largest = static_cast<double>(from[k]);
        for (std::int64_t i = 1; i < lines.length; ++i) {
          const auto v = static_cast<double>(from[k + i * lines.inner]);
          if (v > largest || (std::isnan(v) && !std::isnan(largest))) {
            largest = v;
            best = i;
          }
        }
        for (std::int64_t i = 0; i < lines.length; ++i)
          to[k + i * lines.inner] = static_cast<T>(i == best ? 1.0f : 0.0f);
      }
    });
  });
}

void infer(InferContext& ctx) {
  infer_same(ctx);
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) return;
  const std::int64_t axis = ctx.attributes.i("axis"), rank = std::ssize(*shape);
  const bool matrix = ctx.since_version() < 13;
  if (axis < -rank || axis > rank - (matrix ? 0 : 1)) {
    fail(ErrorKind::kRuntime, "axis is {}, expected {} to {} for an input of rank {}", axis, -rank,
         rank - (matrix ? 0 : 1), rank);
  }
}

}  // namespace

#define LPPOOL_SOFTMAX(op, text, kernel, is_function) \
  extern const OpDef k##op;                           \
  const OpDef k##op = {.domain = "",                  \
                       .type = #op,                   \
                       .summary = text,               \
                       .versions = kVersions,         \
                       .infer = infer,                \
                       .run = kernel,                 \
                       .facts = {.function = is_function}};
LPPOOL_SOFTMAX(Softmax, "exp(x) divided by the sum of exp over the axis.", run_softmax, true)
LPPOOL_SOFTMAX(LogSoftmax, "Logarithm of the softmax over the axis.", run_log_softmax, true)
LPPOOL_SOFTMAX(Hardmax, "1 at the first largest element along the axis, 0 elsewhere.", run_hardmax, false)
#undef LPPOOL_SOFTMAX

}  // namespace lppool
