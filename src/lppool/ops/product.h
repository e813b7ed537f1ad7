#pragma once

#include "lppool/kernels/gemm.h"

// The one door to matrix products for operators: float32 by oneDNN where it is built in, everything else by kernels/gemm.h.
namespace lppool {

// As kernels::multiply() (see there). Each of a and b must have a stride of 1 along rows or columns.
template <typename T>
void multiply_matrices(std::int64_t m, std::int64_t n, std::int64_t k, kernels::MatrixView<T> a, kernels::MatrixView<T> b,
                       T* y, std::int64_t y_stride, ThreadPool& pool) {
  kernels::multiply<T>(m, n, k, a, b, y, y_stride, pool);
}

}  // namespace lppool
