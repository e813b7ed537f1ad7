#pragma once

#include "lppool/tensor/tensor.h"

// 16-bit floats in arithmetic: kernels are written for float and double; float16 and bfloat16 tensors are widened to float
// before and rounded once after.
namespace lppool {

// The tensor itself if it is float32 or float64, a float32 copy if it is float16 or bfloat16. Throws kUnsupported for
// other types.
Tensor widened(const Tensor& tensor);

// The type the arithmetic runs in: kFloat32 for 16-bit floats, else the type itself.
DataType wide_type(DataType dtype);

// Writes the float32 elements of `wide` to `out` (float16 or bfloat16), each rounded to nearest even.
void narrow_into(const Tensor& wide, Tensor& out);

// Calls body(zero) with a float or double zero for a float type. Throws kUnsupported for other types.
template <typename Body>
void with_wide_type(DataType dtype, Body&& body) {
  if (wide_type(dtype) == DataType::kFloat64) {
    body(double{0});
  } else {
    body(float{0});
  }
}

}  // namespace lppool
