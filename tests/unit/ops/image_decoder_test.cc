#include <zlib.h>

#include <catch2/catch.hpp>
#include <string>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

Tensor stream(const std::string& bytes) {
  return Tensor::of<std::uint8_t>({static_cast<std::int64_t>(bytes.size())},
                                  std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

Tensor decode(const std::string& bytes, const std::string& format = "RGB") {
  OpCall call{.op_type = "ImageDecoder", .opset = 20};
  call.inputs = {stream(bytes)};
  call.attributes = {attr_s("pixel_format", format)};
  return run_op1(call);
}

std::string big(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}
std::string little(std::uint32_t value, int count = 4) {
  std::string text;
  for (int i = 0; i < count; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big(static_cast<std::uint32_t>(data.size())) + body + big(static_cast<std::uint32_t>(sum));
}

// A PNG of rows that begin with their filter's number.
std::string png(std::uint32_t width, std::uint32_t height, char depth, char colour, const std::string& rows,
                bool interlaced = false, const std::string& palette = "") {
  std::string packed(compressBound(static_cast<uLong>(rows.size())), '\0');
  uLongf size = static_cast<uLongf>(packed.size());
  REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                   static_cast<uLong>(rows.size())) == Z_OK);
  packed.resize(size);
  const std::string header = big(width) + big(height) + depth + colour + '\0' + '\0' + (interlaced ? '\1' : '\0');
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + (palette.empty() ? "" : chunk("PLTE", palette)) +
         chunk("IDAT", packed) + chunk("IEND", "");
}

std::string text(std::initializer_list<int> bytes) {
  std::string result;
  for (const int byte : bytes) result += static_cast<char>(byte);
  return result;
}

}  // namespace

TEST_CASE("ImageDecoder reads every filter of PNG", "[ops][ImageDecoder]") {
  const std::string rows = text({0, 10, 20, 1, 11, 11, 2, 4, 5, 3, 13, 7, 4, 10, 15});
  const Tensor y = decode(png(2, 5, 8, 0, rows), "Grayscale");
  CHECK(y.shape() == Shape{5, 2, 1});
  // Row 4: averages (0 + 15) / 2 = 7 and (20 + 27) / 2 = 23. Row 5: Paeth takes 20, then of 30, 30, 20 the left.
  CHECK(to_doubles(y) == std::vector<double>{10, 20, 11, 22, 15, 27, 20, 30, 30, 45});
}

