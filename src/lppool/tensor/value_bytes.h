#pragma once

#include <cstddef>

#include "lppool/tensor/value.h"

namespace lppool {

// Bytes of the elements that a value holds, of a sequence those of all its members; 0 for nothing
// and for packed tensors, which only kernels and the executor meet. Safe from any thread.
std::size_t bytes_of(const Value& value);

}  // namespace lppool
