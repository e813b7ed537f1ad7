#include "check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "ci_formats.h"
#include "lppool/base/text.h"
#include "lppool/check/check.h"
#include "lppool/check/codes.h"

namespace lppool::app {
namespace {

constexpr const char* kUnreadable = "IR007";

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::size_t count(const Diagnostics& findings, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &Diagnostic::severity));
}

// "node 'pool1' (LpPool)" with graph and attribute or tensor, as far as they apply.
std::string place_of(const Diagnostic& finding) {
  std::string place;
  const auto add = [&](const std::string& part) { place += (place.empty() ? "" : " ") + part; };
  if (!finding.graph.empty()) add(finding.graph);
  if (finding.node_index) {
    add(finding.node.empty() ? fmt::format("node #{} ({})", *finding.node_index, finding.op_type)
                             : fmt::format("node '{}' ({})", finding.node, finding.op_type));
  }
  if (!finding.attribute.empty()) add(fmt::format("attribute '{}'", finding.attribute));
  if (!finding.tensor.empty()) add(fmt::format("tensor '{}'", finding.tensor));
  return printable(place);
}

std::string message_of(const Diagnostic& finding) {
  const std::string place = place_of(finding);
  return fmt::format("{}{}{}{}{}", place, place.empty() ? "" : ": ", finding.message, finding.hint.empty() ? "" : " - ",
                     finding.hint);
}

// A path as a URI: relative where the path is, percent-encoded.
std::string uri_of(const std::string& file) {
  std::string uri = file.starts_with('/') ? "file://" : "";
  for (const char c : file) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    if (plain) uri += c;
    else uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

Json sarif_rule(const CodeInfo& info) {
  return {{"id", info.code},
          {"shortDescription", {{"text", info.title}}},
          {"fullDescription", {{"text", info.explanation}}},
          {"help", {{"text", fmt::format("{}\n\nBad:\n{}\n\nGood:\n{}", info.explanation, info.bad, info.good)}}},
          {"defaultConfiguration", {{"level", name(info.severity)}}}};
}

Json sarif_result(const std::string& file, const Diagnostic& finding, std::size_t rule, std::size_t artifact) {
  Json location = {{"physicalLocation",
                    {{"artifactLocation", {{"uri", uri_of(file)}, {"index", artifact}}}, {"region", {{"startLine", 1}}}}}};
  if (const std::string place = place_of(finding); !place.empty()) {
    const std::string name = !finding.node.empty()       ? finding.node
                             : !finding.tensor.empty()   ? finding.tensor
                             : finding.node_index        ? fmt::format("#{}", *finding.node_index)
                             : !finding.attribute.empty() ? finding.attribute
                                                         : finding.graph;
    location["logicalLocations"] = Json::array({{{"name", printable(name)}, {"fullyQualifiedName", place}}});
  }
  Json result = {{"ruleId", finding.code},
                 {"ruleIndex", rule},
                 {"level", name(finding.severity)},
                 {"message", {{"text", message_of(finding)}}},
                 {"locations", Json::array({location})}};
  Json properties = finding_json(finding);
  for (const char* member : {"code", "severity", "message"}) properties.erase(member);
  result["properties"] = properties;
  return result;
}

// Errors name the file first; where a finding is shown the file stands before it already.
std::string reason(const CheckedModel& model) {
  const std::string text = model.error->what(), file = model.file + ": ";
  return text.starts_with(file) ? text.substr(file.size()) : text;
}

Diagnostic unreadable(const CheckedModel& model) {
  Diagnostic finding;
  finding.code = kUnreadable;
  finding.message = reason(model);
  return finding;
}

Diagnostics with_error(const CheckedModel& model) {
  Diagnostics findings = model.findings;
  if (model.error) findings.push_back(unreadable(model));
  return findings;
}

}  // namespace

bool CheckVerdict::fails(const CheckedModel& model) const {
  return model.error || std::ranges::any_of(model.findings, [&](const Diagnostic& d) { return d.severity <= fail_on; });
}

Json check_json(const CheckedModel& model) {
  Json json = {{"model", model.file}};
  if (model.error) {
    json["valid"] = false;
    json["error"] = model.error->what();
    json["findings"] = Json::array();
    return json;
  }
  json["valid"] = is_valid(model.findings);
  json["findings"] = Json::array();
  for (const Diagnostic& finding : model.findings) json["findings"].push_back(finding_json(finding));
  return json;
}

