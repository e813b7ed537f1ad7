// TY and SH, and attribute values that calls of functions fill in: what shows only when the model is bound and
// inferred.
#include <fmt/format.h>

#include "lppool/bind/bound_graph.h"
#include "lppool/check/rules.h"
#include "lppool/infer/infer.h"

namespace lppool {
namespace {

// Codes after which names do not say what they should, so that inference would report consequences only.
constexpr const char* kBrokenNames[] = {"GR002", "GR003", "GR005", "GR006", "GR011",
                                        "GR022", "FN001", "FN002", "FN009"};

}  // namespace

void check_types_and_shapes(CheckState& state) {
  for (const char* code : kBrokenNames) {
    if (state.findings.count(code) != 0) return;
  }
  InferResult result;
  try {
    result = infer_shapes(bind_model(state.model));
  } catch (const Error& error) {
    state.findings.add({}, "GR022", error.what());
    return;
  }
  for (const Diagnostic& finding : result.findings) {
    if (finding.code == "SH003") continue;  // OP007 and OP012 tell of unknown operators
    Node node;
    node.name = finding.node;
    node.op_type = finding.op_type;
    Place place{.graph = finding.graph};
    if (finding.node_index) {
      place.node = &node;
      place.index = *finding.node_index;
      if (state.findings.has_errors(place)) continue;  // a consequence
    }
    Diagnostic& adopted = state.findings.adopt(place, finding);
    adopted.since_version = finding.since_version;
  }
}

}  // namespace lppool
