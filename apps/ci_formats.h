#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The forms that continuous integration reads: GitHub workflow commands and JUnit XML.
namespace lppool::app {

// One annotation line: "::error file=m.onnx,title=LP003::message". `level` is error, warning or notice.
std::string github_annotation(std::string_view level, std::string_view file, std::string_view title,
                              std::string_view message);

struct JunitCase {
  std::string classname, name;
  double seconds = 0;
  enum class Outcome { kPassed, kFailed, kError, kSkipped } outcome = Outcome::kPassed;
  std::string message;  // of a failure, error or skip: one line
  std::string details;  // any number of lines
  std::string output;   // worth keeping though the case passed
};

// A whole document of one suite.
std::string junit_document(std::string_view suite, const std::vector<JunitCase>& cases);

// Text for XML 1.0: markup escaped; what XML cannot hold, and bytes that are not UTF-8, as \xNN.
std::string xml_text(std::string_view text);

}  // namespace lppool::app
