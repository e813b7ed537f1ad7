// PRelu. Source: ONNX PRelu-1, 6 (one slope a channel), 7 to 16 (slope broadcasts to X, not the other way).
#include "lppool/ops/elementwise.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X:T slope:T", "Y:T", "consumed_inputs:ints", "T=floats"},
    {6, "X:T slope:T", "Y:T", "", "T=floats"},
    {.since = 7,
     .inputs = "X:T slope:T",
     .outputs = "Y:T",
     .types = "T=floats",
     .rule_changes = "!slope: it broadcasts to X by its trailing axes; before, a slope of rank 1 ran along axis 1"},
    {9, "X:T slope:T", "Y:T", "", "T=wide7"},
    {16, "X:T slope:T", "Y:T", "", "T=wide7|bfloat16"},
};

void run(KernelContext& ctx) {
  const Shape shape = ctx.input(0).shape();
  Shape slope_shape = ctx.input(1).shape();
  if (ctx.since_version() < 7) {
    if (ctx.input(1).size() == 1)
      slope_shape = Shape{};
    else if (slope_shape.rank() == 1 && shape.rank() > 1) {
      std::vector<std::int64_t> along_channels(shape.rank(), 1);
      along_channels[1] = slope_shape[0];
      slope_shape = Shape(std::move(along_channels));
    }
  }
  const std::array<Shape, 2> operands = {shape, slope_shape};
  const BroadcastLoop loop(shape, operands);
  const DataType dtype = ctx.input(0).dtype();
  for_type(Floats{} + Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{}, dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = Arithmetic<T>;
    T* y = ctx.output_in_place(0, 0, dtype, shape).template mutable_data<T>().data();
    const T* x = ctx.input(0).data<T>().data();
    const T* slope = ctx.input(1).data<T>().data();
    loop.run(ctx.threads(), [&](std::int64_t out, const std::int64_t* at, std::int64_t n) {
      map_row<A, A>(x + at[0], loop.repeats(0), slope + at[1], loop.repeats(1), y + out, n,
                    [](A a, A b) { return a < A{0} ? wrap_mul(a, b) : a; });
    });
  });
}

}  // namespace

extern const OpDef kPRelu;
const OpDef kPRelu = {.domain = "",
                      .type = "PRelu",
                      .summary = "x, or slope * x below zero; the slopes are an input.",
                      .versions = kVersions,
                      .infer = infer_same,
                      .run = run,
                      .facts = {.function = true},
                      .packed = PackedUse::kElementwise};

}  // namespace lppool
