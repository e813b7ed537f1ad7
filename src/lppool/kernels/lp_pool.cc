#include "lppool/kernels/lp_pool.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lppool/kernels/box.h"
#include "lppool/kernels/double_double.h"
#include "lppool/kernels/job.h"

namespace lppool::kernels {
namespace {

bool pool_by_boxes(ElementType type, const void* x, void* y, const PoolGeometry& geometry, const LpNorm& norm,
                   ThreadPool& pool) {
  const std::int64_t element = element_size(type);
  const BoxPlan plan(geometry, element, type == ElementType::kFloat64 ? 2 : 1, pool.threads());
  // A window of one element has that element as its norm, whatever p is.
  const LpNorm effective = plan.trivial() ? LpNorm{1, 0} : norm;
  if (effective.whole < 1 || effective.whole > kMaxFastPower) return false;
  const FastKernels kernels = fast_kernels(type);
  pool.parallel_for(plan.boxes(), plan.grain(), [&](std::int64_t begin, std::int64_t end) {
    thread_local Workspace workspace;
    const FloatMode mode;
    for (std::int64_t i = begin; i < end; ++i) kernels.box(plan.box(i, x, y), effective, workspace);
  });
  return true;
}

}  // namespace

LpNorm LpNorm::of(double p) {
  if (p < 0x1p63 && p == std::floor(p)) return {static_cast<std::int64_t>(p), 0};
  return {0, p};
}

void lp_pool(ElementType type, const void* x, void* y, const PoolGeometry& geometry, const LpNorm& norm,
             ThreadPool& pool) {
  if (pool_by_boxes(type, x, y, geometry, norm, pool)) return;
  lp_pool_reference(type, x, y, geometry, norm, pool);
}

void global_lp_pool(ElementType type, const void* x, void* y, std::int64_t planes, std::int64_t plane_size,
                    const LpNorm& norm, ThreadPool& pool) {
  const LpNorm effective = plane_size <= 1 ? LpNorm{1, 0} : norm;
  if (effective.whole < 1 || effective.whole > kMaxFastPower || plane_size == 0) {
    const PoolGeometry geometry{
        planes, {PoolAxis{.in = plane_size, .out = 1, .kernel = std::max<std::int64_t>(plane_size, 1)}}};
    return lp_pool_reference(type, x, y, geometry, norm, pool);
  }
  const FastKernels kernels = fast_kernels(type);
  const std::int64_t element = element_size(type);
  const auto x_at = [&](std::int64_t i) { return static_cast<const char*>(x) + i * element; };
  const auto y_at = [&](std::int64_t i) { return static_cast<char*>(y) + i * element; };
  // Enough work for a thread to be worth its wake-up.
  constexpr std::int64_t kSegment = 1 << 16;
  const std::int64_t threads = pool.threads();
  if (threads > 1 && planes < 4 * threads && plane_size >= 2 * kSegment) {
    const std::int64_t parts = std::min(plane_size / kSegment, 4 * threads);
    const std::int64_t part = plane_size / parts + 1;
    std::vector<DoubleDouble> sums(static_cast<std::size_t>(planes * parts));
    pool.parallel_for(planes * parts, 1, [&](std::int64_t begin, std::int64_t end) {
      const FloatMode mode;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = std::min(i % parts * part, plane_size);
        sums[static_cast<std::size_t>(i)] =
            kernels.segment(x_at(i / parts * plane_size + first), std::min(part, plane_size - first), effective);
      }
    });
    const FloatMode mode;
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      DoubleDouble sum;
      for (std::int64_t i = 0; i < parts; ++i) sum = add(sum, sums[static_cast<std::size_t>(plane * parts + i)]);
      kernels.global(x_at(plane * plane_size), y_at(plane), 1, plane_size, effective, &sum);
    }
    return;
  }
  // Multiples of 8 planes, which is what the widest vectors work on at a time.
  const std::int64_t wanted = std::max<std::int64_t>(kSegment / plane_size, planes / (16 * threads));
  const std::int64_t grain = plane_size * planes < kSegment ? planes : wanted / 8 * 8;
  pool.parallel_for(
      planes, std::max<std::int64_t>(grain, plane_size >= kSegment ? 1 : 8), [&](std::int64_t begin, std::int64_t end) {
        const FloatMode mode;
        kernels.global(x_at(begin * plane_size), y_at(begin), end - begin, plane_size, effective, nullptr);
      });
}

}  // namespace lppool::kernels
