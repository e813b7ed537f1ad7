// Sum, Mean, Max and Min of any number of tensors. All inputs pass through one loop, block by block, so that a sum of
// many 16- or 32-bit floats is rounded once. Source: ONNX Sum-1 to 13 and sisters; broadcasting from opset 8 on.
#include <algorithm>
#include <cmath>

#include "lppool/ops/elementwise.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

// Sum and Mean.
constexpr OpVersion kSumVersions[] = {
    {1, "data_0*:T", "sum:T", "consumed_inputs:ints", "T=floats"},
    {6, "data_0*:T", "sum:T", "", "T=floats"},
    {8, "data_0*:T", "sum:T", "", "T=floats"},
    {13, "data_0*:T", "sum:T", "", "T=floats|bfloat16"},
};
constexpr OpVersion kMeanVersions[] = {
    {1, "data_0*:T", "mean:T", "consumed_inputs:ints", "T=floats"},
    {6, "data_0*:T", "mean:T", "", "T=floats"},
    {8, "data_0*:T", "mean:T", "", "T=floats"},
    {13, "data_0*:T", "mean:T", "", "T=floats|bfloat16"},
};
constexpr OpVersion kMaxVersions[] = {
    {1, "data_0*:T", "max:T", "consumed_inputs:ints", "T=floats"},
    {6, "data_0*:T", "max:T", "", "T=floats"},
    {8, "data_0*:T", "max:T", "", "T=floats"},
    {12, "data_0*:T", "max:T", "", "T=num11"},
    {13, "data_0*:T", "max:T", "", "T=num12"},
};
constexpr OpVersion kMinVersions[] = {
    {1, "data_0*:T", "min:T", "consumed_inputs:ints", "T=floats"},
    {6, "data_0*:T", "min:T", "", "T=floats"},
    {8, "data_0*:T", "min:T", "", "T=floats"},
    {12, "data_0*:T", "min:T", "", "T=num11"},
    {13, "data_0*:T", "min:T", "", "T=num12"},
};

constexpr std::int64_t kBlock = 512;

Shape common_shape(const KernelContext& ctx) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) shapes.push_back(ctx.input(i).shape());
  if (ctx.since_version() >= 8) return broadcast_shape(shapes);
  for (const Shape& shape : shapes) {
    if (shape != shapes.front()) {
      fail(ErrorKind::kRuntime, "input shapes {} and {} differ: opset {} does not broadcast here",
           to_string(shapes.front()), to_string(shape), ctx.opset);
    }
  }
  return shapes.front();
}

// out = finish(fold of all inputs), in arithmetic A.
template <typename T, typename A, typename Combine, typename Finish>
void fold(KernelContext& ctx, const Shape& shape, Combine combine, Finish finish) {
  const std::size_t count = ctx.input_count();
  std::vector<Shape> operands;
  std::vector<const T*> sources;
  for (std::size_t i = 0; i < count; ++i) {
    if (ctx.input(i).dtype() != ctx.input(0).dtype()) {
      fail(ErrorKind::kRuntime, "input {} is {}, expected {} as input 0", i, name(ctx.input(i).dtype()),
           name(ctx.input(0).dtype()));
    }
    operands.push_back(ctx.input(i).shape());
    sources.push_back(ctx.input(i).data<T>().data());
  }
  const BroadcastLoop loop(shape, operands);
  T* out = ctx.output_in_place(0, 0, type_of<T>(), shape).template mutable_data<T>().data();
  loop.run(ctx.threads(), [&](std::int64_t to, const std::int64_t* at, std::int64_t n) {
    A block[kBlock];
    for (std::int64_t begin = 0; begin < n; begin += kBlock) {
      const std::int64_t length = std::min(kBlock, n - begin);
      for (std::size_t k = 0; k < count; ++k) {
        const bool repeats = loop.repeats(k);
        const T* source = sources[k] + at[k] + (repeats ? 0 : begin);
        if (k == 0) {
          for (std::int64_t i = 0; i < length; ++i) block[i] = static_cast<A>(source[repeats ? 0 : i]);
        } else if (repeats) {
          const A value = static_cast<A>(*source);
          for (std::int64_t i = 0; i < length; ++i) block[i] = combine(block[i], value);
        } else {
          for (std::int64_t i = 0; i < length; ++i) block[i] = combine(block[i], static_cast<A>(source[i]));
        }
      }
      for (std::int64_t i = 0; i < length; ++i) out[to + begin + i] = static_cast<T>(finish(block[i]));
    }
  });
}

