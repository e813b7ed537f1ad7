#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lppool/ops/op.h"

// 8-bit quantised operators: a number is (stored - zero point) * scale, with one scale and zero point for the whole tensor or
// one for each row, column or channel.
namespace lppool {

// The elements of an int8 or uint8 tensor (or int32: a bias) as 32-bit integers. Throws kUnsupported for other types.
std::vector<std::int32_t> as_int32(const Tensor& tensor);

// Scales as doubles (exact). Float32, float16 and bfloat16.
std::vector<double> read_scales(const Tensor& tensor);

// The zero points at input `index`, one for each of `count` lines; an absent input gives zeros, a single one is repeated.
// Throws kRuntime for another number of elements; `what` names the input.
std::vector<std::int32_t> zero_points(const KernelContext& context, std::size_t index, std::int64_t count,
                                      std::string_view what);
std::vector<double> scales(const KernelContext& context, std::size_t index, std::int64_t count, std::string_view what);

// round-half-even(value) + zero point, saturated to int8 or uint8: element `index` of `out`.
void store_quantized(double value, std::int32_t zero_point, Tensor& out, std::int64_t index);

}  // namespace lppool
