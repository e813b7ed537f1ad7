#include "lppool/report/process.h"

#include <catch2/catch.hpp>

using namespace lppool::report;
using namespace std::chrono_literals;

TEST_CASE("A program gets its input and gives its output", "[report]") {
  const std::string input(300'000, 'x');  // more than a pipe holds
  CHECK(run_program({"cat"}, input, 20s, 1 << 20) == input);
}

TEST_CASE("Words of a command are not read by a shell", "[report]") {
  CHECK(run_program({"printf", "%s", "$(id); a'b\"c"}, "", 20s, 100) == "$(id); a'b\"c");
}

TEST_CASE("A program that fails, is missing, prints too much or does not end gives nothing", "[report]") {
  CHECK_FALSE(run_program({"false"}, "", 20s, 100));
  CHECK_FALSE(run_program({"no-such-program-here"}, "", 20s, 100));
  CHECK_FALSE(run_program({"cat"}, std::string(101, 'x'), 20s, 100));
  CHECK_FALSE(run_program({"sleep", "600"}, "", 50ms, 100));
}
