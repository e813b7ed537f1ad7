#pragma once

#include "lppool/ops/op.h"

// How a kernel gets inputs in blocks of channels (tensor/packed.h): taken as they are, seen as plain tensors, or
// unpacked.
namespace lppool {

// Makes every input what the kernel can read. True where it now sees blocks as plain tensors: its output is then to be
// wrapped by wrap_output().
bool adapt_packed_inputs(KernelContext& context, PackedUse use);

// Turns the one output of such a call back into a packed tensor.
void wrap_output(KernelContext& context);

}  // namespace lppool
