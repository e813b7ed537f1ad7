#include "lppool/kernels/lp_pool.h"

#include <cmath>

#include "lppool/kernels/box.h"
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
  pool.parallel_for(plan.boxes(), plan.grain(), [&](std::int64_t begin, std::int64_t end) {
    thread_local Workspace workspace;
    const FloatMode mode;
    for (std::int64_t i = begin; i < end; ++i) pool_box(type, plan.box(i, x, y), effective, workspace);
  });
  return true;
}

}  // namespace

LpNorm LpNorm::of(double p) {
  if (p < 0x1p63 && p == std::floor(p)) return {static_cast<std::int64_t>(p), 0};
  return {0, p};
}

void lp_pool(ElementType type, const void* x, void* y, const PoolGeometry& geometry, const LpNorm& norm, ThreadPool& pool) {
  if (pool_by_boxes(type, x, y, geometry, norm, pool)) return;
  lp_pool_reference(type, x, y, geometry, norm, pool);
}

void global_lp_pool(ElementType type, const void* x, void* y, std::int64_t planes, std::int64_t plane_size,
                    const LpNorm& norm, ThreadPool& pool) {
  const PoolGeometry geometry{planes, {PoolAxis{.in = plane_size, .out = 1, .kernel = plane_size > 0 ? plane_size : 1}}};
  lp_pool(type, x, y, geometry, norm, pool);
}

}  // namespace lppool::kernels