TEST_CASE("ImageDecoder reads colour, palettes, small depths and interlaced PNG", "[ops][ImageDecoder]") {
  CHECK(to_doubles(decode(png(1, 2, 8, 2, text({0, 1, 2, 3, 0, 4, 5, 6})))) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(to_doubles(decode(png(1, 1, 8, 2, text({0, 1, 2, 3})), "BGR")) == std::vector<double>{3, 2, 1});
  CHECK(to_doubles(decode(png(4, 1, 2, 3, text({0, 0b00011011}), false, text({0, 0, 0, 9, 8, 7, 1, 2, 3, 4, 5, 6})))) ==
        std::vector<double>{0, 0, 0, 9, 8, 7, 1, 2, 3, 4, 5, 6});
  CHECK(to_doubles(decode(png(4, 1, 2, 0, text({0, 0b00011011})), "Grayscale")) ==
        std::vector<double>{0, 85, 170, 255});
  // 2 x 2 interlaced: pass 1 holds (0, 0), pass 6 (1, 0), pass 7 row 1.
  CHECK(to_doubles(decode(png(2, 2, 8, 0, text({0, 1, 0, 2, 0, 3, 4}), true), "Grayscale")) ==
        std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("ImageDecoder reads BMP from the bottom up, with or without palette", "[ops][ImageDecoder]") {
  const auto bmp = [](std::int32_t width, std::int32_t height, int bits, const std::string& palette,
                      const std::string& pixels) {
    return "BM" + little(0) + little(0) + little(static_cast<std::uint32_t>(54 + palette.size())) + little(40) +
           little(static_cast<std::uint32_t>(width)) + little(static_cast<std::uint32_t>(height)) + little(1, 2) +
           little(static_cast<std::uint32_t>(bits), 2) + std::string(24, '\0') + palette + pixels;
  };
  const std::string pixels = text({1, 2, 3, 0, 4, 5, 6, 0});  // rows are padded to 4 bytes
  CHECK(to_doubles(decode(bmp(1, 2, 24, "", pixels))) == std::vector<double>{6, 5, 4, 3, 2, 1});
  CHECK(to_doubles(decode(bmp(1, -2, 24, "", pixels))) == std::vector<double>{3, 2, 1, 6, 5, 4});
  CHECK(to_doubles(decode(bmp(3, 1, 1, text({7, 8, 9, 0, 1, 2, 3, 0}), text({0b01000000, 0, 0, 0})))) ==
        std::vector<double>{9, 8, 7, 3, 2, 1, 9, 8, 7});
  // Luma of 255, 0, 0.
  CHECK(to_doubles(decode(bmp(1, 1, 24, "", text({0, 0, 255, 0})), "Grayscale")) == std::vector<double>{76});
  CHECK(decode(bmp(1, 2, 24, "", "")).shape() == Shape{0, 0, 3});
}

TEST_CASE("ImageDecoder reads PNM, plain and raw, and TIFF", "[ops][ImageDecoder]") {
  CHECK(to_doubles(decode("P2\n# two\n2 1 255 7 250", "Grayscale")) == std::vector<double>{7, 250});
  CHECK(to_doubles(decode("P6 1 1 255\nabc")) == std::vector<double>{'a', 'b', 'c'});
  CHECK(to_doubles(decode("P4 3 1\n\xa0", "Grayscale")) == std::vector<double>{0, 255, 0});
  CHECK(to_doubles(decode("P1 3 1 101", "Grayscale")) == std::vector<double>{0, 255, 0});
  const auto tag = [](std::uint32_t number, std::uint32_t value) {
    return little(number, 2) + little(4, 2) + little(1) + little(value);
  };
  const std::string tiff = "II" + little(42, 2) + little(8) + little(7, 2) + tag(256, 2) + tag(257, 1) + tag(258, 8) +
                           tag(262, 1) + tag(273, 98) + tag(277, 1) + tag(279, 2) + little(0) + "AB";
  REQUIRE(tiff.size() == 100);
  CHECK(to_doubles(decode(tiff, "Grayscale")) == std::vector<double>{'A', 'B'});
}

TEST_CASE("ImageDecoder gives an empty image for damage and refuses what it does not know by name",
          "[ops][ImageDecoder]") {
  std::string damaged = png(1, 1, 8, 0, text({0, 1}));
  damaged[damaged.size() - 14] = static_cast<char>(damaged[damaged.size() - 14] ^ 1);
  CHECK(decode(damaged).shape() == Shape{0, 0, 3});
  CHECK(decode("nothing of the kind", "Grayscale").shape() == Shape{0, 0, 1});
  CHECK(decode(png(100, 100, 8, 0, text({0, 1}))).shape() == Shape{0, 0, 3});
  CHECK_THROWS_WITH(decode(png(1, 1, 8, 6, text({0, 1, 2, 3, 4}))), Catch::Contains("transparency"));
  // More pixels than memory is refused before they are allocated.
  CHECK_THROWS_AS(decode(png(0x7fffffff, 0x7fffffff, 8, 2, "")), Error);
}

namespace {

// Files of the pictures below, written by Pillow 9.4 without loss: bytes in hexadecimal.
std::string unhex(std::string_view digits) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1]));
  return bytes;
}
const std::vector<double> kColours = {255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3, 40, 50, 60, 255, 255, 255};
const std::vector<double> kGreys = {0, 64, 128, 200, 254, 255};
const std::string kWebp = unhex(
    "5249464640000000574542505650384c340000002f024000002f402040110ef97fae1b04d936cd64ee4f7805691b307ba6e65f58e73f40592e"
    "c29aef"
    "402040192b1ed826a2ff315e");
const std::string kSizes =
    "ff4fff51002f0000000000030000000200000000000000000000000300000002000000000000000000030701010701010701";
const std::string kCodestream =
    kSizes +
    "01ff52000c00000001000104040001ff5c00074040484850ff640025000143726561746564206279204f70656e4a5045472076657273696f6e"
    "20322e352e30ff90000a0000000000520001ff93c7d40608737fcfb40c05931fdf8018059233c7da057e60907d4040081f0a73fdbf02cfc7da"
    "053f00"
    "39f98100031b059322056bc7da050fa8120fa808089f0337ff7f005fffd9";
