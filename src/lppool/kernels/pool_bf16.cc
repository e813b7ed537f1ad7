#include "lppool/kernels/isa.h"
#include "lppool/kernels/job.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lppool/kernels/pool_bf16.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#define LPPOOL_ELEMENT BFloat16
#define LPPOOL_ENTRY pool_box_bf16_target
#include "lppool/kernels/pool-inl.h"

#if HWY_ONCE
namespace lppool::kernels {

HWY_EXPORT(pool_box_bf16_target);

void pool_box_bf16(const Box& box, const LpNorm& norm, Workspace& workspace) {
  hwy::ChosenTarget chosen;
  chosen.Update(allowed_targets());
  HWY_DISPATCH_TABLE(pool_box_bf16_target)[chosen.GetIndex()](box, norm, workspace);
}

}  // namespace lppool::kernels
#endif
