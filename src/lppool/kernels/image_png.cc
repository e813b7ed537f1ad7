// PNG by libpng: up to 8 bits a sample, without transparency.
#include "lppool/base/error.h"
#include "lppool/kernels/image.h"

#ifdef LPPOOL_HAVE_PNG
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <limits>

namespace lppool::image {
namespace {

// What libpng works on. Lives in the caller of the functions that setjmp returns to: what a fault jumps over has no
// destructors.
struct Job {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Bytes rest;
  ~Job() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void leave(png_structp png, png_const_charp) {
  png_longjmp(png, 1);
}
void be_quiet(png_structp, png_const_charp) {}

void give(png_structp png, png_bytep to, std::size_t count) {
  Job& job = *static_cast<Job*>(png_get_io_ptr(png));
  if (job.rest.size() < count) png_error(png, "cut off");
  std::copy_n(job.rest.data(), count, to);
  job.rest = job.rest.subspan(count);
}

// Both return false after a fault.
bool read_header(Job& job) {
  if (setjmp(png_jmpbuf(job.png)) != 0) return false;
  png_set_read_fn(job.png, &job, give);
  png_set_crc_action(job.png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  // Texts, profiles and the like, which no pixel depends on, are not even read.
  png_set_keep_unknown_chunks(job.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_user_limits(job.png, std::numeric_limits<png_uint_32>::max() / 2,
                      std::numeric_limits<png_uint_32>::max() / 2);
  png_read_info(job.png, job.info);
  return true;
}

// One byte a sample, in the order of `rows`.
bool read_pixels(Job& job, std::vector<png_bytep>& rows) {
  if (setjmp(png_jmpbuf(job.png)) != 0) return false;
  png_set_packing(job.png);
  if (png_get_color_type(job.png, job.info) == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(job.png);
  png_set_interlace_handling(job.png);
  png_read_update_info(job.png, job.info);
  png_read_image(job.png, rows.data());
  png_read_end(job.png, nullptr);
  return true;
}

Image coloured(const Image& indices, std::span<const png_color> palette, std::size_t most) {
  Image image = blank(indices.height, indices.width, 3, most);
  std::uint8_t* to = image.pixels.data();
  for (const std::uint8_t index : indices.pixels) {
    if (index >= palette.size()) fail(ErrorKind::kParse, "PNG image: colour {} is not in the palette", index);
    const png_color& colour = palette[index];
    *to++ = colour.red;
    *to++ = colour.green;
    *to++ = colour.blue;
  }
  return image;
}

}  // namespace

Image decode_png(Bytes bytes, std::size_t most) {
  Job job;
  job.rest = bytes;
  job.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, leave, be_quiet);
  if (job.png != nullptr) job.info = png_create_info_struct(job.png);
  if (job.info == nullptr) fail(ErrorKind::kLimit, "no memory to read a PNG image");
  if (!read_header(job)) fail(ErrorKind::kParse, "PNG image: damaged");

  const int kind = png_get_color_type(job.png, job.info), depth = png_get_bit_depth(job.png, job.info);
  if ((kind & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(job.png, job.info, PNG_INFO_tRNS) != 0)
    fail(ErrorKind::kUnsupported, "a PNG image with transparency");
  if (depth == 16) fail(ErrorKind::kUnsupported, "a PNG image of 16 bits a sample");

  Image image = blank(png_get_image_height(job.png, job.info), png_get_image_width(job.png, job.info),
                      kind == PNG_COLOR_TYPE_RGB ? 3 : 1, most);
  std::vector<png_bytep> rows(static_cast<std::size_t>(image.height));
  for (std::size_t y = 0; y < rows.size(); ++y)
    rows[y] = image.pixels.data() + y * static_cast<std::size_t>(image.width * image.channels);
  if (!read_pixels(job, rows)) fail(ErrorKind::kParse, "PNG image: damaged");
  if (kind != PNG_COLOR_TYPE_PALETTE) return image;
  png_colorp colours = nullptr;
  int count = 0;
  png_get_PLTE(job.png, job.info, &colours, &count);
  return coloured(image, {colours, static_cast<std::size_t>(count)}, most);
}

}  // namespace lppool::image
#else
namespace lppool::image {
Image decode_png(Bytes, std::size_t) {
  fail(ErrorKind::kUnsupported, "a PNG image: this build has no libpng");
}
}  // namespace lppool::image
#endif
