// Writes testdata: generate_testdata FOLDER. Run by ./dev testdata; a unit test compares the folder with what this writes.
#include <filesystem>
#include <iostream>

#include "lppool/base/atomic_file.h"
#include "support/example_models.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: generate_testdata FOLDER\n";
    return 2;
  }
  const std::filesystem::path root = argv[1];
  for (const auto& file : lppool::test::example_files()) {
    std::filesystem::create_directories((root / file.path).parent_path());
    lppool::write_file(root / file.path, file.bytes);
  }
  return 0;
}
