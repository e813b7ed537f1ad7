#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Image files to pixels: BMP and PNM (PBM, PGM, PPM), whose pixels stand in the file as they are, by code of our own;
// PNG, TIFF, JPEG, WebP and JPEG 2000 by their libraries, and refused in a build that lacks one. The libraries get
// their bytes from memory, print nothing, and are told or checked to stay within `most` bytes.
namespace lppool::image {

// Rows from the top, channels last: 1 (grey) or 3 (red, green, blue), 0 to 255.
struct Image {
  std::int64_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> pixels;
};

using Bytes = std::span<const std::uint8_t>;

// Throws kParse where the bytes are no image of a known format or are damaged, kUnsupported naming the format or
// feature where they may be fine, kLimit where the pixels would take more than `most` bytes, before they are allocated.
Image decode(Bytes bytes, std::size_t most);

// The formats one by one: `bytes` begins with the format's mark.
Image decode_bmp(Bytes bytes, std::size_t most);
Image decode_pnm(Bytes bytes, std::size_t most);
Image decode_png(Bytes bytes, std::size_t most);
Image decode_tiff(Bytes bytes, std::size_t most);
Image decode_jpeg(Bytes bytes, std::size_t most);
Image decode_webp(Bytes bytes, std::size_t most);
Image decode_jpeg2000(Bytes bytes, std::size_t most);

// An image of these sizes, pixels zero. Throws kParse for sizes below 1, kLimit as decode() does.
Image blank(std::int64_t height, std::int64_t width, std::int64_t channels, std::size_t most);

}  // namespace lppool::image
