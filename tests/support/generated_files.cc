#include "support/generated_files.h"

#include <fmt/format.h>

#include "lppool/check/codes.h"
#include "support/code_models.h"
#include "support/example_models.h"

namespace lppool::test {
namespace {

void add_check_models(std::map<std::string, std::string>& files) {
  std::string readme =
      "# One model for each code of `check`\n\n"
      "Written by `./dev testdata` from tests/support/code_models*.cc; a test compares them. "
      "Each\n"
      "file raises its code and, but for what the last column names, nothing else. The PO models need "
      "`--portability`.\n"
      "GR022, IR007 and SH003 have no model: no file can raise them in `check`, or the file is no model at all.\n\n"
      "| model | what is wrong | also raises |\n|---|---|---|\n";
  for (const CodeModel& model : code_models()) {
    files["testdata/check/" + model.code + ".onnx"] = model.bytes;
    for (const auto& [name, contents] : model.files) files["testdata/check/" + name] = contents;
    readme += fmt::format("| {}.onnx | {} | {} |\n", model.code, model.about, fmt::join(model.also, ", "));
  }
  files["testdata/check/README.md"] = readme;
}

}  // namespace

std::map<std::string, std::string> generated_files() {
  std::map<std::string, std::string> files;
  add_check_models(files);
  for (const ExampleFile& file : example_files()) files["testdata/" + file.path] = file.bytes;
  files["src/lppool/check/CODES.md"] = codes_markdown();
  return files;
}

}  // namespace lppool::test
