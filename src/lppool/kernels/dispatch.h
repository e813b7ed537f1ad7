#pragma once

#include <hwy/highway.h>

#include <cstddef>

#include "lppool/kernels/isa.h"

namespace lppool::kernels {

// The entry of a HWY_EXPORT table to call. Include this only in files compiled for several instruction sets.
inline std::size_t dispatch_index() {
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
  return 0;  // built for one instruction set, the table has one entry
#else
  hwy::ChosenTarget chosen;
  chosen.Update(allowed_targets());
  return chosen.GetIndex();
#endif
}

}  // namespace lppool::kernels
