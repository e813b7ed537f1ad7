// The ten reductions. Floats are summed in double (float64 with compensation) and rounded once; integers wrap as two's
// complement does. Source: ONNX ReduceSum-1, 11, 13 and sisters: axes are an attribute before opset 18 (ReduceSum: 13)
// and an optional input from there on; over no elements each gives the neutral element of its operation.
#include <cmath>
#include <limits>

#include "lppool/ops/element_types.h"
#include "lppool/ops/reduction.h"
#include "lppool/ops/shape_rules.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

constexpr std::string_view kAxesMove =
    "!axes: an input instead of an attribute; no axes, or an empty list, reduces all unless noop_with_empty_axes is 1";

constexpr OpVersion kSumVersions[] = {
    {1, "data:T", "reduced:T", "axes:ints keepdims:int=1", "T=wide7"},
    {11, "data:T", "reduced:T", "axes:ints keepdims:int=1", "T=wide7"},
    {13, "data:T axes?:int64", "reduced:T", "keepdims:int=1 noop_with_empty_axes:int=0", "T=wide7|bfloat16", false, "",
     kAxesMove},
};
// L1, L2, LogSum, LogSumExp, Mean, Prod, SumSquare.
constexpr OpVersion kVersions[] = {
    {1, "data:T", "reduced:T", "axes:ints keepdims:int=1", "T=wide7"},
    {11, "data:T", "reduced:T", "axes:ints keepdims:int=1", "T=wide7"},
    {13, "data:T", "reduced:T", "axes:ints keepdims:int=1", "T=wide7|bfloat16"},
    {18, "data:T axes?:int64", "reduced:T", "keepdims:int=1 noop_with_empty_axes:int=0", "T=wide7|bfloat16", false, "",
     kAxesMove},
};
// Max, Min.
constexpr OpVersion kExtremeVersions[] = {
    {1, "data:T", "reduced:T", "axes:ints keepdims:int=1", "T=wide7"},
    {11, "data:T", "reduced:T", "axes:ints keepdims:int=1", "T=wide7"},
    {12, "data:T", "reduced:T", "axes:ints keepdims:int=1", "T=wide7|uint8|int8"},
    {13, "data:T", "reduced:T", "axes:ints keepdims:int=1", "T=wide7|bfloat16|uint8|int8"},
    {18, "data:T axes?:int64", "reduced:T", "keepdims:int=1 noop_with_empty_axes:int=0", "T=wide7|bfloat16|uint8|int8",
     false, "", kAxesMove},
    {20, "data:T axes?:int64", "reduced:T", "keepdims:int=1 noop_with_empty_axes:int=0",
     "T=wide7|bfloat16|uint8|int8|bool"},
};

bool axes_by_input(const OpSchema& schema) {
  return schema.find_attribute("axes") == nullptr;
}

// Which axes a list names. Throws kRuntime for an axis out of range or named twice.
std::vector<bool> mark_axes(const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<bool> reduces(rank, false);
  for (const std::int64_t axis : axes) {
    const std::size_t index = normalize_axis(axis, rank);
    if (reduces[index]) fail(ErrorKind::kRuntime, "axis {} is named twice in axes", axis);
    reduces[index] = true;
  }
  return reduces;
}

// `axes` as the node states it, `given` false where it states none.
std::vector<bool> reduced_axes(const AttributeView& attributes, const std::vector<std::int64_t>& axes,
                               std::size_t rank) {
  if (!axes.empty()) return mark_axes(axes, rank);
  const bool none = axes_by_input(attributes.schema()) && attributes.i("noop_with_empty_axes") != 0;
  return std::vector<bool>(rank, !none);
}

std::vector<std::int64_t> axes_of(const Tensor& tensor) {
  if (tensor.dtype() != DataType::kInt64 || tensor.rank() > 1) {
    fail(ErrorKind::kRuntime, "axes is {} of shape {}, expected a list of int64", name(tensor.dtype()),
         to_string(tensor.shape()));
  }
  const auto values = tensor.data<std::int64_t>();
  return {values.begin(), values.end()};
}

ReductionPlan plan_of(const KernelContext& ctx) {
  std::vector<std::int64_t> axes;
  if (!axes_by_input(ctx.attributes.schema()))
    axes = ctx.attributes.ints("axes");
  else if (const Tensor* tensor = ctx.optional_input(1))
    axes = axes_of(*tensor);
  const Shape& shape = ctx.input(0).shape();
  return plan_reduction(shape, reduced_axes(ctx.attributes, axes, shape.rank()), ctx.attributes.i("keepdims") != 0);
}

