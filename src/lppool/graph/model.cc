#include "lppool/graph/model.h"

#include <fmt/format.h>

#include <array>

namespace lppool {
namespace {
constexpr std::array<std::string_view, kLastAttributeType + 1> kTypeNames = {
    "undefined", "float", "int", "string", "tensor", "graph", "floats", "ints", "strings", "tensors", "graphs",
    "sparse_tensor", "sparse_tensors", "type_proto", "type_protos"};
}  // namespace

std::string_view name(AttributeType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

std::optional<AttributeType> parse_attribute_type(std::string_view name) {
  for (std::size_t i = 1; i < kTypeNames.size(); ++i) {
    if (kTypeNames[i] == name) return static_cast<AttributeType>(i);
  }
  return std::nullopt;
}

AttributeType Attribute::type() const {
  if (type_number >= 1 && type_number <= kLastAttributeType) return static_cast<AttributeType>(type_number);
  if (type_number != 0 || fields == 0 || (fields & (fields - 1)) != 0) return AttributeType::kUndefined;
  return static_cast<AttributeType>(__builtin_ctz(fields));
}

const Attribute* Node::find_attribute(std::string_view attribute_name) const {
  for (const Attribute& attribute : attributes) {
    if (attribute.name == attribute_name) return &attribute;
  }
  return nullptr;
}

std::string_view canonical_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

std::optional<std::int64_t> opset_of(const std::vector<OpsetImport>& imports, std::string_view domain,
                                     std::int64_t ir_version) {
  const std::string_view wanted = canonical_domain(domain);
  for (const OpsetImport& import : imports) {
    if (canonical_domain(import.domain) == wanted) return import.version;
  }
  if (imports.empty() && ir_version < 3 && wanted.empty()) return 1;
  return std::nullopt;
}

std::string label(const Function& function) {
  return fmt::format("{}:{}{}{}", function.domain, function.name, function.overload.empty() ? "" : ":", function.overload);
}

std::string describe(const Node& node, std::int64_t index) {
  return node.name.empty() ? fmt::format("node #{} ({})", index, node.op_type)
                           : fmt::format("node '{}' ({})", node.name, node.op_type);
}

}  // namespace lppool
