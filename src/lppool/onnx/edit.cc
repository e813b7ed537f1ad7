// Edits that keep everything they do not name: they change the file's own message in place. The message and the Model
// were imported side by side, so their nodes stand in the same order.
#include <onnx/onnx_pb.h>

#include "lppool/onnx/model_file_impl.h"

namespace lppool {
namespace {

using Edit = std::function<std::vector<ModelFile::AttributeEdit>(const Node&)>;

void apply(const ModelFile::AttributeEdit& edit, onnx::NodeProto& proto) {
  auto& list = *proto.mutable_attribute();
  int at = 0;
  while (at < list.size() && list[at].name() != edit.name) ++at;
  if (!edit.value) {
    if (at < list.size()) list.DeleteSubrange(at, 1);
    return;
  }
  onnx::AttributeProto& attribute = at < list.size() ? list[at] : *list.Add();
  const std::string doc = attribute.doc_string();
  attribute.Clear();
  attribute.set_name(edit.name);
  if (!doc.empty()) attribute.set_doc_string(doc);
  if (edit.value->type() == AttributeType::kFloat) {
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(edit.value->f);
  } else {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(edit.value->i);
  }
}

template <typename NodeProtos>
void edit_list(NodeProtos& protos, const std::vector<Node>& nodes, const Edit& edit) {
  for (int i = 0; i < protos.size() && static_cast<std::size_t>(i) < nodes.size(); ++i) {
    const Node& node = nodes[static_cast<std::size_t>(i)];
    for (int a = 0; a < protos[i].attribute_size() && static_cast<std::size_t>(a) < node.attributes.size(); ++a) {
      onnx::AttributeProto& proto = *protos[i].mutable_attribute(a);
      const Attribute& attribute = node.attributes[static_cast<std::size_t>(a)];
      if (proto.has_g() && attribute.g) edit_list(*proto.mutable_g()->mutable_node(), attribute.g->nodes, edit);
      for (int g = 0; g < proto.graphs_size() && static_cast<std::size_t>(g) < attribute.graphs.size(); ++g) {
        edit_list(*proto.mutable_graphs(g)->mutable_node(), attribute.graphs[static_cast<std::size_t>(g)]->nodes, edit);
      }
    }
    for (const auto& change : edit(node)) apply(change, protos[i]);
  }
}

template <typename Imports>
bool bind(Imports& imports, std::string_view domain, std::int64_t version) {
  bool found = false;
  for (auto& import : imports) {
    if (canonical_domain(import.domain()) != canonical_domain(domain)) continue;
    import.set_version(version);
    found = true;
  }
  return found;
}

}  // namespace

void ModelFile::set_opset(std::string_view domain, std::int64_t version) {
  impl_->bytes = nullptr;  // these edits cannot be put between them
  onnx::ModelProto& proto = *impl_->proto;
  if (!bind(*proto.mutable_opset_import(), domain, version)) {
    onnx::OperatorSetIdProto& import = *proto.add_opset_import();
    import.set_domain(std::string(domain));
    import.set_version(version);
  }
  for (auto& function : *proto.mutable_functions()) bind(*function.mutable_opset_import(), domain, version);
}

void ModelFile::edit_nodes(const Edit& edit) {
  impl_->bytes = nullptr;
  onnx::ModelProto& proto = *impl_->proto;
  if (impl_->model.graph) edit_list(*proto.mutable_graph()->mutable_node(), impl_->model.graph->nodes, edit);
  for (int i = 0; i < proto.functions_size(); ++i) {
    edit_list(*proto.mutable_functions(i)->mutable_node(), impl_->model.functions[static_cast<std::size_t>(i)].nodes, edit);
  }
}

}  // namespace lppool
