#include "lppool/ops/lp_norm.h"

#include <fmt/format.h>

#include <cmath>

namespace lppool {
namespace {

// From here on a norm is close to the largest magnitude: 1000 equal values give 1.07 times their magnitude.
constexpr double kLargeP = 100;

bool is_whole_schema(const AttributeView& attributes) {
  return attributes.schema().since_version >= 2;
}

}  // namespace

void check_lp_norm(CheckContext& ctx) {
  const bool whole = is_whole_schema(ctx.attributes);
  const double p = whole ? static_cast<double>(ctx.attributes.i("p")) : static_cast<double>(ctx.attributes.f("p"));
  const std::string shown = whole ? fmt::format("{}", ctx.attributes.i("p")) : fmt::format("{}", ctx.attributes.f("p"));
  if (!(p > 0) || !std::isfinite(p)) {
    ctx.error("LP003", "p", fmt::format("p is {}, expected a finite number above 0: there is no such Lp norm", shown),
              "p = 1 adds magnitudes, p = 2 (the default) is the Euclidean norm");
  } else if (p < 1) {
    ctx.warning("LP004", "p",
                fmt::format("p is {}: below 1 the formula is no norm (it breaks the triangle inequality)", shown));
  } else if (p >= kLargeP) {
    ctx.warning("LP005", "p",
                fmt::format("p is {}: from {} on the result is nearly the largest magnitude, and tools that sum plain "
                            "powers overflow",
                            shown, kLargeP),
                "use MaxPool on Abs(X) where the maximum is meant");
  }
}

kernels::LpNorm read_lp_norm(const AttributeView& attributes) {
  if (is_whole_schema(attributes)) {
    const std::int64_t p = attributes.i("p");
    if (p < 1) fail(ErrorKind::kRuntime, "p is {}, expected a number above 0", p);
    return kernels::LpNorm::of(p);
  }
  const double p = static_cast<double>(attributes.f("p"));
  if (!(p > 0) || !std::isfinite(p)) fail(ErrorKind::kRuntime, "p is {}, expected a finite number above 0", p);
  return kernels::LpNorm::of(p);
}

kernels::ElementType lp_element_type(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return kernels::ElementType::kFloat16;
    case DataType::kBFloat16:
      return kernels::ElementType::kBFloat16;
    case DataType::kFloat32:
      return kernels::ElementType::kFloat32;
    case DataType::kFloat64:
      return kernels::ElementType::kFloat64;
    default:
      fail(ErrorKind::kUnsupported, "element type {}; supported: float16, bfloat16, float32, float64", name(type));
  }
}

}  // namespace lppool
