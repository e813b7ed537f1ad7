#include "lppool/base/text.h"

#include <catch2/catch.hpp>
#include <vector>

namespace lppool {
namespace {

TEST_CASE("printable text keeps UTF-8 and escapes everything a terminal would act on", "[base]") {
  CHECK(printable("pool1") == "pool1");
  CHECK(printable("größe \xe2\x82\xac") == "größe \xe2\x82\xac");
  CHECK(printable("a\n\x1b[31m\x7f") == "a\\x0a\\x1b[31m\\x7f");
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable("\xc0\x80\xed\xa0\x80") == "\\xc0\\x80\\xed\\xa0\\x80");  // overlong, surrogate
  CHECK(printable(std::string_view("\0x", 2)) == "\\x00x");
  CHECK(printable("abcdef", 3) == "abc...");
  CHECK(printable("\xe2\x82\xac\xe2\x82\xac", 4) == "\xe2\x82\xac...");
}

TEST_CASE("the nearest word is the one fewest edits away, if any is near", "[base]") {
  const std::vector<std::string_view> words = {"LpPool", "MaxPool", "GlobalLpPool", "Conv"};
  CHECK(nearest("lppool", words) == "LpPool");
  CHECK(nearest("LpPol", words) == "LpPool");
  CHECK(nearest("MaxPolo", words) == "MaxPool");
  CHECK(nearest("Cnov", words) == "Conv");
  CHECK_FALSE(nearest("Relu", words));
  CHECK_FALSE(nearest("", words));
  CHECK_FALSE(nearest("Conv", std::vector<std::string_view>{"Conv"}));
}

}  // namespace
}  // namespace lppool
