#pragma once

#include <map>
#include <string>
#include <vector>

#include "lppool/bind/bound_graph.h"

namespace lppool {

struct InferOptions {
  std::map<std::string, std::int64_t> dims;                 // symbolic dimension -> number
  // Graph input -> shape to use instead of the declared one. Such an input is taken to be given by the caller: where it has
  // an initializer, that default counts no more.
  std::map<std::string, std::vector<Dim>> input_shapes;
  std::map<std::string, ValueType> fed;                     // inner tensors the caller feeds: their producers are not asked
  bool explain = false;                                     // keep formulas and contents
  bool inner = false;                                       // keep the types of tensors inside branches and loop bodies
};

enum class TensorKind { kInput, kInitializer, kIntermediate, kOutput };
std::string_view name(TensorKind kind);

struct TensorInfo {
  std::string name;
  TensorKind kind = TensorKind::kIntermediate;
  ValueType type;
  std::string producer;               // label of the node that makes it; "" for inputs and initializers
  std::int64_t node_index = -1;       // into BoundGraph::nodes, or -1
  std::optional<ValueType> declared;  // as value_info, input or output of the model
  std::vector<std::string> formulas;  // with explain: one per dimension, "" where the rule gave none
  std::optional<std::vector<Dim>> contents;  // with explain: of a small integer tensor of rank 0 or 1, as far as known
};

// How a dimension came about, as a line: "64 = x.shape[1]", "1 (reduced)", or the size alone. `axis` is one of type.shape.
std::string explained_size(const TensorInfo& info, std::size_t axis);

// Types and shapes of every tensor of the main graph, in the order inputs, initializers, node outputs.
struct InferResult {
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::size_t> index;  // name -> position in tensors
  std::map<std::string, ValueType> inner;    // with options.inner; names are unique in the whole model
  // Errors (SH, TY codes): a rule refuses its inputs, or a declared shape or type contradicts the inferred one. Warnings:
  // an operator without a rule (once per operator type), and what rules warn of.
  Diagnostics findings;
  bool ok() const;
  const TensorInfo* find(const std::string& tensor) const;
};

// Never throws for what the model says; throws kUsage where `options` name an input or a dimension the model does not have.
InferResult infer_shapes(const BoundGraph& graph, const InferOptions& options = {});

// The type of a tensor at hand.
ValueType type_of(const Tensor& tensor);

}  // namespace lppool
