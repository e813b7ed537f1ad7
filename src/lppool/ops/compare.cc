// Equal, Less, Greater and their or-equal forms, and Where.
// Source: ONNX Equal-1 to 19, Greater-1 to 13, GreaterOrEqual-12 and 16, Where-9 and 16.
#include <complex>

#include "lppool/ops/elementwise.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kEqualVersions[] = {
    {1, "A:T B:T", "C:T1", "axis:int broadcast:int=0", "T=bool|int32|int64; T1=bool"},
    {7, "A:T B:T", "C:T1", "", "T=bool|int32|int64; T1=bool"},
    {11, "A:T B:T", "C:T1", "", "T=num11|bool; T1=bool"},
    {13, "A:T B:T", "C:T1", "", "T=num12|bool; T1=bool"},
    {19, "A:T B:T", "C:T1", "", "T=num12|bool|string; T1=bool"},
};
// Less and Greater.
constexpr OpVersion kOrderVersions[] = {
    {1, "A:T B:T", "C:T1", "axis:int broadcast:int=0", "T=floats; T1=bool"},
    {7, "A:T B:T", "C:T1", "", "T=floats; T1=bool"},
    {9, "A:T B:T", "C:T1", "", "T=num11; T1=bool"},
    {13, "A:T B:T", "C:T1", "", "T=num12; T1=bool"},
};
// LessOrEqual and GreaterOrEqual.
constexpr OpVersion kOrEqualVersions[] = {
    {12, "A:T B:T", "C:T1", "", "T=num11; T1=bool"},
    {16, "A:T B:T", "C:T1", "", "T=num12; T1=bool"},
};
constexpr OpVersion kWhereVersions[] = {
    {9, "condition:B X:T Y:T", "output:T", "", "B=bool; T=all15"},
    {16, "condition:B X:T Y:T", "output:T", "", "B=bool; T=all16"},
};

void run_equal_strings(KernelContext& ctx) {
  const BinaryShapes shapes = binary_shapes(ctx);
  const std::array<Shape, 2> operands = {shapes.a, shapes.b};
  const BroadcastLoop loop(shapes.out, operands);
  const auto x = ctx.input(0).strings(), y = ctx.input(1).strings();
  auto z = ctx.output(0, DataType::kBool, shapes.out).mutable_data<std::uint8_t>();
  loop.run(ctx.threads(), [&](std::int64_t out, const std::int64_t* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto a = static_cast<std::size_t>(at[0] + (loop.repeats(0) ? 0 : i));
      const auto b = static_cast<std::size_t>(at[1] + (loop.repeats(1) ? 0 : i));
      z[static_cast<std::size_t>(out + i)] = x[a] == y[b];
    }
  });
}

void run_equal(KernelContext& ctx) {
  switch (ctx.input(0).dtype()) {
    case DataType::kString:
      run_equal_strings(ctx);
      break;
    case DataType::kBool:
      run_bool_binary(ctx, [](Bool a, Bool b) { return (a != 0) == (b != 0); });
      break;
    default:
      run_comparison(ctx, Numbers{}, [](auto a, auto b) { return a == b; });
  }
}
void run_less(KernelContext& ctx) {
  run_comparison(ctx, Numbers{}, [](auto a, auto b) { return a < b; });
}
void run_greater(KernelContext& ctx) {
  run_comparison(ctx, Numbers{}, [](auto a, auto b) { return a > b; });
}
void run_less_or_equal(KernelContext& ctx) {
  run_comparison(ctx, Numbers{}, [](auto a, auto b) { return a <= b; });
}
void run_greater_or_equal(KernelContext& ctx) {
  run_comparison(ctx, Numbers{}, [](auto a, auto b) { return a >= b; });
}

void infer_comparison(InferContext& ctx) {
  ctx.set_output(0, DataType::kBool, infer_binary_shape(ctx));
}

void infer_equal(InferContext& ctx) {
  infer_comparison(ctx);
  infer_binary_elements(ctx, [](const Dim& a, const Dim& b, DataType) {
    if (same(a, b)) return Dim(1);
    if ((a - b).value()) return Dim(0);  // apart by a number that is not 0
    // A size is never equal to a negative number, such as the -1 that stands for "infer this size".
    const auto never = [](const Dim& size, const Dim& number) {
      return number.value() && *number.value() < 0 && nonnegative(size);
    };
    return never(a, b) || never(b, a) ? Dim(0) : Dim();
  });
}
void infer_less(InferContext& ctx) {
  infer_comparison(ctx);
  infer_binary_elements(ctx, [](const Dim& a, const Dim& b, DataType) {
    const auto difference = (a - b).value();
    return difference ? Dim(*difference < 0) : Dim();
  });
}
void infer_greater(InferContext& ctx) {
  infer_comparison(ctx);
  infer_binary_elements(ctx, [](const Dim& a, const Dim& b, DataType) {
    const auto difference = (a - b).value();
    return difference ? Dim(*difference > 0) : Dim();
  });
}

// ---- Where ----

