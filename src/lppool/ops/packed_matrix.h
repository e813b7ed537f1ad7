#pragma once

#include <cstdint>
#include <vector>

#include "lppool/tensor/tensor.h"

// Matrix products whose right-hand side is used many times with few rows on the left: recurrent steps, attention heads.
namespace lppool {

// A k x n matrix stored in panels of kPanel columns, so that a product streams through memory and runs over whole
// vectors whatever the strides of the source were. T is float or double. Sums run over k in ascending order for each
// element, so a result does not depend on how rows are grouped or split over threads.
template <typename T>
class PackedMatrix {
 public:
  static constexpr std::int64_t kPanel = 32;

  PackedMatrix() = default;
  // Element (i, j) of the matrix is source[i * row_stride + j * column_stride].
  PackedMatrix(const T* source, std::int64_t k, std::int64_t n, std::int64_t row_stride, std::int64_t column_stride);

  std::int64_t k() const { return k_; }
  std::int64_t n() const { return n_; }

  // c[i * ldc + j] += sum over p of a[i * lda + p] * (p, j), for i in [0, m).
  void multiply_add(const T* a, std::int64_t lda, std::int64_t m, T* c, std::int64_t ldc) const;

 private:
  std::int64_t k_ = 0, n_ = 0;
  Tensor panels_;
};

extern template class PackedMatrix<float>;
extern template class PackedMatrix<double>;

}  // namespace lppool
