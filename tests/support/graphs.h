#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/model_builder.h"
#include "lppool/bind/bound_graph.h"
#include "lppool/infer/infer.h"
#include "lppool/run/executor.h"
#include "support/run_op.h"

// Small whole models, for what one node alone cannot show: subgraphs, sequences and optionals.
namespace lppool::test {

// A declared value: value("x", DataType::kFloat32, "1xNx?"). "none" leaves the rank unknown, "" is a scalar.
ValueInfo value(std::string name, DataType dtype, std::string_view shape = "none");
ValueInfo sequence_value(std::string name, DataType dtype);
// `inputs` and `outputs` are names separated by blanks; "-" is one left out.
Node node(std::string op, std::string_view inputs, std::string_view outputs, std::vector<Attribute> attributes = {});
Node constant(std::string output, Tensor value);
Graph graph(std::vector<ValueInfo> inputs, std::vector<ValueInfo> outputs, std::vector<Node> nodes);

// Binds and runs; throws what the stages throw.
std::vector<Value> run_graph(const Graph& graph, std::int64_t opset, std::map<std::string, Value> inputs,
                             ExecutorOptions options = {});
// The inferred type of a tensor of the main graph as text; throws Error(kRuntime) where a rule refuses.
std::string inferred_type(const Graph& graph, std::int64_t opset, const std::string& tensor,
                          const InferOptions& options = {});

}  // namespace lppool::test