// With one or two inputs float32 sums are exact in float32: no need to go through double.
void run_sum(KernelContext& ctx) {
  const Shape shape = common_shape(ctx);
  for_type(Floats{}, ctx.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto add = [](auto a, auto b) { return a + b; };
    const auto keep = [](auto a) { return a; };
    if (ctx.input_count() <= 2)
      fold<T, Arithmetic<T>>(ctx, shape, add, keep);
    else
      fold<T, double>(ctx, shape, add, keep);
  });
}

void run_mean(KernelContext& ctx) {
  const Shape shape = common_shape(ctx);
  const auto count = static_cast<double>(ctx.input_count());
  for_type(Floats{}, ctx.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fold<T, double>(
        ctx, shape, [](double a, double b) { return a + b; }, [=](double sum) { return sum / count; });
  });
}

// A NaN in any input wins, as in numpy.
template <typename A>
A larger(A a, A b) {
  if constexpr (std::is_floating_point_v<A>)
    return a != a || a > b ? a : b;
  else
    return a > b ? a : b;
}
template <typename A>
A smaller(A a, A b) {
  if constexpr (std::is_floating_point_v<A>)
    return a != a || a < b ? a : b;
  else
    return a < b ? a : b;
}

void run_max(KernelContext& ctx) {
  const Shape shape = common_shape(ctx);
  for_type(Numbers{}, ctx.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fold<T, Arithmetic<T>>(
        ctx, shape, [](auto a, auto b) { return larger(a, b); }, [](auto a) { return a; });
  });
}

void run_min(KernelContext& ctx) {
  const Shape shape = common_shape(ctx);
  for_type(Numbers{}, ctx.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fold<T, Arithmetic<T>>(
        ctx, shape, [](auto a, auto b) { return smaller(a, b); }, [](auto a) { return a; });
  });
}

void infer_variadic(InferContext& ctx) {
  if (ctx.since_version() >= 8) {
    ctx.set_output(0, input_dtype(ctx, 0), broadcast_inputs(ctx));
    return;
  }
  std::optional<std::vector<Dim>> shape;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    const std::vector<Dim>* each = ctx.shape(i);
    if (each == nullptr) continue;
    if (shape && shape->size() != each->size()) {
      fail(ErrorKind::kRuntime, "input shapes {} and {} differ: opset {} does not broadcast here", to_string(*shape),
           to_string(*each), ctx.opset);
    }
    if (!shape) shape = *each;
    for (std::size_t axis = 0; axis < each->size(); ++axis) {
      (*shape)[axis] = unify((*shape)[axis], (*each)[axis], "sizes of all inputs");
    }
  }
  ctx.set_output(0, input_dtype(ctx, 0), std::move(shape));
}

void infer_max(InferContext& ctx) {
  infer_variadic(ctx);
  if (ctx.input_count() == 2)
    infer_binary_elements(ctx, [](const Dim& a, const Dim& b, DataType) { return max(a, b); });
}
void infer_min(InferContext& ctx) {
  infer_variadic(ctx);
  if (ctx.input_count() == 2)
    infer_binary_elements(ctx, [](const Dim& a, const Dim& b, DataType) { return min(a, b); });
}

}  // namespace

LPPOOL_ELEMENTWISE(Sum, "Sum of all inputs, element by element; broadcasting from opset 8 on.", kSumVersions,
                   infer_variadic, run_sum)
LPPOOL_ELEMENTWISE(Mean, "Mean of all inputs, element by element; broadcasting from opset 8 on.", kMeanVersions,
                   infer_variadic, run_mean)
LPPOOL_ELEMENTWISE(Max, "Largest of all inputs, element by element; broadcasting from opset 8 on.", kMaxVersions,
                   infer_max, run_max)
LPPOOL_ELEMENTWISE(Min, "Smallest of all inputs, element by element; broadcasting from opset 8 on.", kMinVersions,
                   infer_min, run_min)

}  // namespace lppool
