// CumSum and CumProd along one axis. Floats accumulate in double (float64 sums with compensation), every output rounded
// once; integers wrap. Source: ONNX CumSum-11 and 14, CumProd-26.
#include "lppool/ops/element_types.h"
#include "lppool/ops/lines.h"
#include "lppool/ops/reduction.h"
#include "lppool/ops/shape_rules.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

constexpr OpVersion kSumVersions[] = {
    {11, "x:T axis:T2", "y:T", "exclusive:int=0 reverse:int=0",
     "T=uint32|uint64|int32|int64|float32|float64; T2=int32|int64"},
    {14, "x:T axis:T2", "y:T", "exclusive:int=0 reverse:int=0", "T=wide7|bfloat16; T2=int32|int64"},
};
constexpr OpVersion kProdVersions[] = {
    {26, "x:T axis:T2", "y:T", "exclusive:int=0 reverse:int=0", "T=wide7|bfloat16; T2=int32|int64"}};

using Supported = Types<float, double, Float16, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

// The axis is a 0-D tensor; one of one element, as exporters write it, is taken too.
std::size_t axis_of(const KernelContext& ctx) {
  const Tensor& axis = ctx.input(1);
  if (axis.size() != 1) fail(ErrorKind::kRuntime, "axis has {} elements, expected one", axis.size());
  return normalize_axis(element_as_int64(axis, 0), ctx.input(0).rank());
}

// y[i] = value(fold of x[0] to x[i]), or of the elements before x[i] with `exclusive`; from the other end with
// `reverse`.
template <typename T, typename Acc, typename Lift, typename Combine, typename Value>
void accumulate(KernelContext& ctx, Acc identity, Lift lift, Combine combine, Value value) {
  const Tensor x = ctx.input(0);
  const Lines lines = lines_along(x.shape(), axis_of(ctx));
  const bool exclusive = ctx.attributes.i("exclusive") != 0, reverse = ctx.attributes.i("reverse") != 0;
  const T* from = x.data<T>().data();
  T* to = ctx.output_in_place(0, 0, x.dtype(), x.shape()).template mutable_data<T>().data();
  for_lines(ctx.threads(), lines, [&](std::int64_t first, std::int64_t width) {
    Acc acc[kSide];
    std::fill(acc, acc + width, identity);
    for (std::int64_t step = 0; step < lines.length; ++step) {
      const std::int64_t row = first + (reverse ? lines.length - 1 - step : step) * lines.inner;
      for (std::int64_t k = 0; k < width; ++k) {
        const Acc next = combine(acc[k], lift(from[row + k]));
        to[row + k] = static_cast<T>(value(exclusive ? acc[k] : next));
        acc[k] = next;
      }
    }
  });
}

void run_sum(KernelContext& ctx) {
  for_type(Supported{}, ctx.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = WideArithmetic<T>;
    if constexpr (std::is_same_v<T, double>) {
      accumulate<T>(
          ctx, CompensatedSum{},
          [](double v) {
            return CompensatedSum{v, 0};
          },
          [](const CompensatedSum& a, const CompensatedSum& b) { return a + b; },
          [](const CompensatedSum& a) { return a.value(); });
    } else {
      accumulate<T>(
          ctx, A{}, [](T v) { return static_cast<A>(v); }, [](A a, A b) { return wrap_add(a, b); },
          [](A a) { return a; });
    }
  });
}

void run_prod(KernelContext& ctx) {
  for_type(Supported{}, ctx.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = WideArithmetic<T>;
    accumulate<T>(
        ctx, A{1}, [](T v) { return static_cast<A>(v); }, [](A a, A b) { return wrap_mul(a, b); },
        [](A a) { return a; });
  });
}

void infer(InferContext& ctx) {
  infer_same(ctx);
  const Tensor* axis = ctx.constant(1);
  if (axis != nullptr && axis->size() == 1 && ctx.shape(0) != nullptr) {
    normalize_axis(element_as_int64(*axis, 0), ctx.shape(0)->size());
  }
}

}  // namespace

extern const OpDef kCumSum;
const OpDef kCumSum = {.domain = "",
                       .type = "CumSum",
                       .summary = "Running sum along an axis, from either end, with or without the element itself.",
                       .versions = kSumVersions,
                       .infer = infer,
                       .run = run_sum};

extern const OpDef kCumProd;
const OpDef kCumProd = {
    .domain = "",
    .type = "CumProd",
    .summary = "Running product along an axis, from either end, with or without the element itself.",
    .versions = kProdVersions,
    .infer = infer,
    .run = run_prod};

}  // namespace lppool