// ---- kernels ----

constexpr auto kNoPrepare = [](double pivot) { return pivot; };
using Wide = Types<float, double, Float16, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

template <typename T>
T from_double(double value) {
  if constexpr (kIsFloat<T>)
    return static_cast<T>(value);
  else
    return truncate_to_integer<T>(value);
}

// finish(sum of map(x)): map and finish are called with double for floats and with T for integers.
template <typename Map, typename Finish>
void run_sum_of(KernelContext& ctx, Map map, Finish finish) {
  const Tensor x = ctx.input(0);
  const ReductionPlan plan = plan_of(ctx);
  for_type(Wide{}, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>().data();
    T* to = ctx.output(0, x.dtype(), plan.out).template mutable_data<T>().data();
    if constexpr (std::is_same_v<T, double>) {
      reduce(
          from, to, plan, ctx.threads(), CompensatedSum{}, nullptr, kNoPrepare,
          [&](double v, double) {
            return CompensatedSum{map(v), 0};
          },
          [](const CompensatedSum& a, const CompensatedSum& b) { return a + b; },
          [&](const CompensatedSum& sum, double) { return finish(sum.value()); });
    } else {
      using A = WideArithmetic<T>;
      reduce(
          from, to, plan, ctx.threads(), A{}, nullptr, kNoPrepare, [&](T v, double) { return map(static_cast<A>(v)); },
          [](A a, A b) { return wrap_add(a, b); }, [&](A sum, double) { return static_cast<T>(finish(sum)); });
    }
  });
}

void run_reduce_sum(KernelContext& ctx) {
  run_sum_of(
      ctx, [](auto x) { return x; }, [](auto sum) { return sum; });
}
void run_reduce_sum_square(KernelContext& ctx) {
  run_sum_of(
      ctx, [](auto x) { return wrap_mul(x, x); }, [](auto sum) { return sum; });
}
void run_reduce_l1(KernelContext& ctx) {
  run_sum_of(
      ctx, [](auto x) { return x < 0 ? wrap_neg(x) : x; }, [](auto sum) { return sum; });
}

[[noreturn]] void undefined_for_integers(DataType dtype) {
  fail(ErrorKind::kRuntime, "reduction of no elements has no value in {}", name(dtype));
}

__extension__ using Int128 = __int128;

void run_reduce_mean(KernelContext& ctx) {
  const Tensor x = ctx.input(0);
  const ReductionPlan plan = plan_of(ctx);
  if (!is_integer(x.dtype())) {
    const auto count = static_cast<double>(plan.reduced);
    run_sum_of(
        ctx, [](auto v) { return v; },
        [=](auto sum) { return static_cast<decltype(sum)>(static_cast<double>(sum) / count); });
    return;
  }
  if (plan.reduced == 0 && plan.outputs > 0) undefined_for_integers(x.dtype());
  for_type(Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{}, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = ctx.output(0, x.dtype(), plan.out).template mutable_data<T>().data();
    reduce(
        x.data<T>().data(), to, plan, ctx.threads(), Int128{0}, nullptr, kNoPrepare,
        [](T v, double) { return static_cast<Int128>(v); }, [](Int128 a, Int128 b) { return a + b; },
        [&](Int128 sum, double) { return static_cast<T>(sum / plan.reduced); });
  });
}

// finish(fold of map(x) by addition) in double for all types; integers get the result truncated.
template <typename Magnitude, typename Prepare, typename Map, typename Finish>
void run_in_double(KernelContext& ctx, const Tensor& x, const ReductionPlan& plan, Magnitude magnitude, Prepare prepare,
                   Map map, Finish finish) {
  for_type(Wide{}, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = ctx.output(0, x.dtype(), plan.out).template mutable_data<T>().data();
    reduce(
        x.data<T>().data(), to, plan, ctx.threads(), CompensatedSum{}, magnitude, prepare,
        [&](T v, double pivot) {
          return CompensatedSum{map(static_cast<double>(v), pivot), 0};
        },
        [](const CompensatedSum& a, const CompensatedSum& b) { return a + b; },
        [&](const CompensatedSum& sum, double pivot) { return from_double<T>(finish(sum.value(), pivot)); });
  });
}

