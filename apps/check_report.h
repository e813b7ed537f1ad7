#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lppool/base/diagnostic.h"
#include "lppool/base/error.h"
#include "report.h"

// What `check` found, in each of its formats.
namespace lppool::app {

struct CheckedModel {
  std::string file;
  Diagnostics findings;
  std::optional<Error> error;  // the file could not be read: no findings
  double seconds = 0;
};

struct CheckVerdict {
  Severity fail_on = Severity::kError;
  bool fails(const CheckedModel& model) const;
};

Json check_json(const CheckedModel& model);  // without schema_version
std::string check_text(const CheckedModel& model, bool color);
// One line for several models: "998 models: 996 valid, 1 with errors, 1 unreadable".
std::string check_summary(const std::vector<CheckedModel>& models);
Json check_sarif(const std::vector<CheckedModel>& models);  // SARIF 2.1.0, one run
std::string check_github(const std::vector<CheckedModel>& models);
std::string check_junit(const std::vector<CheckedModel>& models, const CheckVerdict& verdict);

}  // namespace lppool::app
