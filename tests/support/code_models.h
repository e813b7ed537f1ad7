#pragma once

#include <string>
#include <vector>

// For each code of `check` a small model that raises it and nothing else: written to testdata/check by
// generate_testdata, judged by tests/unit/check/code_models_test.cc.
namespace lppool::test {

struct CodeModel {
  std::string code;
  std::string about;                                       // what is wrong with it, for testdata/check/README.md
  std::string bytes;                                       // the model file
  std::vector<std::string> also;                           // codes that cannot be had apart from it
  std::vector<std::pair<std::string, std::string>> files;  // beside the model: name and contents
  bool portability = false;                                // raised with --portability only
};

// Sorted by code. Codes without a model: GR022 (such a file is refused before it is a model), IR007 (it is none), SH003
// (of `infer`).
std::vector<CodeModel> code_models();

}  // namespace lppool::test
