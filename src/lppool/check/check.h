#pragma once

#include <cstddef>

#include "lppool/base/diagnostic.h"
#include "lppool/graph/model.h"

namespace lppool {

struct CheckOptions {
  bool infer = true;                  // types and shapes too, as far as they can be inferred
  bool portability = false;           // notes on other engines (check/portability.h)
  std::size_t max_findings = 10'000;  // IR006 stands for the rest; at least one finding of the worst severity is kept
};

// Everything wrong with a model, or worth knowing, in one pass over its graph, branches and functions: rules of the IR,
// the schemas of every operator in the registry, attribute values, types and shapes. Ordered by graph and node. The
// codes are explained in check/codes.h.
//
// Never throws for what a model says, and its time and memory grow with the model's size only. Thread safe.
Diagnostics check_model(const Model& model, const CheckOptions& options = {});

// True unless there is an error among the findings.
bool is_valid(const Diagnostics& findings);

}  // namespace lppool
