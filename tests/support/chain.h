#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lppool/bind/bound_graph.h"
#include "lppool/infer/infer.h"
#include "support/run_op.h"

namespace lppool::test {

// A few nodes in a row, to infer what flows from one to the next (contents of shape lists do): what infer_op(), which sees
// one node alone, cannot show.
class Chain {
 public:
  explicit Chain(std::int64_t opset) : opset_(opset) {}
  // A graph input of this type.
  void input(std::string name, ValueType type) { options_.fed[std::move(name)] = std::move(type); }
  // A constant.
  void constant(std::string name, Tensor value);
  // `inputs` and `outputs` are names, separated by blanks; "-" is an input left out.
  void node(std::string op, std::string_view inputs, std::string_view outputs, std::vector<Attribute> attributes = {});
  // Infers; throws Error(kRuntime) where a rule refuses. The type as text: "int64 1xC".
  std::string type(const std::string& name) const;

 private:
  std::int64_t opset_;
  BoundGraph graph_;
  InferOptions options_;
};

// A shape of dims from text, as parse_dim() reads them: dims("1xCx?").
std::vector<Dim> dims(std::string_view text);

}  // namespace lppool::test
