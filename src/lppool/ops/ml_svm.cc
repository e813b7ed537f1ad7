// SVMRegressor and SVMClassifier of ai.onnx.ml. The specification says little about them; what is computed here is what
// LIBSVM's models mean and ONNX's reference and ONNX Runtime agree on. Where these differ, the node is refused by name.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "lppool/ops/explain.h"
#include "lppool/ops/ml_scores.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr OpVersion kSVMClassifierVersions[] = {
    {1, "X:T1", "Y:T2 Z:float32",
     "classlabels_ints:ints classlabels_strings:strings coefficients:floats kernel_params:floats "
     "kernel_type:string=LINEAR "
     "post_transform:string=NONE prob_a:floats prob_b:floats rho:floats support_vectors:floats vectors_per_class:ints",
     "T1=float32|float64|int64|int32; T2=string|int64"}};
constexpr OpVersion kSVMRegressorVersions[] = {
    {1, "X:T", "Y:float32",
     "coefficients:floats kernel_params:floats kernel_type:string=LINEAR n_supports:int=0 one_class:int=0 "
     "post_transform:string=NONE rho:floats support_vectors:floats",
     "T=float32|float64|int64|int32"}};

// The attribute kernel_type, as a function of two vectors.
class Kernel {
 public:
  explicit Kernel(const AttributeView& attributes) : type_(attributes.s("kernel_type")) {
    const std::vector<float> parameters = attributes.floats("kernel_params");
    if (!parameters.empty() && parameters.size() != 3) {
      fail(ErrorKind::kRuntime, "kernel_params has {} values, expected 3 (gamma, coef0, degree)", parameters.size());
    }
    if (!parameters.empty()) std::copy(parameters.begin(), parameters.end(), parameters_);
    if (type_ != "LINEAR" && type_ != "POLY" && type_ != "RBF" && type_ != "SIGMOID") {
      fail(ErrorKind::kRuntime, "kernel_type is '{}', expected LINEAR, POLY, RBF or SIGMOID", type_);
    }
    if (type_ == "POLY" && parameters_[2] != std::trunc(parameters_[2])) {
      fail(ErrorKind::kUnsupported, "a polynomial kernel of degree {}, supported are whole ones", parameters_[2]);
    }
  }

  double operator()(std::span<const double> x, std::span<const float> y) const {
    const auto [gamma, offset, degree] = parameters_;
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double b = static_cast<double>(y[i]);
      sum += type_ == "RBF" ? (x[i] - b) * (x[i] - b) : x[i] * b;
    }
    if (type_ == "RBF") return std::exp(-gamma * sum);
    if (type_ == "POLY") return std::pow(gamma * sum + offset, degree);
    if (type_ == "SIGMOID") return std::tanh(gamma * sum + offset);
    return sum;
  }

 private:
  std::string type_;
  double parameters_[3] = {0, 0, 0};
};

// The features X [N, C] or [C] as rows.
struct Rows {
  Tensor wide;
  std::int64_t count, features;

  explicit Rows(const Tensor& x) : wide(as_float64(x)), count(1), features(0) {
    if (x.rank() < 1 || x.rank() > 2)
      fail(ErrorKind::kRuntime, "input has shape {}, expected C or NxC", to_string(x.shape()));
    if (x.rank() == 2) count = x.shape()[0];
    features = x.shape()[x.rank() - 1];
  }
  std::span<const double> operator[](std::int64_t row) const {
    return wide.data<double>().subspan(static_cast<std::size_t>(row * features), static_cast<std::size_t>(features));
  }
};

void require_size(std::string_view name, std::size_t size, std::int64_t expected) {
  if (std::cmp_not_equal(size, expected))
    fail(ErrorKind::kRuntime, "{} has {} values, expected {}", name, size, expected);
}

void refuse_transform(const AttributeView& attributes) {
  const std::string transform = attributes.s("post_transform");
  if (transform != "NONE") fail(ErrorKind::kUnsupported, "post_transform {}, supported is NONE", transform);
}

