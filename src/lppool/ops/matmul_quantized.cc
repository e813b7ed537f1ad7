// MatMulInteger and QLinearMatMul: products of 8-bit matrices. Integers are exact in 32 bits (wrapping, as the texts allow); where a
// float8 type takes part, sums are in float64 and rounded once to the output's type, as QuantizeLinear does.
#include <algorithm>
#include <array>
#include <bit>

#include "lppool/ops/matmul_common.h"
#include "lppool/ops/product.h"
#include "lppool/ops/quantized.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

constexpr OpVersion kMatMulIntegerVersions[] = {
    {10, "A:T1 B:T2 a_zero_point?:T1 b_zero_point?:T2", "Y:T3", "", "T1=int8|uint8; T2=int8|uint8; T3=int32"},
};

constexpr OpVersion kQLinearMatMulVersions[] = {
    {10, "a:T1 a_scale:float32 a_zero_point:T1 b:T2 b_scale:float32 b_zero_point:T2 y_scale:float32 y_zero_point:T3", "y:T3",
     "", "T1=int8|uint8; T2=int8|uint8; T3=int8|uint8"},
    {21, "a:T1 a_scale:TS a_zero_point:T1 b:T2 b_scale:TS b_zero_point:T2 y_scale:TS y_zero_point:T3", "y:T3", "",
     "TS=float32|float16|bfloat16; T1=float8s|int8|uint8; T2=float8s|int8|uint8; T3=float8s|int8|uint8"},
};

// One value for each row (or column) of each matrix of a stack, from a tensor that holds one value, one for each row
// (column), or one for each row (column) of each matrix (shape [..., M, 1] or [..., 1, N]).
template <typename T>
class PerLine {
 public:
  PerLine(std::vector<T> values, std::int64_t lines, std::int64_t matrices, std::string_view what)
      : values_(std::move(values)), lines_(lines) {
    const auto count = static_cast<std::int64_t>(values_.size());
    per_matrix_ = count == lines * matrices && matrices != 1;
    if (count != 1 && count != lines && !per_matrix_) {
      fail(ErrorKind::kRuntime, "{} has {} elements, expected 1, {} or {}", what, count, lines, lines * matrices);
    }
  }
  T at(std::int64_t matrix, std::int64_t line) const {
    if (values_.size() == 1) return values_.front();
    return values_[static_cast<std::size_t>((per_matrix_ ? matrix * lines_ : 0) + line)];
  }

 private:
  std::vector<T> values_;
  std::int64_t lines_;
  bool per_matrix_ = false;
};

struct Side {
  std::int64_t rows, columns, matrices;
  bool by_row;  // zero points and scales go by rows (left) or columns (right)
};

Side side_of(const Shape& shape, bool left) {
  Side side{1, 1, 1, left};
  const std::size_t rank = shape.rank();
  if (rank == 1) {
    (left ? side.columns : side.rows) = shape[0];
  } else {
    side.rows = shape[rank - 2];
    side.columns = shape[rank - 1];
    side.matrices = shape.elements(0, rank - 2);
  }
  return side;
}

// The stored numbers as T: std::uint32_t, whose differences and products wrap, or double.
template <typename T>
std::vector<T> numbers(const Tensor& tensor) {
  if constexpr (std::is_same_v<T, double>) {
    const Tensor wide = convert(tensor, DataType::kFloat64);
    return {wide.data<double>().begin(), wide.data<double>().end()};
  } else {
    const std::vector<std::int32_t> stored = as_int32(tensor);
    return {stored.begin(), stored.end()};
  }
}

// The stored numbers less their zero points.
template <typename T>
std::vector<T> centred(const Tensor& tensor, const Side& side, const PerLine<T>& zero) {
  std::vector<T> result = numbers<T>(tensor);
  std::size_t i = 0;
  for (std::int64_t matrix = 0; matrix < side.matrices; ++matrix) {
    for (std::int64_t r = 0; r < side.rows; ++r) {
      for (std::int64_t c = 0; c < side.columns; ++c, ++i) result[i] -= zero.at(matrix, side.by_row ? r : c);
    }
  }
  return result;
}

template <typename T>
struct Products {
  MatMulPlan plan;
  Side a, b;
  std::vector<T> sums;
};

