// Any bytes as a model: what can be parsed can be checked - attributes, types, shapes, other engines - whatever it
// says.
#include "fuzz.h"
#include "lppool/check/check.h"
#include "lppool/check/codes.h"
#include "lppool/onnx/model_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lppool;
  fuzz::guarded([&] {
    const ModelFile file = ModelFile::parse(fuzz::view(data, size), "/nonexistent");
    CheckOptions options;
    options.portability = true;
    try {
      for (const Diagnostic& finding : check_model(file.model(), options)) {
        const CodeInfo* info = find_code(finding.code);
        FUZZ_CHECK(info != nullptr && info->severity == finding.severity);
        FUZZ_CHECK(finding.message.find('\n') == std::string::npos);
      }
    } catch (const Error&) {
      FUZZ_CHECK(false);  // a check never throws for what a model says
    }
  });
  return 0;
}
