// TIFF 6.0, baseline: the first image, uncompressed strips of 8-bit grey or colour.
#include <algorithm>
#include <map>

#include "lppool/base/error.h"
#include "lppool/kernels/image.h"

namespace lppool::image {
namespace {

class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes), big_(bytes[0] == 'M') { read_directory(); }

  // All numbers of a tag; `fallback` where the file does not have it.
  std::vector<std::uint32_t> all(int tag, std::vector<std::uint32_t> fallback) const {
    const auto found = tags_.find(tag);
    return found == tags_.end() ? std::move(fallback) : found->second;
  }
  std::uint32_t one(int tag, std::uint32_t fallback) const {
    const auto values = all(tag, {fallback});
    if (values.empty()) fail(ErrorKind::kParse, "TIFF image: tag {} is empty", tag);
    return values.front();
  }

 private:
  std::uint32_t number(std::size_t at, std::size_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) fail(ErrorKind::kParse, "TIFF image: cut off");
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes_[at + (big_ ? i : size - 1 - i)];
    return value;
  }

  void read_directory() {
    const std::size_t start = number(4, 4), count = number(start, 2);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t entry = start + 2 + 12 * i;
      const std::uint32_t tag = number(entry, 2), type = number(entry + 2, 2), values = number(entry + 4, 4);
      const std::size_t size = type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : 0;  // BYTE, SHORT, LONG
      if (size == 0) continue;  // text and fractions, which no pixel depends on
      if (values > bytes_.size()) fail(ErrorKind::kParse, "TIFF image: a tag of {} values", values);
      const std::size_t at = size * values <= 4 ? entry + 8 : number(entry + 8, 4);
      auto& list = tags_[static_cast<int>(tag)];
      for (std::size_t k = 0; k < values; ++k) list.push_back(number(at + k * size, size));
    }
  }

  Bytes bytes_;
  bool big_;
  std::map<int, std::vector<std::uint32_t>> tags_;
};

}  // namespace

Image decode_tiff(Bytes bytes, std::size_t most) {
  const Reader reader(bytes);
  const std::int64_t width = reader.one(256, 0), height = reader.one(257, 0);
  const std::uint32_t compression = reader.one(259, 1), photometric = reader.one(262, 1), samples = reader.one(277, 1);
  if (compression != 1) fail(ErrorKind::kUnsupported, "a compressed TIFF image (method {})", compression);
  const bool colour = photometric == 2 && samples == 3, grey = photometric <= 1 && samples == 1;
  if (!colour && !grey)
    fail(ErrorKind::kUnsupported, "a TIFF image of kind {} with {} samples a pixel", photometric, samples);
  for (const std::uint32_t bits : reader.all(258, {1})) {
    if (bits != 8) fail(ErrorKind::kUnsupported, "a TIFF image of {} bits a sample, supported are 8", bits);
  }
  if (reader.one(284, 1) != 1 || reader.one(274, 1) != 1)
    fail(ErrorKind::kUnsupported, "a TIFF image in planes, or turned");
  const auto offsets = reader.all(273, {}), counts = reader.all(279, {});
  if (offsets.empty() || offsets.size() != counts.size()) fail(ErrorKind::kUnsupported, "a TIFF image without strips");
  Image image = blank(height, width, samples, most);
  std::size_t made = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] > bytes.size() || bytes.size() - offsets[i] < counts[i])
      fail(ErrorKind::kParse, "TIFF image: a strip is cut off");
    const Bytes strip = bytes.subspan(offsets[i], std::min<std::size_t>(counts[i], image.pixels.size() - made));
    std::ranges::copy(strip, image.pixels.begin() + static_cast<std::ptrdiff_t>(made));
    made += strip.size();
  }
  if (made != image.pixels.size()) fail(ErrorKind::kParse, "TIFF image: pixels are missing");
  if (photometric == 0) {
    for (std::uint8_t& pixel : image.pixels) pixel = static_cast<std::uint8_t>(255 - pixel);
  }
  return image;
}

}  // namespace lppool::image