// `inputs` are the positions of a, its zero point, b and its zero point.
template <typename T>
Products<T> multiply(const KernelContext& context, std::array<std::size_t, 4> inputs) {
  const Tensor& a = context.input(inputs[0]);
  const Tensor& b = context.input(inputs[2]);
  Products<T> result{plan_matmul(a.shape(), b.shape()), side_of(a.shape(), true), side_of(b.shape(), false), {}};
  const auto zero = [&](std::size_t input, const Side& side, std::string_view what) {
    std::vector<T> values{T{0}};
    if (context.has_input(input)) values = numbers<T>(context.input(input));
    return PerLine<T>(std::move(values), side.by_row ? side.rows : side.columns, side.matrices, what);
  };
  const auto left = centred<T>(a, result.a, zero(inputs[1], result.a, "the zero point of a"));
  const auto right = centred<T>(b, result.b, zero(inputs[3], result.b, "the zero point of b"));
  const MatMulPlan& plan = result.plan;
  result.sums.resize(static_cast<std::size_t>(plan.output.elements()));
  for_each_product(plan, result.sums.data(), context.threads(), [&](MatMulPlan::Pair pair, T* out) {
    multiply_matrices<T>(plan.m, plan.n, plan.k, {left.data() + pair.a * plan.m * plan.k, plan.k, 1},
                         {right.data() + pair.b * plan.k * plan.n, plan.n, 1}, out, plan.n, context.threads());
  });
  return result;
}

void infer_integer(InferContext& context) { infer_matmul(context, 0, 1, DataType::kInt32); }

void run_integer(KernelContext& context) {
  const auto products = multiply<std::uint32_t>(context, {0, 2, 1, 3});
  Tensor& y = context.output(0, DataType::kInt32, products.plan.output);
  std::ranges::copy(products.sums, y.mutable_data<std::uint32_t>().begin());
}

void infer_qlinear(InferContext& context) { infer_matmul(context, 0, 3, context.input(7).dtype); }

// An element of the output from its scaled sum.
void store_scaled(double value, double zero_point, Tensor& y, std::int64_t index) {
  if (is_float8(y.dtype())) {
    y.mutable_data<std::uint8_t>()[static_cast<std::size_t>(index)] = small_float_code(y.dtype(), value + zero_point);
  } else {
    store_quantized(value, static_cast<std::int32_t>(zero_point), y, index);
  }
}

template <typename T>
void run_qlinear_as(KernelContext& context) {
  const Products<T> products = multiply<T>(context, {0, 2, 3, 5});
  const MatMulPlan& plan = products.plan;
  const Tensor& zero = context.input(7);
  if (zero.size() != 1 || context.input(6).size() != 1) {
    fail(ErrorKind::kUnsupported, "a scale or zero point of y with {} elements is not supported, expected 1",
         std::max(zero.size(), context.input(6).size()));
  }
  const double zero_point = element_as_double(zero, 0), y_scale = read_scales(context.input(6)).front();
  const PerLine<double> a_scale(read_scales(context.input(1)), products.a.rows, products.a.matrices, "the scale of a");
  const PerLine<double> b_scale(read_scales(context.input(4)), products.b.columns, products.b.matrices, "the scale of b");
  Tensor& y = context.output(0, zero.dtype(), plan.output);
  for (std::int64_t i = 0; i < plan.products; ++i) {
    const MatMulPlan::Pair pair = plan.pair(i);
    for (std::int64_t r = 0; r < plan.m; ++r) {
      // Where matrices of a were joined, rows beyond the first matrix belong to the following ones.
      const std::int64_t matrix = pair.a + r / products.a.rows, row = r % products.a.rows;
      for (std::int64_t c = 0; c < plan.n; ++c) {
        const std::int64_t index = (i * plan.m + r) * plan.n + c;
        double sum;
        if constexpr (std::is_same_v<T, double>) {
          sum = products.sums[static_cast<std::size_t>(index)];
        } else {
          sum = std::bit_cast<std::int32_t>(products.sums[static_cast<std::size_t>(index)]);
        }
        store_scaled(sum * (a_scale.at(matrix, row) * b_scale.at(pair.b, c) / y_scale), zero_point, y, index);
      }
    }
  }
}

void run_qlinear(KernelContext& context) {
  const auto is_small = [&](std::size_t input) { return is_float8(context.input(input).dtype()); };
  return is_small(0) || is_small(3) || is_small(7) ? run_qlinear_as<double>(context) : run_qlinear_as<std::uint32_t>(context);
}

}  // namespace

extern const OpDef kMatMulInteger;
const OpDef kMatMulInteger = {
    .domain = "",
    .type = "MatMulInteger",
    .summary = "Matrix product of two 8-bit integer tensors less their zero points, as 32-bit integers.",
    .versions = kMatMulIntegerVersions,
    .infer = infer_integer,
    .run = run_integer,
};

extern const OpDef kQLinearMatMul;
const OpDef kQLinearMatMul = {
    .domain = "",
    .type = "QLinearMatMul",
    .summary = "Matrix product of two quantised tensors, quantised again with the scale and zero point of y.",
    .versions = kQLinearMatMulVersions,
    .infer = infer_qlinear,
    .run = run_qlinear,
};

}  // namespace lppool
