// LinearRegressor and LinearClassifier of ai.onnx.ml.
#include <algorithm>

#include "lppool/ops/contents.h"
#include "lppool/ops/ml_scores.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

// X [N, C] or [C] times coefficients [targets, C], plus intercepts [targets] where given.
std::vector<double> linear(const Tensor& x, const std::vector<float>& coefficients, const std::vector<float>& intercepts,
                           std::int64_t targets, std::int64_t& rows) {
  if (x.rank() < 1 || x.rank() > 2) fail(ErrorKind::kRuntime, "input has shape {}, expected C or NxC", to_string(x.shape()));
  rows = x.rank() == 1 ? 1 : x.shape()[0];
  const std::int64_t features = x.shape()[x.rank() - 1];
  if (targets < 1 || targets > std::ssize(coefficients) || std::ssize(coefficients) / targets != features ||
      std::ssize(coefficients) % targets != 0) {
    fail(ErrorKind::kRuntime, "{} coefficients are given, expected {} for each of {} targets", coefficients.size(), features, targets);
  }
  if (!intercepts.empty() && std::ssize(intercepts) != targets) {
    fail(ErrorKind::kRuntime, "{} intercepts are given, expected {}", intercepts.size(), targets);
  }
  const Tensor wide = as_float64(x);
  const auto values = wide.data<double>();
  std::vector<double> result;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t t = 0; t < targets; ++t) {
      double sum = intercepts.empty() ? 0 : static_cast<double>(intercepts[static_cast<std::size_t>(t)]);
      for (std::int64_t c = 0; c < features; ++c) {
        sum += values[static_cast<std::size_t>(r * features + c)] * static_cast<double>(coefficients[static_cast<std::size_t>(t * features + c)]);
      }
      result.push_back(sum);
    }
  }
  return result;
}

// ---- LinearRegressor ----

constexpr OpVersion kLinearRegressorVersions[] = {
    {1, "X:T", "Y:float32", "coefficients:floats intercepts:floats post_transform:string=NONE targets:int=1",
     "T=float32|float64|int64|int32"}};

void infer_linear_regressor(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  Dim rows;
  if (shape != nullptr && shape->size() == 2) rows = (*shape)[0];
  if (shape != nullptr && shape->size() == 1) rows = Dim(1);
  ctx.set_output(0, DataType::kFloat32, std::vector<Dim>{rows, Dim(ctx.attributes.i("targets"))});
  ctx.explain(0, 1, "attribute targets");
}

void run_linear_regressor(KernelContext& ctx) {
  const std::string transform = ctx.attributes.s("post_transform");
  if (transform != "NONE") fail(ErrorKind::kUnsupported, "post_transform {}, supported is NONE", transform);
  const std::int64_t targets = ctx.attributes.i("targets");
  std::int64_t rows = 0;
  const auto scores = linear(ctx.input(0), ctx.attributes.floats("coefficients"), ctx.attributes.floats("intercepts"), targets, rows);
  store(std::span<const double>(scores), ctx.output(0, DataType::kFloat32, {rows, targets}));
}

// ---- LinearClassifier ----

constexpr OpVersion kLinearClassifierVersions[] = {
    {1, "X:T1", "Y:T2 Z:float32",
     "classlabels_ints:ints classlabels_strings:strings coefficients!:floats intercepts:floats multi_class:int=0 "
     "post_transform:string=NONE",
     "T1=float32|float64|int64|int32; T2=string|int64"}};

void infer_linear_classifier(InferContext& ctx) { infer_classifier(ctx, class_labels(ctx.attributes, "classlabels_ints")); }

void run_linear_classifier(KernelContext& ctx) {
  const Tensor labels = class_labels(ctx.attributes, "classlabels_ints");
  const auto coefficients = ctx.attributes.floats("coefficients");
  const Tensor& x = ctx.input(0);
  const std::int64_t features = x.rank() == 0 ? 0 : x.shape()[x.rank() - 1];
  // One row of coefficients for two classes: implementations disagree on what the first class' score is.
  if (labels.size() < 2 || (std::ssize(coefficients) == features && labels.size() == 2)) {
    fail(ErrorKind::kUnsupported, "{} coefficients for {} features and {} classes, supported is a row for each of two or more",
         coefficients.size(), features, labels.size());
  }
  std::int64_t rows = 0;
  auto scores = linear(x, coefficients, ctx.attributes.floats("intercepts"), labels.size(), rows);
  finish_classifier(ctx, labels, std::move(scores), rows);
}

}  // namespace

extern const OpDef kLinearRegressor;
const OpDef kLinearRegressor = {
    .domain = "ai.onnx.ml",
    .type = "LinearRegressor",
    .summary = "Weighted sums of the features, one for each target.",
    .versions = kLinearRegressorVersions,
    .infer = infer_linear_regressor,
    .run = run_linear_regressor,
};

extern const OpDef kLinearClassifier;
const OpDef kLinearClassifier = {
    .domain = "ai.onnx.ml",
    .type = "LinearClassifier",
    .summary = "The class whose weighted sum of the features is largest.",
    .versions = kLinearClassifierVersions,
    .infer = infer_linear_classifier,
    .run = run_linear_classifier,
};

}  // namespace lppool
