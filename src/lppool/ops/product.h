#pragma once

#include <type_traits>

#include "lppool/kernels/gemm.h"
#include "lppool/ops/onednn.h"

// The one door to matrix products for operators: float32 by oneDNN where it is built in, everything else by kernels/gemm.h.
namespace lppool {

// As kernels::multiply() (see there).
template <typename T>
void multiply_matrices(std::int64_t m, std::int64_t n, std::int64_t k, kernels::MatrixView<T> a, kernels::MatrixView<T> b,
                       T* y, std::int64_t y_stride, ThreadPool& pool) {
  if constexpr (std::is_same_v<T, float>) {
    const int threads = ThreadPool::in_task() ? 1 : pool.threads();
    if (onednn::multiply(m, n, k, a, b, y, y_stride, threads)) return;
  }
  kernels::multiply<T>(m, n, k, a, b, y, y_stride, pool);
}

}  // namespace lppool
