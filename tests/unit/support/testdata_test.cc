#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include "support/example_models.h"

TEST_CASE("testdata holds what the generator writes", "[support]") {
  for (const auto& file : lppool::test::example_files()) {
    CAPTURE(file.path);
    std::ifstream stream(std::string(LPPOOL_TESTDATA) + "/" + file.path, std::ios::binary);
    REQUIRE(stream);
    std::ostringstream bytes;
    bytes << stream.rdbuf();
    CHECK(bytes.str() == file.bytes);
  }
}
