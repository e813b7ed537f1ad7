// RandomNormal, RandomUniform, their Like forms, Multinomial and Bernoulli. Numbers come from a generator of our own and
// are the same on every platform and with any number of threads. A node with a `seed` draws from that; one without draws
// from its output's name, so that nodes differ and a model gives the same numbers each time it is loaded. Further runs of a
// node (the next round of a loop) go on where the last one stopped.
#include <algorithm>
#include <bit>
#include <cmath>

#include "lppool/ops/contents.h"
#include "lppool/ops/generator.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"
#include "lppool/ops/scalars.h"

namespace lppool {
namespace {

constexpr OpVersion kRandomNormalVersions[] = {
    {1, "", "output:T", "dtype:int=1 mean:float=0.0 scale:float=1.0 seed:float shape!:ints", "T=floats"},
    {22, "", "output:T", "dtype:int=1 mean:float=0.0 scale:float=1.0 seed:float shape!:ints", "T=floats|bfloat16"},
};
constexpr OpVersion kRandomNormalLikeVersions[] = {
    {1, "input:T1", "output:T2", "dtype:int mean:float=0.0 scale:float=1.0 seed:float", "T1=all15; T2=floats"},
    {22, "input:T1", "output:T2", "dtype:int mean:float=0.0 scale:float=1.0 seed:float", "T1=all16; T2=floats|bfloat16"},
};
constexpr OpVersion kRandomUniformVersions[] = {
    {1, "", "output:T", "dtype:int=1 high:float=1.0 low:float=0.0 seed:float shape!:ints", "T=floats"},
    {22, "", "output:T", "dtype:int=1 high:float=1.0 low:float=0.0 seed:float shape!:ints", "T=floats|bfloat16"},
};
constexpr OpVersion kRandomUniformLikeVersions[] = {
    {1, "input:T1", "output:T2", "dtype:int high:float=1.0 low:float=0.0 seed:float", "T1=all15; T2=floats"},
    {22, "input:T1", "output:T2", "dtype:int high:float=1.0 low:float=0.0 seed:float", "T1=all16; T2=floats|bfloat16"},
};
constexpr OpVersion kMultinomialVersions[] = {
    {7, "input:T1", "output:T2", "dtype:int=6 sample_size:int=1 seed:float", "T1=floats; T2=int32|int64"},
    {22, "input:T1", "output:T2", "dtype:int=6 sample_size:int=1 seed:float", "T1=floats|bfloat16; T2=int32|int64"},
};
constexpr OpVersion kBernoulliVersions[] = {
    {15, "input:T1", "output:T2", "dtype:int seed:float", "T1=floats; T2=num12|bool"},
    {22, "input:T1", "output:T2", "dtype:int seed:float", "T1=floats|bfloat16; T2=num12|bool"},
};

std::uint64_t hash(std::string_view text) {  // FNV-1a
  std::uint64_t result = 0xcbf29ce484222325u;
  for (const char c : text) result = (result ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return result;
}

Generator& generator(KernelContext& ctx) {
  if (!ctx.state().has_value()) {
    const Node& node = ctx.attributes.node();
    const std::uint64_t seed = ctx.attributes.has("seed") ? std::bit_cast<std::uint32_t>(ctx.attributes.f("seed"))
                                                          : hash(node.outputs.empty() ? node.name : node.outputs[0]);
    ctx.state() = Generator(seed);
  }
  return *std::any_cast<Generator>(&ctx.state());
}

// ---- uniform and normal tensors ----

DataType float_type(const AttributeView& attributes, DataType otherwise) {
  const DataType dtype = attributes.has("dtype") || attributes.schema().find_attribute("dtype")->default_value
                             ? dtype_attribute(attributes.i("dtype"), "dtype")
                             : otherwise;
  return dtype;
}

Shape shape_attribute(const AttributeView& attributes) {
  Shape shape(attributes.ints("shape"));
  for (const std::int64_t dim : shape) {
    if (dim < 0) fail(ErrorKind::kRuntime, "shape {} has a negative size", to_string(shape));
  }
  return shape;
}

void infer_random(InferContext& ctx) {
  const Shape shape = shape_attribute(ctx.attributes);
  ctx.set_output(0, float_type(ctx.attributes, DataType::kFloat32), std::vector<Dim>(shape.begin(), shape.end()));
  for (std::size_t k = 0; k < shape.rank() && ctx.explaining; ++k) ctx.explain(0, k, fmt::format("attribute shape[{}]", k));
}

void infer_random_like(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, float_type(ctx.attributes, ctx.input(0).dtype), shape ? std::optional(*shape) : std::nullopt);
}

template <typename F>
void draw_floats(KernelContext& ctx, DataType dtype, Shape shape, F&& draw) {
  const auto write = [&](auto tag) {
    using T = decltype(tag);
    for (T& value : ctx.output(0, dtype, std::move(shape)).mutable_data<T>()) value = draw(tag);
  };
  switch (dtype) {
    case DataType::kFloat32: return write(float{});
    case DataType::kFloat64: return write(double{});
    case DataType::kFloat16: return write(Float16{});
    case DataType::kBFloat16: return write(BFloat16{});
    default: fail(ErrorKind::kUnsupported, "random numbers of type {}, supported for floating-point types", name(dtype));
  }
}

void draw_normal(KernelContext& ctx, DataType dtype, Shape shape) {
  const double mean = ctx.attributes.f("mean"), scale = ctx.attributes.f("scale");
  Generator& random = generator(ctx);
  draw_floats(ctx, dtype, std::move(shape), [&](auto tag) {
    using T = decltype(tag);
    return static_cast<T>(mean + scale * random.normal());
  });
}

void draw_uniform(KernelContext& ctx, DataType dtype, Shape shape) {
  const double low = ctx.attributes.f("low"), high = ctx.attributes.f("high");
  Generator& random = generator(ctx);
  draw_floats(ctx, dtype, std::move(shape), [&](auto tag) {
    using T = decltype(tag);
    // Rounding may reach the upper end, which does not belong to the range: such draws are taken again (a few times, for
    // a range that holds no other number of the type).
    T value = static_cast<T>(low + (high - low) * random.uniform());
    for (int attempt = 0; attempt < 20 && static_cast<double>(value) >= high && low < high; ++attempt) {
      value = static_cast<T>(low + (high - low) * random.uniform());
    }
    return value;
  });
}

void run_random_normal(KernelContext& ctx) {
  draw_normal(ctx, float_type(ctx.attributes, DataType::kFloat32), shape_attribute(ctx.attributes));
}
void run_random_uniform(KernelContext& ctx) {
  draw_uniform(ctx, float_type(ctx.attributes, DataType::kFloat32), shape_attribute(ctx.attributes));
}
void run_random_normal_like(KernelContext& ctx) {
  const Tensor& like = ctx.input(0);
  draw_normal(ctx, float_type(ctx.attributes, like.dtype()), like.shape());
}
void run_random_uniform_like(KernelContext& ctx) {
  const Tensor& like = ctx.input(0);
  draw_uniform(ctx, float_type(ctx.attributes, like.dtype()), like.shape());
}

// The elements of a floating-point tensor as doubles, one by one.
template <typename F>
void visit_floats(const Tensor& tensor, F&& f) {
  switch (tensor.dtype()) {
    case DataType::kFloat32: return f([values = tensor.data<float>()](std::size_t i) { return static_cast<double>(values[i]); });
    case DataType::kFloat64: return f([values = tensor.data<double>()](std::size_t i) { return values[i]; });
    case DataType::kFloat16: return f([values = tensor.data<Float16>()](std::size_t i) { return static_cast<double>(values[i]); });
    case DataType::kBFloat16: return f([values = tensor.data<BFloat16>()](std::size_t i) { return static_cast<double>(values[i]); });
    default: fail(ErrorKind::kRuntime, "input is {}, expected a floating-point type", name(tensor.dtype()));
  }
}

// ---- Multinomial ----

DataType sample_type(const AttributeView& attributes) {
  const DataType dtype = dtype_attribute(attributes.i("dtype"), "dtype");
  if (dtype != DataType::kInt32 && dtype != DataType::kInt64) {
    fail(ErrorKind::kRuntime, "attribute 'dtype' is {}, expected int32 or int64", name(dtype));
  }
  return dtype;
}

std::int64_t sample_size(const AttributeView& attributes) {
  const std::int64_t size = attributes.i("sample_size");
  if (size < 0) fail(ErrorKind::kRuntime, "sample_size is {}, expected 0 or more", size);
  return size;
}

void infer_multinomial(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape != nullptr && shape->size() != 2) fail(ErrorKind::kRuntime, "input has shape {}, expected rank 2", to_string(*shape));
  ctx.set_output(0, sample_type(ctx.attributes),
                 std::vector<Dim>{shape ? (*shape)[0] : Dim(), Dim(sample_size(ctx.attributes))});
  ctx.explain(0, 1, "attribute sample_size");
}

// Inverts the distribution function of each row: weights are e^(x - the row's maximum).
void run_multinomial(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  if (data.rank() != 2) fail(ErrorKind::kRuntime, "input has shape {}, expected rank 2", to_string(data.shape()));
  const std::int64_t rows = data.shape()[0], classes = data.shape()[1], samples = sample_size(ctx.attributes);
  const DataType dtype = sample_type(ctx.attributes);
  Tensor& out = ctx.output(0, dtype, {rows, samples});
  if (out.size() == 0) return;
  if (classes == 0) fail(ErrorKind::kRuntime, "input has shape {}, expected one class or more", to_string(data.shape()));
  Generator& random = generator(ctx);
  std::vector<double> sums(static_cast<std::size_t>(classes));
  visit_floats(data, [&](auto value) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto logit = [&](std::int64_t c) { return value(static_cast<std::size_t>(r * classes + c)); };
      double most = logit(0);
      for (std::int64_t c = 0; c < classes; ++c) most = std::max(most, logit(c));
      double sum = 0;
      for (std::int64_t c = 0; c < classes; ++c) sums[static_cast<std::size_t>(c)] = sum += portable_exp(logit(c) - most);
      if (!(sum > 0) || !std::isfinite(most)) fail(ErrorKind::kRuntime, "row {} of the input is no distribution", r);
      for (std::int64_t s = 0; s < samples; ++s) {
        const auto found = std::ranges::upper_bound(sums, random.uniform() * sum);
        const std::int64_t outcome = std::min<std::int64_t>(found - sums.begin(), classes - 1);
        const auto place = static_cast<std::size_t>(r * samples + s);
        if (dtype == DataType::kInt64) out.mutable_data<std::int64_t>()[place] = outcome;
        else out.mutable_data<std::int32_t>()[place] = static_cast<std::int32_t>(outcome);
      }
    }
  });
}

