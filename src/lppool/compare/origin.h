#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "lppool/bind/bound_graph.h"
#include "lppool/compare/compare.h"
#include "lppool/graph/model.h"
#include "lppool/tensor/value.h"

namespace lppool {

// Where the difference of a tensor's two values comes from, given the model that made them. The node that produces the
// tensor, f, is run here once more on what each side holds of its inputs, which splits the difference in three:
//
//   a - b  =  (a - f(inputs of A))  +  (f(inputs of A) - f(inputs of B))  +  (f(inputs of B) - b)
//             A's own error            inherited through the inputs           B's own error
struct ErrorOrigin {
  std::string node;                           // "node 'pool1' (LpPool)"
  std::string problem;                        // why something below is missing; else empty
  std::optional<TensorComparison> own_a;      // a against f(inputs of A)
  std::optional<TensorComparison> inherited;  // f(inputs of A) against f(inputs of B)
  std::optional<TensorComparison> own_b;      // b against f(inputs of B)
};

class OriginFinder {
 public:
  // The value a side holds for a tensor of the main graph; empty where it holds none.
  using Source = std::function<Value(const std::string& name)>;

  // `inputs`: values of graph inputs, for those a side does not hold. Throws as bind_model().
  OriginFinder(const Model& model, std::map<std::string, Value> inputs, int threads);

  // `tensor` is one of the main graph, `a` and `b` its two values. Inputs that a side does not hold are computed from those
  // further up that it does hold.
  ErrorOrigin find(const std::string& tensor, const Tensor& a, const Tensor& b, const Source& a_holds, const Source& b_holds,
                   const ComparisonTolerance& tolerance) const;

 private:
  // What `node` makes of the inputs one side holds. Throws as Executor::run().
  Tensor rerun(const BoundNode& node, const std::string& tensor, const Source& holds) const;

  std::shared_ptr<const BoundGraph> graph_;
  std::map<std::string, Value> inputs_;
  std::map<std::string, const BoundNode*> producers_;
  std::set<std::string> input_names_;
  int threads_;
};

}  // namespace lppool
