#pragma once

#include <cstddef>
#include <cstdint>

namespace lppool::kernels {

// The instruction sets (bits as Highway numbers them) that may be used now: those of the machine up to the limit.
std::int64_t allowed_targets();

}  // namespace lppool::kernels
