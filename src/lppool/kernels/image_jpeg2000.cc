// JPEG 2000 by OpenJPEG, bare or in its JP2 box: grey or RGB of 8 bits a sample, without transparency.
#include "lppool/base/error.h"
#include "lppool/kernels/image.h"

#ifdef LPPOOL_HAVE_OPENJPEG
#include <openjpeg.h>

#include <algorithm>
#include <optional>

namespace lppool::image {
namespace {

// OpenJPEG allocates tables for all tiles, components and precincts, and walks through all packets, as soon as headers
// state them. So the segments that state them are looked at before: wherever bytes look like one (its length fits as
// well) it must be within bounds, since boxes or unknown segments may hide the one that counts.
constexpr std::uint32_t kMostComponents = 4;
constexpr std::size_t kBytesATile = 8192, kBytesASample = 64;

std::uint32_t number(Bytes bytes, std::size_t at, int count) {
  std::uint32_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | bytes[at + static_cast<std::size_t>(i)];
  return value;
}

std::uint64_t parts(std::uint32_t end, std::uint32_t origin, std::uint32_t size) {
  return end <= origin ? 0 : (std::uint64_t{end} - origin + size - 1) / size;
}

// The most that any segment states.
struct Extent {
  std::uint64_t width = 0, height = 0, tiles = 0, layers = 1;
};

// Image size (SIZ): `at` is the marker's place.
void read_sizes(Bytes bytes, std::size_t at, std::size_t most, Extent& extent) {
  if (bytes.size() - at < 40) return;
  const std::uint32_t components = number(bytes, at + 38, 2);
  if (number(bytes, at + 2, 2) != 38 + 3 * components) return;
  if (components > kMostComponents) fail(ErrorKind::kUnsupported, "a JPEG 2000 image of {} components", components);
  const std::uint32_t right = number(bytes, at + 6, 4), bottom = number(bytes, at + 10, 4);
  const std::uint32_t left = number(bytes, at + 14, 4), top = number(bytes, at + 18, 4);
  const std::uint32_t tile_width = number(bytes, at + 22, 4), tile_height = number(bytes, at + 26, 4);
  if (tile_width == 0 || tile_height == 0) return;  // OpenJPEG says so
  const std::uint64_t across = parts(right, number(bytes, at + 30, 4), tile_width);
  const std::uint64_t down = parts(bottom, number(bytes, at + 34, 4), tile_height);
  if (across > 65535 || down > 65535 || across * down > most / kBytesATile)
    fail(ErrorKind::kLimit, "a JPEG 2000 image of {} x {} tiles needs more memory than allowed", down, across);
  extent.tiles = std::max(extent.tiles, across * down);
  extent.width = std::max(extent.width, parts(right, left, 1));
  extent.height = std::max(extent.height, parts(bottom, top, 1));
}

// The part that coding style segments of the image (COD) and of a component (COC) share, at its number of
// decompositions; empty where the segment's length does not fit.
struct Style {
  std::uint32_t levels;
  const std::uint8_t* precincts;  // exponents of each resolution; nullptr: 15
};
std::optional<Style> read_style(Bytes bytes, std::size_t at, std::size_t levels_at, std::size_t flags_at) {
  if (bytes.size() - at <= levels_at) return std::nullopt;
  const std::uint32_t levels = bytes[at + levels_at];
  const bool has_precincts = (bytes[at + flags_at] & 1) != 0;
  const std::size_t length = levels_at + 5 + (has_precincts ? levels + 1 : 0);  // the marker's two bytes included
  if (levels > 32 || number(bytes, at + 2, 2) + 2 != length || bytes.size() - at < length) return std::nullopt;
  return Style{levels, has_precincts ? bytes.data() + at + levels_at + 5 : nullptr};
}
std::optional<Style> read_image_style(Bytes bytes, std::size_t at) {
  return read_style(bytes, at, 9, 4);
}
std::optional<Style> read_component_style(Bytes bytes, std::size_t at) {
  return read_style(bytes, at, 6, 5);
}

// A packet, one for each precinct and layer, takes a byte at least: more of them than bytes are not all there.
void check_packets(std::size_t bytes, const Extent& extent, const Style& style) {
  std::uint64_t precincts = 0;
  for (std::uint32_t r = 0; r <= style.levels; ++r) {
    const int exponents = style.precincts != nullptr ? style.precincts[r] : 0xff;
    const std::uint64_t width = extent.width >> (style.levels - r), height = extent.height >> (style.levels - r);
    precincts += (width >> (exponents & 15)) * (height >> (exponents >> 4));
  }
  if (std::max(precincts, extent.tiles) > bytes / extent.layers) fail(ErrorKind::kParse, "JPEG 2000 image: cut off");
}

template <typename Visit>
void for_each_marker(Bytes bytes, std::uint8_t code, Visit visit) {
  for (std::size_t at = 0; at + 4 <= bytes.size(); ++at) {
    if (bytes[at] == 0xff && bytes[at + 1] == code) visit(at);
  }
}

void check_segments(Bytes bytes, std::size_t most) {
  constexpr std::uint8_t kSizes = 0x51, kImageStyle = 0x52, kComponentStyle = 0x53;
  Extent extent;
  for_each_marker(bytes, kSizes, [&](std::size_t at) { read_sizes(bytes, at, most, extent); });
  for_each_marker(bytes, kImageStyle, [&](std::size_t at) {
    if (read_image_style(bytes, at)) extent.layers = std::max<std::uint64_t>(extent.layers, number(bytes, at + 6, 2));
  });
  const auto check = [&](const std::optional<Style>& style) {
    if (style) check_packets(bytes.size(), extent, *style);
  };
  for_each_marker(bytes, kImageStyle, [&](std::size_t at) { check(read_image_style(bytes, at)); });
  for_each_marker(bytes, kComponentStyle, [&](std::size_t at) { check(read_component_style(bytes, at)); });
}

// A file in memory, as OpenJPEG asks for it.
struct Stream {
  Bytes bytes;
  std::size_t at = 0;
};

OPJ_SIZE_T read(void* to, OPJ_SIZE_T count, void* data) {
  Stream& stream = *static_cast<Stream*>(data);
  const std::size_t given = std::min(count, stream.bytes.size() - stream.at);
  if (given == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::copy_n(stream.bytes.data() + stream.at, given, static_cast<std::uint8_t*>(to));
  stream.at += given;
  return given;
}
OPJ_BOOL seek(OPJ_OFF_T offset, void* data) {
  Stream& stream = *static_cast<Stream*>(data);
  if (offset < 0 || static_cast<std::size_t>(offset) > stream.bytes.size()) return OPJ_FALSE;
  stream.at = static_cast<std::size_t>(offset);
  return OPJ_TRUE;
}
OPJ_OFF_T skip(OPJ_OFF_T count, void* data) {
  Stream& stream = *static_cast<Stream*>(data);
  return seek(static_cast<OPJ_OFF_T>(stream.at) + count, data) == OPJ_TRUE ? count : -1;
}
void be_quiet(const char*, void*) {}

struct Job {
  opj_stream_t* stream = opj_stream_default_create(OPJ_TRUE);
  opj_codec_t* codec = nullptr;
  opj_image_t* image = nullptr;

  explicit Job(OPJ_CODEC_FORMAT format) : codec(opj_create_decompress(format)) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() {
    opj_image_destroy(image);
    opj_destroy_codec(codec);
    opj_stream_destroy(stream);
  }
};

// What the header states; throws for what is not supported.
void check_image(const opj_image_t& image, std::size_t most) {
  if (image.numcomps == 2 || image.numcomps == 4) fail(ErrorKind::kUnsupported, "a JPEG 2000 image with transparency");
  if (image.numcomps != 1 && image.numcomps != 3)
    fail(ErrorKind::kUnsupported, "a JPEG 2000 image of {} components", image.numcomps);
  const auto space = image.color_space;
  if (space != OPJ_CLRSPC_UNKNOWN && space != OPJ_CLRSPC_UNSPECIFIED && space != OPJ_CLRSPC_SRGB &&
      space != OPJ_CLRSPC_GRAY)
    fail(ErrorKind::kUnsupported, "a JPEG 2000 image in colour space {}", static_cast<int>(space));
  for (std::uint32_t c = 0; c < image.numcomps; ++c) {
    const opj_image_comp_t& component = image.comps[c];
    if (component.prec != 8 || component.sgnd != 0)
      fail(ErrorKind::kUnsupported, "a JPEG 2000 image of {} bits a sample", component.prec);
    if (component.dx != 1 || component.dy != 1)
      fail(ErrorKind::kUnsupported, "a JPEG 2000 image of subsampled colours");
  }
  blank(image.comps[0].h, image.comps[0].w, static_cast<std::int64_t>(image.numcomps * kBytesASample), most);
}

}  // namespace

Image decode_jpeg2000(Bytes bytes, std::size_t most) {
  check_segments(bytes, most);
  Job job(bytes[0] == 0xff ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  if (job.stream == nullptr || job.codec == nullptr) fail(ErrorKind::kLimit, "no memory to read a JPEG 2000 image");
  Stream stream{bytes};
  opj_stream_set_user_data(job.stream, &stream, nullptr);
  opj_stream_set_user_data_length(job.stream, bytes.size());
  opj_stream_set_read_function(job.stream, read);
  opj_stream_set_skip_function(job.stream, skip);
  opj_stream_set_seek_function(job.stream, seek);
  for (const auto set : {opj_set_info_handler, opj_set_warning_handler, opj_set_error_handler})
    set(job.codec, be_quiet, nullptr);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (opj_setup_decoder(job.codec, &parameters) == OPJ_FALSE ||
      opj_read_header(job.stream, job.codec, &job.image) == OPJ_FALSE) {
    fail(ErrorKind::kParse, "JPEG 2000 image: damaged");
  }
  check_image(*job.image, most);
  if (opj_decode(job.codec, job.stream, job.image) == OPJ_FALSE ||
      opj_end_decompress(job.codec, job.stream) == OPJ_FALSE)
    fail(ErrorKind::kParse, "JPEG 2000 image: damaged");
  check_image(*job.image, most);  // a palette of the box is applied by now

  const std::size_t channels = job.image->numcomps;
  Image image = blank(job.image->comps[0].h, job.image->comps[0].w, static_cast<std::int64_t>(channels), most);
  for (std::size_t c = 0; c < channels; ++c) {
    const opj_image_comp_t& component = job.image->comps[c];
    if (component.data == nullptr || component.h != image.height || component.w != image.width)
      fail(ErrorKind::kParse, "JPEG 2000 image: damaged");
    for (std::size_t i = 0; i < image.pixels.size() / channels; ++i)
      image.pixels[i * channels + c] = static_cast<std::uint8_t>(std::clamp(component.data[i], 0, 255));
  }
  return image;
}

}  // namespace lppool::image
#else
namespace lppool::image {
Image decode_jpeg2000(Bytes, std::size_t) {
  fail(ErrorKind::kUnsupported, "a JPEG 2000 image: this build has no OpenJPEG");
}
}  // namespace lppool::image
#endif
