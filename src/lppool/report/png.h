#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lppool::report {

using Colour = std::array<std::uint8_t, 3>;

// A PNG picture (ISO/IEC 15948) of one byte a pixel, an index into `palette` (at most 256 colours); pixels of index
// `transparent` are clear where that is below the palette's size. pixels.size() must be width * height, both above 0.
std::string encode_png(std::size_t width, std::size_t height, std::span<const std::uint8_t> pixels, std::span<const Colour> palette,
                       std::size_t transparent = 256);

// RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace lppool::report
