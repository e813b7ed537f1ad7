// Clip. Bounds are attributes before opset 11, optional inputs from there on. min(max(x, low), high): where low > high
// every element becomes high (written down in opset 13; the same order is used before). NaN stays NaN.
#include <limits>

#include "lppool/ops/elementwise.h"
#include "lppool/ops/shape_rules.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "input:T", "output:T", "consumed_inputs:ints max:float min:float", "T=floats"},
    {6, "input:T", "output:T", "max:float=3.4028234663852886e+38 min:float=-3.4028234663852886e+38", "T=floats"},
    {11, "input:T min?:T max?:T", "output:T", "", "T=floats"},
    {12, "input:T min?:T max?:T", "output:T", "", "T=num11"},
    {13, "input:T min?:T max?:T", "output:T", "", "T=num12"},
};

// The bound an optional input gives, in arithmetic type A. Spec: a scalar; a tensor of one element is taken, too.
template <typename T, typename A>
std::optional<A> bound_input(const KernelContext& ctx, std::size_t i, std::string_view what) {
  const Tensor* tensor = ctx.optional_input(i);
  if (tensor == nullptr) return std::nullopt;
  if (tensor->size() != 1 || tensor->dtype() != ctx.input(0).dtype()) {
    fail(ErrorKind::kRuntime, "{} is {} of shape {}, expected one {}", what, name(tensor->dtype()),
         to_string(tensor->shape()), name(ctx.input(0).dtype()));
  }
  return static_cast<A>(tensor->data<T>()[0]);
}

template <typename A>
std::optional<A> bound_attribute(const KernelContext& ctx, std::string_view name) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const float value = ctx.attributes.f(name, name == "max" ? kLargest : -kLargest);
  // The default is the largest number of the element type: for float32 that is the value, so infinity is clipped to it.
  // In the other types the same value only says "no bound"; it must not clip doubles.
  if (!std::is_same_v<A, float> && (value == kLargest || value == -kLargest)) return std::nullopt;
  return static_cast<A>(value);
}

void run(KernelContext& ctx) {
  const Tensor x = ctx.input(0);
  for_type(Numbers{}, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = Arithmetic<T>;
    const bool by_input = ctx.since_version() >= 11;
    std::optional<A> low, high;
    if (by_input) {
      low = bound_input<T, A>(ctx, 1, "min");
      high = bound_input<T, A>(ctx, 2, "max");
    } else if constexpr (kIsFloat<T>) {
      low = bound_attribute<A>(ctx, "min");
      high = bound_attribute<A>(ctx, "max");
    }
    const T* from = x.data<T>().data();
    T* to = ctx.output_in_place(0, 0, x.dtype(), x.shape()).template mutable_data<T>().data();
    const A least = low.value_or(A{}), most = high.value_or(A{});
    const auto apply = [&](auto f) {
      ctx.threads().parallel_for(x.size(), kCheapGrain, [&](std::int64_t begin, std::int64_t end) {
        map_row<A>(from + begin, to + begin, end - begin, f);
      });
    };
    const auto raise = [least](A v) { return v < least ? least : v; };
    const auto cut = [most](A v) { return v > most ? most : v; };
    if (low && high)
      apply([=](A v) { return cut(raise(v)); });
    else if (low)
      apply(raise);
    else if (high)
      apply(cut);
    else
      apply([](A v) { return v; });
  });
}

void infer(InferContext& ctx) {
  infer_same(ctx);
  for (const std::size_t i : {1, 2}) {
    const std::vector<Dim>* shape = ctx.shape(i);
    if (shape == nullptr || shape->empty()) continue;
    for (const Dim& dim : *shape) {
      if (dim.value() && *dim.value() != 1) {
        fail(ErrorKind::kRuntime, "{} has shape {}, expected a scalar", i == 1 ? "min" : "max", to_string(*shape));
      }
    }
  }
}

}  // namespace

extern const OpDef kClip;
const OpDef kClip = {.domain = "",
                     .type = "Clip",
                     .summary = "Each element held within a lower and an upper bound, either of which may be left out.",
                     .versions = kVersions,
                     .infer = infer,
                     .run = run,
                     .facts = {.function = true},
                     .packed = PackedUse::kElementwise};

}  // namespace lppool
