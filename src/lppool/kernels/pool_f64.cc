// SSE4 and the baseline are near enough to SSSE3 to leave it out.
#define HWY_DISABLED_TARGETS HWY_SSSE3

#include "lppool/kernels/job.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lppool/kernels/pool_f64.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#define LPPOOL_ELEMENT Float64
#define LPPOOL_ENTRY pool_box_f64_target
#define LPPOOL_GLOBAL_ENTRY global_f64_target
#define LPPOOL_SEGMENT_ENTRY segment_f64_target
#include "lppool/kernels/global-inl.h"
#include "lppool/kernels/pool-inl.h"

#if HWY_ONCE
#include "lppool/kernels/dispatch.h"

namespace lppool::kernels {

HWY_EXPORT(pool_box_f64_target);
HWY_EXPORT(global_f64_target);
HWY_EXPORT(segment_f64_target);

FastKernels kernels_f64() {
  const std::size_t index = dispatch_index();
  return {HWY_DISPATCH_TABLE(pool_box_f64_target)[index], HWY_DISPATCH_TABLE(global_f64_target)[index],
          HWY_DISPATCH_TABLE(segment_f64_target)[index]};
}

}  // namespace lppool::kernels
#endif
