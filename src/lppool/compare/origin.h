#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "lppool/bind/bound_graph.h"
#include "lppool/compare/compare.h"
#include "lppool/graph/model.h"
#include "lppool/tensor/value.h"

namespace lppool {

// Where the error of a tensor comes from, given the model that made it. The node that produces the tensor is run here once
// more on what B holds of its inputs; what is then still apart from B is the node's own doing ("local"), what A is apart from
// that came in through its inputs ("inherited").
struct ErrorOrigin {
  std::string node;                         // "node 'pool1' (LpPool)"
  std::string problem;                      // why it cannot be said; else empty
  std::optional<TensorComparison> local;    // the node on B's inputs, against B
  std::optional<TensorComparison> inherited;  // A, against the node on B's inputs
};

class OriginFinder {
 public:
  // The value B holds for a tensor of the main graph; empty where it holds none.
  using Source = std::function<Value(const std::string& name)>;

  // `inputs`: values of graph inputs, for those B does not hold. Throws as bind_model().
  OriginFinder(const Model& model, std::map<std::string, Value> inputs, int threads);

  // `tensor` is one of the main graph, `a` and `b` its two values. Inputs that B does not hold are computed from those
  // further up that it does hold.
  ErrorOrigin find(const std::string& tensor, const Tensor& a, const Tensor& b, const Source& b_holds,
                   const ComparisonTolerance& tolerance) const;

 private:
  std::shared_ptr<const BoundGraph> graph_;
  std::map<std::string, Value> inputs_;
  std::map<std::string, const BoundNode*> producers_;
  int threads_;
};

}  // namespace lppool
