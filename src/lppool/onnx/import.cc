#include <utility>

#include "lppool/onnx/convert.h"
#include "lppool/onnx/newer_fields.h"
#include "lppool/onnx/wire.h"

namespace lppool::onnx_io {
namespace {

Graph import_graph(const onnx::GraphProto& proto, const ImportContext& context);

std::vector<std::string> strings(const google::protobuf::RepeatedPtrField<std::string>& list) {
  return {list.begin(), list.end()};
}

std::optional<std::vector<Dimension>> import_shape(bool present, const onnx::TensorShapeProto& proto) {
  if (!present) return std::nullopt;
  std::vector<Dimension> dims(static_cast<std::size_t>(proto.dim_size()));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto& dim = proto.dim(static_cast<int>(i));
    if (dim.has_dim_value()) dims[i].value = dim.dim_value();
    if (dim.has_dim_param()) dims[i].symbol = dim.dim_param();
  }
  return dims;
}

template <typename TensorType>
Type import_tensor_type(Type::Kind kind, const TensorType& proto) {
  Type type;
  type.kind = kind;
  type.dtype_number = proto.elem_type();
  type.shape = import_shape(proto.has_shape(), proto.shape());
  return type;
}

ValueInfo import_value_info(const onnx::ValueInfoProto& proto) { return {proto.name(), import_type(proto.type())}; }

template <typename List>
std::vector<ValueInfo> import_value_infos(const List& list) {
  std::vector<ValueInfo> infos;
  infos.reserve(static_cast<std::size_t>(list.size()));
  for (const auto& proto : list) infos.push_back(import_value_info(proto));
  return infos;
}

std::shared_ptr<const StoredTensor> shared_tensor(const onnx::TensorProto& proto, const ImportContext& context) {
  return std::make_shared<const StoredTensor>(import_tensor(proto, context));
}

std::shared_ptr<const Graph> shared_graph(const onnx::GraphProto& proto, const ImportContext& context) {
  return std::make_shared<const Graph>(import_graph(proto, context));
}

Attribute import_attribute(const onnx::AttributeProto& proto, const ImportContext& context) {
  Attribute attribute;
  const auto mark = [&attribute](AttributeType type, bool present) {
    if (present) attribute.fields |= 1u << static_cast<int>(type);
    return present;
  };
  attribute.name = proto.name();
  attribute.ref_attr_name = proto.ref_attr_name();
  attribute.type_number = static_cast<std::int32_t>(proto.type());
  if (const auto number = unknown_number(proto, kAttributeTypeField); number && !proto.has_type()) {
    attribute.type_number = static_cast<std::int32_t>(*number);
  }

  using enum AttributeType;
  if (mark(kFloat, proto.has_f())) attribute.f = proto.f();
  if (mark(kInt, proto.has_i())) attribute.i = proto.i();
  if (mark(kString, proto.has_s())) attribute.s = proto.s();
  if (mark(kTensor, proto.has_t())) attribute.t = shared_tensor(proto.t(), context);
  if (mark(kGraph, proto.has_g())) attribute.g = shared_graph(proto.g(), context);
  if (mark(kSparseTensor, proto.has_sparse_tensor())) {
    attribute.sparse_tensor =
        std::make_shared<const StoredSparseTensor>(import_sparse_tensor(proto.sparse_tensor(), context));
  }
  if (mark(kTypeProto, proto.has_tp())) attribute.tp = std::make_shared<const Type>(import_type(proto.tp()));
  if (mark(kFloats, proto.floats_size() > 0)) attribute.floats.assign(proto.floats().begin(), proto.floats().end());
  if (mark(kInts, proto.ints_size() > 0)) attribute.ints.assign(proto.ints().begin(), proto.ints().end());
  if (mark(kStrings, proto.strings_size() > 0)) attribute.strings = strings(proto.strings());
  mark(kTensors, proto.tensors_size() > 0);
  for (const auto& tensor : proto.tensors()) attribute.tensors.push_back(shared_tensor(tensor, context));
  mark(kGraphs, proto.graphs_size() > 0);
  for (const auto& graph : proto.graphs()) attribute.graphs.push_back(shared_graph(graph, context));
  mark(kSparseTensors, proto.sparse_tensors_size() > 0);
  for (const auto& sparse : proto.sparse_tensors()) {
    attribute.sparse_tensors.push_back(std::make_shared<const StoredSparseTensor>(import_sparse_tensor(sparse, context)));
  }
  mark(kTypeProtos, proto.type_protos_size() > 0);
  for (const auto& type : proto.type_protos()) {
    attribute.type_protos.push_back(std::make_shared<const Type>(import_type(type)));
  }
  return attribute;
}

Node import_node(const onnx::NodeProto& proto, const ImportContext& context) {
  Node node;
  node.name = proto.name();
  node.op_type = proto.op_type();
  node.domain = proto.domain();
  node.overload = unknown_string(proto, kNodeOverload);
  node.inputs = strings(proto.input());
  node.outputs = strings(proto.output());
  node.attributes.reserve(static_cast<std::size_t>(proto.attribute_size()));
  for (const auto& attribute : proto.attribute()) node.attributes.push_back(import_attribute(attribute, context));
  return node;
}

template <typename List>
std::vector<Node> import_nodes(const List& list, const ImportContext& context) {
  std::vector<Node> nodes;
  nodes.reserve(static_cast<std::size_t>(list.size()));
  for (const auto& node : list) nodes.push_back(import_node(node, context));
  return nodes;
}

Graph import_graph(const onnx::GraphProto& proto, const ImportContext& context) {
  Graph graph;
  graph.name = proto.name();
  graph.nodes = import_nodes(proto.node(), context);
  graph.initializers.reserve(static_cast<std::size_t>(proto.initializer_size()));
  for (const auto& tensor : proto.initializer()) graph.initializers.push_back(import_tensor(tensor, context));
  for (const auto& sparse : proto.sparse_initializer()) {
    graph.sparse_initializers.push_back(import_sparse_tensor(sparse, context));
  }
  graph.inputs = import_value_infos(proto.input());
  graph.outputs = import_value_infos(proto.output());
  graph.value_infos = import_value_infos(proto.value_info());
  return graph;
}

template <typename List>
std::vector<OpsetImport> import_opsets(const List& list) {
  std::vector<OpsetImport> imports;
  for (const auto& opset : list) imports.push_back({opset.domain(), opset.version()});
  return imports;
}

Function import_function(const onnx::FunctionProto& proto, const ImportContext& context) {
  Function function;
  function.name = proto.name();
  function.domain = proto.domain();
  function.overload = unknown_string(proto, kFunctionOverload);
  function.inputs = strings(proto.input());
  function.outputs = strings(proto.output());
  function.attributes = strings(proto.attribute());
  const std::string shown = "function '" + function.name + "'";
  for (const std::string* bytes : unknown_bytes(proto, kFunctionAttributeProto)) {
    // Tensors share the storage of this message, so it has to outlive them: each is its own owner.
    const auto attribute = std::make_shared<onnx::AttributeProto>();
    if (!bytes->empty()) parse_message(*attribute, *bytes, shown, "an attribute");
    function.attribute_defaults.push_back(import_attribute(*attribute, {attribute, context.files}));
  }
  for (const std::string* bytes : unknown_bytes(proto, kFunctionValueInfo)) {
    onnx::ValueInfoProto info;
    if (!bytes->empty()) parse_message(info, *bytes, shown, "a value description");
    function.value_infos.push_back(import_value_info(info));
  }
  function.nodes = import_nodes(proto.node(), context);
  function.opset_imports = import_opsets(proto.opset_import());
  return function;
}

}  // namespace

