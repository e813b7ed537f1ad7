#pragma once

#include "lppool/kernels/lp_pool.h"
#include "lppool/ops/op.h"

// What LpPool and GlobalLpPool share: the exponent p and the element types. p is a float in opset 1 and an int from 2
// on.
namespace lppool {

// Adds findings about the value of p: LP003 (not above 0, not finite), LP004 (below 1: no norm), LP005 (so large that
// the result is the maximum).
void check_lp_norm(CheckContext& ctx);

// The exponent, with the schema's default. Throws kRuntime for what check_lp_norm calls an error.
kernels::LpNorm read_lp_norm(const AttributeView& attributes);

// The kernel's name for an element type. Throws kUnsupported for anything but float16, bfloat16, float32 and float64.
kernels::ElementType lp_element_type(DataType type);

}  // namespace lppool
