// Writes the files of the repository that are made by program: testdata/check/ and the page of codes. Run by the build
// targets `testdata` and `codes-page`; tests/unit/check/generated_files_test.cc fails where they are not current.
//
// usage: generate_testdata SOURCE_FOLDER [testdata|codes]
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "support/generated_files.h"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: generate_testdata SOURCE_FOLDER [testdata|codes]\n";
    return 2;
  }
  const std::filesystem::path root = argv[1];
  const std::string part = argc == 3 ? argv[2] : "";
  for (const auto& [path, contents] : lppool::test::generated_files()) {
    const bool testdata = path.starts_with("testdata/");
    if ((part == "testdata" && !testdata) || (part == "codes" && testdata)) continue;
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream file(root / path, std::ios::binary);
    file << contents;
    if (!file.flush()) {
      std::cerr << "cannot write " << (root / path).string() << "\n";
      return 1;
    }
  }
  return 0;
}
