// LRN: local response normalisation across channels (Krizhevsky et al. 2012).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/compute_type.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X:T", "Y:T", "alpha:float=0.0001 beta:float=0.75 bias:float=1.0 size!:int", "T=floats"},
    {13, "X:T", "Y:T", "alpha:float=0.0001 beta:float=0.75 bias:float=1.0 size!:int", "T=floats|bfloat16"},
};

void check(CheckContext& context) {
  if (const std::int64_t size = context.attributes.i("size", 1); size < 1) {
    context.error(kBadValue, "size", fmt::format("attribute 'size' is {}, expected 1 or more", size));
  }
}

void infer(InferContext& context) { context.set_output(0, context.input(0).dtype, context.input(0).shape); }

// y[i] = x[i] / (bias + scale * squares[i])^beta. The exponent that networks use is two square roots.
template <typename T>
void divide(const T* x, const T* squares, T* y, std::int64_t n, T bias, T scale, T beta) {
  if (beta == T(0.75)) {
    for (std::int64_t i = 0; i < n; ++i) {
      const T root = std::sqrt(bias + scale * squares[i]);
      y[i] = x[i] / (root * std::sqrt(root));
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] / std::pow(bias + scale * squares[i], beta);
  }
}

template <typename T>
void normalize(KernelContext& context, std::int64_t size) {
  const Tensor x = as_compute<T>(context.input(0));
  const Shape& shape = x.shape();
  const std::int64_t channels = shape[1], plane = shape.elements(2, shape.rank());
  const std::int64_t before = (size - 1) / 2, after = size - 1 - before;
  const auto bias = static_cast<T>(context.attributes.f("bias")), beta = static_cast<T>(context.attributes.f("beta"));
  const auto scale = static_cast<T>(static_cast<double>(context.attributes.f("alpha")) / static_cast<double>(size));
  ComputedOutput<T> y(context, 0, context.input(0).dtype(), shape);
  const T* from = x.data<T>().data();
  T* to = y.data();
  // Pieces of a plane, so that the sums of all channels' windows stay in the first cache.
  constexpr std::int64_t kPiece = 1024;
  const std::int64_t pieces = (plane + kPiece - 1) / kPiece;
  context.threads().parallel_for(shape[0] * pieces, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> sums(static_cast<std::size_t>(kPiece));
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t offset = piece % pieces * kPiece, n = std::min(kPiece, plane - offset);
      const T* in = from + piece / pieces * channels * plane + offset;
      T* out = to + piece / pieces * channels * plane + offset;
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t first = c > before ? c - before : 0, last = after < channels - 1 - c ? c + after : channels - 1;
        std::fill(sums.begin(), sums.end(), T{0});
        for (std::int64_t other = first; other <= last; ++other) {
          const T* row = in + other * plane;
          for (std::int64_t i = 0; i < n; ++i) sums[static_cast<std::size_t>(i)] += row[i] * row[i];
        }
        divide(in + c * plane, sums.data(), out + c * plane, n, bias, scale, beta);
      }
    }
  });
  y.finish();
}

void run(KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  if (shape.rank() < 2) fail(ErrorKind::kRuntime, "X has shape {}, expected N x C x other axes", to_string(shape));
  const std::int64_t size = context.attributes.i("size");
  if (size < 1) fail(ErrorKind::kRuntime, "attribute 'size' is {}, expected 1 or more", size);
  with_compute_type(context.input(0).dtype(), [&](auto zero) { normalize<decltype(zero)>(context, size); });
}

}  // namespace

extern const OpDef kLRN;
const OpDef kLRN = {
    .domain = "",
    .type = "LRN",
    .summary = "Divides each element by (bias + alpha/size * the sum of squares over `size` neighbouring channels) to the power "
               "beta.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check,
};

}  // namespace lppool
