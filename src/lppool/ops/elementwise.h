#pragma once

#include <cstdint>

#include "lppool/kernels/functions.h"
#include "lppool/ops/broadcast.h"
#include "lppool/ops/element_types.h"
#include "lppool/ops/op.h"

// Kernels of elementwise operators, made from one scalar function each. All work in place where they may, and use the
// threads for large tensors.
namespace lppool {

// Elements handed to one thread at a time: fewer for functions that cost more than a few cycles.
inline constexpr std::int64_t kCheapGrain = BroadcastLoop::kGrain;
inline constexpr std::int64_t kCostlyGrain = 4096;

// y = f(x), same type. f is called with Arithmetic<T> for the T of the list: exactly rounded functions.
template <typename List, typename F>
void run_unary(KernelContext& ctx, List types, F f) {
  const Tensor x = ctx.input(0);
  for_type(types, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>().data();
    T* to = ctx.output_in_place(0, 0, x.dtype(), x.shape()).template mutable_data<T>().data();
    ctx.threads().parallel_for(x.size(), kCheapGrain, [&](std::int64_t begin, std::int64_t end) {
      map_row<Arithmetic<T>>(from + begin, to + begin, end - begin, f);
    });
  });
}

// y = f(x), same type. f is called with double for every float type, and its result rounded once; with T for integers.
template <typename List, typename F>
void run_unary_wide(KernelContext& ctx, List types, F f) {
  const Tensor x = ctx.input(0);
  for_type(types, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>().data();
    T* to = ctx.output_in_place(0, 0, x.dtype(), x.shape()).template mutable_data<T>().data();
    ctx.threads().parallel_for(x.size(), kCostlyGrain, [&](std::int64_t begin, std::int64_t end) {
      map_row<WideArithmetic<T>>(from + begin, to + begin, end - begin, f);
    });
  });
}

// The same for the functions that have a vector form in float32: `vectors` does that type, f the others.
template <typename List, typename F>
void run_function(KernelContext& ctx, List types, F f, kernels::Function vectors, double a = 0, double b = 0,
                  double c = 0) {
  const Tensor x = ctx.input(0);
  if (x.dtype() != DataType::kFloat32) {
    run_unary_wide(ctx, types, f);
    return;
  }
  const float* from = x.data<float>().data();
  float* to = ctx.output_in_place(0, 0, x.dtype(), x.shape()).template mutable_data<float>().data();
  ctx.threads().parallel_for(x.size(), kCostlyGrain, [&](std::int64_t begin, std::int64_t end) {
    kernels::map_float32(vectors, from + begin, to + begin, end - begin, a, b, c);
  });
}

// y = f(x) as bool.
template <typename List, typename F>
void run_predicate(KernelContext& ctx, List types, F f) {
  const Tensor x = ctx.input(0);
  for_type(types, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>().data();
    auto* to = ctx.output(0, DataType::kBool, x.shape()).template mutable_data<std::uint8_t>().data();
    ctx.threads().parallel_for(x.size(), kCheapGrain, [&](std::int64_t begin, std::int64_t end) {
      map_row<Arithmetic<T>>(from + begin, to + begin, end - begin, f);
    });
  });
}

// Output 0 in the place of input 0 or 1 where its storage may be taken over, else anew.
inline Tensor& output_in_place_of_either(KernelContext& ctx, DataType dtype, const Shape& shape) {
  const auto fits = [&](std::size_t i) { return ctx.input(i).is_unique() && ctx.input(i).size() == shape.elements(); };
  return ctx.output_in_place(0, !fits(0) && fits(1) ? 1 : 0, dtype, shape);
}

// z = f(x, y) with broadcasting, all of one type, in Arithmetic<T>.
template <typename List, typename F>
void run_binary(KernelContext& ctx, List types, F f) {
  const BinaryShapes shapes = binary_shapes(ctx);
  const std::array<Shape, 2> operands = {shapes.a, shapes.b};
  const BroadcastLoop loop(shapes.out, operands);
  const DataType dtype = ctx.input(0).dtype();
  for_type(types, dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = Arithmetic<T>;
    T* z = output_in_place_of_either(ctx, dtype, shapes.out).template mutable_data<T>().data();
    const T* x = ctx.input(0).data<T>().data();
    const T* y = ctx.input(1).data<T>().data();
    const bool x_repeats = loop.repeats(0), y_repeats = loop.repeats(1);
    loop.run(ctx.threads(), [&](std::int64_t out, const std::int64_t* at, std::int64_t n) {
      map_row<A, A>(x + at[0], x_repeats, y + at[1], y_repeats, z + out, n, f);
    });
  });
}

// z = f(x, y) as bool, with broadcasting; both inputs of one type.
template <typename List, typename F>
void run_comparison(KernelContext& ctx, List types, F f) {
  const BinaryShapes shapes = binary_shapes(ctx);
  const std::array<Shape, 2> operands = {shapes.a, shapes.b};
  const BroadcastLoop loop(shapes.out, operands);
  for_type(types, ctx.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = Arithmetic<T>;
    auto* z = ctx.output(0, DataType::kBool, shapes.out).template mutable_data<std::uint8_t>().data();
    const T* x = ctx.input(0).data<T>().data();
    const T* y = ctx.input(1).data<T>().data();
    const bool x_repeats = loop.repeats(0), y_repeats = loop.repeats(1);
    loop.run(ctx.threads(), [&](std::int64_t out, const std::int64_t* at, std::int64_t n) {
      map_row<A, A>(x + at[0], x_repeats, y + at[1], y_repeats, z + out, n, f);
    });
  });
}

// Truth values are read as bytes, any but 0 being true: a C++ bool read from a byte of another value is undefined.
using Bool = std::uint8_t;

inline void require_bool(const Tensor& tensor) {
  if (tensor.dtype() == DataType::kBool) return;
  fail(ErrorKind::kUnsupported, "element type {} is not supported here; supported is bool", name(tensor.dtype()));
}

// z = f(x, y) with broadcasting; all three are bool, f is called with bytes.
template <typename F>
void run_bool_binary(KernelContext& ctx, F f) {
  require_bool(ctx.input(0));
  require_bool(ctx.input(1));
  const BinaryShapes shapes = binary_shapes(ctx);
  const std::array<Shape, 2> operands = {shapes.a, shapes.b};
  const BroadcastLoop loop(shapes.out, operands);
  Bool* z = output_in_place_of_either(ctx, DataType::kBool, shapes.out).template mutable_data<Bool>().data();
  const Bool* x = ctx.input(0).data<Bool>().data();
  const Bool* y = ctx.input(1).data<Bool>().data();
  const bool x_repeats = loop.repeats(0), y_repeats = loop.repeats(1);
  loop.run(ctx.threads(), [&](std::int64_t out, const std::int64_t* at, std::int64_t n) {
    map_row<Bool, Bool>(x + at[0], x_repeats, y + at[1], y_repeats, z + out, n, f);
  });
}

}  // namespace lppool

// The OpDef of an elementwise operator of the default domain, in namespace lppool: LPPOOL_ELEMENTWISE(Abs, "Absolute value of
// each element.", kAbsVersions, infer_same, run_abs).
#define LPPOOL_ELEMENTWISE(op, text, table, rule, kernel) \
  extern const OpDef k##op;                               \
  const OpDef k##op = {.domain = "",                      \
                       .type = #op,                       \
                       .summary = text,                   \
                       .versions = table,                 \
                       .infer = rule,                     \
                       .run = kernel,                     \
                       .packed = PackedUse::kElementwise};