// Support vectors [count, features] and what the kernel makes of a row with each of them.
class SupportVectors {
 public:
  SupportVectors(const AttributeView& attributes, std::int64_t count, const Rows& rows)
      : kernel_(attributes),
        values_(attributes.floats("support_vectors")),
        features_(static_cast<std::size_t>(rows.features)) {
    // Counts that large have no such list, and would overflow.
    if (count > std::ssize(values_)) require_size("support_vectors", values_.size(), count);
    if (rows.features > std::ssize(values_)) require_size("support_vectors", values_.size(), rows.features);
    require_size("support_vectors", values_.size(), count * rows.features);
    similar_.resize(static_cast<std::size_t>(count));
  }
  std::span<const double> similarities(std::span<const double> row) {
    for (std::size_t v = 0; v < similar_.size(); ++v)
      similar_[v] = kernel_(row, std::span<const float>(values_).subspan(v * features_, features_));
    return similar_;
  }

 private:
  Kernel kernel_;
  std::vector<float> values_;
  std::size_t features_;
  std::vector<double> similar_;
};

double dot(std::span<const float> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
                            [](float x, double y) { return static_cast<double>(x) * y; });
}

// ---- SVMRegressor ----

void infer_regressor(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  Dim rows;
  if (shape != nullptr && shape->size() == 2) rows = (*shape)[0];
  if (shape != nullptr && shape->size() == 1) rows = Dim(1);
  ctx.set_output(0, DataType::kFloat32, std::vector<Dim>{rows, Dim(1)});
  ctx.explain(0, 1, "1 (one target)");
}

void run_regressor(KernelContext& ctx) {
  refuse_transform(ctx.attributes);
  const Rows rows(ctx.input(0));
  const std::int64_t supports = ctx.attributes.i("n_supports");
  if (supports < 0) fail(ErrorKind::kRuntime, "n_supports is {}, expected 0 or more", supports);
  const std::vector<float> coefficients = ctx.attributes.floats("coefficients"), rho = ctx.attributes.floats("rho");
  require_size("rho", rho.size(), 1);
  require_size("coefficients", coefficients.size(), supports > 0 ? supports : rows.features);

  std::vector<double> scores;
  const double offset = static_cast<double>(rho[0]);
  if (supports > 0) {
    SupportVectors vectors(ctx.attributes, supports, rows);
    for (std::int64_t n = 0; n < rows.count; ++n)
      scores.push_back(dot(coefficients, vectors.similarities(rows[n])) + offset);
  } else {  // a linear model whose coefficients are those of the features, whatever kernel_type says
    for (std::int64_t n = 0; n < rows.count; ++n) scores.push_back(dot(coefficients, rows[n]) + offset);
  }
  if (ctx.attributes.i("one_class") != 0) {
    for (double& score : scores) score = score > 0 ? 1 : -1;
  }
  store(std::span<const double>(scores), ctx.output(0, DataType::kFloat32, {rows.count, 1}));
}

// ---- SVMClassifier ----

// Probabilities of k classes from those of all pairs (`pairs` k x k: at [i][j], of class i where it is i or j): the
// second method of Wu, Lin and Weng, "Probability Estimates for Multi-class Classification by Pairwise Coupling"
// (JMLR 5, 2004), its algorithm 2 with LIBSVM's bound on the error and the steps.
std::vector<double> couple(const std::vector<double>& pairs, std::size_t k) {
  std::vector<double> q(k * k), p(k, 1.0 / static_cast<double>(k)), qp(k);
  for (std::size_t t = 0; t < k; ++t) {
    for (std::size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += pairs[j * k + t] * pairs[j * k + t];
      q[t * k + j] = -pairs[j * k + t] * pairs[t * k + j];
    }
  }
  const double bound = 0.005 / static_cast<double>(k);
  for (std::size_t step = 0; step < std::max<std::size_t>(100, k); ++step) {
    double whole = 0, error = 0;
    for (std::size_t t = 0; t < k; ++t) {
      qp[t] = std::inner_product(p.begin(), p.end(), q.begin() + static_cast<std::ptrdiff_t>(t * k), 0.0);
      whole += p[t] * qp[t];
    }
    for (const double value : qp) error = std::max(error, std::abs(value - whole));
    if (error < bound) break;
    for (std::size_t t = 0; t < k; ++t) {
      const double change = (whole - qp[t]) / q[t * k + t], scale = 1 + change;
      p[t] += change;
      whole = (whole + change * (change * q[t * k + t] + 2 * qp[t])) / (scale * scale);
      for (std::size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + change * q[t * k + j]) / scale;
        p[j] /= scale;
      }
    }
  }
  return p;
}