Type import_type(const onnx::TypeProto& proto) {
  Type type;
  switch (proto.value_case()) {
    case onnx::TypeProto::kTensorType: type = import_tensor_type(Type::Kind::kTensor, proto.tensor_type()); break;
    case onnx::TypeProto::kSparseTensorType:
      type = import_tensor_type(Type::Kind::kSparseTensor, proto.sparse_tensor_type());
      break;
    case onnx::TypeProto::kSequenceType:
      type.kind = Type::Kind::kSequence;
      type.element = std::make_shared<const Type>(import_type(proto.sequence_type().elem_type()));
      break;
    case onnx::TypeProto::kOptionalType:
      type.kind = Type::Kind::kOptional;
      type.element = std::make_shared<const Type>(import_type(proto.optional_type().elem_type()));
      break;
    case onnx::TypeProto::kMapType:
      type.kind = Type::Kind::kMap;
      type.dtype_number = proto.map_type().key_type();
      type.element = std::make_shared<const Type>(import_type(proto.map_type().value_type()));
      break;
    default: break;  // opaque types are of no use to any operator known here
  }
  if (is_known(type.dtype_number)) type.dtype = static_cast<DataType>(type.dtype_number);
  return type;
}

Model import_model(const onnx::ModelProto& proto, const ImportContext& context) {
  Model model;
  if (proto.has_ir_version()) model.ir_version = proto.ir_version();
  model.opset_imports = import_opsets(proto.opset_import());
  model.producer_name = proto.producer_name();
  model.producer_version = proto.producer_version();
  model.domain = proto.domain();
  model.doc_string = proto.doc_string();
  model.model_version = proto.model_version();
  for (const auto& entry : proto.metadata_props()) model.metadata[entry.key()] = entry.value();
  if (proto.has_graph()) model.graph = import_graph(proto.graph(), context);
  for (const auto& function : proto.functions()) model.functions.push_back(import_function(function, context));
  model.has_training_info = proto.training_info_size() > 0;
  return model;
}

}  // namespace lppool::onnx_io
