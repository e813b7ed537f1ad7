#include "lppool/ops/ml_scores.h"

#include <algorithm>
#include <cmath>

#include "lppool/ops/movement.h"
#include "lppool/ops/numbers.h"

namespace lppool {

Tensor class_labels(const AttributeView& attributes, std::string_view int_name) {
  const auto numbers = attributes.ints(int_name);
  const auto strings = attributes.strings("classlabels_strings");
  if (numbers.empty() == strings.empty()) {
    fail(ErrorKind::kRuntime, "{} has {} labels and classlabels_strings {}, expected one of them", int_name, numbers.size(),
         strings.size());
  }
  if (!numbers.empty()) return Tensor::of(Shape{std::ssize(numbers)}, numbers);
  return Tensor::of(Shape{std::ssize(strings)}, strings);
}

void infer_classifier(InferContext& ctx, const Tensor& labels) {
  const std::vector<Dim>* shape = ctx.shape(0);
  Dim rows;
  if (shape != nullptr && shape->size() == 2) rows = (*shape)[0];
  if (shape != nullptr && shape->size() == 1) rows = Dim(1);
  ctx.set_output(0, labels.dtype(), std::vector<Dim>{rows});
  ctx.set_output(1, DataType::kFloat32, std::vector<Dim>{rows, Dim(labels.size())});
  if (ctx.explaining) ctx.explain(1, 1, fmt::format("{} (classes)", labels.size()));
}

void finish_classifier(KernelContext& ctx, const Tensor& labels, std::vector<double> scores, std::int64_t rows) {
  const std::string transform = ctx.attributes.s("post_transform");
  if (transform != "NONE" && transform != "SOFTMAX" && transform != "LOGISTIC") {
    fail(ErrorKind::kUnsupported, "post_transform {}, supported are NONE, SOFTMAX and LOGISTIC", transform);
  }
  const auto classes = static_cast<std::size_t>(labels.size());
  Tensor& best = ctx.output(0, labels.dtype(), {rows});
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    const std::span<double> row(scores.data() + r * classes, classes);
    const auto largest = std::ranges::max_element(row);
    copy_run(labels, largest - row.begin(), best, static_cast<std::int64_t>(r), 1);
    if (transform == "LOGISTIC") {
      for (double& score : row) score = 1 / (1 + std::exp(-score));
    } else if (transform == "SOFTMAX") {
      const double most = *largest;
      double sum = 0;
      for (double& score : row) sum += score = std::exp(score - most);
      for (double& score : row) score /= sum;
    }
  }
  store(std::span<const double>(scores), ctx.output(1, DataType::kFloat32, {rows, labels.size()}));
}

}  // namespace lppool
