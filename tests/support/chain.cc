#include "support/chain.h"

#include "support/words.h"

namespace lppool::test {

void Chain::constant(std::string name, Tensor value) {
  StoredTensor stored;
  stored.name = std::move(name);
  stored.dtype_number = static_cast<std::int32_t>(value.dtype());
  stored.dims = value.shape().dims();
  stored.value = std::move(value);
  graph_.initializers.push_back(std::move(stored));
}

void Chain::node(std::string op, std::string_view inputs, std::string_view outputs, std::vector<Attribute> attributes) {
  BoundNode bound;
  bound.node.op_type = std::move(op);
  bound.node.inputs = words(inputs);
  bound.node.outputs = words(outputs);
  bound.node.attributes = std::move(attributes);
  bound.opset = opset_;
  bound.op = find_op("", bound.node.op_type);
  if (bound.op == nullptr) throw std::logic_error("no operator " + bound.node.op_type);
  bound.schema = schema_for(*bound.op, opset_);
  graph_.nodes.push_back(std::move(bound));
}

std::string Chain::type(const std::string& name) const {
  const InferResult result = infer_shapes(graph_, options_);
  for (const Diagnostic& finding : result.findings) {
    if (finding.severity == Severity::kError) throw Error(ErrorKind::kRuntime, finding.message);
  }
  const TensorInfo* info = result.find(name);
  return info == nullptr ? "no such tensor" : to_string(info->type);
}

std::vector<Dim> dims(std::string_view text) {
  std::vector<Dim> result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    result.push_back(parse_dim(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return result;
}

}  // namespace lppool::test
