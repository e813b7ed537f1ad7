// LayerNormalization and RMSNormalization: rows of the axes from `axis` on are normalised, then scaled by tensors that
// broadcast to X. 16-bit floats are computed in float32 throughout and rounded once, for every stash_type.
#include <algorithm>
#include <cmath>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/compute_type.h"
#include "lppool/ops/moments.h"

namespace lppool {
namespace {

constexpr OpVersion kLayerVersions[] = {
    {17, "X:T Scale:T B?:T", "Y:T Mean?:U InvStdDev?:U", "axis:int=-1 epsilon:float=1e-05 stash_type:int=1",
     "T=floats|bfloat16; U=float32|bfloat16"},
};

constexpr OpVersion kRmsVersions[] = {
    {23, "X:T scale:V", "Y:V", "axis:int=-1 epsilon:float=1e-05 stash_type:int=1", "T=floats|bfloat16; V=floats|bfloat16"},
};

// The type that stash_type names: that of the statistics.
DataType stash_dtype(const AttributeView& attributes) {
  const std::int64_t stash = attributes.i("stash_type");
  for (const DataType dtype : {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16, DataType::kBFloat16}) {
    if (stash == static_cast<std::int64_t>(dtype)) return dtype;
  }
  fail(ErrorKind::kUnsupported, "stash_type is {}, expected the number of a floating-point type", stash);
}

void infer_layer(InferContext& context) {
  const ValueType& x = context.input(0);
  context.set_output(0, x.dtype, x.shape);
  std::optional<std::vector<Dim>> rows;
  if (x.shape) {
    const std::size_t axis = normalize_axis(context.attributes.i("axis"), x.shape->size());
    rows = x.shape;
    std::fill(rows->begin() + static_cast<std::ptrdiff_t>(axis), rows->end(), Dim(1));
  }
  for (const std::size_t i : {1, 2}) {
    context.set_output(i, stash_dtype(context.attributes), rows);
    if (!rows || !context.explaining) continue;
    for (std::size_t k = normalize_axis(context.attributes.i("axis"), rows->size()); k < rows->size(); ++k) context.explain(i, k, "1 (normalised)");
  }
}

void infer_rms(InferContext& context) {
  const ValueType& x = context.input(0);
  if (x.shape) normalize_axis(context.attributes.i("axis"), x.shape->size());
  context.set_output(0, context.input(1).dtype, x.shape);
}

// A tensor that broadcasts to X, as a full row of the normalised axes for any row of X. Where it differs between rows it is
// spread over all of X.
template <typename T>
class RowTerms {
 public:
  RowTerms(const Tensor& tensor, const Shape& shape, std::size_t axis, const char* what) {
    const Tensor wide = as_compute<T>(tensor);
    if (wide.rank() > shape.rank()) refuse(tensor, shape, what);
    std::vector<std::int64_t> sizes(shape.rank() - wide.rank(), 1);
    sizes.insert(sizes.end(), wide.shape().begin(), wide.shape().end());
    const std::vector<std::int64_t> strides = Shape(sizes).strides();
    std::size_t from = axis;
    for (std::size_t a = 0; a < shape.rank(); ++a) {
      if (sizes[a] != 1 && sizes[a] != shape[a]) refuse(tensor, shape, what);
      if (a < axis && sizes[a] != 1) from = 0;
    }
    by_row_ = from == 0 && axis > 0;
    row_ = shape.elements(axis, shape.rank());
    const std::int64_t count = shape.elements(from, shape.rank());
    values_ = Tensor::allocate(type_of<T>(), Shape{count});
    const auto data = wide.data<T>();
    const auto out = values_.template mutable_data<T>();
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = i, index = 0;
      for (std::size_t a = shape.rank(); a-- > from;) {
        if (sizes[a] != 1) index += rest % shape[a] * strides[a];
        rest /= shape[a];
      }
      out[static_cast<std::size_t>(i)] = data[static_cast<std::size_t>(index)];
    }
  }
  const T* row(std::int64_t r) const { return values_.template data<T>().data() + (by_row_ ? r * row_ : 0); }

