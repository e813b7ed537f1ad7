#include "lppool/kernels/image.h"

#include <algorithm>
#include <string_view>

#include "lppool/base/checked.h"
#include "lppool/base/error.h"

namespace lppool::image {

Image blank(std::int64_t height, std::int64_t width, std::int64_t channels, std::size_t most) {
  if (height < 1 || width < 1) fail(ErrorKind::kParse, "image of {} x {} pixels", height, width);
  const auto area = checked_mul(height, width);
  const auto bytes = area ? checked_mul(*area, channels) : std::nullopt;
  if (!bytes || static_cast<std::size_t>(*bytes) > most) {
    fail(ErrorKind::kLimit, "an image of {} x {} pixels needs more memory than allowed", height, width);
  }
  return {height, width, channels, std::vector<std::uint8_t>(static_cast<std::size_t>(*bytes))};
}

Image decode(Bytes bytes, std::size_t most) {
  const auto starts = [&](std::string_view mark, std::size_t at = 0) {
    return bytes.size() >= at + mark.size() &&
           std::equal(mark.begin(), mark.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                      [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
  };
  if (starts("BM")) return decode_bmp(bytes, most);
  if (starts("P") && bytes.size() > 2 && bytes[1] >= '1' && bytes[1] <= '6') return decode_pnm(bytes, most);
  if (starts("\x89PNG\r\n\x1a\n")) return decode_png(bytes, most);
  if (starts(std::string_view("II*\0", 4)) || starts(std::string_view("MM\0*", 4))) return decode_tiff(bytes, most);
  if (starts("\xff\xd8\xff")) return decode_jpeg(bytes, most);
  if (starts("RIFF") && starts("WEBP", 8)) return decode_webp(bytes, most);
  if (starts(std::string_view("\0\0\0\x0cjP  ", 8)) || starts("\xff\x4f\xff\x51")) return decode_jpeg2000(bytes, most);
  fail(ErrorKind::kParse, "bytes that are no image of a known format");
}

// --- PNM ---

namespace {

// The numbers and the pixel bytes of a PNM file, one after the other.
class PnmReader {
 public:
  explicit PnmReader(Bytes bytes) : bytes_(bytes) {}

  // The next decimal number; blanks and comments before it are skipped.
  std::int64_t number() {
    skip_blanks();
    std::int64_t value = 0;
    const std::size_t begin = at_;
    while (at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9' && value < 1'000'000'000)
      value = value * 10 + bytes_[at_++] - '0';
    if (at_ == begin) fail(ErrorKind::kParse, "PNM image: a number is missing at byte {}", begin);
    return value;
  }
  // The next digit of a plain bitmap, which need not be set apart.
  int digit() {
    skip_blanks();
    if (at_ == bytes_.size() || (bytes_[at_] != '0' && bytes_[at_] != '1'))
      fail(ErrorKind::kParse, "PNM image: a pixel is missing");
    return bytes_[at_++] - '0';
  }
  // Everything after the single blank that ends the header.
  Bytes pixels(std::size_t count) {
    if (at_ >= bytes_.size() || bytes_.size() - at_ - 1 < count)
      fail(ErrorKind::kParse, "PNM image: pixels are missing");
    return bytes_.subspan(at_ + 1, count);
  }

 private:
  void skip_blanks() {
    for (; at_ < bytes_.size(); ++at_) {
      const std::uint8_t c = bytes_[at_];
      if (c == '#') {
        while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
        if (at_ == bytes_.size()) return;
      } else if (c != ' ' && (c < '\t' || c > '\r')) {
        return;
      }
    }
  }
  Bytes bytes_;
  std::size_t at_ = 2;
};

}  // namespace

Image decode_pnm(Bytes bytes, std::size_t most) {
  const int kind = bytes[1] - '0';
  const bool plain = kind <= 3, bitmap = kind == 1 || kind == 4, colour = kind == 3 || kind == 6;
  PnmReader reader(bytes);
  const std::int64_t width = reader.number(), height = reader.number();
  if (!bitmap) {
    const std::int64_t largest = reader.number();
    if (largest != 255)
      fail(ErrorKind::kUnsupported, "a PNM image whose brightest value is {}, supported is 255", largest);
  }
  Image image = blank(height, width, colour ? 3 : 1, most);
  if (bitmap) {
    const std::int64_t row_bytes = (width + 7) / 8;
    const Bytes packed = plain ? Bytes{} : reader.pixels(static_cast<std::size_t>(row_bytes * height));
    for (std::int64_t i = 0; i < height * width; ++i) {
      const std::int64_t y = i / width, x = i % width;
      const int black =
          plain ? reader.digit() : packed[static_cast<std::size_t>(y * row_bytes + x / 8)] >> (7 - x % 8) & 1;
      image.pixels[static_cast<std::size_t>(i)] = black != 0 ? 0 : 255;
    }
  } else if (plain) {
    for (std::uint8_t& pixel : image.pixels) {
      const std::int64_t value = reader.number();
      if (value > 255) fail(ErrorKind::kParse, "PNM image: a pixel is {}, expected 0 to 255", value);
      pixel = static_cast<std::uint8_t>(value);
    }
  } else {
    std::ranges::copy(reader.pixels(image.pixels.size()), image.pixels.begin());
  }
  return image;
}

// --- BMP ---

Image decode_bmp(Bytes bytes, std::size_t most) {
  const auto number = [&](std::size_t at, int count) {
    if (bytes.size() < at + static_cast<std::size_t>(count))
      fail(ErrorKind::kParse, "BMP image: its header is cut off");
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i)
      value |= static_cast<std::uint32_t>(bytes[at + static_cast<std::size_t>(i)]) << (8 * i);
    return value;
  };
  const std::size_t pixels_at = number(10, 4), header = number(14, 4);
  const bool core = header == 12;
  if (!core && header < 40) fail(ErrorKind::kParse, "BMP image: a header of {} bytes", header);
  const auto length = [&](std::size_t old_at, std::size_t at) -> std::int64_t {
    if (core) return number(old_at, 2);
    return static_cast<std::int32_t>(number(at, 4));
  };
  const std::int64_t width = length(18, 18), stated = length(20, 22);
  const std::int64_t height = stated < 0 ? -stated : stated;  // negative: rows from the top
  const std::uint32_t bits = number(core ? 24 : 28, 2), compression = core ? 0 : number(30, 4);
  if (compression != 0) fail(ErrorKind::kUnsupported, "a compressed BMP image (method {})", compression);
  if (bits != 1 && bits != 4 && bits != 8 && bits != 24 && bits != 32)
    fail(ErrorKind::kUnsupported, "a BMP image of {} bits a pixel", bits);
  Image image = blank(height, width, 3, most);
  const std::int64_t row_bytes = (width * bits + 31) / 32 * 4;
  if (pixels_at > bytes.size() || static_cast<std::int64_t>(bytes.size() - pixels_at) / row_bytes < height) {
    fail(ErrorKind::kParse, "BMP image: pixels are missing");
  }
  const std::size_t palette_at = 14 + header, entry = core ? 3 : 4;
  for (std::int64_t y = 0; y < height; ++y) {
    const std::uint8_t* row =
        bytes.data() + pixels_at + static_cast<std::size_t>((stated < 0 ? y : height - 1 - y) * row_bytes);
    std::uint8_t* out = image.pixels.data() + y * width * 3;
    for (std::int64_t x = 0; x < width; ++x, out += 3) {
      const std::uint8_t* colour = row + x * bits / 8;  // blue, green, red
      if (bits <= 8) {
        const std::int64_t per_byte = 8 / bits, shift = (per_byte - 1 - x % per_byte) * bits;
        const std::size_t index = row[x / per_byte] >> shift & ((1u << bits) - 1);
        const std::size_t at = palette_at + index * entry;
        if (at + 3 > pixels_at) fail(ErrorKind::kParse, "BMP image: colour {} is not in the palette", index);
        colour = bytes.data() + at;
      }
      std::reverse_copy(colour, colour + 3, out);
    }
  }
  return image;
}

}  // namespace lppool::image
