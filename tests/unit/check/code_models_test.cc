#include "support/code_models.h"

#include <catch2/catch.hpp>
#include <set>

#include "lppool/check/check.h"
#include "lppool/check/codes.h"
#include "lppool/onnx/model_file.h"
#include "support/scratch.h"

namespace lppool::test {
namespace {

TEST_CASE("each model of a code raises that code and no other", "[check]") {
  const Scratch scratch;
  std::set<std::string> seen;
  for (const CodeModel& model : code_models()) {
    DYNAMIC_SECTION(model.code << ": " << model.about) {
      const CodeInfo* info = find_code(model.code);
      REQUIRE(info != nullptr);
      for (const auto& [name, contents] : model.files) scratch.put(model.code + "/" + name, contents);
      const auto path = scratch.put(model.code + "/model.onnx", model.bytes);
      CheckOptions options;
      options.portability = model.portability;
      std::set<std::string> codes, expected(model.also.begin(), model.also.end());
      expected.insert(model.code);
      std::string messages;
      for (const Diagnostic& finding : check_model(ModelFile::read(path).model(), options)) {
        const bool gone_once_registered = finding.code == "OP012" && finding.code != model.code;
        if (!gone_once_registered) codes.insert(finding.code);
        if (messages.size() < 2000) messages += finding.code + ": " + finding.message + "\n";
        const CodeInfo* raised = find_code(finding.code);
        REQUIRE(raised != nullptr);
        CHECK(finding.severity == raised->severity);
      }
      CAPTURE(messages);
      CHECK(codes == expected);
    }
  }
}

TEST_CASE("every code has a model that raises it", "[check]") {
  const std::set<std::string> apart = {"GR022", "IR007", "SH003"};  // see code_models.h
  std::set<std::string> with_model;
  for (const CodeModel& model : code_models()) CHECK(with_model.insert(model.code).second);
  for (const CodeInfo& info : all_codes()) {
    CAPTURE(info.code);
    CHECK(with_model.contains(std::string(info.code)) != apart.contains(std::string(info.code)));
  }
}

}  // namespace
}  // namespace lppool::test
