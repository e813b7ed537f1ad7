#include "lppool/infer/blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace lppool {
namespace {

// What makes an error the same one in several inferences of a graph.
std::string identity(const Diagnostic& finding) {
  return fmt::format("{}|{}|{}|{}", finding.code, finding.graph, finding.node_index.value_or(-1), finding.tensor);
}

// The first error of `result` that is not among `known`; nullptr where there is none.
const Diagnostic* new_error(const InferResult& result, const std::set<std::string>& known) {
  const auto found = std::ranges::find_if(result.findings, [&](const Diagnostic& finding) {
    return finding.severity == Severity::kError && !known.contains(identity(finding));
  });
  return found == result.findings.end() ? nullptr : &*found;
}

std::string sentence(const Assumption& assumption, const Diagnostic& symptom) {
  const std::string place = symptom.node.empty() ? fmt::format("node #{}", symptom.node_index.value_or(0))
                                                 : fmt::format("node '{}'", symptom.node);
  return fmt::format("tensor '{}' is declared {}, where its operator {}; with that, {} ({}) is wrong: {}",
                     assumption.tensor, to_string(assumption.declared),
                     assumption.inferred.kind == Type::Kind::kUnset ? std::string("says nothing")
                                                                    : "gives " + to_string(assumption.inferred),
                     place, symptom.op_type, symptom.message);
}
}  // namespace

void blame_declarations(const BoundGraph& graph, const InferOptions& options, std::vector<Assumption> assumptions,
                        InferResult& result) {
  constexpr std::size_t kMostBlamed = 8;
  std::set<std::string> unconditional;  // errors whatever the declarations fill in
  InferResult bare;
  Engine(options, bare, [](const std::string&) { return false; }).main_graph(graph);
  for (const Diagnostic& finding : bare.findings) unconditional.insert(identity(finding));

  std::set<std::string> disbelieved;
  Diagnostics blamed;
  while (blamed.size() < kMostBlamed && !assumptions.empty() && new_error(result, unconditional) != nullptr) {
    std::size_t fine = 0, wrong = assumptions.size();  // so many believed: without and with an error
    Diagnostic symptom = *new_error(result, unconditional);
    while (wrong - fine > 1) {
      const std::size_t middle = fine + (wrong - fine) / 2;
      std::set<std::string> believed;
      for (std::size_t k = 0; k < middle; ++k) believed.insert(assumptions[k].tensor);
      InferResult part;
      Engine(options, part, [&](const std::string& tensor) { return believed.contains(tensor); }).main_graph(graph);
      const Diagnostic* error = new_error(part, unconditional);
      if (error != nullptr) symptom = *error;
      (error != nullptr ? wrong : fine) = middle;
    }
    const Assumption& culprit = assumptions[wrong - 1];
    InferResult scratch;
    Engine(options, scratch)
        .report(Severity::kError, "SH001", culprit.node, culprit.tensor, sentence(culprit, symptom), "");
    blamed.push_back(scratch.findings.front());
    disbelieved.insert(culprit.tensor);
    result = {};
    Engine engine(options, result, [&](const std::string& tensor) { return !disbelieved.contains(tensor); });
    engine.main_graph(graph);
    assumptions = engine.assumptions();
  }
  result.findings.insert(result.findings.begin(), std::make_move_iterator(blamed.begin()),
                         std::make_move_iterator(blamed.end()));
}

}  // namespace lppool
