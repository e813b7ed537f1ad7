#pragma once

#include <cstdint>
#include <string_view>

#include "lppool/tensor/tensor.h"

namespace lppool {

// A tensor of pseudo-random contents: the same bytes on every platform for the same seed, name, type and shape (SplitMix64
// seeded by the FNV-1a hash of the name). Floats are uniform in [-1, 1), multiples of 2^-23 (fewer bits in narrow types);
// integers are 0 to 9 (4-bit types 0 to 7, 2-bit types 0 to 1), so that they serve as indices and counts; bool is 0 or 1.
// Throws kUnsupported for strings and complex numbers, kLimit.
Tensor random_tensor(DataType dtype, const Shape& shape, std::uint64_t seed, std::string_view name);

}  // namespace lppool
