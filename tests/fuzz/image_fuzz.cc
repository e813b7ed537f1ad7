// Any bytes as an image file: what is decoded has as many pixels as it says, within the limit.
#include "fuzz.h"
#include "lppool/kernels/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lppool;
  fuzz::guarded([&] {
    constexpr std::size_t kMost = std::size_t{16} << 20;
    const image::Image image = image::decode({data, size}, kMost);
    FUZZ_CHECK(image.height > 0 && image.width > 0 && (image.channels == 1 || image.channels == 3));
    FUZZ_CHECK(image.pixels.size() == static_cast<std::size_t>(image.height * image.width * image.channels));
    FUZZ_CHECK(image.pixels.size() <= kMost);
  });
  return 0;
}
