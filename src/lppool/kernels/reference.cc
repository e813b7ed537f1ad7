#include <cmath>
#include <vector>

#include "lppool/kernels/element.h"
#include "lppool/kernels/lp_pool.h"
#include "lppool/kernels/window.h"
#include "lppool/kernels/window_norm.h"

namespace lppool::kernels {
namespace {

// Appends |x| of every element in the window of output `o` (one index per axis) that lies inside the input.
void gather(ElementType type, const void* x, const PoolGeometry& geometry, const std::vector<std::int64_t>& o,
            std::size_t depth, std::int64_t offset, std::vector<double>& values) {
  if (depth == geometry.axes.size()) {
    values.push_back(std::fabs(load_element(type, x, offset)));
    return;
  }
  const PoolAxis& axis = geometry.axes[depth];
  const Taps taps = clip_window(o[depth] * axis.stride - axis.pad_begin, axis.in, axis.kernel, axis.dilation);
  for (std::int64_t i = 0; i < taps.count; ++i) {
    gather(type, x, geometry, o, depth + 1, offset * axis.in + taps.first + i * taps.step, values);
  }
}

}  // namespace

void lp_pool_reference(ElementType type, const void* x, void* y, const PoolGeometry& geometry, const LpNorm& norm,
                       ThreadPool& pool) {
  std::int64_t per_plane = 1;
  for (const PoolAxis& axis : geometry.axes) per_plane *= axis.out;
  pool.parallel_for(geometry.planes * per_plane, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> values;
    std::vector<std::int64_t> o(geometry.axes.size());
    for (std::int64_t output = begin; output < end; ++output) {
      std::int64_t rest = output;
      for (std::size_t a = geometry.axes.size(); a-- > 0; rest /= geometry.axes[a].out)
        o[a] = rest % geometry.axes[a].out;
      values.clear();
      gather(type, x, geometry, o, 0, rest, values);
      store_element(type, y, output, window_norm(type, values, norm));
    }
  });
}

}  // namespace lppool::kernels
