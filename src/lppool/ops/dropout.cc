// Dropout. Opset 1 and 6 drop unless is_test is set; 7 and 10 never do; from 12 on the input training_mode decides.
// Random numbers are those of numpy's RandomState(seed).uniform(), which the published test data use: with a seed,
// results can be repeated elsewhere. Without one the seed is 0, so that a run can be repeated at all.
#include <random>

#include "lppool/ops/element_types.h"
#include "lppool/ops/shape_rules.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "data:T", "output:T mask?:T", "consumed_inputs:ints is_test:int=0 ratio:float=0.5", "T=floats"},
    {6, "data:T", "output:T mask?:T", "is_test:int=0 ratio:float=0.5", "T=floats"},
    {7, "data:T", "output:T mask?:T", "ratio:float=0.5", "T=floats", false, "",
     "!training: nothing is dropped any more"},
    {10, "data:T", "output:T mask?:T1", "ratio:float=0.5", "T=floats; T1=bool"},
    {12, "data:T ratio?:T1 training_mode?:T2", "output:T mask?:T2", "seed:int", "T=floats; T1=floats; T2=bool"},
    {13, "data:T ratio?:T1 training_mode?:T2", "output:T mask?:T2", "seed:int",
     "T=floats|bfloat16; T1=floats; T2=bool"},
    {22, "data:T ratio?:T1 training_mode?:T2", "output:T mask?:T2", "seed:int",
     "T=float8s|floats|bfloat16; T1=float8s|floats|bfloat16; T2=bool"},
};

bool mask_is_bool(int since_version) {
  return since_version >= 10;
}

double scalar_input(const KernelContext& ctx, std::size_t i, double fallback) {
  const Tensor* tensor = ctx.optional_input(i);
  if (tensor == nullptr) return fallback;
  if (tensor->size() != 1) fail(ErrorKind::kRuntime, "input {} has {} elements, expected one", i, tensor->size());
  return element_as_double(*tensor, 0);
}

// Uniform in [0, 1) with 53 bits, from two words of the Mersenne twister.
double uniform(std::mt19937& generator) {
  const auto high = static_cast<double>(generator() >> 5), low = static_cast<double>(generator() >> 6);
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

void set_mask_to_ones(KernelContext& ctx) {
  if (!ctx.wants_output(1)) return;
  const Tensor& x = ctx.input(0);
  Tensor ones = Tensor::allocate(DataType::kUInt8, x.shape());
  std::ranges::fill(ones.mutable_data<std::uint8_t>(), std::uint8_t{1});
  ctx.set_output(1, mask_is_bool(ctx.since_version()) ? ones.viewed_as(DataType::kBool) : convert(ones, x.dtype()));
}

void run(KernelContext& ctx) {
  const int since = ctx.since_version();
  const bool training = since <= 6 ? ctx.attributes.i("is_test") == 0 : since >= 12 && scalar_input(ctx, 2, 0) != 0;
  const double ratio = since >= 12 ? scalar_input(ctx, 1, 0.5) : static_cast<double>(ctx.attributes.f("ratio"));
  if (!training || ratio == 0) {
    set_mask_to_ones(ctx);
    ctx.set_output(0, ctx.input_value(0));
    return;
  }
  if (!(ratio > 0 && ratio < 1)) fail(ErrorKind::kRuntime, "ratio is {}, expected a number from 0 to below 1", ratio);
  const Tensor x = ctx.input(0);
  std::mt19937 generator(static_cast<std::uint32_t>(since >= 12 ? ctx.attributes.i("seed", 0) : 0));
  const double scale = 1 / (1 - ratio);
  for_type(Floats{}, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>().data();
    T* to = ctx.output(0, x.dtype(), x.shape()).template mutable_data<T>().data();
    Tensor kept = Tensor::allocate(DataType::kUInt8, x.shape());
    const auto mask = kept.mutable_data<std::uint8_t>();
    for (std::size_t i = 0; i < mask.size(); ++i) {
      mask[i] = uniform(generator) >= ratio;
      to[i] = static_cast<T>(static_cast<double>(from[i]) * mask[i] * scale);
    }
    if (!ctx.wants_output(1)) return;
    ctx.set_output(1, mask_is_bool(since) ? kept.viewed_as(DataType::kBool) : convert(kept, x.dtype()));
  });
}

void infer(InferContext& ctx) {
  infer_same(ctx);
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(1, mask_is_bool(ctx.since_version()) ? DataType::kBool : input_dtype(ctx, 0),
                 shape ? std::optional(*shape) : std::nullopt);
}

}  // namespace

extern const OpDef kDropout;
const OpDef kDropout = {.domain = "",
                        .type = "Dropout",
                        .summary = "Passes its input through, or in training zeroes a random part and scales the rest.",
                        .versions = kVersions,
                        .infer = infer,
                        .run = run,
                        .constant_foldable = false,
                        .packed = PackedUse::kElementwise};

}  // namespace lppool
