// InstanceNormalization and GroupNormalization: each image normalised by channel or by group of channels, over the spatial
// axes. GroupNormalization 18 has scale and bias for each group; 21 has them for each channel.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/compute_type.h"
#include "lppool/ops/moments.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kInstanceVersions[] = {
    {1, "input:T scale:T B:T", "output:T", "consumed_inputs:ints epsilon:float=1e-05", "T=floats"},
    {6, "input:T scale:T B:T", "output:T", "epsilon:float=1e-05", "T=floats"},
    {22, "input:T scale:T B:T", "output:T", "epsilon:float=1e-05", "T=floats|bfloat16"},
};

constexpr OpVersion kGroupVersions[] = {
    {18, "X:T scale:T bias:T", "Y:T", "epsilon:float=1e-05 num_groups!:int", "T=floats|bfloat16", true},
    {21, "X:T scale:T bias:T", "Y:T", "epsilon:float=1e-05 num_groups!:int stash_type:int=1", "T=floats|bfloat16"},
};

void infer(InferContext& context) { context.set_output(0, context.input(0).dtype, context.input(0).shape); }

void check_group(CheckContext& context) {
  if (const std::int64_t groups = context.attributes.i("num_groups", 1); groups < 1) {
    context.error(kBadValue, "num_groups", fmt::format("attribute 'num_groups' is {}, expected 1 or more", groups));
  }
}

// `groups` groups of channels of each image are normalised; scale and bias are per channel or per group.
template <typename T>
void normalize(KernelContext& context, std::int64_t groups, bool terms_by_group) {
  const Shape& shape = context.input(0).shape();
  const std::int64_t channels = shape[1], size = shape.elements(2, shape.rank()), per_group = channels / groups;
  const Tensor x = as_compute<T>(context.input(0)), scale = as_compute<T>(context.input(1)),
               bias = as_compute<T>(context.input(2));
  const std::int64_t terms = terms_by_group ? groups : channels;
  for (const Tensor* tensor : {&scale, &bias}) {
    if (tensor->size() != terms) {
      fail(ErrorKind::kRuntime, "scale or bias has shape {}, expected {}", to_string(tensor->shape()), terms);
    }
  }
  const auto epsilon = static_cast<double>(context.attributes.f("epsilon"));
  ComputedOutput<T> y(context, 0, context.input(0).dtype(), shape);
  const T* from = x.data<T>().data();
  T* to = y.data();
  if (per_group * size > 0) {
    context.threads().parallel_for(shape[0] * groups, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t g = begin; g < end; ++g) {
        const Moments moments = moments_of(from + g * per_group * size, per_group * size);
        const double spread = std::sqrt(moments.variance + epsilon);
        for (std::int64_t c = 0; c < per_group; ++c) {
          const std::int64_t group = g % groups;
          const auto term = static_cast<std::size_t>(terms_by_group ? group : group * per_group + c);
          const std::int64_t at = (g * per_group + c) * size;
          scale_row(from + at, to + at, size, static_cast<T>(moments.mean),
                    static_cast<T>(static_cast<double>(scale.data<T>()[term]) / spread), bias.data<T>()[term]);
        }
      }
    });
  }
  y.finish();
}

void check_rank(const Shape& shape, std::size_t least) {
  if (shape.rank() < least) {
    fail(ErrorKind::kRuntime, "the input has shape {}, expected at least {} axes", to_string(shape), least);
  }
}

void run_instance(KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  check_rank(shape, 3);
  if (shape[1] == 0) {
    context.output(0, context.input(0).dtype(), shape);
    return;
  }
  with_compute_type(context.input(0).dtype(), [&](auto zero) { normalize<decltype(zero)>(context, shape[1], false); });
}

void run_group(KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  check_rank(shape, 2);
  const std::int64_t groups = context.attributes.i("num_groups");
  if (groups < 1 || shape[1] % groups != 0) {
    fail(ErrorKind::kRuntime, "num_groups is {}, expected a divisor of the {} channels", groups, shape[1]);
  }
  if (const std::int64_t stash = context.attributes.i("stash_type", 1); stash != 1 && stash != 11) {
    fail(ErrorKind::kUnsupported, "stash_type is {}, supported are 1 (float32) and 11 (float64)", stash);
  }
  const bool by_group = context.since_version() < 21;
  with_compute_type(context.input(0).dtype(), [&](auto zero) { normalize<decltype(zero)>(context, groups, by_group); });
}

}  // namespace

extern const OpDef kInstanceNormalization;
const OpDef kInstanceNormalization = {
    .domain = "",
    .type = "InstanceNormalization",
    .summary = "Brings each channel of each image to mean 0 and variance 1 over the spatial axes, then scales it and adds B.",
    .versions = kInstanceVersions,
    .infer = infer,
    .run = run_instance,
};

extern const OpDef kGroupNormalization;
const OpDef kGroupNormalization = {
    .domain = "",
    .type = "GroupNormalization",
    .summary = "Brings each group of channels of each image to mean 0 and variance 1, then scales it and adds the bias.",
    .versions = kGroupVersions,
    .infer = infer,
    .run = run_group,
    .check = check_group,
    .facts = {.function = true},
};

}  // namespace lppool
