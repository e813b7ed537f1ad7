#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/infer/known.h"
#include "lppool/ops/op.h"

namespace lppool {

// What the shape rule of one node sees: its inputs as `scope` knows them. Internal to infer.
class RuleContext final : public InferContext {
 public:
  // The types of a subgraph's outputs for arguments of these types.
  using SubgraphRule = FunctionRef<std::vector<ValueType>(const Graph& graph, const std::vector<ValueType>& arguments)>;

  // All four must outlive the context. With `explain`, every size and element of an input is marked, so that a size of
  // an output that is a copy of one can say of which.
  RuleContext(const BoundNode& node, const Scope& scope, SubgraphRule subgraph, bool explain);

  // Rules and kernels read contents as the types the schema promises: not where an input breaks the promise.
  void forget_constants() { constants_ = false; }
  // Formulas for the sizes that the rule took over as they were from a size or an element of an input and said no more
  // about. A rule that states its own formula knows better.
  void explain_copies();

  const Tensor* constant(std::size_t i) const override;
  const std::vector<Dim>* elements(std::size_t i) const override;
  std::vector<ValueType> infer_subgraph(const Graph& graph, const std::vector<ValueType>& arguments) override {
    return subgraph_(graph, arguments);
  }

 private:
  void mark(const Known* known);
  std::string origin(const Dim& dim) const;

  SubgraphRule subgraph_;
  std::vector<const Known*> known_;
  bool constants_ = true;
  std::vector<std::optional<std::vector<Dim>>> elements_;  // with explain: those of known_, each with its own identity
};

}  // namespace lppool