 private:
  [[noreturn]] static void refuse(const Tensor& tensor, const Shape& shape, const char* what) {
    fail(ErrorKind::kRuntime, "{} has shape {}, which does not broadcast to {}", what, to_string(tensor.shape()),
         to_string(shape));
  }
  Tensor values_;
  bool by_row_ = false;
  std::int64_t row_ = 0;
};

// Y = (X - mean) / spread * scale + bias for each row; statistics(row, n) gives mean and spread.
template <typename T, typename Statistics, typename Record>
void normalize_rows(KernelContext& context, DataType dtype, std::size_t axis, Statistics&& statistics, Record&& record) {
  const Tensor x = as_compute<T>(context.input(0));
  const Shape& shape = x.shape();
  const RowTerms<T> scale(context.input(1), shape, axis, "the scale");
  std::optional<RowTerms<T>> bias;
  if (context.has_input(2)) bias.emplace(context.input(2), shape, axis, "the bias");
  ComputedOutput<T> y(context, 0, dtype, shape);
  const std::int64_t rows = shape.elements(0, axis), size = shape.elements(axis, shape.rank());
  const T* from = x.data<T>().data();
  T* to = y.data();
  const std::int64_t grain = std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(size, 1));
  context.threads().parallel_for(size == 0 ? 0 : rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const T* in = from + r * size;
      T* out = to + r * size;
      const auto [mean, spread] = statistics(in, size);
      record(r, mean, spread);
      const T middle = static_cast<T>(mean), factor = static_cast<T>(1 / spread);
      const T* factors = scale.row(r);
      if (bias) {
        const T* terms = bias->row(r);
        for (std::int64_t i = 0; i < size; ++i) out[i] = (in[i] - middle) * factor * factors[i] + terms[i];
      } else {
        for (std::int64_t i = 0; i < size; ++i) out[i] = (in[i] - middle) * factor * factors[i];
      }
    }
  });
  y.finish();
}

struct Statistics {
  double mean, spread;
};

template <typename T>
void layer_norm(KernelContext& context, std::size_t axis) {
  const Shape& shape = context.input(0).shape();
  const auto epsilon = static_cast<double>(context.attributes.f("epsilon"));
  std::vector<double> means, inverses;
  if (context.wants_output(1)) means.resize(static_cast<std::size_t>(shape.elements(0, axis)));
  if (context.wants_output(2)) inverses.resize(static_cast<std::size_t>(shape.elements(0, axis)));
  normalize_rows<T>(
      context, context.input(0).dtype(), axis,
      [&](const T* row, std::int64_t n) {
        const Moments moments = moments_of(row, n);
        return Statistics{moments.mean, std::sqrt(moments.variance + epsilon)};
      },
      [&](std::int64_t row, double mean, double spread) {
        if (!means.empty()) means[static_cast<std::size_t>(row)] = mean;
        if (!inverses.empty()) inverses[static_cast<std::size_t>(row)] = 1 / spread;
      });
  Shape reduced = shape;
  for (std::size_t a = axis; a < reduced.rank(); ++a) reduced[a] = 1;
  const DataType stash = stash_dtype(context.attributes);
  if (context.wants_output(1)) store(std::span<const double>(means), context.output(1, stash, reduced));
  if (context.wants_output(2)) store(std::span<const double>(inverses), context.output(2, stash, reduced));
}

template <typename T>
void rms_norm(KernelContext& context, std::size_t axis) {
  const auto epsilon = static_cast<double>(context.attributes.f("epsilon"));
  normalize_rows<T>(
      context, context.input(1).dtype(), axis,
      [&](const T* row, std::int64_t n) {
        const double squares = sum_over(n, [row](std::int64_t i) {
          const auto value = static_cast<double>(row[i]);
          return value * value;
        });
        return Statistics{0, std::sqrt(squares / static_cast<double>(n) + epsilon)};
      },
      [](std::int64_t, double, double) {});
}

void run_layer(KernelContext& context) {
  const std::size_t axis = normalize_axis(context.attributes.i("axis"), context.input(0).rank());
  stash_dtype(context.attributes);
  with_compute_type(context.input(0).dtype(), [&](auto zero) { layer_norm<decltype(zero)>(context, axis); });
}

void run_rms(KernelContext& context) {
  const std::size_t axis = normalize_axis(context.attributes.i("axis"), context.input(0).rank());
  stash_dtype(context.attributes);
  with_compute_type(context.input(0).dtype() == DataType::kFloat64 ? DataType::kFloat64 : context.input(1).dtype(),
                    [&](auto zero) { rms_norm<decltype(zero)>(context, axis); });
}

}  // namespace

extern const OpDef kLayerNormalization;
const OpDef kLayerNormalization = {
    .domain = "",
    .type = "LayerNormalization",
    .summary = "Brings each row of the axes from `axis` on to mean 0 and variance 1, then scales it and adds B; the means and the "
               "inverse standard deviations are outputs of their own.",
    .versions = kLayerVersions,
    .infer = infer_layer,
    .run = run_layer,
    .facts = {.function = true},
};

extern const OpDef kRMSNormalization;
const OpDef kRMSNormalization = {
    .domain = "",
    .type = "RMSNormalization",
    .summary = "Divides each row of the axes from `axis` on by its root mean square, then scales it.",
    .versions = kRmsVersions,
    .infer = infer_rms,
    .run = run_rms,
    .facts = {.function = true},
};

}  // namespace lppool
