// WebP by libwebp: one picture, lossy or lossless, without transparency.
#include "lppool/base/error.h"
#include "lppool/kernels/image.h"

#ifdef LPPOOL_HAVE_WEBP
#include <webp/decode.h>

namespace lppool::image {

Image decode_webp(Bytes bytes, std::size_t most) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes.data(), bytes.size(), &features) != VP8_STATUS_OK)
    fail(ErrorKind::kParse, "WebP image: damaged");
  if (features.has_animation != 0) fail(ErrorKind::kUnsupported, "a WebP image that moves");
  if (features.has_alpha != 0) fail(ErrorKind::kUnsupported, "a WebP image with transparency");
  // The decoder of lossless images holds four bytes a pixel of its own, checked with the three of the result.
  blank(features.height, features.width, 7, most);
  Image image = blank(features.height, features.width, 3, most);
  if (WebPDecodeRGBInto(bytes.data(), bytes.size(), image.pixels.data(), image.pixels.size(), features.width * 3) ==
      nullptr) {
    fail(ErrorKind::kParse, "WebP image: damaged");
  }
  return image;
}

}  // namespace lppool::image
#else
namespace lppool::image {
Image decode_webp(Bytes, std::size_t) {
  fail(ErrorKind::kUnsupported, "a WebP image: this build has no libwebp");
}
}  // namespace lppool::image
#endif