// What the attributes make of one row after the other: a score above 0 for each pair i < j of classes votes for i.
class PairClassifier {
 public:
  PairClassifier(const AttributeView& attributes, std::int64_t classes)
      : counts_(attributes.ints("vectors_per_class")),
        coefficients_(attributes.floats("coefficients")),
        rho_(attributes.floats("rho")),
        a_(attributes.floats("prob_a")),
        b_(attributes.floats("prob_b")),
        k_(static_cast<std::size_t>(classes)) {
    require_size("vectors_per_class", counts_.size(), classes);
    for (const std::int64_t count : counts_) {
      if (count < 0 || count > std::ssize(coefficients_)) {
        fail(ErrorKind::kRuntime, "vectors_per_class has the value {}, coefficients has {} values", count,
             coefficients_.size());
      }
      vectors_ += count;
    }
    if (vectors_ > std::ssize(coefficients_)) require_size("coefficients", coefficients_.size(), vectors_);
    require_size("coefficients", coefficients_.size(), (classes - 1) * vectors_);
    require_size("rho", rho_.size(), pairs());
    if (!a_.empty()) require_size("prob_a", a_.size(), pairs());
    require_size("prob_b", b_.size(), std::ssize(a_));
  }

  std::int64_t vectors() const { return vectors_; }
  std::int64_t pairs() const { return static_cast<std::int64_t>(k_ * (k_ - 1) / 2); }
  bool has_probabilities() const { return !a_.empty(); }
  bool any_negative() const {
    return std::ranges::any_of(coefficients_, [](float c) { return c < 0; });
  }

  // The scores of all pairs; `votes` gets how many each class won.
  std::vector<double> scores(std::span<const double> similar, std::vector<int>& votes) const {
    const auto part = [&](std::size_t row, std::size_t first, std::int64_t count) {
      const auto length = static_cast<std::size_t>(count);
      const std::span<const float> weights(coefficients_);
      return dot(weights.subspan(row * static_cast<std::size_t>(vectors_) + first, length),
                 similar.subspan(first, length));
    };
    std::vector<double> result;
    std::size_t first_i = 0;
    for (std::size_t i = 0; i < k_; first_i += static_cast<std::size_t>(counts_[i++])) {
      std::size_t first_j = first_i + static_cast<std::size_t>(counts_[i]);
      for (std::size_t j = i + 1; j < k_; first_j += static_cast<std::size_t>(counts_[j++])) {
        const double score =
            part(j - 1, first_i, counts_[i]) + part(i, first_j, counts_[j]) + static_cast<double>(rho_[result.size()]);
        ++votes[score > 0 ? i : j];
        result.push_back(score);
      }
    }
    return result;
  }

  // By Platt's sigmoid 1 / (1 + exp(a s + b)) for each pair.
  std::vector<double> probabilities(const std::vector<double>& scores) const {
    std::vector<double> by_pair(k_ * k_);
    std::size_t index = 0;
    for (std::size_t i = 0; i < k_; ++i) {
      for (std::size_t j = i + 1; j < k_; ++j, ++index) {
        constexpr double kLeast = 1e-7;
        const double first =
            1 / (1 + std::exp(scores[index] * static_cast<double>(a_[index]) + static_cast<double>(b_[index])));
        by_pair[i * k_ + j] = std::clamp(first, kLeast, 1 - kLeast);
        by_pair[j * k_ + i] = 1 - by_pair[i * k_ + j];
      }
    }
    return couple(by_pair, k_);
  }

