// BatchNormalization. Which statistics count depends on the version: 1 and 6 use the batch's unless is_test is set, 7 and 9
// where the node has more than one output, 14 and 15 where training_mode is set. Versions 1 to 7 know spatial = 0: statistics
// for each element of an image instead of each channel.
#include <fmt/format.h>

#include <any>
#include <cmath>
#include <memory>

#include "lppool/base/thread_pool.h"
#include "lppool/kernels/channel_blocks.h"
#include "lppool/ops/compute_type.h"
#include "lppool/ops/moments.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X:T scale:T B:T mean:T var:T", "Y:T mean?:T var?:T saved_mean?:T saved_var?:T",
     "consumed_inputs!:ints epsilon:float=1e-05 is_test:int=0 momentum:float=0.9 spatial:int=1", "T=floats"},
    {6, "X:T scale:T B:T mean:T var:T", "Y:T mean?:T var?:T saved_mean?:T saved_var?:T",
     "epsilon:float=1e-05 is_test:int=0 momentum:float=0.9 spatial:int=1", "T=floats"},
    {7, "X:T scale:T B:T mean:T var:T", "Y:T mean?:T var?:T saved_mean?:T saved_var?:T",
     "epsilon:float=1e-05 momentum:float=0.9 spatial:int=1", "T=floats"},
    {9, "X:T scale:T B:T mean:T var:T", "Y:T mean?:T var?:T saved_mean?:T saved_var?:T",
     "epsilon:float=1e-05 momentum:float=0.9", "T=floats"},
    {14, "X:T scale:T B:T input_mean:U input_var:U", "Y:T running_mean?:U running_var?:U",
     "epsilon:float=1e-05 momentum:float=0.9 training_mode:int=0", "T=floats|bfloat16; U=floats|bfloat16"},
    {15, "X:T scale:T1 B:T1 input_mean:T2 input_var:T2", "Y:T running_mean?:T2 running_var?:T2",
     "epsilon:float=1e-05 momentum:float=0.9 training_mode:int=0",
     "T=floats|bfloat16; T1=floats|bfloat16; T2=floats|bfloat16"},
};

void infer(InferContext& context) {
  const ValueType& x = context.input(0);
  context.set_output(0, x.dtype, x.shape);
  const DataType dtype = context.since_version() >= 14 ? context.input(3).dtype : x.dtype;
  for (std::size_t i = 1; i < context.output_count(); ++i) {
    const std::size_t like = i % 2 == 1 ? 3 : 4;  // means have the shape of the given mean, variances that of the variance
    context.set_output(i, dtype, context.input(like).shape);
  }
}

bool is_training(const KernelContext& context) {
  const int version = context.since_version();
  if (version >= 14) return context.attributes.i("training_mode") != 0;
  if (version >= 7) return context.output_count() > 1;
  return context.attributes.i("is_test") == 0;
}

// x as images x lines x size: a line is what one mean and variance are for.
struct Layout {
  std::int64_t images = 1, lines = 1, size = 1;
};

Layout layout_of(const KernelContext& context) {
  const Shape& shape = context.input_shape(0);
  const bool spatial = context.since_version() > 7 || context.attributes.i("spatial") != 0;
  Layout layout;
  if (shape.rank() == 0) fail(ErrorKind::kRuntime, "X is a scalar, expected N x C x spatial axes");
  layout.images = shape[0];
  if (shape.rank() == 1) return layout;  // N numbers of one channel
  layout.lines = spatial ? shape[1] : shape.elements(1, shape.rank());
  layout.size = spatial ? shape.elements(2, shape.rank()) : 1;
  return layout;
}

// Moments of each line over all images.
template <typename T>
std::vector<Moments> batch_moments(const T* x, const Layout& layout) {
  std::vector<Moments> moments(static_cast<std::size_t>(layout.lines));
  const auto count = static_cast<double>(layout.images) * static_cast<double>(layout.size);
  for (std::int64_t line = 0; line < layout.lines; ++line) {
    const auto over_images = [&](auto&& body) {
      double sum = 0;
      for (std::int64_t n = 0; n < layout.images; ++n) {
        const T* row = x + (n * layout.lines + line) * layout.size;
        sum += sum_over(layout.size, [&](std::int64_t i) { return body(static_cast<double>(row[i])); });
      }
      return sum / count;
    };
    Moments& m = moments[static_cast<std::size_t>(line)];
    m.mean = over_images([](double v) { return v; });
    m.variance = over_images([&m](double v) { return (v - m.mean) * (v - m.mean); });
  }
  return moments;
}

std::vector<double> numbers(const Tensor& tensor, std::int64_t lines, const char* what) {
  if (tensor.size() != lines) {
    fail(ErrorKind::kRuntime, "{} has shape {}, expected {} elements", what, to_string(tensor.shape()), lines);
  }
  const Tensor wide = as_float64(tensor);
  const auto data = wide.data<double>();
  return {data.begin(), data.end()};
}

void store_statistics(KernelContext& context, std::size_t output, const Tensor& like, const std::vector<double>& values) {
  if (!context.wants_output(output)) return;
  store(std::span<const double>(values), context.output(output, like.dtype(), like.shape()));
}

