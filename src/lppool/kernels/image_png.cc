// PNG (ISO/IEC 15948) of up to 8 bits a sample, without transparency.
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "lppool/base/error.h"
#include "lppool/kernels/image.h"

namespace lppool::image {
namespace {

struct Header {
  std::int64_t width = 0, height = 0;
  int depth = 0, colour = 0;
  bool interlaced = false;

  int samples() const { return colour == 2 ? 3 : 1; }
  std::int64_t row_bytes(std::int64_t columns) const { return (columns * samples() * depth + 7) / 8; }
};

std::uint32_t read_32(const std::uint8_t* p) {
  return static_cast<std::uint32_t>(p[0]) << 24 | static_cast<std::uint32_t>(p[1]) << 16 |
         static_cast<std::uint32_t>(p[2]) << 8 | p[3];
}

Header read_header(Bytes data) {
  if (data.size() != 13) fail(ErrorKind::kParse, "PNG image: a header of {} bytes, expected 13", data.size());
  Header h;
  h.width = read_32(data.data());
  h.height = read_32(data.data() + 4);
  h.depth = data[8];
  h.colour = data[9];
  h.interlaced = data[12] == 1;
  if (data[10] != 0 || data[11] != 0 || data[12] > 1)
    fail(ErrorKind::kParse, "PNG image: an unknown method in its header");
  if (h.colour == 4 || h.colour == 6) fail(ErrorKind::kUnsupported, "a PNG image with transparency");
  if (h.depth == 16) fail(ErrorKind::kUnsupported, "a PNG image of 16 bits a sample");
  const bool known = h.colour == 2 ? h.depth == 8
                                   : (h.colour == 0 || h.colour == 3) &&
                                         (h.depth == 1 || h.depth == 2 || h.depth == 4 || h.depth == 8);
  if (!known) fail(ErrorKind::kParse, "PNG image: colour type {} with {} bits", h.colour, h.depth);
  return h;
}

// Exactly `size` bytes out of the compressed ones; more or fewer is a fault.
std::vector<std::uint8_t> inflate_all(const std::vector<std::uint8_t>& packed, std::size_t size) {
  std::vector<std::uint8_t> result(size);
  z_stream stream = {};
  if (inflateInit(&stream) != Z_OK) fail(ErrorKind::kLimit, "no memory to read a PNG image");
  stream.next_in = const_cast<std::uint8_t*>(packed.data());
  stream.next_out = result.data();
  int status = Z_OK;
  std::size_t given = 0, made = 0;  // zlib counts in 32 bits
  while (status == Z_OK) {
    const auto in = static_cast<uInt>(std::min<std::size_t>(packed.size() - given, 1u << 30));
    const auto out = static_cast<uInt>(std::min<std::size_t>(size - made, 1u << 30));
    stream.avail_in = in;
    stream.avail_out = out;
    status = inflate(&stream, Z_NO_FLUSH);
    given += in - stream.avail_in;
    made += out - stream.avail_out;
  }
  inflateEnd(&stream);
  // All pixels may be there before the stream's last bytes are read.
  if (made != size || (status != Z_STREAM_END && status != Z_BUF_ERROR))
    fail(ErrorKind::kParse, "PNG image: damaged pixels");
  return result;
}

int paeth(int a, int b, int c) {
  const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// Undoes the filter of one row; `before` is the row above, unfiltered.
void unfilter(int filter, std::uint8_t* row, const std::uint8_t* before, std::int64_t count, std::int64_t step) {
  for (std::int64_t i = 0; i < count; ++i) {
    const int left = i >= step ? row[i - step] : 0, above = before[i], corner = i >= step ? before[i - step] : 0;
    int predicted = 0;
    switch (filter) {
      case 0:
        break;
      case 1:
        predicted = left;
        break;
      case 2:
        predicted = above;
        break;
      case 3:
        predicted = (left + above) / 2;
        break;
      case 4:
        predicted = paeth(left, above, corner);
        break;
      default:
        fail(ErrorKind::kParse, "PNG image: filter {}", filter);
    }
    row[i] = static_cast<std::uint8_t>(row[i] + predicted);
  }
}

// A pass of Adam7, or the whole image.
struct Pass {
  std::int64_t x, y, dx, dy;
};
constexpr Pass kWhole[] = {{0, 0, 1, 1}};
constexpr Pass kAdam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                           {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

}  // namespace

Image decode_png(Bytes bytes, std::size_t most) {
  Header header;
  bool have_header = false, ended = false;
  std::vector<std::uint8_t> palette, packed;
  for (std::size_t at = 8; !ended;) {
    if (bytes.size() - at < 12) fail(ErrorKind::kParse, "PNG image: cut off");
    const std::size_t length = read_32(bytes.data() + at);
    if (bytes.size() - at - 12 < length) fail(ErrorKind::kParse, "PNG image: a chunk is cut off");
    const std::string name(bytes.begin() + static_cast<std::ptrdiff_t>(at) + 4,
                           bytes.begin() + static_cast<std::ptrdiff_t>(at) + 8);
    const Bytes data = bytes.subspan(at + 8, length);
    const uLong sum = crc32_z(0, bytes.data() + at + 4, length + 4);
    if (sum != read_32(bytes.data() + at + 8 + length))
      fail(ErrorKind::kParse, "PNG image: chunk {} has a wrong checksum", name);
    if (!have_header && name != "IHDR") fail(ErrorKind::kParse, "PNG image: no header");
    if (name == "IHDR") {
      header = read_header(data);
      have_header = true;
    } else if (name == "PLTE") {
      palette.assign(data.begin(), data.end());
    } else if (name == "tRNS") {
      fail(ErrorKind::kUnsupported, "a PNG image with transparency");
    } else if (name == "IDAT") {
      packed.insert(packed.end(), data.begin(), data.end());
    } else if (name == "IEND") {
      ended = true;
    } else if ((name[0] & 0x20) == 0) {
      fail(ErrorKind::kParse, "PNG image: an unknown chunk {}", name);
    }
    at += length + 12;
  }
  Image image = blank(header.height, header.width, header.colour == 0 ? 1 : 3, most);

  const std::span<const Pass> passes =
      header.interlaced ? std::span<const Pass>(kAdam7) : std::span<const Pass>(kWhole);
  const auto columns = [&](const Pass& p) { return (header.width - p.x + p.dx - 1) / p.dx; };
  const auto rows = [&](const Pass& p) { return (header.height - p.y + p.dy - 1) / p.dy; };
  std::size_t size = 0;
  for (const Pass& p : passes) {
    if (columns(p) > 0 && rows(p) > 0) size += static_cast<std::size_t>(rows(p) * (1 + header.row_bytes(columns(p))));
  }
  std::vector<std::uint8_t> data = inflate_all(packed, size);
  std::uint8_t* row = data.data();
  for (const Pass& p : passes) {
    if (columns(p) <= 0 || rows(p) <= 0) continue;
    const std::int64_t count = header.row_bytes(columns(p)), step = std::max(1, header.samples() * header.depth / 8);
    const std::vector<std::uint8_t> nothing(static_cast<std::size_t>(count));
    const std::uint8_t* before = nothing.data();
    for (std::int64_t y = p.y; y < header.height; y += p.dy) {
      unfilter(row[0], row + 1, before, count, step);
      before = row + 1;
      std::int64_t i = 0;
      for (std::int64_t x = p.x; x < header.width; x += p.dx, ++i) {
        std::uint8_t* out = image.pixels.data() + (y * header.width + x) * image.channels;
        if (header.colour == 2) {
          std::copy_n(before + 3 * i, 3, out);
          continue;
        }
        const int most_value = (1 << header.depth) - 1;
        const int value = before[i * header.depth / 8] >> (8 - header.depth - i * header.depth % 8) & most_value;
        if (header.colour == 0) {
          *out = static_cast<std::uint8_t>(value * 255 / most_value);
        } else if (static_cast<std::size_t>(value) * 3 + 3 > palette.size()) {
          fail(ErrorKind::kParse, "PNG image: colour {} is not in the palette", value);
        } else {
          std::copy_n(palette.begin() + 3 * value, 3, out);
        }
      }
      row += count + 1;
    }
  }
  return image;
}

}  // namespace lppool::image