const std::string kJp2 = unhex(
    "0000000c6a5020200d0a870a00000014667479706a703220000000006a7032200000002d6a7032680000001669686472000000020000000300"
    "0307070000"
    "0000000f636f6c7201000000000010000000cd6a703263" +
    kCodestream);
const std::string kGreyJ2k = unhex(
    "ff4fff510029000000000003000000020000000000000000000000030000000200000000000000000001070101ff52000c0000000100010404"
    "0001ff5c00"
    "074040484850ff640025000143726561746564206279204f70656e4a5045472076657273696f6e20322e352e30ff90000a0000000000240001"
    "ff93cfb4"
    "0c0b4cefc0f9014fc00e07ce08017f017a37017fffd9");
const std::string kLzwTiff = unhex(
    "49492a001a000000803fc0103814100202018a0643c7fc3602000a000001030001000000030000000101030001000000020000000201030003"
    "0000009800"
    "000003010300010000000500000006010300010000000200000011010400010000000800000015010300010000000300000016010300010000"
    "00020000"
    "001701040001000000110000001c010300010000000100000000000000080008000800");
const std::string kPackedTiff = unhex(
    "49492a00100000000200408002c8feff0900000103000100000003000000010103000100000002000000020103000100000008000000030103"
    "000100000005"
    "8000000601030001000000010000001101040001000000080000001601030001000000020000001701040001000000080000001c0103000100"
    "0000010000"
    "0000000000");

}  // namespace

TEST_CASE("ImageDecoder reads WebP, JPEG 2000 and compressed TIFF", "[ops][ImageDecoder]") {
  CHECK(decode(kWebp).shape() == Shape{2, 3, 3});
  CHECK(to_doubles(decode(kWebp)) == kColours);
  CHECK(to_doubles(decode(kJp2)) == kColours);
  CHECK(to_doubles(decode(unhex(kCodestream))) == kColours);
  CHECK(to_doubles(decode(kGreyJ2k, "Grayscale")) == kGreys);
  CHECK(to_doubles(decode(kLzwTiff)) == kColours);
  CHECK(to_doubles(decode(kPackedTiff, "Grayscale")) == kGreys);
}

TEST_CASE("ImageDecoder gives an empty image for every image that is cut off", "[ops][ImageDecoder]") {
  // The last bytes may say no more than that the image ends; what is there without them is whole.
  struct Case {
    const char* name;
    std::string bytes;
    std::size_t end;
  };
  const auto cases = {Case{"png", png(3, 1, 8, 0, text({0, 1, 2, 3})), 0}, Case{"webp", kWebp, 0}, Case{"jp2", kJp2, 2},
                      Case{"tiff", kLzwTiff, 0}};
  for (const Case& c : cases) {
    for (std::size_t size = 0; size < c.bytes.size() - c.end; ++size) {
      CAPTURE(c.name, size);
      CHECK(decode(c.bytes.substr(0, size)).shape() == Shape{0, 0, 3});
    }
  }
}

TEST_CASE("ImageDecoder refuses headers that would keep a library busy", "[ops][ImageDecoder]") {
  const auto with = [](std::string hex, std::size_t at, const std::string& digits) {
    return unhex(hex.replace(2 * at, digits.size(), digits));
  };
  // An image of 300,000 by 300,000 in one tile, and one of tiles of one pixel.
  CHECK_THROWS_WITH(decode(with(kCodestream, 8, "000493e0000493e00000000000000000000493e0000493e0")),
                    Catch::Contains("memory"));
  CHECK_THROWS_WITH(decode(with(kCodestream, 8, "0000ffff0000ffff00000000000000000000000100000001")),
                    Catch::Contains("tiles"));
  // A packet takes a byte: 65535 layers, or 10^6 precincts of 4 samples in 4 megapixels, are not all there.
  CHECK(decode(with(kCodestream, 57, "ffff")).shape() == Shape{0, 0, 3});
  const std::string one_level = with(kCodestream, 8, "000007d0000007d00000000000000000000007d0000007d0");
  const std::size_t style = one_level.find("\xff\x52");
  const std::string small_precincts =
      one_level.substr(0, style) + unhex("ff52000d0100000101000404000111") + one_level.substr(style + 14);
  CHECK(decode(small_precincts).shape() == Shape{0, 0, 3});
}