 private:
  std::vector<std::int64_t> counts_;
  std::vector<float>
      coefficients_;  // [classes - 1, vectors]: of class i against j in row j - 1, of j against i in row i
  std::vector<float> rho_, a_, b_;
  std::size_t k_;
  std::int64_t vectors_ = 0;
};

void infer_svm_classifier(InferContext& ctx) {
  const Tensor labels = class_labels(ctx.attributes, "classlabels_ints");
  infer_classifier(ctx, labels);
  const std::int64_t k = labels.size();
  if (!ctx.attributes.floats("prob_a").empty() || ctx.attributes.ints("vectors_per_class").empty() || k <= 2) return;
  // Without probabilities: a score for each pair of classes.
  ctx.set_output(1, DataType::kFloat32, std::vector<Dim>{ctx.outputs[0].shape->front(), Dim(k * (k - 1) / 2)});
  ctx.explain(1, 1, fmt::format("{} classes * {}/2 pairs", k, k - 1));
}

void run_svm_classifier(KernelContext& ctx) {
  refuse_transform(ctx.attributes);
  const Tensor labels = class_labels(ctx.attributes, "classlabels_ints");
  if (labels.size() < 2)
    fail(ErrorKind::kUnsupported, "a support vector machine of one class, supported are two or more");
  if (ctx.attributes.ints("vectors_per_class").empty()) {
    fail(ErrorKind::kUnsupported,
         "a linear support vector machine without support vectors: implementations disagree on its labels");
  }
  const PairClassifier machine(ctx.attributes, labels.size());
  const bool two = labels.size() == 2, probable = machine.has_probabilities();
  if (two && !probable && !machine.any_negative()) {
    fail(ErrorKind::kUnsupported,
         "coefficients without a negative one for two classes: implementations disagree on the labels");
  }
  const Rows rows(ctx.input(0));
  SupportVectors vectors(ctx.attributes, machine.vectors(), rows);
  Tensor& best = ctx.output(0, labels.dtype(), {rows.count});
  std::vector<double> all;
  for (std::int64_t n = 0; n < rows.count; ++n) {
    std::vector<int> votes(static_cast<std::size_t>(labels.size()));
    std::vector<double> scores = machine.scores(vectors.similarities(rows[n]), votes);
    copy_run(labels, std::ranges::max_element(votes) - votes.begin(), best, n, 1);
    if (probable) {
      scores = machine.probabilities(scores);
    } else if (two) {
      scores.insert(scores.begin(), -scores[0]);
    }
    all.insert(all.end(), scores.begin(), scores.end());
  }
  const std::int64_t columns = probable || two ? labels.size() : machine.pairs();
  store(std::span<const double>(all), ctx.output(1, DataType::kFloat32, {rows.count, columns}));
}

}  // namespace

extern const OpDef kSVMClassifier;
const OpDef kSVMClassifier = {
    .domain = "ai.onnx.ml",
    .type = "SVMClassifier",
    .summary =
        "Classification by a support vector machine: each pair of classes has a score, and the class that wins most "
        "pairs is "
        "the result.",
    .versions = kSVMClassifierVersions,
    .infer = infer_svm_classifier,
    .run = run_svm_classifier,
};

extern const OpDef kSVMRegressor;
const OpDef kSVMRegressor = {
    .domain = "ai.onnx.ml",
    .type = "SVMRegressor",
    .summary = "Regression, or detection of outliers, by a support vector machine.",
    .versions = kSVMRegressorVersions,
    .infer = infer_regressor,
    .run = run_regressor,
};

}  // namespace lppool
