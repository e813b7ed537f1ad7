// Operators on truth values and bits: Not, And, Or, Xor, IsNaN, IsInf, and the bitwise family.
#include <cmath>

#include "lppool/ops/elementwise.h"
#include "lppool/ops/shape_rules.h"
#include "lppool/tensor/float8.h"

namespace lppool {
namespace {

constexpr OpVersion kNotVersions[] = {{1, "X:T", "Y:T", "", "T=bool"}};
constexpr OpVersion kAndOrXorVersions[] = {
    {1, "A:T B:T", "C:T1", "axis:int broadcast:int=0", "T=bool; T1=bool"},
    {7, "A:T B:T", "C:T1", "", "T=bool; T1=bool"},
};
constexpr OpVersion kIsNaNVersions[] = {
    {9, "X:T1", "Y:T2", "", "T1=floats; T2=bool"},
    {13, "X:T1", "Y:T2", "", "T1=floats|bfloat16; T2=bool"},
    {20, "X:T1", "Y:T2", "", "T1=float8s|floats|bfloat16; T2=bool"},
};
constexpr OpVersion kIsInfVersions[] = {
    {10, "X:T1", "Y:T2", "detect_negative:int=1 detect_positive:int=1", "T1=float32|float64; T2=bool"},
    {20, "X:T1", "Y:T2", "detect_negative:int=1 detect_positive:int=1", "T1=float8s|floats|bfloat16; T2=bool"},
};
constexpr OpVersion kBitwiseVersions[] = {{18, "A:T B:T", "C:T", "", "T=ints"}};
constexpr OpVersion kBitwiseNotVersions[] = {{18, "X:T", "Y:T", "", "T=ints"}};
constexpr OpVersion kBitShiftVersions[] = {{11, "X:T Y:T", "Z:T", "direction!:string", "T=uint8|uint16|uint32|uint64"}};

void run_and(KernelContext& ctx) {
  run_bool_binary(ctx, [](Bool a, Bool b) { return (a != 0) & (b != 0); });
}
void run_or(KernelContext& ctx) {
  run_bool_binary(ctx, [](Bool a, Bool b) { return (a != 0) | (b != 0); });
}
void run_xor(KernelContext& ctx) {
  run_bool_binary(ctx, [](Bool a, Bool b) { return (a != 0) ^ (b != 0); });
}
void run_not(KernelContext& ctx) {
  const Tensor x = ctx.input(0);
  require_bool(x);
  const Bool* from = x.data<Bool>().data();
  Bool* to = ctx.output_in_place(0, 0, DataType::kBool, x.shape()).mutable_data<Bool>().data();
  ctx.threads().parallel_for(x.size(), kCheapGrain, [&](std::int64_t begin, std::int64_t end) {
    map_row<Bool>(from + begin, to + begin, end - begin, [](Bool value) { return value == 0; });
  });
}

// The four 8-bit float types go through a table of their 256 values.
template <typename F>
void run_float_predicate(KernelContext& ctx, F f) {
  const Tensor x = ctx.input(0);
  if (!is_float8(x.dtype())) {
    run_predicate(ctx, Floats{}, f);
    return;
  }
  std::uint8_t answers[256];
  for (int code = 0; code < 256; ++code)
    answers[code] = f(small_float_value(x.dtype(), static_cast<std::uint8_t>(code)));
  const auto from = x.data<std::uint8_t>();
  const auto to = ctx.output(0, DataType::kBool, x.shape()).mutable_data<std::uint8_t>();
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = answers[from[i]];
}

void run_is_nan(KernelContext& ctx) {
  run_float_predicate(ctx, [](auto x) { return x != x; });
}

void run_is_inf(KernelContext& ctx) {
  const bool negative = ctx.attributes.i("detect_negative") != 0;
  const bool positive = ctx.attributes.i("detect_positive") != 0;
  run_float_predicate(ctx, [=]<typename A>(A x) {
    constexpr A kInfinity = std::numeric_limits<A>::infinity();
    return (positive && x == kInfinity) || (negative && x == -kInfinity);
  });
}

void run_bitwise_and(KernelContext& ctx) {
  run_binary(ctx, Ints{}, []<typename A>(A a, A b) { return static_cast<A>(a & b); });
}
void run_bitwise_or(KernelContext& ctx) {
  run_binary(ctx, Ints{}, []<typename A>(A a, A b) { return static_cast<A>(a | b); });
}
void run_bitwise_xor(KernelContext& ctx) {
  run_binary(ctx, Ints{}, []<typename A>(A a, A b) { return static_cast<A>(a ^ b); });
}
void run_bitwise_not(KernelContext& ctx) {
  run_unary(ctx, Ints{}, []<typename A>(A a) { return static_cast<A>(~a); });
}

// Shifting by the width or more leaves nothing.
void run_bit_shift(KernelContext& ctx) {
  const std::string direction = ctx.attributes.s("direction");
  if (direction == "LEFT") {
    run_binary(ctx, UnsignedInts{}, []<typename A>(A a, A b) {
      return static_cast<A>(b >= sizeof(A) * 8 ? 0 : static_cast<std::uint64_t>(a) << b);
    });
  } else if (direction == "RIGHT") {
    run_binary(ctx, UnsignedInts{}, []<typename A>(A a, A b) {
      return static_cast<A>(b >= sizeof(A) * 8 ? 0 : static_cast<std::uint64_t>(a) >> b);
    });
  } else {
    fail(ErrorKind::kRuntime, "attribute 'direction' is '{}', expected LEFT or RIGHT", direction);
  }
}

void check_bit_shift(CheckContext& ctx) {
  const std::string direction = ctx.attributes.s("direction", "LEFT");
  if (direction != "LEFT" && direction != "RIGHT") {
    ctx.error(kBadValue, "direction", "attribute 'direction' is '" + direction + "', expected LEFT or RIGHT");
  }
}

void infer_bool_binary(InferContext& ctx) {
  ctx.set_output(0, DataType::kBool, infer_binary_shape(ctx));
}
void infer_int_binary(InferContext& ctx) {
  ctx.set_output(0, input_dtype(ctx, 0), infer_binary_shape(ctx));
}

void infer_and(InferContext& ctx) {
  infer_bool_binary(ctx);
  infer_binary_elements(ctx, [](const Dim& a, const Dim& b, DataType) {
    if (a.is(0) || b.is(0)) return Dim(0);
    return a.is(1) && b.is(1) ? Dim(1) : Dim();
  });
}
void infer_or(InferContext& ctx) {
  infer_bool_binary(ctx);
  infer_binary_elements(ctx, [](const Dim& a, const Dim& b, DataType) {
    if (a.is(1) || b.is(1)) return Dim(1);
    return a.is(0) && b.is(0) ? Dim(0) : Dim();
  });
}
void infer_not(InferContext& ctx) {
  infer_same(ctx);
  const auto* elements = ctx.elements(0);
  if (elements == nullptr) return;
  std::vector<Dim> result;
  for (const Dim& element : *elements) result.push_back(Dim(1) - element);
  ctx.set_elements(0, std::move(result));
}

}  // namespace

#define LPPOOL_LOGICAL(op, text, table, rule, kernel) \
  extern const OpDef k##op;                           \
  const OpDef k##op = {.domain = "", .type = #op, .summary = text, .versions = table, .infer = rule, .run = kernel};

LPPOOL_LOGICAL(Not, "Negation of each truth value.", kNotVersions, infer_not, run_not)
LPPOOL_LOGICAL(And, "True where both inputs are, with broadcasting.", kAndOrXorVersions, infer_and, run_and)
LPPOOL_LOGICAL(Or, "True where either input is, with broadcasting.", kAndOrXorVersions, infer_or, run_or)
LPPOOL_LOGICAL(Xor, "True where exactly one input is, with broadcasting.", kAndOrXorVersions, infer_bool_binary,
               run_xor)
LPPOOL_LOGICAL(IsNaN, "True where the element is not a number.", kIsNaNVersions, infer_same_bool, run_is_nan)
LPPOOL_LOGICAL(IsInf, "True where the element is infinite, of either sign or of the wanted one.", kIsInfVersions,
               infer_same_bool, run_is_inf)
LPPOOL_LOGICAL(BitwiseAnd, "Bits set in both inputs, with broadcasting.", kBitwiseVersions, infer_int_binary,
               run_bitwise_and)
LPPOOL_LOGICAL(BitwiseOr, "Bits set in either input, with broadcasting.", kBitwiseVersions, infer_int_binary,
               run_bitwise_or)
LPPOOL_LOGICAL(BitwiseXor, "Bits set in exactly one input, with broadcasting.", kBitwiseVersions, infer_int_binary,
               run_bitwise_xor)
LPPOOL_LOGICAL(BitwiseNot, "All bits of each element flipped.", kBitwiseNotVersions, infer_same, run_bitwise_not)
#undef LPPOOL_LOGICAL

extern const OpDef kBitShift;
const OpDef kBitShift = {
    .domain = "",
    .type = "BitShift",
    .summary = "Shifts the bits of each element of X left or right by the element of Y, with broadcasting.",
    .versions = kBitShiftVersions,
    .infer = infer_int_binary,
    .run = run_bit_shift,
    .check = check_bit_shift};

}  // namespace lppool