// The second to fifth output of training: running statistics, then (before version 14) the batch's own.
void store_training_outputs(KernelContext& context, const std::vector<Moments>& batch, const std::vector<double>& mean,
                            const std::vector<double>& variance) {
  const auto momentum = static_cast<double>(context.attributes.f("momentum"));
  std::vector<double> running_mean, running_variance, saved_mean, saved_variance;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    saved_mean.push_back(batch[i].mean);
    saved_variance.push_back(batch[i].variance);
    running_mean.push_back(mean[i] * momentum + batch[i].mean * (1 - momentum));
    running_variance.push_back(variance[i] * momentum + batch[i].variance * (1 - momentum));
  }
  store_statistics(context, 1, context.input(3), running_mean);
  store_statistics(context, 2, context.input(4), running_variance);
  store_statistics(context, 3, context.input(3), saved_mean);
  store_statistics(context, 4, context.input(4), saved_variance);
}

// y = (x - mean) * factor + term for each line.
template <typename T>
struct Scaling {
  std::vector<T> mean, factor, term;
};

// x is read in training only.
template <typename T>
Scaling<T> compute_scaling(KernelContext& context, const Layout& layout, const T* x) {
  const std::vector<double> scale = numbers(context.input(1), layout.lines, "scale");
  const std::vector<double> bias = numbers(context.input(2), layout.lines, "B");
  const std::vector<double> mean = numbers(context.input(3), layout.lines, "the mean");
  const std::vector<double> variance = numbers(context.input(4), layout.lines, "the variance");
  std::vector<Moments> moments(mean.size());
  for (std::size_t i = 0; i < mean.size(); ++i) moments[i] = {mean[i], variance[i]};
  if (is_training(context)) {
    moments = batch_moments(x, layout);
    store_training_outputs(context, moments, mean, variance);
  }
  const auto epsilon = static_cast<double>(context.attributes.f("epsilon"));
  Scaling<T> scaling;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    scaling.mean.push_back(static_cast<T>(moments[i].mean));
    scaling.factor.push_back(static_cast<T>(scale[i] / std::sqrt(moments[i].variance + epsilon)));
    scaling.term.push_back(static_cast<T>(bias[i]));
  }
  return scaling;
}

// The same, kept for the next run where it cannot change.
template <typename T>
std::shared_ptr<const Scaling<T>> scaling_of(KernelContext& context, const Layout& layout, const T* x) {
  using Kept = std::shared_ptr<const Scaling<T>>;
  bool constant = !is_training(context);
  for (std::size_t i = 1; i < 5 && constant; ++i) constant = context.is_constant(i);
  if (!constant) return std::make_shared<Scaling<T>>(compute_scaling(context, layout, x));
  const Kept* kept = std::any_cast<Kept>(&context.state());
  if (kept == nullptr || std::ssize((*kept)->mean) != layout.lines) {
    context.state() = Kept(std::make_shared<Scaling<T>>(compute_scaling(context, layout, x)));
    kept = std::any_cast<Kept>(&context.state());
  }
  return *kept;
}

template <typename T>
void normalize(KernelContext& context, const Layout& layout) {
  const Tensor x = as_compute<T>(context.input(0));
  const auto kept = scaling_of(context, layout, x.data<T>().data());
  const Scaling<T>& scaling = *kept;
  const DataType dtype = context.input(0).dtype();
  const bool narrow = dtype != type_of<T>();
  Tensor wide = narrow ? Tensor::allocate(type_of<T>(), x.shape()) : Tensor();
  Tensor& y = narrow ? context.output(0, dtype, x.shape()) : context.output_in_place(0, 0, dtype, x.shape());
  const T* from = x.data<T>().data();
  T* to = (narrow ? wide : y).template mutable_data<T>().data();
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(layout.size, 1));
  context.threads().parallel_for(layout.images * layout.lines, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const auto line = static_cast<std::size_t>(plane % layout.lines);
      const std::int64_t at = plane * layout.size;
      scale_row(from + at, to + at, layout.size, scaling.mean[line], scaling.factor[line], scaling.term[line]);
    }
  });
  if (narrow) store(std::span<const T>(wide.data<T>()), y);
}

// Inference on blocks of channels.
void normalize_packed(KernelContext& context, const Layout& layout) {
  const auto scaling = scaling_of<float>(context, layout, nullptr);
  PackedTensor& x = context.inputs[0].packed();
  const bool in_place = x.blocks.is_unique();
  PackedTensor y = in_place ? x : PackedTensor::allocate(x.shape, x.block());
  kernels::scale_blocks(x.blocks.data<float>().data(), y.blocks.mutable_data<float>().data(), x.images() * x.groups(), x.size(),
                        x.block(), scaling->mean, scaling->factor, scaling->term, context.threads());
  context.set_output(0, Value(std::move(y)));
}

void run(KernelContext& context) {
  if (is_training(context)) context.unpack_input(0);
  const Layout layout = layout_of(context);
  if (context.packed_input(0) != nullptr) {
    if (layout.size == context.packed_input(0)->size()) return normalize_packed(context, layout);
    context.unpack_input(0);  // statistics for each element of an image
  }
  with_compute_type(context.input(0).dtype(), [&](auto zero) { normalize<decltype(zero)>(context, layout); });
}

}  // namespace

extern const OpDef kBatchNormalization;
const OpDef kBatchNormalization = {
    .domain = "",
    .type = "BatchNormalization",
    .summary = "(X - mean) / sqrt(variance + epsilon) * scale + B for each channel, with the given statistics or, in training, "
               "with those of the batch, which are then blended into the running ones.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .packed = PackedUse::kOwn,
};

}  // namespace lppool
