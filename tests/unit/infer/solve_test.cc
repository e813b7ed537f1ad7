#include <catch2/catch.hpp>

#include "lppool/base/error.h"
#include "lppool/infer/solve.h"

using namespace lppool;
using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

namespace {
// floor((H + 2 - 3)/2) + 1, a 3-wide window of stride 2 with padding 1.
Dim halved(const char* symbol) { return floor_div(Dim::symbol(symbol) + Dim(2) - Dim(3), Dim(2)) + Dim(1); }
}  // namespace

TEST_CASE("Solving a shape gives every size of the input that leads to it", "[infer][solve]") {
  const DimSolution s = solve_shape({Dim::symbol("N"), Dim(3), halved("H")}, {2, 3, 7}, 100);
  REQUIRE(s.possible);
  CHECK(s.values.at("N") == Ranges{{2, 2}});
  CHECK(s.values.at("H") == Ranges{{13, 14}});  // (13 + 1)/2 = 7, (14 + 1)/2 = 7 rounded down
}

TEST_CASE("Two dimensions over one symbol must agree", "[infer][solve]") {
  CHECK(solve_shape({halved("H"), Dim::symbol("H")}, {7, 14}, 100).values.at("H") == Ranges{{14, 14}});
  CHECK_FALSE(solve_shape({halved("H"), Dim::symbol("H")}, {7, 15}, 100).possible);
}

TEST_CASE("A shape that cannot be reached says why", "[infer][solve]") {
  const DimSolution fixed = solve_shape({Dim(3)}, {4});
  REQUIRE_FALSE(fixed.possible);
  CHECK(fixed.reasons == std::vector<std::string>{"axis 0 is always 3, never 4"});
  const DimSolution odd = solve_shape({Dim::symbol("H") * Dim(2)}, {7}, 10);
  REQUIRE(odd.reasons.size() == 1);
  CHECK(odd.reasons[0] == "axis 0 = 2*H is 7 for no H from 0 to 10; H = 3 gives 6, H = 4 gives 8");
  CHECK_FALSE(solve_shape({Dim()}, {1}).possible);
}

TEST_CASE("A dimension over two symbols is solved by trying", "[infer][solve]") {
  const DimSolution s = solve_shape({Dim::symbol("A") * Dim::symbol("B")}, {6}, 50);
  REQUIRE(s.possible);
  CHECK(s.values.at("A") == Ranges{{1, 3}, {6, 6}});
  CHECK(s.example.at("A") * s.example.at("B") == 6);
}

TEST_CASE("A dimension asked nothing of binds nothing", "[infer][solve]") {
  const DimSolution s = solve_shape({Dim::symbol("N"), halved("H")}, {-1, 1}, 20);
  REQUIRE(s.possible);
  CHECK_FALSE(s.values.contains("N"));
  CHECK(s.values.at("H") == Ranges{{1, 2}});
  CHECK_THROWS_AS(solve_shape({Dim(1)}, {1, 1}), Error);
}
