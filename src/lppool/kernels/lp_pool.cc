#include "lppool/kernels/lp_pool.h"

#include <cmath>

namespace lppool::kernels {

LpNorm LpNorm::of(double p) {
  if (p < 0x1p63 && p == std::floor(p)) return {static_cast<std::int64_t>(p), 0};
  return {0, p};
}

void lp_pool(ElementType type, const void* x, void* y, const PoolGeometry& geometry, const LpNorm& norm, ThreadPool& pool) {
  lp_pool_reference(type, x, y, geometry, norm, pool);
}

void global_lp_pool(ElementType type, const void* x, void* y, std::int64_t planes, std::int64_t plane_size,
                    const LpNorm& norm, ThreadPool& pool) {
  const PoolGeometry geometry{planes, {PoolAxis{.in = plane_size, .out = 1, .kernel = plane_size > 0 ? plane_size : 1}}};
  lp_pool_reference(type, x, y, geometry, norm, pool);
}

std::string_view selected_isa() { return "sse2"; }
bool limit_isa(std::string_view name) { return name.empty() || name == "sse2"; }

}  // namespace lppool::kernels
