#include "lppool/onnx/packed.h"

#include <cassert>

namespace lppool::onnx_io {

std::size_t packed_bytes(DataType dtype, std::int64_t elements) {
  const auto bits = static_cast<std::size_t>(storage_bits(dtype));
  const auto n = static_cast<std::size_t>(elements);
  return bits >= 8 ? n * (bits / 8) : n / (8 / bits) + (n % (8 / bits) != 0);
}

void unpack(std::string_view packed, Tensor& tensor) {
  const auto bits = static_cast<unsigned>(storage_bits(tensor.dtype()));
  assert(bits < 8 && packed.size() == packed_bytes(tensor.dtype(), tensor.size()));
  const unsigned per_byte = 8 / bits;
  const unsigned mask = (1u << bits) - 1;
  const unsigned sign = is_signed_integer(tensor.dtype()) ? 1u << (bits - 1) : 0;
  const auto out = tensor.mutable_data<std::uint8_t>();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const unsigned byte = static_cast<unsigned char>(packed[i / per_byte]);
    const unsigned value = byte >> (i % per_byte * bits) & mask;
    out[i] = static_cast<std::uint8_t>((value ^ sign) - sign);
  }
}

std::string pack(const Tensor& tensor) {
  const auto bits = static_cast<unsigned>(storage_bits(tensor.dtype()));
  assert(bits < 8);
  const unsigned per_byte = 8 / bits;
  const unsigned mask = (1u << bits) - 1;
  const auto in = tensor.data<std::uint8_t>();
  std::string packed(packed_bytes(tensor.dtype(), tensor.size()), '\0');
  for (std::size_t i = 0; i < in.size(); ++i) {
    char& byte = packed[i / per_byte];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | (in[i] & mask) << (i % per_byte * bits));
  }
  return packed;
}

}  // namespace lppool::onnx_io
