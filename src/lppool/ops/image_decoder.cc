#include "lppool/kernels/image.h"
#include "lppool/ops/op.h"
#include "lppool/ops/shape_rules.h"
#include "lppool/tensor/memory.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {20, "encoded_stream:T1", "image:T2", "pixel_format:string=RGB", "T1=uint8; T2=uint8"},
};

bool known_format(std::string_view format) {
  return format == "RGB" || format == "BGR" || format == "Grayscale";
}

void check(CheckContext& ctx) {
  const std::string format = ctx.attributes.s("pixel_format");
  if (known_format(format)) return;
  ctx.error(kBadValue, "pixel_format",
            fmt::format("attribute 'pixel_format' is '{}', expected RGB, BGR or Grayscale", format));
}

void infer(InferContext& ctx) {
  ctx.set_output(0, DataType::kUInt8, {{Dim(), Dim(), ctx.attributes.s("pixel_format") == "Grayscale" ? 1 : 3}});
  ctx.explain(
      0, 2,
      ctx.attributes.s("pixel_format") == "Grayscale" ? "1 (pixel_format Grayscale)" : "3 (channels of pixel_format)");
}

// ITU-R 601 luma in 16-bit fixed point, rounded to nearest, as Pillow has it.
std::uint8_t luma(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

void run(KernelContext& ctx) {
  const Tensor& stream = ctx.input(0);
  const std::string format = ctx.attributes.s("pixel_format");
  if (!known_format(format))
    fail(ErrorKind::kRuntime, "attribute 'pixel_format' is '{}', expected RGB, BGR or Grayscale", format);
  if (stream.rank() != 1)
    fail(ErrorKind::kRuntime, "input encoded_stream has shape {}, expected rank 1", to_string(stream.shape()));
  const std::int64_t channels = format == "Grayscale" ? 1 : 3;
  image::Image decoded;
  try {
    decoded = image::decode(stream.data<std::uint8_t>(), memory::limit() / 4);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kParse) throw;
    // What cannot be decoded is an empty image, says the specification.
    ctx.output(0, DataType::kUInt8, Shape{0, 0, channels});
    return;
  }
  Tensor& out = ctx.output(0, DataType::kUInt8, Shape{decoded.height, decoded.width, channels});
  std::uint8_t* to = out.mutable_data<std::uint8_t>().data();
  const std::uint8_t* from = decoded.pixels.data();
  for (std::int64_t i = 0; i < decoded.height * decoded.width; ++i, from += decoded.channels, to += channels) {
    if (channels == 1) {
      *to = decoded.channels == 1 ? *from : luma(from);
      continue;
    }
    for (std::int64_t c = 0; c < 3; ++c) {
      const std::int64_t source = format == "BGR" ? 2 - c : c;
      to[c] = decoded.channels == 1 ? *from : from[source];
    }
  }
}

}  // namespace

extern const OpDef kImageDecoder;
const OpDef kImageDecoder = {
    .domain = "",
    .type = "ImageDecoder",
    .summary = "Decodes an image file (BMP, PNM, PNG, TIFF, JPEG, JPEG 2000, WebP) to rows of pixels, channels last.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check,
};

}  // namespace lppool