// Squares of doubles overflow and vanish where the norm does not: they are taken of x / 2^k, 2^k near the largest.
void run_reduce_l2(KernelContext& ctx) {
  const Tensor x = ctx.input(0);
  const ReductionPlan plan = plan_of(ctx);
  if (x.dtype() != DataType::kFloat64) {
    run_in_double(
        ctx, x, plan, nullptr, kNoPrepare, [](double v, double) { return v * v; },
        [](double sum, double) { return std::sqrt(sum); });
    return;
  }
  const auto scale_of = [](double largest) {
    return largest > 0 && std::isfinite(largest) ? std::ldexp(1.0, std::min(std::ilogb(largest), 1022)) : 1.0;
  };
  run_in_double(
      ctx, x, plan, [](auto v) { return std::fabs(static_cast<double>(v)); }, scale_of,
      [](double v, double scale) { return v / scale * (v / scale); },
      [](double sum, double scale) { return std::sqrt(sum) * (scale == 0 ? 1 : scale); });
}

void require_elements(const Tensor& x, const ReductionPlan& plan) {
  if (plan.reduced == 0 && plan.outputs > 0 && is_integer(x.dtype())) undefined_for_integers(x.dtype());
}

void run_reduce_log_sum(KernelContext& ctx) {
  const Tensor x = ctx.input(0);
  const ReductionPlan plan = plan_of(ctx);
  require_elements(x, plan);
  run_in_double(
      ctx, x, plan, nullptr, kNoPrepare, [](double v, double) { return v; },
      [](double sum, double) { return std::log(sum); });
}

// log(sum exp(x - m)) + m with the largest element m: nothing overflows. Infinite m is left out; exp and log deal with
// it.
void run_reduce_log_sum_exp(KernelContext& ctx) {
  const Tensor x = ctx.input(0);
  const ReductionPlan plan = plan_of(ctx);
  require_elements(x, plan);
  run_in_double(
      ctx, x, plan, [](auto v) { return static_cast<double>(v); },
      [](double largest) { return std::isfinite(largest) ? largest : 0.0; },
      [](double v, double largest) { return std::exp(v - largest); },
      [](double sum, double largest) { return std::log(sum) + largest; });
}

void run_reduce_prod(KernelContext& ctx) {
  const Tensor x = ctx.input(0);
  const ReductionPlan plan = plan_of(ctx);
  for_type(Wide{}, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = WideArithmetic<T>;
    T* to = ctx.output(0, x.dtype(), plan.out).template mutable_data<T>().data();
    reduce(
        x.data<T>().data(), to, plan, ctx.threads(), A{1}, nullptr, kNoPrepare,
        [](T v, double) { return static_cast<A>(v); }, [](A a, A b) { return wrap_mul(a, b); },
        [](A product, double) { return static_cast<T>(product); });
  });
}

// `wins(a, b)`: b takes the place of a. NaN wins over all.
template <typename Wins>
void run_extreme(KernelContext& ctx, bool largest, Wins wins) {
  Tensor x = ctx.input(0);
  const DataType dtype = x.dtype();
  const ReductionPlan plan = plan_of(ctx);
  if (dtype == DataType::kBool) x = x.viewed_as(DataType::kUInt8);  // false < true
  for_type(Numbers{}, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = Arithmetic<T>;
    using Limits = std::numeric_limits<A>;
    A neutral = largest ? Limits::lowest() : Limits::max();
    if constexpr (std::is_floating_point_v<A>)
      neutral = largest ? -Limits::infinity() : Limits::infinity();
    else if (dtype == DataType::kBool)
      neutral = largest ? 0 : 1;
    T* to = ctx.output(0, dtype, plan.out).template mutable_data<T>().data();
    reduce(
        x.data<T>().data(), to, plan, ctx.threads(), neutral, nullptr, kNoPrepare,
        [](T v, double) { return static_cast<A>(v); }, [&](A a, A b) { return b != b || wins(a, b) ? b : a; },
        [](A v, double) { return static_cast<T>(v); });
  });
}

void run_reduce_max(KernelContext& ctx) {
  run_extreme(ctx, true, [](auto a, auto b) { return b > a; });
}
void run_reduce_min(KernelContext& ctx) {
  run_extreme(ctx, false, [](auto a, auto b) { return b < a; });
}

// ---- inference ----

// The axes where they are known: from the attribute, a constant input, or the fact that there are none.
std::optional<std::vector<std::int64_t>> known_axes(const InferContext& ctx) {
  if (!axes_by_input(ctx.attributes.schema())) return ctx.attributes.ints("axes");
  if (!ctx.has_input(1)) return std::vector<std::int64_t>{};
  if (const Tensor* constant = ctx.constant(1)) return axes_of(*constant);
  if (const auto* elements = ctx.elements(1)) {
    std::vector<std::int64_t> axes;
    for (const Dim& element : *elements) {
      if (!element.value()) return std::nullopt;
      axes.push_back(*element.value());
    }
    return axes;
  }
  return std::nullopt;
}

