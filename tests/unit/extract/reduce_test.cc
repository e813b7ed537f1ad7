#include <catch2/catch.hpp>

#include "lppool/extract/extract.h"

using namespace lppool;

TEST_CASE("Reducing finds the smallest run of nodes that holds what fails", "[extract]") {
  struct Case {
    std::size_t count, first, last;  // a range fails if it holds nodes first and last
  };
  const Case c = GENERATE(Case{1, 0, 0}, Case{10, 0, 9}, Case{10, 4, 4}, Case{100, 37, 41}, Case{7, 6, 6}, Case{7, 0, 0});
  CAPTURE(c.count, c.first, c.last);
  const Reduced r = reduce(c.count, [&](std::size_t begin, std::size_t end) { return begin <= c.first && c.last < end; });
  CHECK(r.begin == c.first);
  CHECK(r.end == c.last + 1);
  CHECK(r.tries < 60);
}
