#include "lppool/base/glob.h"

#include <catch2/catch.hpp>

using namespace lppool;

TEST_CASE("Globs match whole names", "[base]") {
  struct Case {
    const char *pattern, *text;
    bool match;
  };
  const Case c =
      GENERATE(Case{"*", "", true}, Case{"test_*", "test_x", true}, Case{"test_*", "atest_x", false},
               Case{"a?c", "abc", true}, Case{"a?c", "ac", false}, Case{"[a-c]x", "bx", true},
               Case{"[!a-c]x", "bx", false}, Case{"*b*b", "abab", true}, Case{"*b*c", "abab", false},
               Case{"a\\*", "a*", true}, Case{"a\\*", "ab", false}, Case{"[", "[", true}, Case{"a/*", "a/b/c", true});
  CAPTURE(c.pattern, c.text);
  CHECK(glob_match(c.pattern, c.text) == c.match);
}
