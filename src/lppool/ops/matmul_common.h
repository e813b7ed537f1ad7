#pragma once

#include <cstdint>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/op.h"

// The shapes of numpy.matmul, which MatMul, MatMulInteger and QLinearMatMul follow: matrices in the last two axes, the axes
// before them broadcast, a vector on either side taken as a row (left) or a column (right) whose axis the result drops.
namespace lppool {

struct MatMulPlan {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t products = 0;  // of m x k by k x n; where b is a single matrix, a's are joined into one with a larger m
  Shape output;

  struct Pair {
    std::int64_t a, b;  // which matrix of each stack
  };
  // The matrices of the i-th product, whose result is the i-th m x n block of the output.
  Pair pair(std::int64_t i) const;

  // The stacks' axes: sizes of the output's, and how many matrices one step along them is (0 where the stack is broadcast).
  std::vector<std::int64_t> sizes, a_steps, b_steps;
};

// Calls body(pair, block of y) for every product, on several threads where there are many.
template <typename T, typename Body>
void for_each_product(const MatMulPlan& plan, T* y, ThreadPool& pool, Body&& body) {
  const auto range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(plan.pair(i), y + i * plan.m * plan.n);
  };
  // A product spreads over the threads itself where it is called outside a parallel loop.
  if (plan.products >= 2 * pool.threads()) {
    pool.parallel_for(plan.products, range);
  } else {
    range(0, plan.products);
  }
}

// Throws kRuntime where the shapes do not fit.
MatMulPlan plan_matmul(const Shape& a, const Shape& b);

// Output 0 is `dtype`, of the product's shape, for the matrices at inputs `a` and `b`.
void infer_matmul(InferContext& context, std::size_t a, std::size_t b, DataType dtype);

}  // namespace lppool
