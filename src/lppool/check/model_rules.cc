// IR and OP: what a model says about itself.
#include <fmt/format.h>

#include "lppool/base/text.h"
#include "lppool/check/check.h"
#include "lppool/check/rules.h"

namespace lppool {
namespace {

constexpr std::int64_t kNewestIrVersion = 14;  // ONNX 1.22, and its newest commit

std::string domain_name(std::string_view domain) {
  return canonical_domain(domain).empty() ? "the default domain" : fmt::format("domain {}", quoted(domain));
}

}  // namespace

std::string quoted(std::string_view name) {
  return fmt::format("'{}'", printable(name, 200));
}

void check_model_fields(CheckState& state) {
  const Model& model = state.model;
  const Place place{};
  if (state.ir_version < 1) {
    state.findings.add(place, "IR002",
                       model.ir_version ? fmt::format("ir_version is {}, expected 1 or more", *model.ir_version)
                                        : std::string("ir_version is missing, expected 1 or more"));
  } else if (state.ir_version > kNewestIrVersion) {
    state.findings.add(place, "IR003",
                       fmt::format("ir_version is {}, the newest known here is {}: fields added since are "
                                   "not checked",
                                   state.ir_version, kNewestIrVersion));
  }
  if (model.opset_imports.empty()) {
    if (state.ir_version >= 3) {
      state.findings.add(place, "OP001",
                         fmt::format("no operator set is imported, which IR version {} requires", state.ir_version),
                         "add an opset_import of the default domain");
    }
  } else if (state.ir_version == 1 || state.ir_version == 2) {
    state.findings.add(
        place, "IR004",
        fmt::format("IR version {} knows no opset_import (operator set 1 is meant), but the model has {}",
                    state.ir_version, model.opset_imports.size()),
        "set ir_version to 3 or more");
  }
  check_imports(state, model.opset_imports, "");
  if (model.has_training_info) state.findings.add(place, "IR005", "the model's training_info is ignored");
  if (!model.graph) state.findings.add(place, "IR001", "the model has no graph");
}

void check_imports(CheckState& state, const std::vector<OpsetImport>& imports, std::string_view graph) {
  const Place place{.graph = graph};
  std::map<std::string_view, std::int64_t> versions;
  for (const OpsetImport& import : imports) {
    const std::string name = domain_name(import.domain);
    if (import.version < 1) {
      state.findings.add(place, "OP002",
                         fmt::format("{} is imported in version {}, expected 1 or more", name, import.version));
    }
    const auto [first, added] = versions.emplace(canonical_domain(import.domain), import.version);
    if (!added) {
      const bool differs = first->second != import.version;
      state.findings.add(place, differs ? "OP003" : "OP004",
                         differs ? fmt::format("{} is imported in version {} and again in version {}", name,
                                               first->second, import.version)
                                 : fmt::format("{} is imported twice, in version {}", name, import.version));
      continue;
    }
    const std::int64_t newest = newest_opset(import.domain);
    if (newest != 0 && import.version > newest) {
      state.findings.add(
          place, "OP005",
          fmt::format("{} is imported in version {}, the newest known here is {}: operators are taken in "
                      "their newest known version",
                      name, import.version, newest));
    }
  }
}

bool is_valid(const Diagnostics& findings) {
  for (const Diagnostic& finding : findings) {
    if (finding.severity == Severity::kError) return false;
  }
  return true;
}

Diagnostics check_model(const Model& model, const CheckOptions& options) {
  Findings findings(options.max_findings);
  const FunctionTable functions(model);
  CheckState state{model, model.ir_version.value_or(0), functions, findings, {}};
  check_model_fields(state);
  check_functions(state);
  if (model.graph) {
    check_main_graph(state, *model.graph);
    if (options.infer) check_types_and_shapes(state, options.portability);
  }
  return findings.take();
}

}  // namespace lppool
