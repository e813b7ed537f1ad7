#include "lppool/report/png.h"

#include <zlib.h>

#include <cassert>

#include "lppool/base/error.h"

namespace lppool::report {
namespace {

void append_32(std::string& out, std::size_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
}

void append_chunk(std::string& out, std::string_view type, std::string_view data) {
  append_32(out, data.size());
  std::string body(type);
  body += data;
  out += body;
  append_32(out, crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
}

}  // namespace

std::string encode_png(std::size_t width, std::size_t height, std::span<const std::uint8_t> pixels, std::span<const Colour> palette,
                       std::size_t transparent) {
  assert(width > 0 && height > 0 && pixels.size() == width * height && palette.size() <= 256);
  std::string png = "\x89PNG\r\n\x1a\n";
  std::string header;
  append_32(header, width);
  append_32(header, height);
  header += std::string("\x08\x03\0\0\0", 5);  // 8 bits, palette, no interlacing
  append_chunk(png, "IHDR", header);
  std::string colours;
  for (const Colour& c : palette) colours.append(c.begin(), c.end());
  append_chunk(png, "PLTE", colours);
  if (transparent < palette.size()) {
    std::string alpha(transparent + 1, '\xFF');
    alpha.back() = '\0';
    append_chunk(png, "tRNS", alpha);
  }
  std::string rows;
  rows.reserve((width + 1) * height);
  for (std::size_t y = 0; y < height; ++y) {
    rows += '\0';  // no filter
    rows.append(reinterpret_cast<const char*>(pixels.data()) + y * width, width);
  }
  uLongf size = compressBound(static_cast<uLong>(rows.size()));
  std::string packed(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                               static_cast<uLong>(rows.size()), Z_BEST_COMPRESSION);
  if (status != Z_OK) fail(ErrorKind::kDefect, "zlib refuses to compress a picture: {}", status);
  packed.resize(size);
  append_chunk(png, "IDAT", packed);
  append_chunk(png, "IEND", "");
  return png;
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace lppool::report
