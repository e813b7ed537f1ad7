#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lppool/tensor/tensor.h"

// Types below a byte (int4, uint4, float4e2m1, int2, uint2): several elements in one byte in files, the first in the lowest
// bits (onnx.proto3, TensorProto.raw_data); one element a byte in a Tensor, signed ones sign-extended.
namespace lppool::onnx_io {

// Bytes that `elements` elements of the type take in a file. elements * storage_bits must not overflow.
std::size_t packed_bytes(DataType dtype, std::int64_t elements);

// `tensor` is allocated with a sub-byte type; `packed` holds packed_bytes(...) bytes.
void unpack(std::string_view packed, Tensor& tensor);

std::string pack(const Tensor& tensor);

}  // namespace lppool::onnx_io
