#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lppool/base/diagnostic.h"
#include "lppool/base/error.h"
#include "report.h"

// What `infer` has to say, in each of its formats.
namespace lppool::app {

struct InferredModel {
  std::string file;
  std::string text;  // the table of tensors, or what was asked instead: a chain of formulas, a solution
  Json document;
  Diagnostics findings;
  bool compared = false;                 // with the file of --expect
  std::vector<std::string> differences;  // from it
  std::optional<Error> error;            // nothing could be inferred
  double seconds = 0;
  int code = 0;  // exit code, were it the only model
};

// Text for stdout. Where models were compared, how they differ takes the place of the table.
std::string infer_text(const std::vector<InferredModel>& models, bool table, bool color);
std::string infer_github(const std::vector<InferredModel>& models);
std::string infer_junit(const std::vector<InferredModel>& models);
Json infer_json(const std::vector<InferredModel>& models);

}  // namespace lppool::app
