#pragma once

#include <string>
#include <vector>

namespace lppool::test {

// The files of testdata/models, testdata/tensors and testdata/cases, which the README and the golden tests use.
struct ExampleFile {
  std::string path;   // below testdata
  std::string about;  // one line for testdata/README.md
  std::string bytes;
};

std::vector<ExampleFile> example_files();

}  // namespace lppool::test
