// GR024: the graphs that If, Loop, Scan and SequenceMap run take and give as many values as the node says. The counts
// follow from the operators' text; the shape rules rely on them, but are not reached where something else is wrong.
#include <fmt/format.h>

#include <algorithm>

#include "lppool/check/rules.h"

namespace lppool {
namespace {

struct Counts {
  std::size_t inputs = 0, outputs = 0;
  std::string_view inputs_are, outputs_are;
};

std::optional<Counts> expected_counts(const Place& place) {
  const Node& node = *place.node;
  const std::size_t inputs = node.inputs.size(), outputs = node.outputs.size();
  if (node.op_type == "If") return Counts{0, outputs, "a branch reads the values around it", "the node's outputs"};
  if (node.op_type == "Loop") {
    return Counts{std::max<std::size_t>(inputs, 2), outputs + 1, "round, condition and the carried values",
                  "the condition and the node's outputs"};
  }
  if (node.op_type == "Scan") {
    const std::size_t lengths = place.schema->since_version < 9 && inputs > 0 ? 1 : 0;  // of the sequences of a batch
    return Counts{inputs - lengths, outputs, "the node's inputs", "the node's outputs"};
  }
  if (node.op_type == "SequenceMap") return Counts{inputs, outputs, "the node's inputs", "the node's outputs"};
  return {};
}

}  // namespace

void check_bodies(CheckState& state, const Place& place) {
  const auto expected = expected_counts(place);
  if (!expected) return;
  for (const Attribute& attribute : place.node->attributes) {
    if (!attribute.g) continue;
    const auto count = [&](const char* what, std::size_t given, std::size_t wanted, std::string_view are) {
      if (given == wanted) return;
      const std::string message = fmt::format("{} has {} {}{}, expected {}: {}", attribute.name, given, what,
                                              given == 1 ? "" : "s", wanted, are);
      state.findings.add(place, "GR024", message).attribute = attribute.name;
    };
    count("input", attribute.g->inputs.size(), expected->inputs, expected->inputs_are);
    count("output", attribute.g->outputs.size(), expected->outputs, expected->outputs_are);
  }
}

}  // namespace lppool
