#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lppool/tensor/tensor.h"

// Scalars of a type only known at run time.
namespace lppool {

// A tensor of this element type (any number type or bool) holding the value, rounded or truncated to the type. Throws
// kUnsupported for other types; `what` names it.
Tensor number_of(DataType dtype, double value, std::string_view what);

// The elements cast to int64: fractions are dropped, values that do not fit (and NaN) become the most negative number.
// Throws kUnsupported for types that are no numbers.
std::vector<std::int64_t> cast_to_int64(const Tensor& tensor, std::string_view what);

}  // namespace lppool
