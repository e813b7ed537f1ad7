#pragma once

#include <span>
#include <type_traits>

#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"

// Float operators written once for float and double: float16 and bfloat16 inputs are widened to float (as_compute of
// numbers.h), and results rounded once when they are stored.
namespace lppool {

// Calls body(float{}) for float16, bfloat16 and float32, body(double{}) for float64. Throws kUnsupported for other types.
template <typename Body>
void with_compute_type(DataType dtype, Body&& body) {
  switch (dtype) {
    case DataType::kFloat16:
    case DataType::kBFloat16:
    case DataType::kFloat32: body(float{}); return;
    case DataType::kFloat64: body(double{}); return;
    default:
      fail(ErrorKind::kUnsupported, "element type {} is not supported, expected float16, bfloat16, float32 or float64",
           name(dtype));
  }
}

// Output `index` of a kernel that computes in T: the tensor itself where it holds T, else a T copy that finish() rounds into
// it.
template <typename T>
class ComputedOutput {
 public:
  ComputedOutput(KernelContext& context, std::size_t index, DataType dtype, const Shape& shape)
      : output_(&context.output(index, dtype, shape)) {
    if (dtype != type_of<T>()) copy_ = Tensor::allocate(type_of<T>(), shape);
  }
  T* data() { return (copy_.defined() ? copy_ : *output_).template mutable_data<T>().data(); }
  void finish() {
    if (copy_.defined()) store(std::span<const T>(copy_.template data<T>()), *output_);
  }

 private:
  Tensor* output_;
  Tensor copy_;
};

}  // namespace lppool