// ---- Bernoulli ----

void infer_bernoulli(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  const DataType dtype =
      ctx.attributes.has("dtype") ? dtype_attribute(ctx.attributes.i("dtype"), "dtype") : ctx.input(0).dtype;
  ctx.set_output(0, dtype, shape ? std::optional(*shape) : std::nullopt);
}

void run_bernoulli(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const DataType dtype = ctx.attributes.has("dtype") ? dtype_attribute(ctx.attributes.i("dtype"), "dtype") : data.dtype();
  const Tensor zero = number_of(dtype, 0, "Bernoulli"), one = number_of(dtype, 1, "Bernoulli");
  Tensor& out = ctx.output(0, dtype, data.shape());
  Generator& random = generator(ctx);
  visit_floats(data, [&](auto value) {
    for (std::int64_t i = 0; i < out.size(); ++i) {
      const double p = value(static_cast<std::size_t>(i));
      if (!(p >= 0 && p <= 1)) fail(ErrorKind::kRuntime, "a probability is {}, expected 0 to 1", p);
      copy_run(random.uniform() < p ? one : zero, 0, out, i, 1);
    }
  });
}

}  // namespace

extern const OpDef kRandomNormal;
const OpDef kRandomNormal = {
    .domain = "",
    .type = "RandomNormal",
    .summary = "A tensor of the given shape, drawn from a normal distribution.",
    .versions = kRandomNormalVersions,
    .infer = infer_random,
    .run = run_random_normal,
    .constant_foldable = false,
    .facts = {.random = true},
};

