#include "support/graphs.h"

#include "support/chain.h"
#include "support/words.h"

namespace lppool::test {
namespace {

BoundGraph bind(const Graph& graph, std::int64_t opset) {
  Model model;
  model.ir_version = 8;
  model.opset_imports.push_back({"", opset});
  model.graph = graph;
  return bind_model(model);
}

}  // namespace

ValueInfo value(std::string name, DataType dtype, std::string_view shape) {
  ValueInfo info;
  info.name = std::move(name);
  info.type.kind = Type::Kind::kTensor;
  info.type.dtype = dtype;
  info.type.dtype_number = static_cast<std::int32_t>(dtype);
  if (shape == "none") return info;
  info.type.shape.emplace();
  for (const Dim& dim : dims(shape)) {
    Dimension dimension;
    dimension.value = dim.value();
    if (!dim.value() && dim.known()) dimension.symbol = dim.to_string();
    info.type.shape->push_back(dimension);
  }
  return info;
}

ValueInfo sequence_value(std::string name, DataType dtype) {
  ValueInfo info;
  info.name = std::move(name);
  info.type.kind = Type::Kind::kSequence;
  info.type.element = std::make_shared<const Type>(value("", dtype).type);
  return info;
}

Node node(std::string op, std::string_view inputs, std::string_view outputs, std::vector<Attribute> attributes) {
  Node result;
  result.op_type = std::move(op);
  result.inputs = words(inputs);
  result.outputs = words(outputs);
  result.attributes = std::move(attributes);
  return result;
}

Node constant(std::string output, Tensor value) {
  return node("Constant", "", output, {attr_tensor("value", std::move(value))});
}

Graph graph(std::vector<ValueInfo> inputs, std::vector<ValueInfo> outputs, std::vector<Node> nodes) {
  Graph result;
  result.name = "g";
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  result.nodes = std::move(nodes);
  return result;
}

std::vector<Value> run_graph(const Graph& graph, std::int64_t opset, std::map<std::string, Value> inputs,
                             ExecutorOptions options) {
  Executor executor(std::make_shared<const BoundGraph>(bind(graph, opset)), std::move(options));
  return executor.run(std::move(inputs));
}

std::string inferred_type(const Graph& graph, std::int64_t opset, const std::string& tensor,
                          const InferOptions& options) {
  const BoundGraph bound = bind(graph, opset);
  const InferResult result = infer_shapes(bound, options);
  for (const Diagnostic& finding : result.findings) {
    if (finding.severity == Severity::kError) throw Error(ErrorKind::kRuntime, finding.message);
  }
  const TensorInfo* info = result.find(tensor);
  return info == nullptr ? "no such tensor" : to_string(info->type);
}

}  // namespace lppool::test
