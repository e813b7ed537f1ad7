#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lppool::npy {

// Inflates raw deflate data into `out`. False unless the data are sound and fill it exactly.
bool inflate(std::string_view compressed, std::span<std::byte> out);

// Raw deflate of the pieces, one after the other.
std::string deflate(std::span<const std::string_view> pieces);

// CRC-32 of zip files, continued from `crc` (0 to begin).
std::uint32_t crc32(std::uint32_t crc, std::string_view bytes);

}  // namespace lppool::npy
