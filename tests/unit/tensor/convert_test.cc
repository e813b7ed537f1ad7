#include "lppool/tensor/convert.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "lppool/base/error.h"

using namespace lppool;

namespace {

Tensor float_tensor(const std::vector<float>& values) {
  return Tensor::of<float>({std::ssize(values)}, values);
}

template <typename T>
std::vector<T> converted(const Tensor& in, DataType to) {
  const Tensor out = convert(in, to);
  REQUIRE(out.dtype() == to);
  REQUIRE(out.shape() == in.shape());
  const auto span = out.data<T>();
  return {span.begin(), span.end()};
}

std::vector<std::string> texts(const Tensor& in) {
  const Tensor out = convert(in, DataType::kString);
  const auto span = out.strings();
  return {span.begin(), span.end()};
}

}  // namespace

TEST_CASE("Floats become integers by truncation, with a fixed result out of range", "[tensor][convert]") {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  const Tensor x = float_tensor({1.9f, -1.9f, 300, -9, 3e9f, -3e9f, 1e20f, kNaN, kInf});
  constexpr auto kLow32 = std::numeric_limits<std::int32_t>::min();
  constexpr auto kLow64 = std::numeric_limits<std::int64_t>::min();
  CHECK(converted<std::int32_t>(x, DataType::kInt32) ==
        std::vector<std::int32_t>{1, -1, 300, -9, kLow32, kLow32, kLow32, kLow32, kLow32});
  CHECK(converted<std::int64_t>(x, DataType::kInt64) ==
        std::vector<std::int64_t>{1, -1, 300, -9, 3000000000, -3000000000, kLow64, kLow64, kLow64});
  CHECK(converted<std::uint8_t>(x, DataType::kUInt8) == std::vector<std::uint8_t>{1, 255, 44, 247, 0, 0, 0, 0, 0});
  CHECK(converted<std::int8_t>(x, DataType::kInt8) == std::vector<std::int8_t>{1, -1, 44, -9, 0, 0, 0, 0, 0});
  CHECK(converted<std::uint32_t>(x, DataType::kUInt32) ==
        std::vector<std::uint32_t>{1, 0xffffffff, 300, 0xfffffff7, 3000000000u, 1294967296u, 0, 0, 0});
  CHECK(converted<std::uint64_t>(float_tensor({0x1p63f, -1, 0x1p64f}), DataType::kUInt64) ==
        std::vector<std::uint64_t>{std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{1} << 63});
  CHECK(converted<std::uint8_t>(x, DataType::kBool) == std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(converted<std::uint8_t>(float_tensor({0, -0.0f, 1e-40f}), DataType::kBool) ==
        std::vector<std::uint8_t>{0, 0, 1});
  // The ends of int32, where float32 has no neighbours inside.
  const Tensor ends = Tensor::of<double>({4}, {2147483647.9, 2147483648.0, -2147483648.9, -2147483649.0});
  CHECK(converted<std::int32_t>(ends, DataType::kInt32) ==
        std::vector<std::int32_t>{2147483647, kLow32, kLow32, kLow32});
}

TEST_CASE("Integers keep their low bits, also in 4 and 2 bits", "[tensor][convert]") {
  const Tensor x = Tensor::of<std::int16_t>({6}, {200, -200, 15, -9, 7, 3});
  CHECK(converted<std::int8_t>(x, DataType::kInt8) == std::vector<std::int8_t>{-56, 56, 15, -9, 7, 3});
  CHECK(converted<std::uint8_t>(x, DataType::kUInt4) == std::vector<std::uint8_t>{8, 8, 15, 7, 7, 3});
  CHECK(converted<std::int8_t>(x, DataType::kInt4) == std::vector<std::int8_t>{-8, -8, -1, 7, 7, 3});
  CHECK(converted<std::uint8_t>(x, DataType::kUInt2) == std::vector<std::uint8_t>{0, 0, 3, 3, 3, 3});
  CHECK(converted<std::int8_t>(x, DataType::kInt2) == std::vector<std::int8_t>{0, 0, -1, -1, -1, -1});
  const Tensor nibbles = convert(x, DataType::kInt4);
  CHECK(converted<float>(nibbles, DataType::kFloat32) == std::vector<float>{-8, -8, -1, 7, 7, 3});
}

TEST_CASE("Large integers are rounded once on the way to narrow floats", "[tensor][convert]") {
  // bfloat16 keeps 8 bits. 0x101 * 2^k + 1 is just above a tie: it must go up, though double drops the 1.
  const std::int64_t above_tie = (std::int64_t{0x101} << 54) + 1, tie = std::int64_t{0x101} << 54;
  const Tensor x =
      Tensor::of<std::int64_t>({4}, {above_tie, tie, -above_tie, std::numeric_limits<std::int64_t>::min()});
  const Tensor out = convert(x, DataType::kBFloat16);
  CHECK(static_cast<double>(out.data<BFloat16>()[0]) == std::ldexp(0x102, 54));
  CHECK(static_cast<double>(out.data<BFloat16>()[1]) == std::ldexp(0x100, 54));
  CHECK(static_cast<double>(out.data<BFloat16>()[2]) == -std::ldexp(0x102, 54));
  CHECK(static_cast<double>(out.data<BFloat16>()[3]) == -0x1p63);
  const Tensor big = Tensor::of<std::uint64_t>({2}, {~std::uint64_t{0}, (std::uint64_t{0x101} << 55) + 1});
  const Tensor wide = convert(big, DataType::kBFloat16);
  CHECK(static_cast<double>(wide.data<BFloat16>()[0]) == 0x1p64);
  CHECK(static_cast<double>(wide.data<BFloat16>()[1]) == std::ldexp(0x102, 55));
  CHECK(std::isinf(static_cast<double>(convert(x, DataType::kFloat16).data<Float16>()[0])));
  CHECK(converted<float>(Tensor::of<std::int32_t>({1}, {16777217}), DataType::kFloat32) ==
        std::vector<float>{16777216});
}

TEST_CASE("Numbers are written plainly and uniquely", "[tensor][convert]") {
  CHECK(texts(float_tensor({0.1f, 314.15926f, 1, -0.0f, 1e20f, 1.5e-7f, INFINITY, -INFINITY, NAN})) ==
        std::vector<std::string>{"0.1", "314.15927", "1", "-0", "100000002004087734272", "0.00000015", "INF", "-INF",
                                 "NaN"});
  CHECK(texts(Tensor::of<double>({1}, {0.1})) == std::vector<std::string>{"0.1"});
  CHECK(texts(Tensor::of<std::int8_t>({2}, {-128, 65})) == std::vector<std::string>{"-128", "65"});
  CHECK(texts(Tensor::of<std::uint64_t>({1}, {~std::uint64_t{0}})) == std::vector<std::string>{"18446744073709551615"});
  CHECK(texts(Tensor::of<Float16>({1}, {Float16(0.5)})) == std::vector<std::string>{"0.5"});
  CHECK(texts(Tensor::of<double>({1}, {1e308}))[0].size() == 309);
}

TEST_CASE("Strings are read as decimal numbers", "[tensor][convert]") {
  const Tensor good = Tensor::of<std::string>({8}, {"3.14", "1e-5", "1E8", "+INF", "inf", "-Inf", " 7 ", "+2"});
  const auto floats = converted<float>(good, DataType::kFloat32);
  CHECK(floats == std::vector<float>{3.14f, 1e-5f, 1e8f, INFINITY, INFINITY, -INFINITY, 7, 2});
  CHECK(std::isnan(converted<double>(Tensor::of<std::string>({1}, {"NaN"}), DataType::kFloat64)[0]));
  CHECK(converted<std::int64_t>(Tensor::of<std::string>({4}, {"-12", "100.5", "9223372036854775807", "1e3"}),
                                DataType::kInt64) == std::vector<std::int64_t>{-12, 100, 9223372036854775807, 1000});
  CHECK(converted<float>(Tensor::of<std::string>({5}, {"1e999", "-1e999", "1e-999", "0e999", "0.0000001e-400"}),
                         DataType::kFloat32) == std::vector<float>{INFINITY, -INFINITY, 0, 0, 0});
  for (const char* bad : {"", "Hello", "1x", "--1", "0x10", "1e", "infinite", ". "}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(convert(Tensor::of<std::string>({1}, {bad}), DataType::kFloat32), Error);
    CHECK_THROWS_AS(convert(Tensor::of<std::string>({1}, {bad}), DataType::kInt32), Error);
  }
  CHECK_THROWS_AS(convert(Tensor::of<std::string>({1}, {"300"}), DataType::kInt8), Error);
  CHECK_THROWS_AS(convert(Tensor::of<std::string>({1}, {"-1"}), DataType::kUInt8), Error);
}

TEST_CASE("Every pair of real types converts small whole numbers without loss", "[tensor][convert]") {
  for (std::int32_t a = 1; a <= kLastDataType; ++a) {
    for (std::int32_t b = 1; b <= kLastDataType; ++b) {
      const auto from = static_cast<DataType>(a), to = static_cast<DataType>(b);
      const auto complex = [](DataType t) { return t == DataType::kComplex64 || t == DataType::kComplex128; };
      const Tensor one = Tensor::of<float>({2}, {1, 1});
      CAPTURE(name(from), name(to));
      if (complex(from) || complex(to)) {
        if (!complex(from) || from != to) {
          const Tensor x = complex(from) ? Tensor::zeros(from, {2}) : convert(one, from);
          CHECK_THROWS_AS(convert(x, to), Error);
        }
        continue;
      }
      const Tensor there = convert(convert(one, from), to);
      const Tensor back = convert(there, DataType::kFloat32);
      // int2 holds -2 to 1, so 1 is in every type.
      CHECK(back.data<float>()[0] == 1);
      CHECK(back.data<float>()[1] == 1);
    }
  }
}
