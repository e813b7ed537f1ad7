// TIFF by libtiff: the first image of a file, up to 8 bits a sample, without transparency and not turned; strips,
// tiles, planes, and every compression that libtiff has.
#include "lppool/base/error.h"
#include "lppool/kernels/image.h"

#ifdef LPPOOL_HAVE_TIFF
#include <tiffio.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace lppool::image {
namespace {

// A file in memory, as libtiff asks for it.
struct Stream {
  Bytes bytes;
  std::uint64_t at = 0;
};

tmsize_t read(thandle_t handle, void* to, tmsize_t count) {
  Stream& stream = *static_cast<Stream*>(handle);
  if (stream.at >= stream.bytes.size() || count < 0) return 0;
  const std::size_t given = std::min(static_cast<std::size_t>(count), stream.bytes.size() - stream.at);
  std::copy_n(stream.bytes.data() + stream.at, given, static_cast<std::uint8_t*>(to));
  stream.at += given;
  return static_cast<tmsize_t>(given);
}
tmsize_t refuse_to_write(thandle_t, void*, tmsize_t) {
  return -1;
}
toff_t seek(thandle_t handle, toff_t offset, int whence) {
  Stream& stream = *static_cast<Stream*>(handle);
  const std::uint64_t start = whence == SEEK_CUR ? stream.at : whence == SEEK_END ? stream.bytes.size() : 0;
  return stream.at = start + offset;
}
int close(thandle_t) {
  return 0;
}
toff_t size(thandle_t handle) {
  return static_cast<Stream*>(handle)->bytes.size();
}
int be_quiet(TIFF*, void*, const char*, const char*, va_list) {
  return 1;
}

using Handle = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

Handle open(Stream& stream, std::size_t most) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  if (options == nullptr) fail(ErrorKind::kLimit, "no memory to read a TIFF image");
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), be_quiet, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), be_quiet, nullptr);
  constexpr std::size_t kMost = std::numeric_limits<tmsize_t>::max();
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(std::clamp<std::size_t>(most, 1, kMost)));
  // "m": no mapping of memory, which these functions do not offer.
  Handle tiff(
      TIFFClientOpenExt("", "rm", &stream, read, refuse_to_write, seek, close, size, nullptr, nullptr, options.get()),
      TIFFClose);
  if (tiff == nullptr) fail(ErrorKind::kParse, "TIFF image: damaged");
  return tiff;
}

std::uint16_t tag(const Handle& tiff, std::uint32_t name) {
  std::uint16_t value = 0;
  TIFFGetFieldDefaulted(tiff.get(), name, &value);
  return value;
}

}  // namespace

Image decode_tiff(Bytes bytes, std::size_t most) {
  Stream stream{bytes};
  const Handle tiff = open(stream, most);
  const int samples = tag(tiff, TIFFTAG_SAMPLESPERPIXEL), bits = tag(tiff, TIFFTAG_BITSPERSAMPLE);
  const int kind = tag(tiff, TIFFTAG_PHOTOMETRIC), compression = tag(tiff, TIFFTAG_COMPRESSION);
  const bool grey = kind == PHOTOMETRIC_MINISWHITE || kind == PHOTOMETRIC_MINISBLACK;
  const bool colour = kind == PHOTOMETRIC_RGB || kind == PHOTOMETRIC_YCBCR;
  if (!(samples == 1 && (grey || kind == PHOTOMETRIC_PALETTE)) && !(samples == 3 && colour))
    fail(ErrorKind::kUnsupported, "a TIFF image of kind {} with {} samples a pixel", kind, samples);
  if (bits > 8 || (colour && bits != 8)) fail(ErrorKind::kUnsupported, "a TIFF image of {} bits a sample", bits);
  if (const int format = tag(tiff, TIFFTAG_SAMPLEFORMAT); format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID)
    fail(ErrorKind::kUnsupported, "a TIFF image of signed or fractional samples");
  if (tag(tiff, TIFFTAG_ORIENTATION) != ORIENTATION_TOPLEFT)
    fail(ErrorKind::kUnsupported, "a TIFF image that is turned");
  if (TIFFIsCODECConfigured(static_cast<std::uint16_t>(compression)) == 0)
    fail(ErrorKind::kUnsupported, "a TIFF image compressed by method {}", compression);

  std::uint32_t width = 0, height = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  blank(height, width, 4, most);  // a pixel of libtiff's is four bytes: checked before they are allocated below
  std::vector<std::uint32_t> raster(static_cast<std::size_t>(width) * height);
  constexpr int kStopAtFaults = 1;
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(), ORIENTATION_TOPLEFT, kStopAtFaults) == 0)
    fail(ErrorKind::kParse, "TIFF image: damaged");
  Image image = blank(height, width, grey ? 1 : 3, most);
  std::uint8_t* to = image.pixels.data();
  for (const std::uint32_t pixel : raster) {
    *to++ = static_cast<std::uint8_t>(TIFFGetR(pixel));
    if (grey) continue;
    *to++ = static_cast<std::uint8_t>(TIFFGetG(pixel));
    *to++ = static_cast<std::uint8_t>(TIFFGetB(pixel));
  }
  return image;
}

}  // namespace lppool::image
#else
namespace lppool::image {
Image decode_tiff(Bytes, std::size_t) {
  fail(ErrorKind::kUnsupported, "a TIFF image: this build has no libtiff");
}
}  // namespace lppool::image
#endif
