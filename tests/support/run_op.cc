#include "support/run_op.h"

#include <fmt/format.h>

#include "lppool/base/thread_pool.h"
#include "lppool/infer/infer.h"
#include "lppool/ops/node_context.h"

namespace lppool::test {
namespace {

Attribute make(std::string name, AttributeType type) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.type_number = static_cast<std::int32_t>(type);
  attribute.fields = 1u << static_cast<int>(type);
  return attribute;
}

Node make_node(const OpCall& call) {
  Node node;
  node.op_type = call.op_type;
  node.domain = call.domain;
  node.attributes = call.attributes;
  for (std::size_t i = 0; i < call.outputs; ++i) node.outputs.push_back(fmt::format("out{}", i));
  return node;
}

const OpSchema& schema_of(const OpCall& call, const OpDef*& op) {
  op = find_op(call.domain, call.op_type);
  if (op == nullptr) throw std::logic_error("no operator " + call.op_type);
  const OpSchema* schema = schema_for(*op, call.opset);
  if (schema == nullptr) throw std::logic_error("no schema of " + call.op_type);
  return *schema;
}

}  // namespace

Attribute attr_i(std::string name, std::int64_t value) {
  Attribute a = make(std::move(name), AttributeType::kInt);
  a.i = value;
  return a;
}
Attribute attr_f(std::string name, float value) {
  Attribute a = make(std::move(name), AttributeType::kFloat);
  a.f = value;
  return a;
}
Attribute attr_s(std::string name, std::string value) {
  Attribute a = make(std::move(name), AttributeType::kString);
  a.s = std::move(value);
  return a;
}
Attribute attr_ints(std::string name, std::vector<std::int64_t> values) {
  Attribute a = make(std::move(name), AttributeType::kInts);
  a.ints = std::move(values);
  return a;
}
Attribute attr_floats(std::string name, std::vector<float> values) {
  Attribute a = make(std::move(name), AttributeType::kFloats);
  a.floats = std::move(values);
  return a;
}
Attribute attr_strings(std::string name, std::vector<std::string> values) {
  Attribute a = make(std::move(name), AttributeType::kStrings);
  a.strings = std::move(values);
  return a;
}
Attribute attr_tensor(std::string name, Tensor value) {
  Attribute a = make(std::move(name), AttributeType::kTensor);
  StoredTensor stored;
  stored.dtype_number = static_cast<std::int32_t>(value.dtype());
  stored.dims = value.shape().dims();
  stored.value = std::move(value);
  a.t = std::make_shared<const StoredTensor>(std::move(stored));
  return a;
}

std::vector<Value> run_op(const OpCall& call) {
  const OpDef* op = nullptr;
  const OpSchema& schema = schema_of(call, op);
  if (op->run == nullptr) throw std::logic_error("no kernel of " + call.op_type);
  Node node = make_node(call);
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    node.inputs.push_back(call.inputs[i].empty() ? std::string() : fmt::format("in{}", i));
  }
  ThreadPool pool(call.threads);
  NodeContext context(node, schema, call.opset, pool);
  context.inputs = call.inputs;
  op->run(context);
  context.outputs.resize(call.outputs);
  return std::move(context.outputs);
}

Tensor run_op1(const OpCall& call) { return run_op(call).at(0).tensor(); }

std::vector<ValueType> infer_op(const OpCall& call, const std::vector<ValueType>& inputs, const std::vector<Tensor>& constants) {
  BoundGraph graph;
  BoundNode bound;
  bound.node = make_node(call);
  InferOptions options;
  for (std::size_t i = 0; i < std::max(inputs.size(), constants.size()); ++i) {
    const std::string name = fmt::format("in{}", i);
    const ValueType type = i < inputs.size() ? inputs[i] : ValueType();
    if (type.kind == Type::Kind::kUnset && !(i < constants.size() && constants[i].defined())) {
      bound.node.inputs.emplace_back();
      continue;
    }
    bound.node.inputs.push_back(name);
    if (i < constants.size() && constants[i].defined()) {
      StoredTensor stored;
      stored.name = name;
      stored.dtype_number = static_cast<std::int32_t>(constants[i].dtype());
      stored.dims = constants[i].shape().dims();
      stored.value = constants[i];
      graph.initializers.push_back(std::move(stored));
    } else {
      options.fed[name] = type;
    }
  }
  bound.opset = call.opset;
  bound.schema = &schema_of(call, bound.op);
  graph.nodes.push_back(bound);
  const InferResult result = infer_shapes(graph, options);
  for (const Diagnostic& finding : result.findings) {
    if (finding.severity == Severity::kError) throw Error(ErrorKind::kRuntime, finding.message);
  }
  std::vector<ValueType> types;
  for (const std::string& output : bound.node.outputs) types.push_back(result.find(output)->type);
  return types;
}

std::vector<double> to_doubles(const Tensor& tensor) {
  std::vector<double> values;
  const auto take = [&](auto span) {
    for (const auto v : span) values.push_back(static_cast<double>(v));
  };
  switch (tensor.dtype()) {
    case DataType::kFloat32: take(tensor.data<float>()); break;
    case DataType::kFloat64: take(tensor.data<double>()); break;
    case DataType::kFloat16: take(tensor.data<Float16>()); break;
    case DataType::kBFloat16: take(tensor.data<BFloat16>()); break;
    case DataType::kInt8:
    case DataType::kInt4:
    case DataType::kInt2: take(tensor.data<std::int8_t>()); break;
    case DataType::kInt16: take(tensor.data<std::int16_t>()); break;
    case DataType::kInt32: take(tensor.data<std::int32_t>()); break;
    case DataType::kInt64: take(tensor.data<std::int64_t>()); break;
    case DataType::kUInt8:
    case DataType::kUInt4:
    case DataType::kUInt2:
    case DataType::kBool: take(tensor.data<std::uint8_t>()); break;
    case DataType::kUInt16: take(tensor.data<std::uint16_t>()); break;
    case DataType::kUInt32: take(tensor.data<std::uint32_t>()); break;
    case DataType::kUInt64: take(tensor.data<std::uint64_t>()); break;
    default: throw std::logic_error("to_doubles: not a number type");
  }
  return values;
}

}  // namespace lppool::test
