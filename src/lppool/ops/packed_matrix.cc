#include "lppool/ops/packed_matrix.h"

#include <algorithm>
#include <cstring>

namespace lppool {
namespace {

// 32 bytes of T: one register where the processor has them, two where it does not.
template <typename T>
using Vector __attribute__((vector_size(32))) = T;

// kRows rows of a by kVectors vectors of one panel, all of k: the sums stay in registers meanwhile.
template <int kRows, int kVectors, typename T>
[[gnu::always_inline]] inline void block(const T* a, std::int64_t lda, std::int64_t k, const T* panel, T* c,
                                         std::int64_t ldc, std::int64_t columns) {
  constexpr std::int64_t kLanes = 32 / sizeof(T);
  Vector<T> sums[kRows][kVectors] = {};
  for (std::int64_t p = 0; p < k; ++p) {
    Vector<T> line[kVectors];
    std::memcpy(line, panel + p * PackedMatrix<T>::kPanel, sizeof line);
    for (int row = 0; row < kRows; ++row) {
      for (int v = 0; v < kVectors; ++v) sums[row][v] += a[row * lda + p] * line[v];
    }
  }
  for (int row = 0; row < kRows; ++row) {
    T values[kVectors * kLanes];
    std::memcpy(values, sums[row], sizeof values);
    T* out = c + row * ldc;
    if (columns >= kVectors * kLanes) {
      for (std::int64_t j = 0; j < kVectors * kLanes; ++j) out[j] += values[j];
    } else {
      for (std::int64_t j = 0; j < columns; ++j) out[j] += values[j];
    }
  }
}

template <typename T>
[[gnu::always_inline]] inline void panel_product(const T* a, std::int64_t lda, std::int64_t m, std::int64_t k,
                                                 const T* panel, T* c, std::int64_t ldc, std::int64_t width) {
  constexpr std::int64_t kLanes = 32 / sizeof(T);
  std::int64_t i = 0;
  for (; i + 4 <= m; i += 4) {
    for (std::int64_t j = 0; j < width; j += 2 * kLanes) {
      block<4, 2>(a + i * lda, lda, k, panel + j, c + i * ldc + j, ldc, width - j);
    }
  }
  for (; i < m; ++i) {
    for (std::int64_t j = 0; j < width; j += 4 * kLanes) {
      block<1, 4>(a + i * lda, lda, k, panel + j, c + i * ldc + j, ldc, width - j);
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
// The same sums in the same order and with the same rounding, in wider registers.
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
