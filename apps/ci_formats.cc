#include "ci_formats.h"

#include <fmt/format.h>

#include <algorithm>

#include "lppool/base/text.h"

namespace lppool::app {
namespace {

// Workflow commands end at a line break; in properties ':' and ',' have a meaning, too.
std::string github_escape(std::string_view text, bool property) {
  std::string result;
  for (const char c : text) {
    if (c == '%') result += "%25";
    else if (c == '\n') result += "%0A";
    else if (c == '\r') result += "%0D";
    else if (property && c == ':') result += "%3A";
    else if (property && c == ',') result += "%2C";
    else result += c;
  }
  return result;
}

std::string element(std::string_view name, std::string_view message, std::string_view details) {
  return fmt::format("      <{} message=\"{}\">{}</{}>\n", name, xml_text(message), xml_text(details), name);
}

}  // namespace

std::string github_annotation(std::string_view level, std::string_view file, std::string_view title,
                              std::string_view message) {
  return fmt::format("::{} file={},title={}::{}\n", level, github_escape(file, true), github_escape(title, true),
                     github_escape(message, false));
}

std::string xml_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    for (const char c : printable(line, line.size() * 4 + 8)) {
      switch (c) {
        case '&': result += "&amp;"; break;
        case '<': result += "&lt;"; break;
        case '>': result += "&gt;"; break;
        case '"': result += "&quot;"; break;
        default: result += c;
      }
    }
    text.remove_prefix(line.size());
    if (!text.empty()) {
      result += '\n';
      text.remove_prefix(1);
    }
  }
  return result;
}

std::string junit_document(std::string_view suite, const std::vector<JunitCase>& cases) {
  using Outcome = JunitCase::Outcome;
  double seconds = 0;
  for (const JunitCase& c : cases) seconds += c.seconds;
  const auto count = [&](Outcome outcome) { return std::ranges::count(cases, outcome, &JunitCase::outcome); };
  const std::string totals = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                                         cases.size(), count(Outcome::kFailed), count(Outcome::kError),
                                         count(Outcome::kSkipped), seconds);
  std::string document = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n  <testsuite name=\"{}\" {}>\n",
                                     totals, xml_text(suite), totals);
  for (const JunitCase& c : cases) {
    std::string inside;
    if (c.outcome == Outcome::kFailed) inside = element("failure", c.message, c.details);
    if (c.outcome == Outcome::kError) inside = element("error", c.message, c.details);
    if (c.outcome == Outcome::kSkipped) inside = element("skipped", c.message, "");
    if (!c.output.empty()) inside += fmt::format("      <system-out>{}</system-out>\n", xml_text(c.output));
    document += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"{}", xml_text(c.classname),
                            xml_text(c.name), c.seconds, inside.empty() ? "/>\n" : ">\n" + inside + "    </testcase>\n");
  }
  return document + "  </testsuite>\n</testsuites>\n";
}

}  // namespace lppool::app
