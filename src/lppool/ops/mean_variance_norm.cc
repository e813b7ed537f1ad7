// MeanVarianceNormalization: (X - mean) / (standard deviation + 1e-9) over the given axes, as its function body says.
#include <cmath>

#include "lppool/ops/compute_type.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {9, "X:T", "Y:T", "axes:ints=[0,2,3]", "T=floats"},
    {13, "X:T", "Y:T", "axes:ints=[0,2,3]", "T=floats|bfloat16"},
};

void infer(InferContext& context) {
  const ValueType& x = context.input(0);
  if (x.shape) {
    for (const std::int64_t axis : context.attributes.ints("axes")) normalize_axis(axis, x.shape->size());
  }
  context.set_output(0, x.dtype, x.shape);
}

template <typename T>
void normalize(KernelContext& context, const std::vector<bool>& reduced) {
  const Tensor x = as_compute<T>(context.input(0));
  const Shape& shape = x.shape();
  // Which group each element belongs to: its index along the axes that stay.
  std::vector<std::int64_t> steps(shape.rank(), 0);
  std::int64_t groups = 1;
  for (std::size_t a = shape.rank(); a-- > 0;) {
    if (reduced[a]) continue;
    steps[a] = groups;
    groups *= shape[a];
  }
  const auto data = x.data<T>();
  const auto for_each_element = [&](auto&& body) {
    std::vector<std::int64_t> at(shape.rank(), 0);
    std::int64_t group = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
      body(i, static_cast<std::size_t>(group));
      for (std::size_t a = shape.rank(); a-- > 0;) {
        group += steps[a];
        if (++at[a] < shape[a]) break;
        group -= steps[a] * shape[a];
        at[a] = 0;
      }
    }
  };
  const double count = groups == 0 ? 1 : static_cast<double>(x.size()) / static_cast<double>(groups);
  std::vector<double> means(static_cast<std::size_t>(groups), 0.0), squares(static_cast<std::size_t>(groups), 0.0);
  for_each_element([&](std::size_t i, std::size_t g) { means[g] += static_cast<double>(data[i]) / count; });
  for_each_element([&](std::size_t i, std::size_t g) {
    const double difference = static_cast<double>(data[i]) - means[g];
    squares[g] += difference * difference;
  });
  ComputedOutput<T> y(context, 0, context.input(0).dtype(), shape);
  T* out = y.data();
  for_each_element([&](std::size_t i, std::size_t g) {
    out[i] = static_cast<T>((static_cast<double>(data[i]) - means[g]) / (std::sqrt(squares[g] / count) + 1e-9));
  });
  y.finish();
}

void run(KernelContext& context) {
  const Tensor& x = context.input(0);
  std::vector<bool> reduced(x.rank(), false);
  for (const std::int64_t axis : context.attributes.ints("axes")) reduced[normalize_axis(axis, x.rank())] = true;
  with_compute_type(x.dtype(), [&](auto zero) { normalize<decltype(zero)>(context, reduced); });
}

}  // namespace

extern const OpDef kMeanVarianceNormalization;
const OpDef kMeanVarianceNormalization = {
    .domain = "",
    .type = "MeanVarianceNormalization",
    .summary = "Subtracts the mean over the given axes and divides by the standard deviation.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .facts = {.function = true},
};

}  // namespace lppool
