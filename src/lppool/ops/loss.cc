// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. Everything is summed in double and rounded once.
// Source: ONNX NegativeLogLikelihoodLoss-12 to 22, SoftmaxCrossEntropyLoss-12 and 13.
#include <cmath>
#include <limits>
#include <optional>

#include "lppool/ops/element_types.h"
#include "lppool/ops/lines.h"
#include "lppool/ops/shape_rules.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

constexpr OpVersion kNllVersions[] = {
    {12, "input:T target:Tind weight?:T", "loss:T", "ignore_index:int reduction:string=mean",
     "T=floats; Tind=int32|int64"},
    {13, "input:T target:Tind weight?:T", "loss:T", "ignore_index:int reduction:string=mean",
     "T=floats; Tind=int32|int64"},
    {22, "input:T target:Tind weight?:T", "loss:T", "ignore_index:int reduction:string=mean",
     "T=floats|bfloat16; Tind=int32|int64"},
};
constexpr OpVersion kSceVersions[] = {
    {12, "scores:T labels:Tind weights?:T", "output:T log_prob?:T", "ignore_index:int reduction:string=mean",
     "T=floats; Tind=int32|int64"},
    {13, "scores:T labels:Tind weights?:T", "output:T log_prob?:T", "ignore_index:int reduction:string=mean",
     "T=floats|bfloat16; Tind=int32|int64"},
};

enum class Reduction { kNone, kSum, kMean };

std::optional<Reduction> parse_reduction(std::string_view word) {
  if (word == "none") return Reduction::kNone;
  if (word == "sum") return Reduction::kSum;
  if (word == "mean") return Reduction::kMean;
  return std::nullopt;
}

Reduction reduction_of(const AttributeView& attributes) {
  const std::string word = attributes.s("reduction");
  const auto reduction = parse_reduction(word);
  if (!reduction) fail(ErrorKind::kRuntime, "attribute 'reduction' is '{}', expected none, sum or mean", word);
  return *reduction;
}

// Scores (N, C, d...) against labels (N, d...): lines along the classes, one label each.
Lines lines_of(const KernelContext& ctx) {
  const Shape &scores = ctx.input(0).shape(), &labels = ctx.input(1).shape();
  std::vector<std::int64_t> expected = scores.dims();
  if (scores.rank() >= 2) expected.erase(expected.begin() + 1);
  if (scores.rank() < 2 || labels.dims() != expected) {
    fail(ErrorKind::kRuntime, "scores of shape {} and labels of shape {}: expected (N, C, d1...) and (N, d1...)",
         to_string(scores), to_string(labels));
  }
  const Tensor* weights = ctx.optional_input(2);
  if (weights != nullptr && (weights->shape() != Shape{scores[1]} || weights->dtype() != ctx.input(0).dtype())) {
    fail(ErrorKind::kRuntime, "weights are {} of shape {}, expected {} of shape {}", name(weights->dtype()),
         to_string(weights->shape()), name(ctx.input(0).dtype()), scores[1]);
  }
  return lines_along(scores, 1);
}

// Writes the loss; log_probability(element) gives the logarithm of the probability at an index of the scores.
template <typename T, typename LogProbability>
void write_loss(KernelContext& ctx, const Lines& lines, LogProbability log_probability) {
  const Reduction reduction = reduction_of(ctx.attributes);
  const Tensor& labels = ctx.input(1);
  const Tensor* weights = ctx.optional_input(2);
  const bool ignores = ctx.attributes.has("ignore_index");
  const std::int64_t ignored = ctx.attributes.i("ignore_index", 0);
  const Shape shape = reduction == Reduction::kNone ? labels.shape() : Shape{};
  T* out = ctx.output(0, ctx.input(0).dtype(), shape).template mutable_data<T>().data();
  double sum = 0, weight_sum = 0;
  for (std::int64_t n = 0; n < labels.size(); ++n) {
    const std::int64_t label = element_as_int64(labels, n);
    double loss = 0;
    if (!ignores || label != ignored) {
      if (label < 0 || label >= lines.length) {
        fail(ErrorKind::kRuntime, "label {} is {}, expected 0 to {}{}", n, label, lines.length - 1,
             ignores ? fmt::format(", or {} to ignore", ignored) : "");
      }
      const std::int64_t o = n / lines.inner, k = n % lines.inner;
      const double weight =
          weights != nullptr ? static_cast<double>(weights->data<T>()[static_cast<std::size_t>(label)]) : 1.0;
      loss = -log_probability((o * lines.length + label) * lines.inner + k) * weight;
      weight_sum += weight;
    }
    sum += loss;
    if (reduction == Reduction::kNone) out[n] = static_cast<T>(loss);
  }
  if (reduction == Reduction::kSum) *out = static_cast<T>(sum);
  if (reduction == Reduction::kMean) *out = static_cast<T>(sum / weight_sum);
}

