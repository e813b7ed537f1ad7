#include "lppool/ops/packed_matrix.h"

#include <algorithm>

namespace lppool {
namespace {

// kRows rows of c by one panel: the accumulators stay in registers while p runs.
template <typename T, int kRows>
[[gnu::always_inline]] inline void block(const T* a, std::int64_t lda, std::int64_t k, const T* panel, T* c,
                                         std::int64_t ldc, std::int64_t first, std::int64_t width) {
  constexpr int kVector = 64 / sizeof(T) * (kRows == 1 ? 2 : 1);
  T sums[kRows][kVector] = {};
  const T* column = panel + first;
  for (std::int64_t p = 0; p < k; ++p) {
    for (int row = 0; row < kRows; ++row) {
      const T factor = a[row * lda + p];
      for (int j = 0; j < kVector; ++j) sums[row][j] += factor * column[j];
    }
    column += PackedMatrix<T>::kPanel;
  }
  for (int row = 0; row < kRows; ++row) {
    for (std::int64_t j = 0; j < std::min<std::int64_t>(kVector, width - first); ++j)
      c[row * ldc + first + j] += sums[row][j];
  }
}

template <typename T>
[[gnu::always_inline]] inline void panel_product(const T* a, std::int64_t lda, std::int64_t m, std::int64_t k,
                                                 const T* panel, T* c, std::int64_t ldc, std::int64_t width) {
  constexpr int kWide = 64 / sizeof(T);
  std::int64_t i = 0;
  for (; i + 4 <= m; i += 4) {
    for (std::int64_t first = 0; first < width; first += kWide)
      block<T, 4>(a + i * lda, lda, k, panel, c + i * ldc, ldc, first, width);
  }
  for (; i < m; ++i) {
    for (std::int64_t first = 0; first < width; first += 2 * kWide) {
      block<T, 1>(a + i * lda, lda, k, panel, c + i * ldc, ldc, first, width);
    }
  }
}

using FloatProduct = void (*)(const float*, std::int64_t, std::int64_t, std::int64_t, const float*, float*,
                              std::int64_t, std::int64_t);

void float_product(const float* a, std::int64_t lda, std::int64_t m, std::int64_t k, const float* panel, float* c,
                   std::int64_t ldc, std::int64_t width) {
  panel_product(a, lda, m, k, panel, c, ldc, width);
}

#if defined(__x86_64__)
// The same sums in the same order, eight lanes at a time.
[[gnu::target("avx2")]] void float_product_avx2(const float* a, std::int64_t lda, std::int64_t m, std::int64_t k,
                                                const float* panel, float* c, std::int64_t ldc, std::int64_t width) {
  panel_product(a, lda, m, k, panel, c, ldc, width);
}
#endif

FloatProduct best_float_product() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return float_product_avx2;
#endif
  return float_product;
}

}  // namespace

template <typename T>
PackedMatrix<T>::PackedMatrix(const T* source, std::int64_t k, std::int64_t n, std::int64_t row_stride,
                              std::int64_t column_stride)
    : k_(k), n_(n) {
  const std::int64_t panels = (n + kPanel - 1) / kPanel;
  panels_ = Tensor::allocate(type_of<T>(), Shape{panels, k, kPanel});
  T* to = panels_.mutable_data<T>().data();
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    const std::int64_t width = std::min(kPanel, n - panel * kPanel);
    for (std::int64_t i = 0; i < k; ++i) {
      const T* from = source + i * row_stride + panel * kPanel * column_stride;
      for (std::int64_t j = 0; j < width; ++j) to[j] = from[j * column_stride];
      std::fill(to + width, to + kPanel, T{0});
      to += kPanel;
    }
  }
}

template <typename T>
void PackedMatrix<T>::multiply_add(const T* a, std::int64_t lda, std::int64_t m, T* c, std::int64_t ldc) const {
  if (n_ == 0 || k_ == 0) return;
  static const FloatProduct float_best = best_float_product();
  const T* panel = panels_.template data<T>().data();
  for (std::int64_t first = 0; first < n_; first += kPanel, panel += k_ * kPanel) {
    const std::int64_t width = std::min(kPanel, n_ - first);
    if constexpr (std::is_same_v<T, float>)
      float_best(a, lda, m, k_, panel, c + first, ldc, width);
    else
      panel_product(a, lda, m, k_, panel, c + first, ldc, width);
  }
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;

}  // namespace lppool
