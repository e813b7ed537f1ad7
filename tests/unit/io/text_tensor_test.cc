#include "lppool/io/text_tensor.h"

#include <bit>
#include <catch2/catch.hpp>
#include <complex>
#include <cstring>
#include <limits>

#include "support/scratch.h"

using namespace lppool;

namespace {

// Text and back: the same bits.
void check_round_trip(const Tensor& tensor) {
  const std::string text = to_text("n", tensor);
  CAPTURE(text.substr(0, 200));
  const NamedTensor read = parse_text_tensor(text, "t.txt");
  CHECK(read.name == "n");
  REQUIRE(read.tensor.dtype() == tensor.dtype());
  REQUIRE(read.tensor.shape() == tensor.shape());
  if (tensor.dtype() == DataType::kString) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.size()); ++i) {
      CHECK(read.tensor.strings()[i] == tensor.strings()[i]);
    }
  } else {
    CHECK(std::memcmp(read.tensor.raw(), tensor.raw(), tensor.bytes()) == 0);
  }
}

// All codes of a type of up to 16 bits.
Tensor all_codes(DataType dtype) {
  const std::int64_t n = std::int64_t{1} << storage_bits(dtype);
  Tensor t = Tensor::allocate(dtype, {n});
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t code = is_signed_integer(dtype) && i >= n / 2 ? i - n : i;
    if (element_size(dtype) == 1) t.mutable_data<std::int8_t>()[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(code);
    else t.mutable_data<std::int16_t>()[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(code);
  }
  return t;
}

}  // namespace

TEST_CASE("A tensor as text reads well", "[io][text]") {
  using F = std::numeric_limits<float>;
  CHECK(to_text("y", Tensor::of<float>({2, 3}, {1, 2.5f, -F::infinity(), F::quiet_NaN(), 1e-45f, 0.1f})) ==
        "# lppool tensor\nname: \"y\"\ndtype: float32\nshape: 2x3\n1 2.5 -inf\nnan 1e-45 0.1\n");
  CHECK(to_text("", Tensor::scalar(true)) == "# lppool tensor\ndtype: bool\nshape: scalar\ntrue\n");
}

TEST_CASE("Every type goes to text and back without losing a bit", "[io][text]") {
  for (std::int32_t i = 1; i <= kLastDataType; ++i) {
    const auto dtype = static_cast<DataType>(i);
    DYNAMIC_SECTION(name(dtype)) {
      check_round_trip(Tensor::zeros(dtype, {0, 4}));
      check_round_trip(Tensor::zeros(dtype, {}));
      const int bits = storage_bits(dtype);
      if (bits != 0 && bits <= 16 && dtype != DataType::kBool) check_round_trip(all_codes(dtype));
    }
  }
  using F = std::numeric_limits<float>;
  using D = std::numeric_limits<double>;
  check_round_trip(Tensor::of<float>({2, 2, 2}, {F::max(), F::denorm_min(), -0.0f, F::infinity(), 0.1f,
                                                 std::bit_cast<float>(0xffc00000u), std::bit_cast<float>(0x7f800001u),
                                                 16777217.0f}));
  check_round_trip(Tensor::of<double>({4}, {D::max(), D::denorm_min(), std::bit_cast<double>(0x7ff0000000000001u), 0.1}));
  check_round_trip(Tensor::of<std::int64_t>({2}, {INT64_MIN, INT64_MAX}));
  check_round_trip(Tensor::of<std::uint64_t>({1}, {UINT64_MAX}));
  check_round_trip(Tensor::of<std::complex<double>>({1}, {{1.5, -D::infinity()}}));
  check_round_trip(Tensor::of<std::string>({4}, {"", "a b\n#\t\"\\", std::string("\0\xff", 2), "\xc3\xa4"}));
}

TEST_CASE("Text is read with any white space and comments", "[io][text]") {
  const NamedTensor t = parse_text_tensor("# lppool tensor\n# made by hand\nshape: 2x2\ndtype: int32\n1\n2 3\n# last\n\t4", "t");
  CHECK(t.tensor.data<std::int32_t>()[3] == 4);
  CHECK(t.tensor.shape() == Shape{2, 2});
}

TEST_CASE("Text that is no tensor is refused with its line", "[io][text]") {
  const std::string head = "# lppool tensor\n";
  const struct {
    const char* name;
    std::string text;
    const char* part;
  } cases[] = {
      {"empty", "", "does not begin"},
      {"no header", head, "expected name:"},
      {"unknown type", head + "dtype: float33\nshape: 1\n1\n", "float33"},
      {"bad shape", head + "dtype: float32\nshape: 2x-1\n1 2\n", "2x-1"},
      {"too few", head + "dtype: float32\nshape: 3\n1 2\n", "line 4"},
      {"too many", head + "dtype: float32\nshape: 1\n1 2\n", "more than 1"},
      {"a claim", head + "dtype: float32\nshape: 1000000x1000000\n1 2\n", "too few"},
      {"overflow", head + "dtype: float32\nshape: 9223372036854775807x2\n1\n", "too few"},
      {"not a number", head + "dtype: float32\nshape: 1\nx\n", "'x'"},
      {"out of range", head + "dtype: int8\nshape: 1\n128\n", "'128'"},
      {"float too large", head + "dtype: float32\nshape: 1\n1e39\n", "'1e39'"},
      {"int4 out of range", head + "dtype: int4\nshape: 1\n8\n", "'8'"},
      {"no float8 value", head + "dtype: float8e4m3fn\nshape: 1\n1.01\n", "'1.01'"},
      {"no NaN", head + "dtype: float32\nshape: 1\nnan(0x3f800000)\n", "NaN"},
      {"NaN too long", head + "dtype: float32\nshape: 1\nnan(0x17fc00000)\n", "NaN"},
      {"open string", head + "dtype: string\nshape: 1\n\"abc\n", "does not end"},
      {"bad escape", head + "dtype: string\nshape: 1\n\"\\q\"\n", "escape"},
      {"cut escape", head + "dtype: string\nshape: 1\n\"\\", "escape"},
  };
  for (const auto& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const auto [kind, message] = error_of([&] { parse_text_tensor(c.text, "t.txt"); });
      CAPTURE(message);
      CHECK(kind == ErrorKind::kParse);
      CHECK(message.find("t.txt: ") == 0);
      CHECK(message.find(c.part) != std::string::npos);
    }
  }
}
