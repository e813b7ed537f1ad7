#include "support/model_builder.h"

#include <sstream>
#include <stdexcept>

namespace lppool::test {
namespace {

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word == "-" ? "" : word);
  return result;
}

Dimension dimension(const std::string& text) {
  if (text == "?") return {};
  const bool number = text.find_first_not_of("-0123456789") == std::string::npos;
  return number ? Dimension{std::stoll(text), ""} : Dimension{std::nullopt, text};
}

}  // namespace

Type type_of_text(std::string_view text) {
  Type type;
  const std::size_t blank = text.find(' ');
  const auto dtype = parse_dtype(text.substr(0, blank));
  if (text.empty()) return type;
  if (!dtype) throw std::logic_error("no type " + std::string(text));
  type.kind = Type::Kind::kTensor;
  type.dtype = *dtype;
  type.dtype_number = static_cast<std::int32_t>(*dtype);
  if (blank == std::string_view::npos) return type;
  type.shape.emplace();
  std::istringstream dims{std::string(text.substr(blank + 1))};
  if (dims.str() == "scalar") return type;
  for (std::string dim; std::getline(dims, dim, 'x');) type.shape->push_back(dimension(dim));
  return type;
}

StoredTensor stored(std::string name, Tensor value) {
  StoredTensor tensor;
  tensor.name = std::move(name);
  tensor.dtype_number = static_cast<std::int32_t>(value.dtype());
  tensor.dims = value.shape().dims();
  tensor.value = std::move(value);
  return tensor;
}

Attribute attr_graph(std::string name, Graph graph) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.type_number = static_cast<std::int32_t>(AttributeType::kGraph);
  attribute.fields = 1u << attribute.type_number;
  attribute.g = std::make_shared<const Graph>(std::move(graph));
  return attribute;
}

Attribute attr_ref(std::string name, AttributeType type, std::string refers_to) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.type_number = static_cast<std::int32_t>(type);
  attribute.ref_attr_name = std::move(refers_to);
  return attribute;
}

Node make_node(std::string op_type, std::string_view inputs, std::string_view outputs,
               std::vector<Attribute> attributes, std::string domain) {
  Node node;
  node.op_type = std::move(op_type);
  node.domain = std::move(domain);
  node.inputs = words(inputs);
  node.outputs = words(outputs);
  node.attributes = std::move(attributes);
  return node;
}

GraphBuilder& GraphBuilder::input(std::string name, std::string_view type) {
  graph.inputs.push_back({std::move(name), type_of_text(type)});
  return *this;
}
GraphBuilder& GraphBuilder::output(std::string name, std::string_view type) {
  graph.outputs.push_back({std::move(name), type_of_text(type)});
  return *this;
}
GraphBuilder& GraphBuilder::value_info(std::string name, std::string_view type) {
  graph.value_infos.push_back({std::move(name), type_of_text(type)});
  return *this;
}
GraphBuilder& GraphBuilder::initializer(std::string name, Tensor value) {
  graph.initializers.push_back(stored(std::move(name), std::move(value)));
  return *this;
}
GraphBuilder& GraphBuilder::node(std::string op_type, std::string_view inputs, std::string_view outputs,
                                 std::vector<Attribute> attributes, std::string domain) {
  graph.nodes.push_back(make_node(std::move(op_type), inputs, outputs, std::move(attributes), std::move(domain)));
  return *this;
}

Model make_model(Graph graph, std::int64_t opset, std::int64_t ir_version) {
  Model model;
  model.ir_version = ir_version;
  model.opset_imports.push_back({"", opset});
  model.producer_name = "lppool-testdata";
  model.graph = std::move(graph);
  return model;
}

Model lp_pool_model(std::int64_t opset, std::vector<Attribute> attributes, std::string_view x, std::string_view y) {
  bool has_kernel = false;
  for (const Attribute& attribute : attributes) has_kernel = has_kernel || attribute.name == "kernel_shape";
  if (!has_kernel) attributes.insert(attributes.begin(), attr_ints("kernel_shape", {2, 2}));
  GraphBuilder g;
  g.input("x", x).node("LpPool", "x", "y", std::move(attributes)).output("y", y);
  return make_model(std::move(g.graph), opset);
}

Function make_function(std::string name, std::vector<std::string> inputs, std::vector<std::string> outputs,
                       std::vector<Node> nodes, std::vector<std::string> attributes) {
  Function function;
  function.name = std::move(name);
  function.domain = "local";
  function.inputs = std::move(inputs);
  function.outputs = std::move(outputs);
  function.nodes = std::move(nodes);
  function.attributes = std::move(attributes);
  function.opset_imports = {{"", 18}, {"local", 1}};
  return function;
}

}  // namespace lppool::test
