// Feature preparation of ai.onnx.ml: ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer and Scaler.
// The last axis holds the features.
#include <algorithm>
#include <cmath>

#include "lppool/ops/contents.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/indexing.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr std::string_view kNumbers = "T=float32|float64|int64|int32";

std::int64_t feature_count(const Tensor& x) {
  if (x.rank() == 0) fail(ErrorKind::kRuntime, "input is a scalar, expected rank 1 or more");
  return x.shape()[x.rank() - 1];
}

// ---- ArrayFeatureExtractor ----

constexpr OpVersion kArrayFeatureExtractorVersions[] = {{1, "X:T Y:int64", "Z:T", "", "T=float32|float64|int64|int32|string"}};

void infer_array_feature_extractor(InferContext& ctx) {
  const std::vector<Dim>*x = ctx.shape(0), *y = ctx.shape(1);
  if (x == nullptr) return set_moved(ctx, std::nullopt);
  std::vector<Dim> result = *x;
  if (x->size() == 1) {
    result.insert(result.begin(), Dim(1));
    ctx.explain(0, 0, "1 (a list of features is one row)");
  }
  if (!result.empty()) result.back() = y ? product(*y) : Dim();
  if (!result.empty() && y && ctx.explaining) ctx.explain(0, result.size() - 1, fmt::format("{} (places asked for)", terms(*y)));
  set_moved(ctx, std::move(result));
}

// The features at the given places; one row of features is a matrix of one row.
void run_array_feature_extractor(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  const std::int64_t features = feature_count(x);
  auto places = int_values(ctx.input(1), "Y");
  for (std::int64_t& place : places) {
    if (place < 0 || place >= features) fail(ErrorKind::kRuntime, "Y has {}, expected 0 to {}", place, features - 1);
  }
  const std::int64_t count = std::ssize(places);
  std::vector<std::int64_t> dims = x.shape().dims();
  if (x.rank() == 1) dims.insert(dims.begin(), 1);
  dims.back() = count;
  Tensor& out = ctx.output(0, x.dtype(), Shape(std::move(dims)));
  if (out.size() == 0) return;
  copy_runs(
      x, out, out.size(), 1, [&](std::int64_t i) { return i / count * features + places[static_cast<std::size_t>(i % count)]; },
      ctx.threads());
}

// ---- elementwise ones ----

constexpr OpVersion kBinarizerVersions[] = {{1, "X:T", "Y:T", "threshold:float=0.0", kNumbers}};
constexpr OpVersion kImputerVersions[] = {
    {1, "X:T", "Y:T",
     "imputed_value_floats:floats imputed_value_int64s:ints replaced_value_float:float=0.0 replaced_value_int64:int=0", kNumbers}};
constexpr OpVersion kScalerVersions[] = {{1, "X:T", "Y:float32", "offset:floats scale:floats", kNumbers}};
constexpr OpVersion kNormalizerVersions[] = {{1, "X:T", "Y:float32", "norm:string=MAX", kNumbers}};

void infer_same_type(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  set_moved(ctx, shape ? std::optional(*shape) : std::nullopt);
}

void infer_float32(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, DataType::kFloat32, shape ? std::optional(*shape) : std::nullopt);
}

// Calls f(T{}) with the element type of X.
template <typename F>
void visit_numbers(const Tensor& tensor, F&& f) {
  switch (tensor.dtype()) {
    case DataType::kFloat32: return f(float{});
    case DataType::kFloat64: return f(double{});
    case DataType::kInt32: return f(std::int32_t{});
    case DataType::kInt64: return f(std::int64_t{});
    default: fail(ErrorKind::kRuntime, "input is {}, expected float32, float64, int32 or int64", name(tensor.dtype()));
  }
}

// a > b for an element and a float32 attribute, exact even where float64 cannot hold the integer.
template <typename T>
bool above(T value, float threshold) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    if (!(threshold < 0x1p63f)) return false;  // NaN, too
    if (threshold < -0x1p63f) return true;
    return value > static_cast<std::int64_t>(std::floor(threshold));
  } else {
    return static_cast<double>(value) > static_cast<double>(threshold);
  }
}

void run_binarizer(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  const float threshold = ctx.attributes.f("threshold");
  Tensor& out = ctx.output(0, x.dtype(), x.shape());
  visit_numbers(x, [&](auto tag) {
    using T = decltype(tag);
    std::ranges::transform(x.data<T>(), out.mutable_data<T>().begin(), [&](T v) { return above(v, threshold) ? T(1) : T(0); });
  });
}

