// Add, Sub, Mul, Div, Mod and Pow. Integers wrap as two's complement does; an integer divided by zero is refused, since
// no result would be right. Source: ONNX Add-1 to 14, Mod-10 and 13, Pow-1 to 15.
#include <atomic>
#include <cmath>
#include <limits>

#include "lppool/ops/elementwise.h"
#include "lppool/ops/shape_rules.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

// Add, Sub, Mul, Div.
constexpr OpVersion kArithmeticVersions[] = {
    {1, "A:T B:T", "C:T", "axis:int broadcast:int=0 consumed_inputs:ints", "T=floats"},
    {6, "A:T B:T", "C:T", "axis:int broadcast:int=0", "T=wide7"},
    {7, "A:T B:T", "C:T", "", "T=wide7"},
    {13, "A:T B:T", "C:T", "", "T=wide7|bfloat16"},
    {14, "A:T B:T", "C:T", "", "T=num12"},
};
constexpr OpVersion kModVersions[] = {
    {10, "A:T B:T", "C:T", "fmod:int=0", "T=num11"},
    {13, "A:T B:T", "C:T", "fmod:int=0", "T=num12"},
};
constexpr OpVersion kPowVersions[] = {
    {1, "X:T Y:T", "Z:T", "axis:int broadcast:int=0", "T=floats"},
    {7, "X:T Y:T", "Z:T", "", "T=floats"},
    {12, "X:T Y:T1", "Z:T", "", "T=floats|int32|int64; T1=num11"},
    {13, "X:T Y:T1", "Z:T", "", "T=floats|int32|int64|bfloat16; T1=num11"},
    {15, "X:T Y:T1", "Z:T", "", "T=floats|int32|int64|bfloat16; T1=num12"},
};

void run_add(KernelContext& ctx) {
  run_binary(ctx, Numbers{}, [](auto a, auto b) { return wrap_add(a, b); });
}
void run_sub(KernelContext& ctx) {
  run_binary(ctx, Numbers{}, [](auto a, auto b) { return wrap_sub(a, b); });
}
void run_mul(KernelContext& ctx) {
  run_binary(ctx, Numbers{}, [](auto a, auto b) { return wrap_mul(a, b); });
}

// Refuses an integer divisor of zero before anything is divided. Divisors no output element uses do not count.
void require_nonzero_divisors(KernelContext& ctx) {
  const Tensor& divisors = ctx.input(1);
  if (!is_integer(divisors.dtype()) || binary_shapes(ctx).out.elements() == 0) return;
  for_type(Ints{}, divisors.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::int64_t index = 0;
    for (const T divisor : divisors.data<T>()) {
      if (divisor == 0) fail(ErrorKind::kRuntime, "integer division by zero: element {} of the divisor is 0", index);
      ++index;
    }
  });
}

// Truncates toward zero; the one quotient that overflows (lowest / -1) wraps.
template <typename A>
A quotient(A a, A b) {
  if constexpr (std::is_floating_point_v<A>)
    return a / b;
  else if constexpr (std::is_signed_v<A>)
    return b == -1 ? wrap_neg(a) : static_cast<A>(a / b);
  else
    return static_cast<A>(a / b);
}

void run_div(KernelContext& ctx) {
  require_nonzero_divisors(ctx);
  run_binary(ctx, Numbers{}, [](auto a, auto b) { return quotient(a, b); });
}

// The remainder with the sign of the dividend (as C's % and fmod).
template <typename A>
A truncated_remainder(A a, A b) {
  if constexpr (std::is_floating_point_v<A>)
    return std::fmod(a, b);
  else if constexpr (std::is_signed_v<A>)
    return b == -1 ? A{0} : static_cast<A>(a % b);
  else
    return static_cast<A>(a % b);
}

