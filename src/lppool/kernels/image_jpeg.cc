// JPEG by libjpeg. Its default method for colour, "fancy" upsampling, is the one ONNX asks for.
#include "lppool/base/error.h"
#include "lppool/kernels/image.h"

#ifdef LPPOOL_HAVE_JPEG
#include <csetjmp>
#include <cstddef>
#include <cstdio>
// clang-format off: jpeglib.h needs <cstddef> and <cstdio> before it
#include <jpeglib.h>
// clang-format on

namespace lppool::image {
namespace {

struct ErrorManager {
  jpeg_error_mgr base;
  std::jmp_buf back;
};

void leave(j_common_ptr info) {
  std::longjmp(reinterpret_cast<ErrorManager*>(info->err)->back, 1);
}
void be_quiet(j_common_ptr) {}
// libjpeg fills up what is missing and warns; a guess is no image. Nor may a few bytes keep it busy with what they
// lack.
void leave_at_warnings(j_common_ptr info, int level) {
  if (level < 0) leave(info);
}

// Lives in the caller of the function that setjmp returns to: what a fault jumps over has no destructors.
struct Job {
  jpeg_decompress_struct info = {};
  ErrorManager errors = {};
  ~Job() { jpeg_destroy_decompress(&info); }
};

// False after a fault. `image` gets its size once the header is read.
bool read(Job& job, Bytes bytes, std::size_t most, Image& image) {
  jpeg_decompress_struct& info = job.info;
  if (setjmp(job.errors.back) != 0) return false;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, const_cast<unsigned char*>(bytes.data()), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&info, TRUE);
  if (info.num_components != 1 && info.num_components != 3) {
    fail(ErrorKind::kUnsupported, "a JPEG image of {} components", static_cast<int>(info.num_components));
  }
  info.out_color_space = info.num_components == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_calc_output_dimensions(&info);
  image = blank(info.output_height, info.output_width, info.num_components, most);
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = image.pixels.data() + info.output_scanline * static_cast<std::size_t>(image.width * image.channels);
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

}  // namespace

Image decode_jpeg(Bytes bytes, std::size_t most) {
  Image image;
  Job job;
  job.info.err = jpeg_std_error(&job.errors.base);
  job.errors.base.error_exit = leave;
  job.errors.base.output_message = be_quiet;
  job.errors.base.emit_message = leave_at_warnings;
  if (!read(job, bytes, most, image)) fail(ErrorKind::kParse, "JPEG image: damaged");
  return image;
}

}  // namespace lppool::image
#else
namespace lppool::image {
Image decode_jpeg(Bytes, std::size_t) {
  fail(ErrorKind::kUnsupported, "a JPEG image: this build has no libjpeg");
}
}  // namespace lppool::image
#endif
