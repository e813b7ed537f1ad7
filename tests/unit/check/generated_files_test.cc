#include "support/generated_files.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "support/scratch.h"

namespace lppool::test {
namespace {

TEST_CASE("generated files are current", "[check]") {
  // Out of date: cmake --build <dir> --target testdata codes-page
  const std::filesystem::path root = std::filesystem::path(LPPOOL_TESTDATA).parent_path();
  std::size_t models = 0;
  for (const auto& [path, contents] : generated_files()) {
    CAPTURE(path);
    CHECK(slurp(root / path) == contents);
    models += path.starts_with("testdata/check/") && path.ends_with(".onnx") ? 1 : 0;
  }
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root / "testdata/check")) {
    found += entry.path().extension() == ".onnx" ? 1 : 0;
  }
  CHECK(found == models);
}

}  // namespace
}  // namespace lppool::test