// Element i of a list that has one value for all features or one for each.
template <typename T>
T of_feature(const std::vector<T>& values, std::int64_t feature, std::int64_t features, std::string_view what) {
  if (values.size() != 1 && std::ssize(values) != features) {
    fail(ErrorKind::kRuntime, "{} has {} values, expected 1 or {}", what, values.size(), features);
  }
  return values[values.size() == 1 ? 0 : static_cast<std::size_t>(feature)];
}

void run_imputer(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  const std::int64_t features = feature_count(x);
  Tensor& out = ctx.output(0, x.dtype(), x.shape());
  visit_numbers(x, [&](auto tag) {
    using T = decltype(tag);
    const auto impute = [&](const auto& values, auto replaced, std::string_view what) {
      for (std::size_t i = 0; i < x.data<T>().size(); ++i) {
        const T v = x.data<T>()[i];
        bool matches = v == static_cast<T>(replaced);
        if constexpr (std::is_floating_point_v<T>) matches = matches || (std::isnan(v) && std::isnan(replaced));
        out.mutable_data<T>()[i] =
            matches ? static_cast<T>(of_feature(values, static_cast<std::int64_t>(i) % features, features, what)) : v;
      }
    };
    if constexpr (std::is_floating_point_v<T>) {
      impute(ctx.attributes.floats("imputed_value_floats"), ctx.attributes.f("replaced_value_float"), "imputed_value_floats");
    } else {
      const auto values = ctx.attributes.ints("imputed_value_int64s");
      const std::int64_t replaced = ctx.attributes.i("replaced_value_int64");
      for (const std::int64_t v : values) {
        if (!std::in_range<T>(v)) fail(ErrorKind::kRuntime, "imputed_value_int64s has {}, which is no {}", v, name(x.dtype()));
      }
      if (!std::in_range<T>(replaced)) return ctx.set_output(0, Value(x));
      impute(values, replaced, "imputed_value_int64s");
    }
  });
}

void run_scaler(KernelContext& ctx) {
  const Tensor x = as_float64(ctx.input(0));
  const std::int64_t features = feature_count(x);
  auto offset = ctx.attributes.floats("offset"), scale = ctx.attributes.floats("scale");
  if (offset.empty()) offset = {0.0f};
  if (scale.empty()) scale = {1.0f};
  Tensor& out = ctx.output(0, DataType::kFloat32, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int64_t feature = i % features;
    const double value = x.data<double>()[static_cast<std::size_t>(i)];
    out.mutable_data<float>()[static_cast<std::size_t>(i)] =
        static_cast<float>((value - static_cast<double>(of_feature(offset, feature, features, "offset"))) *
                           static_cast<double>(of_feature(scale, feature, features, "scale")));
  }
}

// The text divides by the sum of the elements and by the largest one; every implementation takes absolute values, as the
// names L1 and MAX norm say. Where the divisor is zero the row stays.
void run_normalizer(KernelContext& ctx) {
  const Tensor x = as_float64(ctx.input(0));
  const std::string norm = ctx.attributes.s("norm");
  if (norm != "MAX" && norm != "L1" && norm != "L2") fail(ErrorKind::kRuntime, "norm is '{}', expected MAX, L1 or L2", norm);
  if (x.rank() < 1 || x.rank() > 2) fail(ErrorKind::kRuntime, "input has shape {}, expected C or NxC", to_string(x.shape()));
  const std::int64_t features = feature_count(x);
  Tensor& out = ctx.output(0, DataType::kFloat32, x.shape());
  for (std::int64_t row = 0; row < x.size(); row += features) {
    const auto values = x.data<double>().subspan(static_cast<std::size_t>(row), static_cast<std::size_t>(features));
    double divisor = 0;
    for (const double v : values) {
      if (norm == "MAX") divisor = std::max(divisor, std::abs(v));
      else divisor += norm == "L1" ? std::abs(v) : v * v;
    }
    if (norm == "L2") divisor = std::sqrt(divisor);
    if (divisor == 0) divisor = 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
      out.mutable_data<float>()[static_cast<std::size_t>(row) + i] = static_cast<float>(values[i] / divisor);
    }
  }
}

// ---- FeatureVectorizer ----

constexpr OpVersion kFeatureVectorizerVersions[] = {
    {1, "X*:T1", "Y:float32", "inputdimensions:ints", "T1=int32|int64|float32|float64"}};

