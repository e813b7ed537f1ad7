#include "infer_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "check_report.h"
#include "ci_formats.h"
#include "lppool/base/text.h"

namespace lppool::app {
namespace {

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

bool has_errors(const InferredModel& model) {
  return std::ranges::any_of(model.findings,
                             [](const Diagnostic& finding) { return finding.severity == Severity::kError; });
}

std::string verdict(const InferredModel& model, bool color) {
  if (model.error) return paint("not inferred", "31;1", color);
  if (!model.compared) return paint("not compared", "31;1", color) + ": see its errors";
  if (model.differences.empty()) return paint("as expected", "32", color);
  return paint(counted(model.differences.size(), "difference"), "31;1", color);
}

}  // namespace

std::string infer_text(const std::vector<InferredModel>& models, bool table, bool color) {
  std::string text;
  if (table) {
    for (const InferredModel& model : models) {
      if (models.size() > 1) text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", model.file);
      text += model.text;
    }
    return text;
  }
  std::size_t same = 0;
  for (const InferredModel& model : models) {
    const std::string file = printable(model.file, std::size_t{1} << 16);
    for (const std::string& difference : model.differences)
      text += fmt::format("{}: {}\n", file, printable(difference, std::size_t{1} << 16));
    text += fmt::format("{}: {}\n", file, verdict(model, color));
    same += model.compared && model.differences.empty();
  }
  if (models.size() == 1) return text;
  const std::string others = same == models.size() ? "" : fmt::format(", {} not", models.size() - same);
  return text + fmt::format("{} models: {} as expected{}\n", models.size(), same, others);
}

std::string infer_github(const std::vector<InferredModel>& models) {
  std::string text;
  for (const InferredModel& model : models) {
    text += check_github({{model.file, model.findings, model.error, model.seconds}});
    for (const std::string& difference : model.differences)
      text += github_annotation("error", model.file, "shape", difference);
  }
  return text;
}

std::string infer_junit(const std::vector<InferredModel>& models) {
  std::vector<JunitCase> cases;
  for (const InferredModel& model : models) {
    JunitCase entry;
    entry.classname = "infer";
    entry.name = model.file;
    entry.seconds = model.seconds;
    for (const Diagnostic& finding : model.findings) {
      if (!has_errors(model) || finding.severity == Severity::kError) entry.details += finding_text(finding, false);
    }
    for (const std::string& difference : model.differences) entry.details += difference + "\n";
    if (model.error) {
      entry.outcome = JunitCase::Outcome::kError;
      entry.message = model.error->what();
    } else if (model.code != 0) {
      entry.outcome = JunitCase::Outcome::kFailed;
      entry.message = entry.details.substr(0, entry.details.find('\n'));
    } else {
      entry.output = std::exchange(entry.details, {});
    }
    cases.push_back(std::move(entry));
  }
  return junit_document("lppool-cli infer", cases);
}

Json infer_json(const std::vector<InferredModel>& models) {
  const auto document = [](const InferredModel& model) {
    if (!model.error) return model.document;
    return Json{{"schema_version", kSchemaVersion}, {"model", model.file}, {"error", model.error->what()}};
  };
  if (models.size() == 1) return document(models[0]);
  Json documents = Json::array();
  for (const InferredModel& model : models) documents.push_back(document(model));
  return {{"schema_version", kSchemaVersion}, {"models", documents}};
}

}  // namespace lppool::app