void infer_reduce(InferContext& ctx) {
  const DataType dtype = input_dtype(ctx, 0);
  const std::vector<Dim>* shape = ctx.shape(0);
  const bool keepdims = ctx.attributes.i("keepdims") != 0;
  if (shape == nullptr) {
    ctx.set_output(0, dtype, std::nullopt);
    return;
  }
  const auto axes = known_axes(ctx);
  if (!axes) {
    // Any axis may be reduced; the rank is known all the same where reduced axes are kept.
    ctx.set_output(0, dtype, keepdims ? std::optional(std::vector<Dim>(shape->size())) : std::nullopt);
    return;
  }
  const std::vector<bool> reduces = reduced_axes(ctx.attributes, *axes, shape->size());
  std::vector<Dim> out;
  for (std::size_t axis = 0; axis < shape->size(); ++axis) {
    if (!reduces[axis])
      out.push_back((*shape)[axis]);
    else if (keepdims) {
      ctx.explain(0, out.size(), "1 (reduced)");
      out.emplace_back(1);
    }
  }
  ctx.set_output(0, dtype, std::move(out));
}

// Contents of a list of sizes folded to one number, as exporters do to count elements.
void infer_fold(InferContext& ctx, Dim start, Dim (*combine)(const Dim&, const Dim&)) {
  infer_reduce(ctx);
  const std::vector<Dim>* elements = ctx.elements(0);
  const std::vector<Dim>* shape = ctx.shape(0);
  const auto axes = known_axes(ctx);
  if (elements == nullptr || shape == nullptr || shape->size() != 1 || !axes) return;
  if (!reduced_axes(ctx.attributes, *axes, 1)[0]) {
    ctx.set_elements(0, *elements);
    return;
  }
  Dim result = start;
  for (const Dim& element : *elements) result = combine(result, element);
  ctx.set_elements(0, {fits(result, input_dtype(ctx, 0))});
}

void infer_reduce_sum(InferContext& ctx) {
  infer_fold(ctx, Dim(0), [](const Dim& a, const Dim& b) { return a + b; });
}
void infer_reduce_prod(InferContext& ctx) {
  infer_fold(ctx, Dim(1), [](const Dim& a, const Dim& b) { return a * b; });
}

}  // namespace

#define LPPOOL_REDUCE(op, text, table, rule, kernel, is_function) \
  extern const OpDef k##op;                                       \
  const OpDef k##op = {.domain = "",                              \
                       .type = #op,                               \
                       .summary = text,                           \
                       .versions = table,                         \
                       .infer = rule,                             \
                       .run = kernel,                             \
                       .facts = {.function = is_function}};
LPPOOL_REDUCE(ReduceSum, "Sum over the given axes, or over all.", kSumVersions, infer_reduce_sum, run_reduce_sum, false)
LPPOOL_REDUCE(ReduceMean, "Mean over the given axes, or over all.", kVersions, infer_reduce, run_reduce_mean, false)
LPPOOL_REDUCE(ReduceProd, "Product over the given axes, or over all.", kVersions, infer_reduce_prod, run_reduce_prod,
              false)
LPPOOL_REDUCE(ReduceMax, "Largest element over the given axes, or over all.", kExtremeVersions, infer_reduce,
              run_reduce_max, false)
LPPOOL_REDUCE(ReduceMin, "Smallest element over the given axes, or over all.", kExtremeVersions, infer_reduce,
              run_reduce_min, false)
LPPOOL_REDUCE(ReduceL1, "Sum of absolute values over the given axes, or over all.", kVersions, infer_reduce,
              run_reduce_l1, true)
LPPOOL_REDUCE(ReduceL2, "Euclidean norm over the given axes, or over all.", kVersions, infer_reduce, run_reduce_l2,
              true)
LPPOOL_REDUCE(ReduceSumSquare, "Sum of squares over the given axes, or over all.", kVersions, infer_reduce,
              run_reduce_sum_square, true)
LPPOOL_REDUCE(ReduceLogSum, "Logarithm of the sum over the given axes, or over all.", kVersions, infer_reduce,
              run_reduce_log_sum, true)
LPPOOL_REDUCE(ReduceLogSumExp, "Logarithm of the sum of exponentials over the given axes, or over all.", kVersions,
              infer_reduce, run_reduce_log_sum_exp, true)
#undef LPPOOL_REDUCE

}  // namespace lppool