void run_mod(KernelContext& ctx) {
  require_nonzero_divisors(ctx);
  if (ctx.attributes.i("fmod") != 0) {
    run_binary(ctx, Numbers{}, [](auto a, auto b) { return truncated_remainder(a, b); });
    return;
  }
  if (is_float(ctx.input(0).dtype())) {
    fail(ErrorKind::kRuntime, "attribute 'fmod' is 0, expected 1 for element type {}", name(ctx.input(0).dtype()));
  }
  run_binary(ctx, Ints{}, []<typename A>(A a, A b) {
    const A r = truncated_remainder(a, b);
    if constexpr (std::is_signed_v<A>)
      return r != 0 && (r < 0) != (b < 0) ? static_cast<A>(r + b) : r;
    else
      return r;
  });
}

void check_mod(CheckContext& ctx) {
  const std::int64_t fmod = ctx.attributes.i("fmod", 0);
  if (fmod != 0 && fmod != 1) {
    ctx.error(kBadValue, "fmod", fmt::format("attribute 'fmod' is {}, expected 0 or 1", fmod));
  }
}

// a^n by squaring, modulo 2^bits. n >= 0.
template <typename A, typename N>
A integer_power(A base, N exponent) {
  A result = 1;
  for (; exponent > 0; exponent = static_cast<N>(exponent / 2)) {
    if (exponent % 2 != 0) result = wrap_mul(result, base);
    base = wrap_mul(base, base);
  }
  return result;
}

template <typename X, typename Y>
X power(X x, Y y, std::atomic<bool>& undefined) {
  if constexpr (kIsFloat<X>) {
    return static_cast<X>(std::pow(static_cast<double>(x), static_cast<double>(y)));
  } else if constexpr (kIsFloat<Y>) {
    return convert_value<X>(std::pow(static_cast<double>(x), static_cast<double>(y)));
  } else {
    if constexpr (std::is_signed_v<Y>) {
      if (y < 0) {  // 1 / x^-y, truncated
        if (x == 0) undefined.store(true, std::memory_order_relaxed);
        if (x == 1) return 1;
        if constexpr (std::is_signed_v<X>) {
          if (x == -1) return y % 2 == 0 ? 1 : static_cast<X>(-1);
        }
        return 0;
      }
    }
    return integer_power(x, y);
  }
}

// The exponents that networks use, as one constant: products and roots are exact to the last bit and vectorise.
bool run_common_power(KernelContext& ctx) {
  const Tensor& y = ctx.input(1);
  if (y.size() != 1 || y.rank() > ctx.input(0).rank()) return false;
  const double exponent = element_as_double(y, 0);
  if (exponent == 2) {
    run_unary(ctx, Floats{}, [](auto x) { return x * x; });
  } else if (exponent == 3) {
    run_unary_wide(ctx, Floats{}, [](double x) { return x * x * x; });
  } else if (exponent == 0.5) {
    // pow differs from sqrt in -0 and -infinity: both give a positive result.
    run_unary(ctx, Floats{}, []<typename A>(A x) {
      return x == -std::numeric_limits<A>::infinity() ? std::numeric_limits<A>::infinity() : std::sqrt(x) + A{0};
    });
  } else {
    return false;
  }
  return true;
}

void run_pow(KernelContext& ctx) {
  const BinaryShapes shapes = binary_shapes(ctx);
  if (is_float(ctx.input(0).dtype()) && run_common_power(ctx)) return;
  const std::array<Shape, 2> operands = {shapes.a, shapes.b};
  const BroadcastLoop loop(shapes.out, operands);
  const DataType dtype = ctx.input(0).dtype();
  std::atomic<bool> undefined = false;
  for_type(Floats{} + Types<std::int32_t, std::int64_t>{}, dtype, [&](auto x_tag) {
    using X = typename decltype(x_tag)::type;
    X* z = ctx.output_in_place(0, 0, dtype, shapes.out).template mutable_data<X>().data();
    const X* x = ctx.input(0).data<X>().data();
    for_type(Numbers{}, ctx.input(1).dtype(), [&](auto y_tag) {
      using Y = typename decltype(y_tag)::type;
      const Y* y = ctx.input(1).data<Y>().data();
      loop.run(
          ctx.threads(),
          [&](std::int64_t out, const std::int64_t* at, std::int64_t n) {
            const std::int64_t x_step = loop.repeats(0) ? 0 : 1, y_step = loop.repeats(1) ? 0 : 1;
            for (std::int64_t i = 0; i < n; ++i)
              z[out + i] = power(x[at[0] + i * x_step], y[at[1] + i * y_step], undefined);
          },
          kCostlyGrain);
    });
  });
  if (undefined) fail(ErrorKind::kRuntime, "integer 0 to a negative power has no value");
}

