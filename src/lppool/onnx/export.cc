#include "lppool/base/error.h"
#include "lppool/onnx/convert.h"
#include "lppool/onnx/newer_fields.h"

namespace lppool::onnx_io {
namespace {

void export_graph(const Graph& graph, onnx::GraphProto& proto);

void export_stored(const StoredTensor& stored, onnx::TensorProto& proto) {
  if (stored.problem) fail(ErrorKind::kParse, "{}", stored.problem->message);
  export_tensor(stored.name, stored.value, proto);
}

void export_sparse(const StoredSparseTensor& sparse, onnx::SparseTensorProto& proto) {
  export_stored(sparse.values, *proto.mutable_values());
  export_stored(sparse.indices, *proto.mutable_indices());
  for (const std::int64_t dim : sparse.dims) proto.add_dims(dim);
}

template <typename TensorType>
void export_tensor_type(const Type& type, TensorType& proto) {
  proto.set_elem_type(type.dtype_number != 0 ? type.dtype_number : static_cast<std::int32_t>(type.dtype));
  if (!type.shape) {
    proto.clear_shape();
    return;
  }
  onnx::TensorShapeProto& shape = *proto.mutable_shape();
  const auto rank = static_cast<int>(type.shape->size());
  if (shape.dim_size() != rank) shape.clear_dim();
  while (shape.dim_size() < rank) shape.add_dim();
  for (int i = 0; i < rank; ++i) {
    const Dimension& dim = (*type.shape)[static_cast<std::size_t>(i)];
    auto& out = *shape.mutable_dim(i);
    out.clear_value();
    if (dim.value) out.set_dim_value(*dim.value);
    else if (!dim.symbol.empty()) out.set_dim_param(dim.symbol);
  }
}

void export_value_info(const ValueInfo& info, onnx::ValueInfoProto& proto) {
  proto.set_name(info.name);
  if (info.type.kind != Type::Kind::kUnset) export_type(info.type, *proto.mutable_type());
}

void export_attribute(const Attribute& attribute, onnx::AttributeProto& proto) {
  proto.set_name(attribute.name);
  if (!attribute.ref_attr_name.empty()) proto.set_ref_attr_name(attribute.ref_attr_name);
  if (onnx::AttributeProto::AttributeType_IsValid(attribute.type_number)) {
    if (attribute.type_number != 0) {
      proto.set_type(static_cast<onnx::AttributeProto::AttributeType>(attribute.type_number));
    }
  } else {
    add_unknown_number(proto, kAttributeTypeField, static_cast<std::uint64_t>(attribute.type_number));
  }
  using enum AttributeType;
  if (attribute.has_field(kFloat)) proto.set_f(attribute.f);
  if (attribute.has_field(kInt)) proto.set_i(attribute.i);
  if (attribute.has_field(kString)) proto.set_s(attribute.s);
  if (attribute.has_field(kTensor)) export_stored(*attribute.t, *proto.mutable_t());
  if (attribute.has_field(kGraph)) export_graph(*attribute.g, *proto.mutable_g());
  if (attribute.has_field(kSparseTensor)) export_sparse(*attribute.sparse_tensor, *proto.mutable_sparse_tensor());
  if (attribute.has_field(kTypeProto)) export_type(*attribute.tp, *proto.mutable_tp());
  for (const float f : attribute.floats) proto.add_floats(f);
  for (const std::int64_t i : attribute.ints) proto.add_ints(i);
  for (const std::string& s : attribute.strings) proto.add_strings(s);
  for (const auto& tensor : attribute.tensors) export_stored(*tensor, *proto.add_tensors());
  for (const auto& graph : attribute.graphs) export_graph(*graph, *proto.add_graphs());
  for (const auto& sparse : attribute.sparse_tensors) export_sparse(*sparse, *proto.add_sparse_tensors());
  for (const auto& type : attribute.type_protos) export_type(*type, *proto.add_type_protos());
}

void export_node(const Node& node, onnx::NodeProto& proto) {
  if (!node.name.empty()) proto.set_name(node.name);
  proto.set_op_type(node.op_type);
  if (!node.domain.empty()) proto.set_domain(node.domain);
  if (!node.overload.empty()) add_unknown_bytes(proto, kNodeOverload, node.overload);
  for (const std::string& input : node.inputs) proto.add_input(input);
  for (const std::string& output : node.outputs) proto.add_output(output);
  for (const Attribute& attribute : node.attributes) export_attribute(attribute, *proto.add_attribute());
}

void export_graph(const Graph& graph, onnx::GraphProto& proto) {
  if (!graph.name.empty()) proto.set_name(graph.name);
  for (const Node& node : graph.nodes) export_node(node, *proto.add_node());
  for (const StoredTensor& tensor : graph.initializers) export_stored(tensor, *proto.add_initializer());
  for (const StoredSparseTensor& sparse : graph.sparse_initializers) export_sparse(sparse, *proto.add_sparse_initializer());
  for (const ValueInfo& info : graph.inputs) export_value_info(info, *proto.add_input());
  for (const ValueInfo& info : graph.outputs) export_value_info(info, *proto.add_output());
  for (const ValueInfo& info : graph.value_infos) export_value_info(info, *proto.add_value_info());
}

void export_opset(const OpsetImport& import, onnx::OperatorSetIdProto& proto) {
  proto.set_domain(import.domain);
  proto.set_version(import.version);
}

void export_function(const Function& function, onnx::FunctionProto& proto) {
  proto.set_name(function.name);
  if (!function.domain.empty()) proto.set_domain(function.domain);
  if (!function.overload.empty()) add_unknown_bytes(proto, kFunctionOverload, function.overload);
  for (const std::string& input : function.inputs) proto.add_input(input);
  for (const std::string& output : function.outputs) proto.add_output(output);
  for (const std::string& name : function.attributes) proto.add_attribute(name);
  for (const Attribute& attribute : function.attribute_defaults) {
    onnx::AttributeProto inner;
    export_attribute(attribute, inner);
    add_unknown_bytes(proto, kFunctionAttributeProto, inner.SerializeAsString());
  }
  for (const ValueInfo& info : function.value_infos) {
    onnx::ValueInfoProto inner;
    export_value_info(info, inner);
    add_unknown_bytes(proto, kFunctionValueInfo, inner.SerializeAsString());
  }
  for (const Node& node : function.nodes) export_node(node, *proto.add_node());
  for (const OpsetImport& import : function.opset_imports) export_opset(import, *proto.add_opset_import());
}

}  // namespace

void export_type(const Type& type, onnx::TypeProto& proto) {
  switch (type.kind) {
    case Type::Kind::kUnset: proto.clear_value(); break;
    case Type::Kind::kTensor: export_tensor_type(type, *proto.mutable_tensor_type()); break;
    case Type::Kind::kSparseTensor: export_tensor_type(type, *proto.mutable_sparse_tensor_type()); break;
    case Type::Kind::kSequence: export_type(*type.element, *proto.mutable_sequence_type()->mutable_elem_type()); break;
    case Type::Kind::kOptional: export_type(*type.element, *proto.mutable_optional_type()->mutable_elem_type()); break;
    case Type::Kind::kMap:
      proto.mutable_map_type()->set_key_type(type.dtype_number);
      export_type(*type.element, *proto.mutable_map_type()->mutable_value_type());
      break;
  }
}

void export_model(const Model& model, onnx::ModelProto& proto) {
  if (model.ir_version) proto.set_ir_version(*model.ir_version);
  for (const OpsetImport& import : model.opset_imports) export_opset(import, *proto.add_opset_import());
  if (!model.producer_name.empty()) proto.set_producer_name(model.producer_name);
  if (!model.producer_version.empty()) proto.set_producer_version(model.producer_version);
  if (!model.domain.empty()) proto.set_domain(model.domain);
  if (!model.doc_string.empty()) proto.set_doc_string(model.doc_string);
  if (model.model_version != 0) proto.set_model_version(model.model_version);
  for (const auto& [key, value] : model.metadata) {
    auto& entry = *proto.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  if (model.graph) export_graph(*model.graph, *proto.mutable_graph());
  for (const Function& function : model.functions) export_function(function, *proto.add_functions());
}

}  // namespace lppool::onnx_io
