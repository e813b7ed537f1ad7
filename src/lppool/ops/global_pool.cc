// GlobalAveragePool and GlobalMaxPool: one number for each channel of each image.
#include "lppool/base/thread_pool.h"
#include "lppool/ops/compute_type.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X:T", "Y:T", "", "T=floats"},
    {22, "X:T", "Y:T", "", "T=floats|bfloat16"},
};

void check_rank(std::size_t rank) {
  if (rank < 2) fail(ErrorKind::kRuntime, "the input has rank {}, expected 2 or more: N, C and spatial axes", rank);
}

void infer(InferContext& context) {
  const DataType dtype = context.input(0).dtype;
  context.set_output(0, dtype, std::nullopt);
  const std::vector<Dim>* shape = context.shape(0);
  if (shape == nullptr) return;
  check_rank(shape->size());
  std::vector<Dim> dims(shape->size(), Dim(1));
  dims[0] = (*shape)[0];
  dims[1] = (*shape)[1];
  for (std::size_t i = 2; i < dims.size(); ++i) context.explain(0, i, "1 (the whole axis is one window)");
  context.set_output(0, dtype, std::move(dims));
}

// The sum in double, in eight interleaved parts.
template <typename T>
double sum_of(const T* x, std::int64_t n) {
  constexpr std::int64_t kParts = 8;
  double parts[kParts] = {};
  std::int64_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (std::int64_t p = 0; p < kParts; ++p) parts[p] += static_cast<double>(x[i + p]);
  }
  double sum = 0;
  for (; i < n; ++i) sum += static_cast<double>(x[i]);
  for (const double part : parts) sum += part;
  return sum;
}

template <typename T>
T mean_of(const T* x, std::int64_t n) {
  return static_cast<T>(sum_of(x, n) / static_cast<double>(n));
}

template <typename T>
T max_of(const T* x, std::int64_t n) {
  T best = x[0];
  for (std::int64_t i = 1; i < n; ++i) best = x[i] > best || x[i] != x[i] ? x[i] : best;
  return best;
}

// The same sum for each channel of a block.
void mean_of_block(const float* x, float* y, std::int64_t size, std::int64_t block) {
  constexpr std::int64_t kParts = 8;
  const std::int64_t whole = size / kParts * kParts;
  std::vector<double> parts(static_cast<std::size_t>(kParts * block), 0.0);
  for (std::int64_t i = 0; i < whole; ++i) {
    double* part = parts.data() + i % kParts * block;
    for (std::int64_t c = 0; c < block; ++c) part[c] += static_cast<double>(x[i * block + c]);
  }
  for (std::int64_t c = 0; c < block; ++c) {
    double sum = 0;
    for (std::int64_t i = whole; i < size; ++i) sum += static_cast<double>(x[i * block + c]);
    for (std::int64_t p = 0; p < kParts; ++p) sum += parts[static_cast<std::size_t>(p * block + c)];
    y[c] = static_cast<float>(sum / static_cast<double>(size));
  }
}

void run_packed_average(KernelContext& context, const PackedTensor& x) {
  Shape shape(std::vector<std::int64_t>(x.shape.rank(), 1));
  shape[0] = x.shape[0];
  shape[1] = x.shape[1];
  const std::int64_t size = x.size(), block = x.block();
  if (shape.elements() > 0 && size == 0) fail(ErrorKind::kUnsupported, "the spatial axes are empty, so that there is nothing to pool");
  // Blocks of single elements are those elements in plain order.
  float* y = context.output(0, DataType::kFloat32, shape).mutable_data<float>().data();
  const float* from = x.blocks.data<float>().data();
  context.threads().parallel_for(x.images() * x.groups(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g) mean_of_block(from + g * size * block, y + g * block, size, block);
  });
}

template <typename Reduce>
void run(KernelContext& context, Reduce reduce) {
  const Tensor& x = context.input(0);
  check_rank(x.rank());
  Shape shape(std::vector<std::int64_t>(x.rank(), 1));
  shape[0] = x.shape()[0];
  shape[1] = x.shape()[1];
  const std::int64_t planes = shape.elements(), size = x.shape().elements(2, x.rank());
  if (planes > 0 && size == 0) fail(ErrorKind::kUnsupported, "the spatial axes are empty, so that there is nothing to pool");
  with_compute_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Tensor wide = as_compute<T>(x);
    ComputedOutput<T> y(context, 0, x.dtype(), shape);
    const T* from = wide.data<T>().data();
    T* to = y.data();
    context.threads().parallel_for(planes, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t plane = begin; plane < end; ++plane) to[plane] = reduce(from + plane * size, size);
    });
    y.finish();
  });
}

void run_average(KernelContext& context) {
  if (const PackedTensor* packed = context.packed_input(0)) return run_packed_average(context, *packed);
  run(context, [](const auto* x, std::int64_t n) { return mean_of(x, n); });
}

void run_max(KernelContext& context) {
  run(context, [](const auto* x, std::int64_t n) { return max_of(x, n); });
}

}  // namespace

extern const OpDef kGlobalAveragePool;
const OpDef kGlobalAveragePool = {
    .domain = "",
    .type = "GlobalAveragePool",
    .summary = "The mean of each channel over all spatial axes, which keep the size 1.",
    .versions = kVersions,
    .infer = infer,
    .run = run_average,
    .packed = PackedUse::kOwn,
};

extern const OpDef kGlobalMaxPool;
const OpDef kGlobalMaxPool = {
    .domain = "",
    .type = "GlobalMaxPool",
    .summary = "The largest element of each channel over all spatial axes, which keep the size 1.",
    .versions = kVersions,
    .infer = infer,
    .run = run_max,
};

}  // namespace lppool
