// DynamicQuantizeLinear: quantizes to uint8 with a scale and a zero point taken from the data. Source: ONNX
// DynamicQuantizeLinear-11.
#include <algorithm>
#include <cmath>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {{11, "x:T1", "y:T2 y_scale:float32 y_zero_point:T2", "", "T1=float32; T2=uint8"}};

void infer(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, DataType::kUInt8, shape ? std::optional(*shape) : std::nullopt);
  ctx.set_output(1, DataType::kFloat32, std::vector<Dim>{});
  ctx.set_output(2, DataType::kUInt8, std::vector<Dim>{});
}

// All in float32, as the operator's function body computes it. Where all elements are 0 the scale would be 0, and every
// quotient NaN: it is 1 instead, which gives zeros back.
void run(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  const auto values = x.data<float>();
  float low = 0, high = 0;
  for (const float v : values) {
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  const float scale = high == low ? 1.0f : (high - low) / 255.0f;
  // Written, as below, so that NaN (from infinite elements) ends at 0.
  const auto saturate = [](float v) { return v > 0 ? std::min(v, 255.0f) : 0.0f; };
  const float zero_point = std::nearbyint(saturate(0.0f - low / scale));
  std::uint8_t* y = ctx.output(0, DataType::kUInt8, x.shape()).mutable_data<std::uint8_t>().data();
  ctx.threads().parallel_for(x.size(), 16384, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      y[i] =
          static_cast<std::uint8_t>(saturate(std::nearbyint(values[static_cast<std::size_t>(i)] / scale) + zero_point));
    }
  });
  ctx.set_output(1, Tensor::scalar<float>(scale));
  ctx.set_output(2, Tensor::scalar<std::uint8_t>(static_cast<std::uint8_t>(zero_point)));
}

}  // namespace

extern const OpDef kDynamicQuantizeLinear;
const OpDef kDynamicQuantizeLinear = {
    .domain = "",
    .type = "DynamicQuantizeLinear",
    .summary = "Quantizes float32 to uint8 with a scale and a zero point that cover the range of the input and zero.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .facts = {.function = true}};

}  // namespace lppool
