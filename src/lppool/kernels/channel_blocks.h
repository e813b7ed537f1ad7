#pragma once

#include <cstdint>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/kernels/lp_pool.h"

// Pooling and scaling of float arrays in blocks of channels: x is groups x axes[].in x block, y is groups x axes[].out
// x block, last axis fastest. The bits are those of max_pool(), average_pool() and of plain code on the same channels
// apart.
namespace lppool::kernels {

struct BlockGeometry {
  std::int64_t groups = 0;     // blocks of channels, of all images
  std::int64_t block = 0;      // channels in one, a multiple of 8
  std::vector<PoolAxis> axes;  // at least one
};

// As max_pool(): every window must meet the input.
void max_pool_blocks(const float* x, float* y, const BlockGeometry& geometry, ThreadPool& pool);

// As average_pool().
void average_pool_blocks(const float* x, float* y, const BlockGeometry& geometry,
                         const std::vector<std::vector<std::int64_t>>& counts, ThreadPool& pool);

// y = (x - mean) * factor + term, each rounded, for `places` places of each group; group g is channels
// g % (channels / block) * block on, of which mean, factor and term have one number each. x and y may be the same.
void scale_blocks(const float* x, float* y, std::int64_t groups, std::int64_t places, std::int64_t block,
                  const std::vector<float>& mean, const std::vector<float>& factor, const std::vector<float>& term,
                  ThreadPool& pool);

}  // namespace lppool::kernels
