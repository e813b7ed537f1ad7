#pragma once

#include <cstdint>
#include <span>

#include "lppool/kernels/lp_pool.h"

namespace lppool::kernels {

// Bits of the norm of `values` (absolute values of elements of `type`, widened) as an element of `type`, to the
// contract of lp_pool.h. An empty span gives +0.
std::uint64_t window_norm(ElementType type, std::span<const double> values, const LpNorm& norm);

}  // namespace lppool::kernels