void infer_arithmetic(InferContext& ctx) {
  ctx.set_output(0, input_dtype(ctx, 0), infer_binary_shape(ctx));
}

void infer_add(InferContext& ctx) {
  infer_arithmetic(ctx);
  infer_binary_elements(ctx, [](const Dim& a, const Dim& b, DataType dtype) { return fits(a + b, dtype); });
}
void infer_sub(InferContext& ctx) {
  infer_arithmetic(ctx);
  infer_binary_elements(ctx, [](const Dim& a, const Dim& b, DataType dtype) { return fits(a - b, dtype); });
}
void infer_mul(InferContext& ctx) {
  infer_arithmetic(ctx);
  infer_binary_elements(ctx, [](const Dim& a, const Dim& b, DataType dtype) { return fits(a * b, dtype); });
}
void infer_div(InferContext& ctx) {
  infer_arithmetic(ctx);
  infer_binary_elements(ctx, [](const Dim& a, const Dim& b, DataType dtype) {
    if (const auto x = a.value(), y = b.value(); x && y) {
      return *y == 0 || (*y == -1 && *x == std::numeric_limits<std::int64_t>::min()) ? Dim()
                                                                                     : fits(Dim(*x / *y), dtype);
    }
    // Truncation is rounding down only where nothing is negative.
    return nonnegative(a) && nonnegative(b) ? floor_div(a, b) : Dim();
  });
}
void infer_mod(InferContext& ctx) {
  infer_arithmetic(ctx);
  if (ctx.attributes.i("fmod") != 0) return;
  infer_binary_elements(ctx, [](const Dim& a, const Dim& b, DataType dtype) {
    // The sign of the divisor: a - b * floor(a / b) for b > 0.
    return b.value() && *b.value() > 0 ? fits(a - b * floor_div(a, b), dtype) : Dim();
  });
}

}  // namespace

LPPOOL_ELEMENTWISE(Add, "Sum of two tensors, element by element, with broadcasting.", kArithmeticVersions, infer_add,
                   run_add)
LPPOOL_ELEMENTWISE(Sub, "Difference of two tensors, element by element, with broadcasting.", kArithmeticVersions,
                   infer_sub, run_sub)
LPPOOL_ELEMENTWISE(Mul, "Product of two tensors, element by element, with broadcasting.", kArithmeticVersions,
                   infer_mul, run_mul)
LPPOOL_ELEMENTWISE(Div, "Quotient of two tensors, element by element, with broadcasting; integers truncate toward zero.",
                   kArithmeticVersions, infer_div, run_div)

extern const OpDef kMod;
const OpDef kMod = {.domain = "",
                    .type = "Mod",
                    .summary = "Remainder with the sign of the divisor, or with fmod=1 with that of the dividend.",
                    .versions = kModVersions,
                    .infer = infer_mod,
                    .run = run_mod,
                    .check = check_mod};

extern const OpDef kPow;
const OpDef kPow = {
    .domain = "",
    .type = "Pow",
    .summary = "Each element of X to the power of the element of Y, with broadcasting, in the type of X.",
    .versions = kPowVersions,
    .infer = infer_arithmetic,
    .run = run_pow};

}  // namespace lppool
