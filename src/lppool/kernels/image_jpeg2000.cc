// JPEG 2000 by OpenJPEG, bare or in its JP2 box: grey or RGB of 8 bits a sample, without transparency.
#include "lppool/base/error.h"
#include "lppool/kernels/image.h"

#ifdef LPPOOL_HAVE_OPENJPEG
#include <openjpeg.h>

#include <algorithm>
#include <memory>

namespace lppool::image {
namespace {

// OpenJPEG allocates tables for all tiles and components, and walks through all quality layers, as soon as a header
// states them. So the segments that state them are looked at before: wherever bytes look like one (its length fits as
// well) it must be within these bounds, since boxes or unknown segments may hide the one that counts.
constexpr std::uint32_t kMostComponents = 4, kMostLayers = 1024;
constexpr std::size_t kBytesATile = 8192, kBytesASample = 64;

std::uint32_t number(Bytes bytes, std::size_t at, int count) {
  std::uint32_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | bytes[at + static_cast<std::size_t>(i)];
  return value;
}

std::uint64_t parts(std::uint32_t end, std::uint32_t origin, std::uint32_t size) {
  return end <= origin ? 0 : (std::uint64_t{end} - origin + size - 1) / size;
}

// Image size (SIZ): `at` is the marker's place.
void check_sizes(Bytes bytes, std::size_t at, std::size_t most) {
  if (bytes.size() - at < 40) return;
  const std::uint32_t components = number(bytes, at + 38, 2);
  if (number(bytes, at + 2, 2) != 38 + 3 * components) return;
  if (components > kMostComponents) fail(ErrorKind::kUnsupported, "a JPEG 2000 image of {} components", components);
  const std::uint32_t right = number(bytes, at + 6, 4), bottom = number(bytes, at + 10, 4);
  const std::uint32_t tile_width = number(bytes, at + 22, 4), tile_height = number(bytes, at + 26, 4);
  if (tile_width == 0 || tile_height == 0) return;  // OpenJPEG says so
  const std::uint64_t across = parts(right, number(bytes, at + 30, 4), tile_width);
  const std::uint64_t down = parts(bottom, number(bytes, at + 34, 4), tile_height);
  if (across > 65535 || down > 65535 || across * down > most / kBytesATile)
    fail(ErrorKind::kLimit, "a JPEG 2000 image of {} x {} tiles needs more memory than allowed", down, across);
}

// Coding style (COD).
void check_style(Bytes bytes, std::size_t at) {
  if (bytes.size() - at < 14) return;
  const std::uint32_t length = number(bytes, at + 2, 2), layers = number(bytes, at + 6, 2);
  const bool has_precincts = (bytes[at + 4] & 1) != 0;
  if (length != (has_precincts ? 13u + bytes[at + 9] : 12u)) return;
  if (layers > kMostLayers)
    fail(ErrorKind::kUnsupported, "a JPEG 2000 image of {} layers, supported are {}", layers, kMostLayers);
}

void check_segments(Bytes bytes, std::size_t most) {
  for (std::size_t at = 0; at + 1 < bytes.size(); ++at) {
    if (bytes[at] != 0xff) continue;
    if (bytes[at + 1] == 0x51) check_sizes(bytes, at, most);
    if (bytes[at + 1] == 0x52) check_style(bytes, at);
  }
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