std::string check_text(const CheckedModel& model, bool color) {
  const std::string file = paint(printable(model.file), "1", color);
  if (model.error) return fmt::format("{}: {} {}: {}\n", file, paint("error", "31;1", color), kUnreadable, reason(model));
  std::string text;
  for (const Diagnostic& finding : model.findings) text += fmt::format("{}: {}", file, finding_text(finding, color));
  const std::size_t errors = count(model.findings, Severity::kError), warnings = count(model.findings, Severity::kWarning);
  std::string verdict = errors == 0 ? paint("valid", "32", color) : counted(errors, "error");
  if (warnings != 0) verdict += ", " + counted(warnings, "warning");
  return text + fmt::format("{}: {}\n", file, verdict);
}

std::string check_summary(const std::vector<CheckedModel>& models) {
  std::size_t valid = 0, unread = 0;
  for (const CheckedModel& model : models) {
    if (model.error) ++unread;
    else if (is_valid(model.findings)) ++valid;
  }
  std::string text = fmt::format("{}: {} valid", counted(models.size(), "model"), valid);
  if (const std::size_t bad = models.size() - valid - unread; bad != 0) text += fmt::format(", {} with errors", bad);
  if (unread != 0) text += fmt::format(", {} unreadable", unread);
  return text + "\n";
}

Json check_sarif(const std::vector<CheckedModel>& models) {
  // Only the rules that were broken: the file stays small.
  std::map<std::string, std::size_t> rules;
  for (const CheckedModel& model : models) {
    for (const Diagnostic& finding : with_error(model)) rules.emplace(finding.code, 0);
  }
  Json rules_json = Json::array(), artifacts = Json::array(), results = Json::array();
  for (auto& [code, index] : rules) {
    index = rules_json.size();
    const CodeInfo* info = find_code(code);
    rules_json.push_back(info == nullptr ? Json{{"id", code}} : sarif_rule(*info));
  }
  for (const CheckedModel& model : models) {
    for (const Diagnostic& finding : with_error(model)) {
      results.push_back(sarif_result(model.file, finding, rules[finding.code], artifacts.size()));
    }
    artifacts.push_back({{"location", {{"uri", uri_of(model.file)}}}});
  }
  const bool all_read = std::ranges::none_of(models, [](const CheckedModel& m) { return m.error.has_value(); });
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({{{"tool", {{"driver", {{"name", "lppool-cli"}, {"version", LPPOOL_VERSION}, {"rules", rules_json}}}}},
                                 {"columnKind", "unicodeCodePoints"},
                                 {"invocations", Json::array({{{"executionSuccessful", all_read}}})},
                                 {"artifacts", artifacts},
                                 {"results", results}}})}};
}

std::string check_github(const std::vector<CheckedModel>& models) {
  std::string text;
  for (const CheckedModel& model : models) {
    for (const Diagnostic& finding : with_error(model)) {
      const std::string_view level = finding.severity == Severity::kNote ? "notice" : name(finding.severity);
      const CodeInfo* info = find_code(finding.code);
      text += github_annotation(level, model.file, fmt::format("{} {}", finding.code, info == nullptr ? "" : info->title),
                                message_of(finding));
    }
  }
  return text;
}

std::string check_junit(const std::vector<CheckedModel>& models, const CheckVerdict& verdict) {
  std::vector<JunitCase> cases;
  for (const CheckedModel& model : models) {
    const std::filesystem::path path(model.file);
    JunitCase c;
    c.classname = path.parent_path().string();
    c.name = path.filename().string();
    c.seconds = model.seconds;
    std::string findings;
    for (const Diagnostic& finding : model.findings) findings += finding_text(finding, false);
    if (model.error) {
      c.outcome = JunitCase::Outcome::kError;
      c.message = model.error->what();
    } else if (verdict.fails(model)) {
      c.outcome = JunitCase::Outcome::kFailed;
      const auto first = std::ranges::find_if(model.findings, [&](const Diagnostic& d) { return d.severity <= verdict.fail_on; });
      c.message = fmt::format("{} {}", first->code, message_of(*first));
      c.details = findings;
    } else {
      c.output = findings;
    }
    cases.push_back(std::move(c));
  }
  return junit_document("lppool-cli check", cases);
}

}  // namespace lppool::app
