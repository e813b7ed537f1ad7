#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "lppool/bind/bound_graph.h"
#include "lppool/tensor/value.h"

// The plan decides what is run, in which order, and when each value is dropped; it runs nothing.
namespace lppool {

// A value of one graph while it runs: an index into the executor's frame for that graph.
using Slot = std::int32_t;
inline constexpr Slot kNoSlot = -1;  // an input left out, an output not wanted

struct Plan;

struct Step {
  const BoundNode* node = nullptr;
  std::vector<Slot> inputs, outputs;
  std::vector<bool> last_use;   // per input: nobody reads the value later, so it may be handed over
  std::vector<Slot> dead;       // values to drop after the step
  std::unordered_map<const Graph*, std::unique_ptr<Plan>> blocks;  // its branches and bodies
};

struct Capture {
  Slot outer, inner;  // a value of the enclosing graph that this one reads
};

struct Plan {
  const BoundGraph* graph = nullptr;
  std::vector<std::string> names;            // of each slot
  std::vector<Slot> inputs;                  // of the graph's inputs, in order
  std::vector<Slot> outputs;                 // of the wanted outputs, in order
  std::vector<Capture> captures;
  std::vector<std::pair<Slot, Tensor>> constants;
  std::vector<std::pair<Slot, Tensor>> defaults;  // initializers that are inputs too: used where the caller gives nothing
  std::vector<Step> steps;
  std::unordered_map<std::string, Slot> slots;    // by name
};

struct PlanRequest {
  std::vector<std::string> outputs;  // empty: the graph's outputs. Any tensor of the main graph may be named.
  std::set<std::string> fed;         // inner tensors the caller gives; their producers run only if needed otherwise
  bool keep_all = false;             // run every node, wanted or not (a dump of all tensors)
};

// Throws kUnsupported naming every operator (or version) that cannot be run, all at once; kRuntime where a value nobody
// defines is read or a wanted output does not exist; kParse where a stored tensor is faulty; kLimit where a sparse
// initializer does not fit. `graph` must outlive the plan.
Plan make_plan(const BoundGraph& graph, const PlanRequest& request = {});

}  // namespace lppool
