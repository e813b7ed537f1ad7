#include <catch2/catch.hpp>

#include "lppool/graph/dim.h"

using lppool::Dim;

TEST_CASE("a dim is nonnegative only where no symbol could make it negative", "[graph]") {
  const Dim h = Dim::symbol("H"), w = Dim::symbol("W");
  CHECK(nonnegative(Dim(0)));
  CHECK(nonnegative(h * w + Dim(3)));
  CHECK(nonnegative(floor_div(h, Dim(2))));
  CHECK(nonnegative(max(h - Dim(5), Dim(0))));
  // As a stride of 2 gives: the least value is floor(-1/2) + 1 = 0.
  CHECK(nonnegative(floor_div(h - Dim(1), Dim(2)) + Dim(1)));
  CHECK_FALSE(nonnegative(floor_div(h - Dim(3), Dim(2)) + Dim(1)));
  CHECK_FALSE(nonnegative(Dim()));
  CHECK_FALSE(nonnegative(Dim(-1)));
  CHECK_FALSE(nonnegative(h - Dim(1)));
  CHECK_FALSE(nonnegative(floor_div(h - Dim(1), Dim(2))));
  CHECK_FALSE(nonnegative(min(h, w - Dim(2))));
}
