#pragma once

#include <vector>

#include "lppool/infer/engine.h"

namespace lppool {

// An error may be the symptom of a declaration far above it: one that filled in what a rule left open, and wrongly. The
// first declaration with which an error appears, and without which it does not, is the one to name; it is then believed
// no longer, and what followed from it is gone. `result` believed all `assumptions`, which are in the order of nodes;
// it is replaced. Infers the graph O(log assumptions) times for each declaration named. Internal to infer.
void blame_declarations(const BoundGraph& graph, const InferOptions& options, std::vector<Assumption> assumptions,
                        InferResult& result);

}  // namespace lppool
