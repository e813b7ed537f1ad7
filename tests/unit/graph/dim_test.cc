#include <catch2/catch.hpp>

#include "lppool/graph/dim.h"

using namespace lppool;

TEST_CASE("A dim that is a number computes like one", "[graph][Dim]") {
  CHECK((Dim(3) * Dim(4) - Dim(5)).value() == 7);
  CHECK(floor_div(Dim(-7), Dim(2)).value() == -4);
  CHECK(ceil_div(Dim(7), Dim(2)).value() == 4);
  CHECK(max(Dim(2), Dim(9)).value() == 9);
  CHECK_FALSE(Dim().known());
  CHECK_FALSE((Dim() + Dim(1)).known());
  CHECK((Dim() * Dim(0)).value() == 0);
}

TEST_CASE("Equal polynomials are one expression", "[graph][Dim]") {
  const Dim h = Dim::symbol("H"), w = Dim::symbol("W");
  CHECK(same((h + Dim(1)) - Dim(1), h));
  CHECK(same((h + w) * (h - w), h * h - w * w));
  CHECK(same(floor_div(h * Dim(4) + Dim(7), Dim(4)), h + Dim(1)));
  CHECK(same(floor_div(h * w, w), h));
  CHECK_FALSE(same(Dim(), Dim()));
}

TEST_CASE("Expressions print as people write them", "[graph][Dim]") {
  const Dim h = Dim::symbol("H");
  CHECK((floor_div(h - Dim(1), Dim(2)) + Dim(1)).to_string() == "floor((H + 1)/2)");
  CHECK(floor_div(floor_div(h, Dim(2)), Dim(3)).to_string() == "floor(H/6)");
  CHECK((Dim(3) * h - Dim(2)).to_string() == "3*H - 2");
  CHECK(max(h, Dim(1)).to_string() == "max(1, H)");
  CHECK(Dim().to_string() == "?");
}

TEST_CASE("What is printed parses to the same expression", "[graph][Dim]") {
  const Dim h = Dim::symbol("H"), n = Dim::symbol("N");
  for (const Dim& dim : {h, floor_div(h - Dim(3), Dim(2)), h * n + Dim(2), min(h, n), ceil_div(h, Dim(4))}) {
    CAPTURE(dim.to_string());
    CHECK(same(parse_dim(dim.to_string()), dim));
  }
  CHECK(same(parse_dim("batch"), Dim::symbol("batch")));
  CHECK(parse_dim("12").value() == 12);
  CHECK_FALSE(parse_dim("?").known());
}

TEST_CASE("Numbers put in for symbols give numbers", "[graph][Dim]") {
  const Dim out = floor_div(Dim::symbol("H") + Dim(2) - Dim(3), Dim(2)) + Dim(1);
  for (std::int64_t h = 1; h < 40; ++h) {
    const std::int64_t by_hand = h - 1 >= 0 ? (h - 1) / 2 + 1 : 0;
    CHECK(out.substitute({{"H", Dim(h)}}).value() == by_hand);
  }
}

TEST_CASE("Arithmetic that leaves 64 bits becomes unknown", "[graph][Dim]") {
  const Dim big(INT64_MAX);
  CHECK_FALSE((big + Dim(1)).known());
  CHECK_FALSE((big * Dim::symbol("N") * Dim(2)).known());
}

TEST_CASE("Expressions that would grow without bound become unknown", "[graph][Dim]") {
  // Squares of squares double in degree, minima of minima in length: 40 steps would fill any memory.
  Dim power = Dim::symbol("N"), nested = Dim::symbol("H");
  for (int step = 0; step < 40; ++step) {
    power = power * power;
    nested = min(nested * Dim::symbol("A"), nested + Dim(1)) + floor_div(nested, Dim(3));
  }
  CHECK_FALSE(power.known());
  CHECK_FALSE(nested.known());
  const std::string long_name(100'000, 'x');
  CHECK(Dim::symbol(long_name).to_string() == long_name);
  CHECK(Dim::symbol(long_name).with_own_identity().to_string() == long_name);
}

TEST_CASE("Text that nests without end is a name, not an expression", "[graph][Dim]") {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "ceil(";
  CHECK(parse_dim(text).to_string() == text);
}

TEST_CASE("Copies keep their identity, arithmetic and equal values have their own", "[graph][Dim]") {
  const Dim n = Dim::symbol("N"), copy = n, marked = n.with_own_identity();
  CHECK(copy.is_copy_of(n));
  CHECK(same(marked, n));
  CHECK_FALSE(marked.is_copy_of(n));
  CHECK_FALSE((n + Dim(0)).is_copy_of(n));
  CHECK_FALSE(Dim().is_copy_of(Dim()));
}
