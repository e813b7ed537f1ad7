#include "lppool/kernels/gemm.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace lppool::kernels {
namespace {

// Rows of a packed panel of a, depth of a block, rows and columns of a block. A panel of a (4 KiB) stays in the first
// cache, a block of b (512 KiB of float) in the second.
constexpr std::int64_t kRows = 4;
constexpr std::int64_t kDepth = 256;
constexpr std::int64_t kBlockRows = 64;
constexpr std::int64_t kBlockColumns = 512;

template <typename T>
using Vector __attribute__((vector_size(32))) = T;

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

// acc = a panel (depth x kRows) * b panel (depth x one vector), added to or written over `rows` x `columns` of y.
template <typename T>
void multiply_panels(std::int64_t depth, const T* a, const T* b, T* y, std::int64_t y_stride, std::int64_t rows,
                     std::int64_t columns, bool accumulate) {
  constexpr std::int64_t kWidth = panel_width<T>();
  Vector<T> sums[kRows] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector<T> line;
    std::memcpy(&line, b + k * kWidth, sizeof line);
    for (std::int64_t r = 0; r < kRows; ++r) sums[r] += a[k * kRows + r] * line;
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    T values[kWidth];
    std::memcpy(values, &sums[r], sizeof values);
    T* out = y + r * y_stride;
    if (accumulate) {
      for (std::int64_t c = 0; c < columns; ++c) out[c] += values[c];
    } else {
      for (std::int64_t c = 0; c < columns; ++c) out[c] = values[c];
    }
  }
}

// Rows [row, row + rows) and depths [k, k + depth) of a as panels of kRows rows, missing rows as zeros.
template <typename T>
void pack_rows(const MatrixView<T>& a, std::int64_t row, std::int64_t rows, std::int64_t k, std::int64_t depth, T* out) {
  for (std::int64_t panel = 0; panel < rows; panel += kRows) {
    const std::int64_t count = std::min(kRows, rows - panel);
    for (std::int64_t d = 0; d < depth; ++d) {
      const T* from = a.data + (row + panel) * a.row_stride + (k + d) * a.column_stride;
      for (std::int64_t r = 0; r < kRows; ++r) *out++ = r < count ? from[r * a.row_stride] : T{0};
    }
  }
}

template <typename T>
void pack_columns(const MatrixView<T>& b, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
                  T* out) {
  constexpr std::int64_t kWidth = panel_width<T>();
  const T* from = b.data + row * b.row_stride + column * b.column_stride;
  if (b.column_stride == 1 && columns == kWidth) {
    for (std::int64_t r = 0; r < rows; ++r) std::memcpy(out + r * kWidth, from + r * b.row_stride, kWidth * sizeof(T));
    return;
  }
  for (std::int64_t c = 0; c < kWidth; ++c) {
    for (std::int64_t r = 0; r < rows; ++r) {
      out[r * kWidth + c] = c < columns ? from[r * b.row_stride + c * b.column_stride] : T{0};
    }
  }
}

// A block of rows and columns of y: all of k for it.
template <typename T>
void multiply_block(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, std::int64_t k,
                    const MatrixView<T>& a, const MatrixSource<T>& b, T* y, std::int64_t y_stride) {
  constexpr std::int64_t kWidth = panel_width<T>();
  const std::int64_t depth_limit = std::min(k, kDepth);
  std::vector<T> b_block(static_cast<std::size_t>(depth_limit * round_up(columns, kWidth)));
  std::vector<T> a_block(static_cast<std::size_t>(depth_limit * round_up(std::min(rows, kBlockRows), kRows)));
  for (std::int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const std::int64_t depth = std::min(kDepth, k - k0);
    for (std::int64_t c = 0; c < columns; c += kWidth) {
      b(k0, depth, column + c, std::min(kWidth, columns - c), b_block.data() + c * depth);
    }
    for (std::int64_t r0 = 0; r0 < rows; r0 += kBlockRows) {
      const std::int64_t block_rows = std::min(kBlockRows, rows - r0);
      pack_rows(a, row + r0, block_rows, k0, depth, a_block.data());
      for (std::int64_t r = 0; r < block_rows; r += kRows) {
        T* out = y + (row + r0 + r) * y_stride + column;
        for (std::int64_t c = 0; c < columns; c += kWidth) {
          multiply_panels(depth, a_block.data() + r * depth, b_block.data() + c * depth, out + c, y_stride,
                          std::min(kRows, block_rows - r), std::min(kWidth, columns - c), k0 > 0);
        }
      }
    }
  }
}

