// LpNormalization: x divided by the norm of its line, in double, rounded once. Source: ONNX LpNormalization-1 and 22.
#include <cmath>

#include "lppool/ops/element_types.h"
#include "lppool/ops/lines.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "input:T", "output:T", "axis:int=-1 p:int=2", "T=floats"},
    {22, "input:T", "output:T", "axis:int=-1 p:int=2", "T=floats|bfloat16"},
};

// Norms of `width` lines, each divided by scale[k], a power of two near the line's largest magnitude: neither squares
// nor sums of them overflow or vanish.
template <typename T>
void find_norms(const T* x, const Lines& lines, std::int64_t width, bool squares, double* norm, double* scale) {
  std::fill(norm, norm + width, 0.0);
  for (std::int64_t i = 0; i < lines.length; ++i) {
    for (std::int64_t k = 0; k < width; ++k) {
      const double v = std::fabs(static_cast<double>(x[i * lines.inner + k]));
      norm[k] = v > norm[k] ? v : norm[k];
    }
  }
  for (std::int64_t k = 0; k < width; ++k) {
    scale[k] = norm[k] > 0 && std::isfinite(norm[k]) ? std::ldexp(1.0, std::min(std::ilogb(norm[k]), 1022)) : 1.0;
    norm[k] = 0;
  }
  for (std::int64_t i = 0; i < lines.length; ++i) {
    for (std::int64_t k = 0; k < width; ++k) {
      const double v = std::fabs(static_cast<double>(x[i * lines.inner + k])) / scale[k];
      norm[k] += squares ? v * v : v;
    }
  }
  if (!squares) return;
  for (std::int64_t k = 0; k < width; ++k) norm[k] = std::sqrt(norm[k]);
}

void run(KernelContext& ctx) {
  const Tensor x = ctx.input(0);
  const std::int64_t p = ctx.attributes.i("p");
  if (p != 1 && p != 2) fail(ErrorKind::kRuntime, "attribute 'p' is {}, expected 1 or 2", p);
  const Lines lines = lines_along(x.shape(), normalize_axis(ctx.attributes.i("axis"), x.rank()));
  for_type(Floats{}, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>().data();
    T* to = ctx.output_in_place(0, 0, x.dtype(), x.shape()).template mutable_data<T>().data();
    for_lines(ctx.threads(), lines, [&](std::int64_t first, std::int64_t width) {
      double norm[kSide], scale[kSide];
      find_norms(from + first, lines, width, p == 2, norm, scale);
      for (std::int64_t i = 0; i < lines.length; ++i) {
        for (std::int64_t k = 0; k < width; ++k) {
          const std::int64_t at = first + i * lines.inner + k;
          const double v = static_cast<double>(from[at]) / scale[k];
          to[at] = static_cast<T>(norm[k] == 0 ? 0.0 : v / norm[k]);
        }
      }
    });
  });
}

void check(CheckContext& ctx) {
  const std::int64_t p = ctx.attributes.i("p", 2);
  if (p != 1 && p != 2) ctx.error(kBadValue, "p", fmt::format("attribute 'p' is {}, expected 1 or 2", p));
}

void infer(InferContext& ctx) {
  infer_same(ctx);
  if (const auto* shape = ctx.shape(0)) normalize_axis(ctx.attributes.i("axis"), shape->size());
}

}  // namespace

extern const OpDef kLpNormalization;
const OpDef kLpNormalization = {
    .domain = "",
    .type = "LpNormalization",
    .summary = "Divides each line along an axis by its L1 or L2 norm; lines of zeros stay zero.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check};

}  // namespace lppool
