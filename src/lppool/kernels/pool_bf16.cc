// SSE4 and the baseline are near enough to SSSE3 to leave it out.
#define HWY_DISABLED_TARGETS HWY_SSSE3

#include "lppool/kernels/job.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lppool/kernels/pool_bf16.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#define LPPOOL_ELEMENT BFloat16
#define LPPOOL_ENTRY pool_box_bf16_target
#define LPPOOL_GLOBAL_ENTRY global_bf16_target
#define LPPOOL_SEGMENT_ENTRY segment_bf16_target
#include "lppool/kernels/global-inl.h"
#include "lppool/kernels/pool-inl.h"

#if HWY_ONCE
#include "lppool/kernels/dispatch.h"

namespace lppool::kernels {

HWY_EXPORT(pool_box_bf16_target);
HWY_EXPORT(global_bf16_target);
HWY_EXPORT(segment_bf16_target);

FastKernels kernels_bf16() {
  const std::size_t index = dispatch_index();
  return {HWY_DISPATCH_TABLE(pool_box_bf16_target)[index], HWY_DISPATCH_TABLE(global_bf16_target)[index],
          HWY_DISPATCH_TABLE(segment_bf16_target)[index]};
}

}  // namespace lppool::kernels
#endif