// Few rows against a big b: b is read once, in place, since packing it would cost more than the product.
template <typename T>
void multiply_few_rows(std::int64_t m, std::int64_t k, const MatrixView<T>& a, const MatrixView<T>& b, T* y,
                       std::int64_t y_stride, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kLanes = panel_width<T>();
  for (std::int64_t r = 0; r < m; ++r) {
    T* out = y + r * y_stride;
    if (b.column_stride == 1) {
      std::fill(out + begin, out + end, T{0});
      for (std::int64_t i = 0; i < k; ++i) {
        const T factor = a.data[r * a.row_stride + i * a.column_stride];
        const T* line = b.data + i * b.row_stride;
        for (std::int64_t c = begin; c < end; ++c) out[c] += factor * line[c];
      }
      continue;
    }
    for (std::int64_t c = begin; c < end; ++c) {  // b is transposed: one dot product each, in kLanes partial sums
      const T* line = b.data + c * b.column_stride;
      const T* factors = a.data + r * a.row_stride;
      T sums[4 * kLanes] = {};
      std::int64_t i = 0;
      for (; i + 4 * kLanes <= k; i += 4 * kLanes) {
        for (std::int64_t l = 0; l < 4 * kLanes; ++l) sums[l] += factors[i + l] * line[i + l];
      }
      T sum{0};
      for (; i < k; ++i) sum += factors[i] * line[i];
      for (const T partial : sums) sum += partial;
      out[c] = sum;
    }
  }
}

}  // namespace

template <typename T>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView<T> a, MatrixSource<T> b, T* y,
              std::int64_t y_stride, ThreadPool& pool) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (std::int64_t r = 0; r < m; ++r) std::fill_n(y + r * y_stride, n, T{0});
    return;
  }
  // Enough pieces for all threads, columns first: every piece packs its columns of b itself.
  const std::int64_t wanted = pool.threads() == 1 ? 1 : 2 * pool.threads();
  const std::int64_t width = std::clamp(round_up((n + wanted - 1) / wanted, 32), std::int64_t{64}, kBlockColumns);
  const std::int64_t column_pieces = (n + width - 1) / width;
  const std::int64_t row_wanted = (wanted + column_pieces - 1) / column_pieces;
  const std::int64_t height = std::max(round_up((m + row_wanted - 1) / row_wanted, kBlockRows), kBlockRows);
  const std::int64_t row_pieces = (m + height - 1) / height;
  pool.parallel_for(column_pieces * row_pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t column = piece / row_pieces * width;
      const std::int64_t row = piece % row_pieces * height;
      multiply_block(row, std::min(height, m - row), column, std::min(width, n - column), k, a, b, y, y_stride);
    }
  });
}

template <typename T>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView<T> a, MatrixView<T> b, T* y, std::int64_t y_stride,
              ThreadPool& pool) {
  const bool b_in_lines = b.column_stride == 1 || (b.row_stride == 1 && a.column_stride == 1);
  if (m <= 2 && k > 0 && n > 0 && b_in_lines) {
    const std::int64_t grain = std::max<std::int64_t>(64, round_up((n + 4 * pool.threads() - 1) / (4 * pool.threads()), 16));
    pool.parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
      multiply_few_rows(m, k, a, b, y, y_stride, begin, end);
    });
    return;
  }
  const auto source = [&b](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, T* out) {
    pack_columns(b, row, rows, column, columns, out);
  };
  multiply<T>(m, n, k, a, MatrixSource<T>(source), y, y_stride, pool);
}

#define LPPOOL_INSTANTIATE(T)                                                                                             \
  template void multiply<T>(std::int64_t, std::int64_t, std::int64_t, MatrixView<T>, MatrixView<T>, T*, std::int64_t,     \
                            ThreadPool&);                                                                                 \
  template void multiply<T>(std::int64_t, std::int64_t, std::int64_t, MatrixView<T>, MatrixSource<T>, T*, std::int64_t,   \
                            ThreadPool&);
LPPOOL_INSTANTIATE(float)
LPPOOL_INSTANTIATE(double)
LPPOOL_INSTANTIATE(std::uint32_t)
LPPOOL_INSTANTIATE(std::uint64_t)
#undef LPPOOL_INSTANTIATE

}  // namespace lppool::kernels