// Elements move as they are, so their size alone counts.
template <typename T>
void select(KernelContext& ctx, const BroadcastLoop& loop, const T* x, const T* y, T* out) {
  const std::uint8_t* condition = ctx.input(0).data<std::uint8_t>().data();
  const std::int64_t c_step = loop.repeats(0) ? 0 : 1, x_step = loop.repeats(1) ? 0 : 1,
                     y_step = loop.repeats(2) ? 0 : 1;
  loop.run(ctx.threads(), [&](std::int64_t at, const std::int64_t* from, std::int64_t n) {
    const std::uint8_t* c = condition + from[0];
    const T* a = x + from[1];
    const T* b = y + from[2];
    T* z = out + at;
    if (c_step == 0) {
      const T* chosen = *c != 0 ? a : b;
      const std::int64_t step = *c != 0 ? x_step : y_step;
      for (std::int64_t i = 0; i < n; ++i) z[i] = chosen[i * step];
    } else if (x_step == 1 && y_step == 1) {
      for (std::int64_t i = 0; i < n; ++i) z[i] = c[i] != 0 ? a[i] : b[i];
    } else {
      for (std::int64_t i = 0; i < n; ++i) z[i] = c[i] != 0 ? a[i * x_step] : b[i * y_step];
    }
  });
}

// One thread, in order: characters are counted before they are copied.
void select_strings(KernelContext& ctx, const BroadcastLoop& loop, std::span<const std::string> x,
                    std::span<const std::string> y, Tensor& out) {
  const auto condition = ctx.input(0).data<std::uint8_t>();
  const auto z = out.mutable_strings();
  const auto place = [&](std::size_t k, const std::int64_t* at, std::int64_t i) {
    return static_cast<std::size_t>(at[k] + (loop.repeats(k) ? 0 : i));
  };
  const auto row = [&](std::int64_t to, const std::int64_t* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::string& text = condition[place(0, at, i)] != 0 ? x[place(1, at, i)] : y[place(2, at, i)];
      if (text.size() >= sizeof(std::string)) out.charge_characters(text.size());  // shorter ones live in the object
      z[static_cast<std::size_t>(to + i)] = text;
    }
  };
  loop.run(ctx.threads(), row, std::max<std::int64_t>(loop.size(), 1));
}

void run_where(KernelContext& ctx) {
  const Tensor &condition = ctx.input(0), &x = ctx.input(1), &y = ctx.input(2);
  if (condition.dtype() != DataType::kBool || x.dtype() != y.dtype()) {
    fail(ErrorKind::kRuntime, "condition, X and Y are {}, {} and {}; expected bool and twice the same type",
         name(condition.dtype()), name(x.dtype()), name(y.dtype()));
  }
  const std::array<Shape, 3> operands = {condition.shape(), x.shape(), y.shape()};
  const Shape shape = broadcast_shape(operands);
  const BroadcastLoop loop(shape, operands);
  Tensor& out = ctx.output(0, x.dtype(), shape);
  if (x.dtype() == DataType::kString) {
    select_strings(ctx, loop, x.strings(), y.strings(), out);
    return;
  }
  const auto move = [&]<typename T>(TypeTag<T>) {
    select(ctx, loop, x.data<T>().data(), y.data<T>().data(), out.mutable_data<T>().data());
  };
  switch (element_size(x.dtype())) {
    case 1:
      move(TypeTag<std::uint8_t>{});
      break;
    case 2:
      move(TypeTag<std::uint16_t>{});
      break;
    case 4:
      move(TypeTag<std::uint32_t>{});
      break;
    case 8:
      move(TypeTag<std::uint64_t>{});
      break;
    default:
      move(TypeTag<std::complex<double>>{});
      break;
  }
}

void infer_where(InferContext& ctx) {
  const DataType x = input_dtype(ctx, 1);
  ctx.set_output(0, x == DataType::kUndefined ? input_dtype(ctx, 2) : x, broadcast_inputs(ctx));
  const std::vector<Dim>*condition = ctx.elements(0), *a = ctx.elements(1), *b = ctx.elements(2);
  if (condition == nullptr || a == nullptr || b == nullptr) return;
  const std::size_t count = std::max({condition->size(), a->size(), b->size()});
  for (const auto* list : {condition, a, b}) {
    if (list->size() != count && list->size() != 1) return;
  }
  const auto at = [](const std::vector<Dim>& list, std::size_t i) { return list[list.size() == 1 ? 0 : i]; };
  std::vector<Dim> result;
  for (std::size_t i = 0; i < count; ++i) {
    const auto chosen = at(*condition, i).value();
    const Dim yes = at(*a, i), no = at(*b, i);
    result.push_back(chosen ? (*chosen != 0 ? yes : no) : same(yes, no) ? yes : Dim());
  }
  ctx.set_elements(0, std::move(result));
}

}  // namespace

#define LPPOOL_COMPARE(op, text, table, rule, kernel, is_function) \
  extern const OpDef k##op;                                        \
  const OpDef k##op = {.domain = "",                               \
                       .type = #op,                                \
                       .summary = text,                            \
                       .versions = table,                          \
                       .infer = rule,                              \
                       .run = kernel,                              \
                       .facts = {.function = is_function}};
LPPOOL_COMPARE(Equal, "True where both elements are equal, with broadcasting.", kEqualVersions, infer_equal, run_equal,
               false)
LPPOOL_COMPARE(Less, "True where A is below B, with broadcasting.", kOrderVersions, infer_less, run_less, false)
LPPOOL_COMPARE(Greater, "True where A is above B, with broadcasting.", kOrderVersions, infer_greater, run_greater,
               false)
LPPOOL_COMPARE(LessOrEqual, "True where A is at most B, with broadcasting.", kOrEqualVersions, infer_comparison,
               run_less_or_equal, true)
LPPOOL_COMPARE(GreaterOrEqual, "True where A is at least B, with broadcasting.", kOrEqualVersions, infer_comparison,
               run_greater_or_equal, true)
LPPOOL_COMPARE(Where, "Takes each element from X where the condition is true, else from Y, with broadcasting.",
               kWhereVersions, infer_where, run_where, false)
#undef LPPOOL_COMPARE

}  // namespace lppool
