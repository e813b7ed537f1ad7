#include "lppool/ops/matmul_common.h"

#include "lppool/ops/explain.h"

#include <algorithm>

namespace lppool {
namespace {

[[noreturn]] void do_not_fit(std::int64_t a, std::int64_t b) {
  fail(ErrorKind::kRuntime, "matrices do not fit: the left one has {} columns, the right one {} rows", a, b);
}

[[noreturn]] void do_not_broadcast(std::int64_t a, std::int64_t b) {
  fail(ErrorKind::kRuntime, "axes of the stacks of matrices do not fit: {} against {}", a, b);
}

// One axis of the stacks: 1 gives way to anything, other sizes must agree.
Dim broadcast(const Dim& a, const Dim& b) {
  if (a.is(1)) return b;
  if (b.is(1) || same(a, b)) return a;
  if (a.value() && b.value()) do_not_broadcast(*a.value(), *b.value());
  if (a.value()) return a;  // not 1: the other is 1 or the same
  return b.value() ? b : Dim();
}

}  // namespace

void infer_matmul(InferContext& context, std::size_t a_input, std::size_t b_input, DataType dtype) {
  context.set_output(0, dtype, std::nullopt);
  if (context.shape(a_input) == nullptr || context.shape(b_input) == nullptr) return;
  std::vector<Dim> a = *context.shape(a_input), b = *context.shape(b_input);
  if (a.empty() || b.empty()) fail(ErrorKind::kRuntime, "an input is a scalar, expected a vector or matrices");
  const bool a_is_vector = a.size() == 1, b_is_vector = b.size() == 1;
  if (a_is_vector) a.insert(a.begin(), Dim(1));
  if (b_is_vector) b.emplace_back(1);
  const Dim columns = a.back(), rows = b[b.size() - 2];
  if (columns.value() && rows.value() && !same(columns, rows)) do_not_fit(*columns.value(), *rows.value());
  const std::size_t stack = std::max(a.size(), b.size()) - 2;
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < stack; ++i) {
    const std::size_t from_a = stack - (a.size() - 2), from_b = stack - (b.size() - 2);
    dims.push_back(broadcast(i < from_a ? Dim(1) : a[i - from_a], i < from_b ? Dim(1) : b[i - from_b]));
  }
  if (context.explaining) {
    for (std::size_t i = 0; i < stack; ++i) {
      std::vector<NamedSize> sizes;
      if (a.size() + i >= stack + 2) sizes.push_back(named_size(context, a_input, a.size() + i - stack - 2));
      if (b.size() + i >= stack + 2) sizes.push_back(named_size(context, b_input, b.size() + i - stack - 2));
      context.explain(0, i, broadcast_formula(sizes));
    }
  }
  if (!a_is_vector) dims.push_back(a[a.size() - 2]);
  if (!b_is_vector) dims.push_back(b.back());
  context.set_output(0, dtype, std::move(dims));
}

MatMulPlan plan_matmul(const Shape& a_shape, const Shape& b_shape) {
  if (a_shape.rank() == 0 || b_shape.rank() == 0) {
    fail(ErrorKind::kRuntime, "an input is a scalar, expected a vector or matrices");
  }
  std::vector<std::int64_t> a = a_shape.dims(), b = b_shape.dims();
  const bool a_is_vector = a.size() == 1, b_is_vector = b.size() == 1;
  if (a_is_vector) a.insert(a.begin(), 1);
  if (b_is_vector) b.push_back(1);
  MatMulPlan plan;
  plan.m = a[a.size() - 2];
  plan.k = a.back();
  plan.n = b.back();
  if (plan.k != b[b.size() - 2]) do_not_fit(plan.k, b[b.size() - 2]);
  const std::size_t stack = std::max(a.size(), b.size()) - 2;
  a.insert(a.begin(), stack - (a.size() - 2), 1);
  b.insert(b.begin(), stack - (b.size() - 2), 1);
  for (std::size_t i = 0; i < stack; ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) do_not_broadcast(a[i], b[i]);
    plan.output.push_back(a[i] == 1 ? b[i] : a[i]);
  }
  if (!a_is_vector) plan.output.push_back(plan.m);
  if (!b_is_vector) plan.output.push_back(plan.n);
  if (plan.output.elements() == 0) return plan;
  plan.products = 1;
  for (std::size_t i = 0; i < stack; ++i) plan.products *= plan.output[i];
  const std::vector<std::int64_t> b_stack(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(stack));
  if (std::ranges::all_of(b_stack, [](std::int64_t size) { return size == 1; })) {
    plan.m *= plan.products;
    plan.products = 1;
    return plan;
  }
  plan.sizes.assign(plan.output.begin(), plan.output.begin() + static_cast<std::ptrdiff_t>(stack));
  plan.a_steps.resize(stack);
  plan.b_steps.resize(stack);
  std::int64_t a_step = 1, b_step = 1;
  for (std::size_t axis = stack; axis-- > 0;) {
    plan.a_steps[axis] = a[axis] == 1 ? 0 : a_step;
    plan.b_steps[axis] = b[axis] == 1 ? 0 : b_step;
    a_step *= a[axis];
    b_step *= b[axis];
  }
  return plan;
}

MatMulPlan::Pair MatMulPlan::pair(std::int64_t i) const {
  Pair result{0, 0};
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    result.a += i % sizes[axis] * a_steps[axis];
    result.b += i % sizes[axis] * b_steps[axis];
    i /= sizes[axis];
  }
  return result;
}

}  // namespace lppool
