#pragma once

#include <cstdint>

// Vector forms of the functions that networks spend time in, for float32. Arguments are widened to double and results rounded
// once: at most 0.5001 units in the last place from the exact value, subnormal results included. NaN gives NaN. The same
// bits on every instruction set. Proved against long double over all exponents in tests/unit/kernels/functions_test.cc.
namespace lppool::kernels {

enum class Function {
  kExp,       // e^x
  kLog,       // ln x; -infinity at 0, NaN below
  kTanh,
  kErf,
  kSigmoid,   // 1 / (1 + e^-x)
  kSwish,     // x / (1 + e^(-a x)), as the product x * sigmoid(a x) in the limit: NaN at -infinity for a > 0
  kGelu,      // x/2 * erfc(-x / sqrt 2); NaN at -infinity, as the product is
  kGeluTanh,  // x * sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)), the approximation by tanh
  kSoftplus,  // ln(1 + e^x)
  kMish,      // x * tanh(ln(1 + e^x))
  kExpLinear  // x >= 0: c x; below: a (e^(b x) - 1). Elu, Selu and Celu
};

// y[i] = function(x[i]) for n elements; x and y may be the same. a, b, c as the function says, finite.
void map_float32(Function function, const float* x, float* y, std::int64_t n, double a = 0, double b = 0, double c = 0);

// y[i] = e^(x[i] - shift[i * step]) in double, within 2^-44 of the exact value, for differences of at most 700; step is 0 or
// 1. Below -700 the result is 0.
void exp_shifted(const float* x, const double* shift, std::int64_t step, double* y, std::int64_t n);

}  // namespace lppool::kernels
