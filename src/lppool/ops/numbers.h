#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lppool/tensor/tensor.h"

// Conversions between the element types a tensor may have and the ones kernels compute in (float, double): for
// operators that take many types and whose arithmetic is the same for all of them.
namespace lppool {

// The elements as float32 (float64). Shares the storage where the tensor has that type already. Takes the floating
// types of 16 bits and more, bool and the integers (converted to nearest); kUnsupported for others.
Tensor as_float32(const Tensor& tensor);
Tensor as_float64(const Tensor& tensor);

// as_float32 or as_float64, by T.
template <typename T>
Tensor as_compute(const Tensor& tensor) {
  if constexpr (sizeof(T) == sizeof(double))
    return as_float64(tensor);
  else
    return as_float32(tensor);
}

// What happens to a fraction on the way to an integer type. Numbers out of range give the nearest one in range, NaN 0.
enum class Fraction { kTruncate, kRoundHalfEven };

// Writes `values` to the elements of `out` from `first` on, each rounded once to out's type.
void store(std::span<const float> values, Tensor& out, std::int64_t first = 0, Fraction fraction = Fraction::kTruncate);
void store(std::span<const double> values, Tensor& out, std::int64_t first = 0,
           Fraction fraction = Fraction::kTruncate);

// The elements of an int32 or int64 tensor; `what` names it in messages.
std::vector<std::int64_t> read_integers(const Tensor& tensor, std::string_view what);
// The only element of an int32 or int64 tensor of any rank. Throws kRuntime where it has another number of elements.
std::int64_t read_integer(const Tensor& tensor, std::string_view what);
// The only element of a float tensor (16 bits and more), exactly.
double read_number(const Tensor& tensor, std::string_view what);

}  // namespace lppool
