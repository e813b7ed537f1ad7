#pragma once

#include <cstdint>

#include "lppool/base/thread_pool.h"

// Matrix products of our own: the product behind MatMul, Gemm and the convolutions for every element type, and for float
// where oneDNN is not built in. Blocked for the caches, packed, and written with fixed-size vectors that g++ and clang map
// to whatever registers the target has.
namespace lppool::kernels {

// A matrix of any layout: element (r, c) is data[r * row_stride + c * column_stride].
template <typename T>
struct MatrixView {
  const T* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
};

// Writes rows [row, row + rows) of columns [column, column + columns) of a matrix that exists only implicitly to `out`, row
// by row, panel_width<T>() elements apart; columns that are missing there are written as zeros.
template <typename T>
using MatrixSource =
    FunctionRef<void(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, T* out)>;

// Columns of one packed panel: the most a MatrixSource is asked for at once.
template <typename T>
constexpr std::int64_t panel_width() {
  return 32 / static_cast<std::int64_t>(sizeof(T));
}

// y = a * b for an m x k matrix a and a k x n matrix b; y is row-major with `y_stride` elements from row to row. k may be 0
// (y is then zero). T is float, double, std::uint32_t or std::uint64_t; unsigned arithmetic wraps, so it serves signed
// integers too. Sums run over k in blocks, in T. Neither input may overlap y. Memory: below 1 MiB a thread.
template <typename T>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView<T> a, MatrixView<T> b, T* y, std::int64_t y_stride,
              ThreadPool& pool);

// The same with b given piecewise: the source is called from several threads.
template <typename T>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView<T> a, MatrixSource<T> b, T* y,
              std::int64_t y_stride, ThreadPool& pool);

}  // namespace lppool::kernels
