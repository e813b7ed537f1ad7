#pragma once

#include <cstdint>
#include <string>

#include "lppool/tensor/tensor.h"

namespace lppool {

struct PrintOptions {
  // A tensor of more elements is shown with the first and last `edge` entries of each axis only; 0: never.
  std::int64_t threshold = 1000;
  std::int64_t edge = 3;
};

// The values in nested brackets as numpy prints them, each with as few digits as name it uniquely, in columns.
std::string print_tensor(const Tensor& tensor, const PrintOptions& options = {});

// The part of a tensor that a text such as "0, :, 3:7, -1" picks, as numpy reads it: a number drops the axis, a:b keeps a
// range (either end may be left out or negative), missing axes are kept whole. Throws kUsage for text that is not of that
// form, for more axes than there are, and for an index outside.
Tensor slice_tensor(const Tensor& tensor, std::string_view text);

}  // namespace lppool
