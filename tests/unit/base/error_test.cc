#include <catch2/catch.hpp>

#include "lppool/base/checked.h"
#include "lppool/base/error.h"

using namespace lppool;

TEST_CASE("Each error kind has its documented exit code", "[base]") {
  CHECK(exit_code(ErrorKind::kUsage) == 2);
  CHECK(exit_code(ErrorKind::kIo) == 3);
  CHECK(exit_code(ErrorKind::kParse) == 4);
  CHECK(exit_code(ErrorKind::kUnsupported) == 5);
  CHECK(exit_code(ErrorKind::kLimit) == 6);
  CHECK(exit_code(ErrorKind::kRuntime) == 7);
  CHECK(exit_code(ErrorKind::kDefect) == 70);
  CHECK(exit_code(ErrorKind::kInterrupted) == 130);
}

TEST_CASE("floor_div and ceil_div round toward minus and plus infinity", "[base]") {
  CHECK(floor_div(-7, 2) == -4);
  CHECK(floor_div(7, 2) == 3);
  CHECK(floor_div(-8, 2) == -4);
  CHECK(ceil_div(-7, 2) == -3);
  CHECK(ceil_div(7, 2) == 4);
  CHECK(ceil_div(0, 3) == 0);
}
