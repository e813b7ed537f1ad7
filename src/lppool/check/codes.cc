#include "lppool/check/codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lppool/check/code_tables.h"

namespace lppool {
namespace {

constexpr std::pair<std::string_view, std::string_view> kAreas[] = {
    {"AT", "Attributes"},      {"EX", "External data"},       {"FN", "Functions"},
    {"GR", "Graph and names"}, {"IR", "File and IR version"}, {"LP", "LpPool and GlobalLpPool"},
    {"OP", "Operator sets"},   {"PO", "Portability"},         {"SC", "Inputs and outputs of nodes"},
    {"SH", "Shapes"},          {"TD", "Tensor data"},         {"TY", "Types"},
    {"WI", "Windows of convolutions and poolings"},
};

// Examples are indented so that they stand out in a terminal.
std::string indented(std::string_view text, std::string_view margin) {
  std::string result;
  while (true) {
    const std::size_t end = text.find('\n');
    result += fmt::format("{}{}\n", margin, text.substr(0, end));
    if (end == std::string_view::npos) return result;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::span<const CodeInfo> all_codes() {
  static const std::vector<CodeInfo> codes = [] {
    std::vector<CodeInfo> all;
    for (const auto table : {model_codes(), graph_codes(), node_codes(), data_codes(), pool_codes()}) {
      all.insert(all.end(), table.begin(), table.end());
    }
    std::ranges::sort(all, {}, &CodeInfo::code);
    return all;
  }();
  return codes;
}

const CodeInfo* find_code(std::string_view code) {
  const auto codes = all_codes();
  const auto found = std::ranges::lower_bound(codes, code, {}, &CodeInfo::code);
  return found != codes.end() && found->code == code ? &*found : nullptr;
}

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "";
}

std::string explain_code(const CodeInfo& info) {
  return fmt::format("{} ({}): {}\n\n{}\n\nBad:\n{}\nGood:\n{}", info.code, name(info.severity), info.title,
                     info.explanation, indented(info.bad, "    "), indented(info.good, "    "));
}

std::string codes_markdown() {
  std::string page =
      "# Codes of findings\n\n"
      "Written by `cmake --build <dir> --target codes-page` from the tables in this folder; a test compares the two.\n"
      "`lppool-cli check --explain CODE` prints one page, `lppool-cli check --list-codes` the list. A code keeps its\n"
      "meaning for ever.\n";
  std::string_view area;
  for (const CodeInfo& info : all_codes()) {
    if (info.code.substr(0, 2) != area) {
      area = info.code.substr(0, 2);
      const auto title = std::ranges::find(kAreas, area, &std::pair<std::string_view, std::string_view>::first);
      page += fmt::format("\n## {}: {}\n", area, title == std::end(kAreas) ? area : title->second);
    }
    page += fmt::format("\n### {}\n\n**{}** ({})\n\n{}\n\nBad:\n\n{}\nGood:\n\n{}", info.code, info.title,
                        name(info.severity), info.explanation, indented(info.bad, "    "), indented(info.good, "    "));
  }
  return page;
}

}  // namespace lppool
