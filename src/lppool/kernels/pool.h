#pragma once

#include <cstdint>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/kernels/lp_pool.h"

// Maximum and average pooling of dense arrays; see PoolGeometry for the layout.
namespace lppool::kernels {

// The largest element of each window; NaN where there is one. Every window must meet the input. T is float, double,
// std::int8_t or std::uint8_t.
template <typename T>
void max_pool(const T* x, T* y, const PoolGeometry& geometry, ThreadPool& pool);

// The same, and for each output the flat position of the first such element in the whole of x; with `column_major` the
// position within a plane counts the first axis fastest. Slower than max_pool().
template <typename T>
void max_pool_positions(const T* x, T* y, std::int64_t* positions, const PoolGeometry& geometry, bool column_major,
                        ThreadPool& pool);

// The sum of each window divided by the product over the axes of counts[axis][output position along it]. Sums run in double
// and are rounded once. T is float or double.
template <typename T>
void average_pool(const T* x, T* y, const PoolGeometry& geometry, const std::vector<std::vector<std::int64_t>>& counts,
                  ThreadPool& pool);

}  // namespace lppool::kernels