extern const OpDef kRandomNormalLike;
const OpDef kRandomNormalLike = {
    .domain = "",
    .type = "RandomNormalLike",
    .summary = "A tensor of the input's shape, drawn from a normal distribution.",
    .versions = kRandomNormalLikeVersions,
    .infer = infer_random_like,
    .run = run_random_normal_like,
    .constant_foldable = false,
    .facts = {.random = true},
};

extern const OpDef kRandomUniform;
const OpDef kRandomUniform = {
    .domain = "",
    .type = "RandomUniform",
    .summary = "A tensor of the given shape, drawn uniformly from a range.",
    .versions = kRandomUniformVersions,
    .infer = infer_random,
    .run = run_random_uniform,
    .constant_foldable = false,
    .facts = {.random = true},
};

extern const OpDef kRandomUniformLike;
const OpDef kRandomUniformLike = {
    .domain = "",
    .type = "RandomUniformLike",
    .summary = "A tensor of the input's shape, drawn uniformly from a range.",
    .versions = kRandomUniformLikeVersions,
    .infer = infer_random_like,
    .run = run_random_uniform_like,
    .constant_foldable = false,
    .facts = {.random = true},
};

extern const OpDef kMultinomial;
const OpDef kMultinomial = {
    .domain = "",
    .type = "Multinomial",
    .summary = "Draws classes by their unnormalized log-probabilities, a number of times for each row.",
    .versions = kMultinomialVersions,
    .infer = infer_multinomial,
    .run = run_multinomial,
    .constant_foldable = false,
    .facts = {.random = true},
};

extern const OpDef kBernoulli;
const OpDef kBernoulli = {
    .domain = "",
    .type = "Bernoulli",
    .summary = "Draws 1 with the probability each element gives, else 0.",
    .versions = kBernoulliVersions,
    .infer = infer_bernoulli,
    .run = run_bernoulli,
    .constant_foldable = false,
    .facts = {.function = true, .random = true},
};

}  // namespace lppool
