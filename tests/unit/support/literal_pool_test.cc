#include "support/literal_pool.h"

#include <catch2/catch.hpp>
#include <vector>

namespace lppool::testing {

TEST_CASE("the literal pooling finds the windows by hand", "[support]") {
  const std::vector<double> line{1, 2, 3, 4, 5, 6, 7, 8};
  const auto pool = [&](LiteralAxis axis, bool ceil_mode) {
    axis.input = 8;
    axis.output = literal_output_size(axis, ceil_mode, true);
    const LiteralAxis axes[] = {axis};
    std::vector<double> result;
    for (const std::uint64_t bits : literal_pool(kFloat32, line, axes, 1)) result.push_back(decode(kFloat32, bits));
    return result;
  };
  CHECK(pool({.kernel = 3}, false) == std::vector<double>{6, 9, 12, 15, 18, 21});
  CHECK(pool({.kernel = 4, .stride = 3}, false) == std::vector<double>{10, 22});
  CHECK(pool({.kernel = 4, .stride = 3}, true) == std::vector<double>{10, 22, 15});
  CHECK(pool({.kernel = 2, .stride = 3, .dilation = 4}, false) == std::vector<double>{6, 12});
  CHECK(pool({.kernel = 3, .stride = 4, .pad_begin = 2, .pad_end = 1}, false) == std::vector<double>{1, 12, 15});
  CHECK(pool({.kernel = 1, .stride = 7, .pad_begin = 3, .pad_end = 3}, false) == std::vector<double>{0, 5});
}

TEST_CASE("the literal output size follows LpPool's formula", "[support]") {
  // 4 places, kernel 2, stride 2, end padding 2: three windows, the last wholly in padding, which ceil_mode drops
  // (LpPool 22).
  const LiteralAxis padded{.input = 4, .kernel = 2, .stride = 2, .pad_end = 2};
  CHECK(literal_output_size(padded, false, true) == 3);
  CHECK(literal_output_size(padded, true, true) == 2);
  CHECK(literal_output_size(padded, true, false) == 3);
  CHECK(literal_output_size({.input = 4, .kernel = 6, .stride = 4}, true, true) == 1);
  CHECK(literal_output_size({.input = 4, .kernel = 6, .stride = 4}, false, true) == 0);
  CHECK(literal_output_size({.input = 7, .kernel = 2, .stride = 2}, true, true) == 4);
}

TEST_CASE("the literal pooling walks two axes and several planes in row order", "[support]") {
  const std::vector<double> planes{1, 2, 3, 4, 5, 6, -1, 0, 0, 0, 0, 10};  // two planes of 2 x 3
  const LiteralAxis axes[] = {{.input = 2, .kernel = 2, .output = 1}, {.input = 3, .kernel = 2, .output = 2}};
  std::vector<double> result;
  for (const std::uint64_t bits : literal_pool(kFloat64, planes, axes, 1)) result.push_back(decode(kFloat64, bits));
  CHECK(result == std::vector<double>{12, 16, 1, 10});
}

}  // namespace lppool::testing
