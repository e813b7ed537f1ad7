#pragma once

#include <cstdint>
#include <optional>

#include "lppool/tensor/tensor.h"

namespace lppool {

// A tensor at a glance. Minimum, maximum and mean are over the elements that are neither NaN nor infinite; they are empty
// where there is none, and for strings and complex numbers. The mean is summed in double, pairwise by blocks.
struct Statistics {
  std::optional<double> min, max, mean;
  std::int64_t nan = 0, inf = 0, zero = 0, subnormal = 0;
};

Statistics statistics_of(const Tensor& tensor);

}  // namespace lppool
