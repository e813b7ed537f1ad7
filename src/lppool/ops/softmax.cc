// Softmax, LogSoftmax and Hardmax. Before opset 13 the input is seen as a matrix whose rows are the axes from `axis`
// on; from there on only the one axis counts. Exponentials and sums run in double and are rounded once. Source: ONNX
// Softmax-1, 11, 13.
#include <algorithm>
#include <cmath>
#include <limits>

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

// y = exp(x - m) / sum exp(x - m), or x - m - log(sum exp(x - m)), with the largest element m of the line.
template <bool kLogarithm>
void run_softmax(KernelContext& ctx) {
  const Tensor x = ctx.input(0);
  const Lines lines = lines_of(ctx);
  for_type(Floats{}, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>().data();
    T* to = ctx.output_in_place(0, 0, x.dtype(), x.shape()).template mutable_data<T>().data();
    for_lines(ctx.threads(), lines, [&](std::int64_t first, std::int64_t width) {
      double largest[kSide], sum[kSide] = {};
      const T* source = from + first;
      T* target = to + first;
      find_largest(source, lines, width, largest);
      for (std::int64_t i = 0; i < lines.length; ++i) {
        for (std::int64_t k = 0; k < width; ++k) {
          sum[k] += std::exp(static_cast<double>(source[i * lines.inner + k]) - largest[k]);
        }
      }
      if constexpr (kLogarithm) {
        for (std::int64_t k = 0; k < width; ++k) sum[k] = std::log(sum[k]);
      }
      for (std::int64_t i = 0; i < lines.length; ++i) {
        for (std::int64_t k = 0; k < width; ++k) {
          const double shifted = static_cast<double>(source[i * lines.inner + k]) - largest[k];
          target[i * lines.inner + k] = static_cast<T>(kLogarithm ? shifted - sum[k] : std::exp(shifted) / sum[k]);
        }
      }
    });
  });
}

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
LPPOOL_SOFTMAX(Softmax, "exp(x) divided by the sum of exp over the axis.", run_softmax<false>, true)
LPPOOL_SOFTMAX(LogSoftmax, "Logarithm of the softmax over the axis.", run_softmax<true>, true)
LPPOOL_SOFTMAX(Hardmax, "1 at the first largest element along the axis, 0 elsewhere.", run_hardmax, false)
#undef LPPOOL_SOFTMAX

}  // namespace lppool