void run_nll(KernelContext& ctx) {
  const Lines lines = lines_of(ctx);
  for_type(Floats{}, ctx.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = ctx.input(0).data<T>().data();
    write_loss<T>(ctx, lines, [&](std::int64_t at) { return static_cast<double>(x[at]); });
  });
}

void run_sce(KernelContext& ctx) {
  const Lines lines = lines_of(ctx);
  const Tensor scores = ctx.input(0);
  for_type(Floats{}, scores.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = scores.data<T>().data();
    // Of each line: its largest score plus the logarithm of the sum of exponentials relative to it.
    Tensor normalizers = Tensor::allocate(DataType::kFloat64, ctx.input(1).shape());
    double* normalizer = normalizers.mutable_data<double>().data();
    for (std::int64_t n = 0; n < normalizers.size(); ++n) {
      const T* line = x + n / lines.inner * lines.length * lines.inner + n % lines.inner;
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int64_t i = 0; i < lines.length; ++i)
        largest = std::max(largest, static_cast<double>(line[i * lines.inner]));
      for (std::int64_t i = 0; i < lines.length; ++i)
        sum += std::exp(static_cast<double>(line[i * lines.inner]) - largest);
      normalizer[n] = largest + std::log(sum);
    }
    const auto log_probability = [&](std::int64_t at) {
      const std::int64_t line = at / (lines.length * lines.inner) * lines.inner + at % lines.inner;
      return static_cast<double>(x[at]) - normalizer[line];
    };
    write_loss<T>(ctx, lines, log_probability);
    if (ctx.wants_output(1)) {
      T* out = ctx.output(1, scores.dtype(), scores.shape()).template mutable_data<T>().data();
      for (std::int64_t at = 0; at < scores.size(); ++at) out[at] = static_cast<T>(log_probability(at));
    }
  });
}

void infer(InferContext& ctx) {
  const DataType dtype = input_dtype(ctx, 0);
  const std::vector<Dim>*scores = ctx.shape(0), *labels = ctx.shape(1);
  std::optional<std::vector<Dim>> loss;
  if (reduction_of(ctx.attributes) != Reduction::kNone) {
    loss.emplace();
  } else if (labels != nullptr) {
    loss = *labels;
  } else if (scores != nullptr && scores->size() >= 2) {
    loss = *scores;
    loss->erase(loss->begin() + 1);
  }
  if (scores != nullptr && labels != nullptr) {
    if (scores->size() != labels->size() + 1 || scores->size() < 2) {
      fail(ErrorKind::kRuntime, "scores have shape {}, labels {}; expected (N, C, d1...) and (N, d1...)",
           to_string(*scores), to_string(*labels));
    }
    for (std::size_t axis = 0; axis < labels->size(); ++axis) {
      const Dim dim = unify((*labels)[axis], (*scores)[axis == 0 ? 0 : axis + 1], "sizes of scores and labels");
      if (loss && !loss->empty()) (*loss)[axis] = dim;
    }
  }
  ctx.set_output(0, dtype, std::move(loss));
  ctx.set_output(1, dtype, scores ? std::optional(*scores) : std::nullopt);
}

void check(CheckContext& ctx) {
  const std::string word = ctx.attributes.s("reduction", "mean");
  if (!parse_reduction(word)) {
    ctx.error(kBadValue, "reduction", "attribute 'reduction' is '" + word + "', expected none, sum or mean");
  }
}

}  // namespace

extern const OpDef kNegativeLogLikelihoodLoss;
const OpDef kNegativeLogLikelihoodLoss = {
    .domain = "",
    .type = "NegativeLogLikelihoodLoss",
    .summary =
        "Minus the log-probability of the labelled class, weighted by class, then averaged, summed or left as it is.",
    .versions = kNllVersions,
    .infer = infer,
    .run = run_nll,
    .check = check,
    .facts = {.function = true}};

extern const OpDef kSoftmaxCrossEntropyLoss;
const OpDef kSoftmaxCrossEntropyLoss = {
    .domain = "",
    .type = "SoftmaxCrossEntropyLoss",
    .summary =
        "Negative log-likelihood loss of the softmax of the scores; the log-probabilities are an optional output.",
    .versions = kSceVersions,
    .infer = infer,
    .run = run_sce,
    .check = check,
    .facts = {.function = true}};

}  // namespace lppool