std::vector<std::int64_t> widths(const AttributeView& attributes, std::size_t inputs) {
  auto result = attributes.ints("inputdimensions");
  std::int64_t total = 0;
  if (result.size() != inputs) {
    fail(ErrorKind::kRuntime, "inputdimensions has {} values, expected one for each of {} inputs", result.size(), inputs);
  }
  for (const std::int64_t width : result) {
    if (width < 0 || __builtin_add_overflow(total, width, &total)) fail(ErrorKind::kRuntime, "inputdimensions has {}", width);
  }
  return result;
}

void infer_feature_vectorizer(InferContext& ctx) {
  Dim total(0);
  for (const std::int64_t width : widths(ctx.attributes, ctx.input_count())) total = total + Dim(width);
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, DataType::kFloat32, std::vector<Dim>{shape && !shape->empty() ? (*shape)[0] : Dim(), total});
  if (ctx.explaining) {
    const auto list = widths(ctx.attributes, ctx.input_count());
    ctx.explain(0, 1, terms(std::vector<Dim>(list.begin(), list.end()), " + "));
  }
}

// Rows side by side, each input cut or filled up with zeros to its width. A list is a column.
void run_feature_vectorizer(KernelContext& ctx) {
  const auto width = widths(ctx.attributes, ctx.input_count());
  std::int64_t total = 0;
  for (const std::int64_t w : width) total += w;
  const std::int64_t rows = ctx.input(0).rank() == 0 ? 1 : ctx.input(0).shape()[0];
  Tensor& out = ctx.output(0, DataType::kFloat32, {rows, total});
  std::ranges::fill(out.mutable_data<float>(), 0.0f);
  std::int64_t column = 0;
  for (std::size_t i = 0; i < width.size(); ++i) {
    const Tensor x = as_float32(ctx.input(i));
    if (x.rank() < 1 || x.rank() > 2 || x.shape()[0] != rows) {
      fail(ErrorKind::kRuntime, "input {} has shape {}, expected {} rows", i, to_string(x.shape()), rows);
    }
    const std::int64_t have = x.rank() == 1 ? 1 : x.shape()[1], kept = std::min(have, width[i]);
    for (std::int64_t r = 0; r < rows; ++r) {
      std::copy_n(x.data<float>().data() + r * have, kept, out.mutable_data<float>().data() + r * total + column);
    }
    column += width[i];
  }
}

}  // namespace

extern const OpDef kArrayFeatureExtractor;
const OpDef kArrayFeatureExtractor = {
    .domain = "ai.onnx.ml",
    .type = "ArrayFeatureExtractor",
    .summary = "Picks features, positions of the last axis, by index.",
    .versions = kArrayFeatureExtractorVersions,
    .infer = infer_array_feature_extractor,
    .run = run_array_feature_extractor,
};

extern const OpDef kBinarizer;
const OpDef kBinarizer = {
    .domain = "ai.onnx.ml",
    .type = "Binarizer",
    .summary = "1 where an element is above the threshold, else 0.",
    .versions = kBinarizerVersions,
    .infer = infer_same_type,
    .run = run_binarizer,
};

extern const OpDef kImputer;
const OpDef kImputer = {
    .domain = "ai.onnx.ml",
    .type = "Imputer",
    .summary = "Replaces one value, such as NaN, by another, which may differ from feature to feature.",
    .versions = kImputerVersions,
    .infer = infer_same_type,
    .run = run_imputer,
};

extern const OpDef kScaler;
const OpDef kScaler = {
    .domain = "ai.onnx.ml",
    .type = "Scaler",
    .summary = "(x - offset) * scale, feature by feature.",
    .versions = kScalerVersions,
    .infer = infer_float32,
    .run = run_scaler,
};

extern const OpDef kNormalizer;
const OpDef kNormalizer = {
    .domain = "ai.onnx.ml",
    .type = "Normalizer",
    .summary = "Divides each row by its largest absolute value, its L1 or its L2 norm.",
    .versions = kNormalizerVersions,
    .infer = infer_float32,
    .run = run_normalizer,
};

extern const OpDef kFeatureVectorizer;
const OpDef kFeatureVectorizer = {
    .domain = "ai.onnx.ml",
    .type = "FeatureVectorizer",
    .summary = "Puts the features of its inputs side by side as float32.",
    .versions = kFeatureVectorizerVersions,
    .infer = infer_feature_vectorizer,
    .run = run_feature_vectorizer,
};

}  // namespace lppool
