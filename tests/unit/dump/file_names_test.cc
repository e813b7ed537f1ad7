#include <catch2/catch.hpp>

#include "lppool/dump/file_names.h"
#include "lppool/dump/statistics.h"
#include "lppool/text/glob.h"

using namespace lppool;

TEST_CASE("Tensor names become file names that stay inside the folder and apart", "[dump]") {
  FileNames names;
  CHECK(names.unique("a/b:0", ".npy") == "a_b_0.npy");
  CHECK(names.unique("a_b_0", ".npy") == "a_b_0~2.npy");
  CHECK(names.unique("A_B_0", ".npy") == "A_B_0~3.npy");  // some file systems do not tell them apart
  CHECK(names.unique("..", ".npy") == "_..npy");
  CHECK(names.unique("", ".npy") == "_.npy");
  CHECK(names.unique("../../etc/passwd", ".npy") == "_._.._etc_passwd.npy");
  names.reserve("index.json");
  CHECK(names.unique("index", ".json") == "index~2.json");
}

TEST_CASE("Long names are cut and stay apart", "[dump]") {
  FileNames names;
  const std::string a(500, 'n'), b = a + "x";
  const std::string first = names.unique(a, ".npy"), second = names.unique(b, ".npy");
  CHECK(first.size() <= FileNames::kMaxLength + 4);
  CHECK(first != second);
}

TEST_CASE("Statistics leave NaN and infinity out of minimum, maximum and mean", "[dump]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Statistics s = statistics_of(Tensor::of<float>({6}, {1, -3, nan, inf, 0, 1e-40f}));
  CHECK(s.min == -3.0);
  CHECK(s.max == 1.0);
  CHECK(s.mean == Approx(-0.5));
  CHECK(s.nan == 1);
  CHECK(s.inf == 1);
  CHECK(s.zero == 1);
  CHECK(s.subnormal == 1);
  CHECK_FALSE(statistics_of(Tensor::of<float>({1}, {nan})).mean.has_value());
  CHECK_FALSE(statistics_of(Tensor::zeros(DataType::kFloat32, {0})).min.has_value());
}

TEST_CASE("The mean of the largest doubles does not overflow", "[dump]") {
  CHECK(statistics_of(Tensor::of<double>({2}, {1.7e308, 1.7e308})).mean == 1.7e308);
}

TEST_CASE("Globs match whole names", "[text]") {
  struct Case {
    const char *pattern, *text;
    bool match;
  };
  const Case c = GENERATE(Case{"*", "", true}, Case{"test_*", "test_x", true}, Case{"test_*", "atest_x", false}, Case{"a?c", "abc", true},
                          Case{"a?c", "ac", false}, Case{"[a-c]x", "bx", true}, Case{"[!a-c]x", "bx", false}, Case{"*b*b", "abab", true},
                          Case{"*b*c", "abab", false}, Case{"a\\*", "a*", true}, Case{"a\\*", "ab", false}, Case{"[", "[", true},
                          Case{"a/*", "a/b/c", true});
  CAPTURE(c.pattern, c.text);
  CHECK(glob_match(c.pattern, c.text) == c.match);
}
