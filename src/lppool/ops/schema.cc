#include "lppool/ops/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "lppool/base/error.h"

namespace lppool {
namespace {

// Named sets of element types. The numbered ones follow ONNX's own lists as they grew: all15 is opset 1 to 12, all16 adds
// bfloat16 (13), all20 the float8 types (19), all22 int4 and uint4 (21), all23 float4e2m1 (23), all24 float8e8m0 (24),
// all26 int2 and uint2 (25).
struct Group {
  std::string_view name, members;
};
constexpr Group kGroups[] = {
    {"floats", "float16|float32|float64"},
    {"ints", "int8|int16|int32|int64|uint8|uint16|uint32|uint64"},
    {"num11", "ints|floats"},
    {"num12", "ints|floats|bfloat16"},
    {"wide7", "int32|int64|uint32|uint64|floats"},
    {"float8s", "float8e4m3fn|float8e4m3fnuz|float8e5m2|float8e5m2fnuz"},
    {"all15", "ints|floats|bool|string|complex64|complex128"},
    {"all16", "all15|bfloat16"},
    {"all20", "all16|float8s"},
    {"all22", "all20|int4|uint4"},
    {"all23", "all22|float4e2m1"},
    {"all24", "all23|float8e8m0"},
    {"all26", "all24|int2|uint2"},
};

[[noreturn]] void bad_line(std::string_view text) { fail(ErrorKind::kDefect, "schema table: cannot read '{}'", text); }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '(' || text[i] == '[')) ++depth;
    if (i < text.size() && (text[i] == ')' || text[i] == ']')) --depth;
    if (i == text.size() || (text[i] == separator && depth == 0)) {
      if (i > begin) parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return parts;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string> expand(std::string_view set) {
  std::vector<std::string> types;
  for (std::string_view part : split(set, '|')) {
    part = trim(part);
    const auto wrapped = [&](std::string_view wrapper) {
      return part.starts_with(wrapper) && part.size() > wrapper.size() && part[wrapper.size()] == '(' && part.back() == ')';
    };
    bool done = false;
    for (const std::string_view wrapper : {"seq", "optional", "sparse_tensor"}) {
      if (!wrapped(wrapper)) continue;
      for (const auto& inner : expand(part.substr(wrapper.size() + 1, part.size() - wrapper.size() - 2))) {
        types.push_back(fmt::format("{}({})", wrapper, inner));
      }
      done = true;
    }
    for (const Group& group : kGroups) {
      if (done || group.name != part) continue;
      for (auto& member : expand(group.members)) types.push_back(std::move(member));
      done = true;
    }
    if (!done) {
      if (!wrapped("map") && !parse_dtype(part)) bad_line(part);
      types.emplace_back(part);
    }
  }
  return types;
}

ParameterSchema parse_parameter(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) bad_line(text);
  std::string_view name = text.substr(0, colon);
  ParameterSchema parameter;
  parameter.type = std::string(text.substr(colon + 1));
  if (name.ends_with("**")) {
    parameter.kind = ParameterSchema::Kind::kVariadic;
    parameter.homogeneous = false;
    name.remove_suffix(2);
  } else if (name.ends_with('*')) {
    parameter.kind = ParameterSchema::Kind::kVariadic;
    name.remove_suffix(1);
  } else if (name.ends_with('?')) {
    parameter.kind = ParameterSchema::Kind::kOptional;
    name.remove_suffix(1);
  }
  parameter.name = std::string(name);
  return parameter;
}

template <typename T>
T parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) bad_line(text);
  return value;
}

Attribute parse_default(std::string_view name, AttributeType type, std::string_view text) {
  Attribute attribute;
  attribute.name = std::string(name);
  attribute.type_number = static_cast<std::int32_t>(type);
  attribute.fields = 1u << static_cast<int>(type);
  const bool list = text.starts_with('[') && text.ends_with(']');
  const auto items = list ? split(text.substr(1, text.size() - 2), ',') : std::vector<std::string_view>{};
  switch (type) {
    case AttributeType::kInt: attribute.i = parse_number<std::int64_t>(text); break;
    case AttributeType::kFloat: attribute.f = parse_number<float>(text); break;
    case AttributeType::kString: {
      std::string value(text);
      for (std::size_t at = 0; (at = value.find("%20", at)) != std::string::npos;) value.replace(at, 3, " ");
      attribute.s = value;
      break;
    }
    case AttributeType::kInts:
      for (const auto item : items) attribute.ints.push_back(parse_number<std::int64_t>(trim(item)));
      break;
    case AttributeType::kFloats:
      for (const auto item : items) attribute.floats.push_back(parse_number<float>(trim(item)));
      break;
    case AttributeType::kStrings:
      for (const auto item : items) attribute.strings.emplace_back(trim(item));
      break;
    default: bad_line(text);
  }
  return attribute;
}

AttributeSchema parse_attribute(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) bad_line(text);
  AttributeSchema schema;
  std::string_view attribute_name = text.substr(0, colon);
  if (attribute_name.ends_with('!')) {
    schema.required = true;
    attribute_name.remove_suffix(1);
  }
  schema.name = std::string(attribute_name);
  const std::string_view rest = text.substr(colon + 1);
  const std::size_t equals = rest.find('=');
  const auto type = parse_attribute_type(rest.substr(0, equals));
  if (!type) bad_line(text);
  schema.type = *type;
  if (equals != std::string_view::npos) {
    schema.default_value = parse_default(attribute_name, *type, rest.substr(equals + 1));
    schema.default_text = *type == AttributeType::kString ? schema.default_value->s : std::string(rest.substr(equals + 1));
  }
  return schema;
}

}  // namespace

const AttributeSchema* OpSchema::find_attribute(std::string_view attribute_name) const {
  for (const AttributeSchema& attribute : attributes) {
    if (attribute.name == attribute_name) return &attribute;
  }
  return nullptr;
}

namespace {

std::size_t fewest(const std::vector<ParameterSchema>& parameters) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].kind == ParameterSchema::Kind::kSingle) count = i + 1;
  }
  return count;
}

std::size_t most(const std::vector<ParameterSchema>& parameters) {
  const bool open = !parameters.empty() && parameters.back().kind == ParameterSchema::Kind::kVariadic;
  return open ? SIZE_MAX : parameters.size();
}

}  // namespace

std::size_t OpSchema::min_inputs() const { return fewest(inputs); }
std::size_t OpSchema::max_inputs() const { return most(inputs); }
std::size_t OpSchema::min_outputs() const { return fewest(outputs); }
std::size_t OpSchema::max_outputs() const { return most(outputs); }

std::vector<std::string> OpSchema::allowed_types(const ParameterSchema& parameter) const {
  for (const TypeConstraint& constraint : type_constraints) {
    if (constraint.name == parameter.type) return constraint.allowed;
  }
  return expand(parameter.type);
}

OpSchema parse_schema(std::string_view domain, std::string_view name, const OpVersion& version) {
  OpSchema schema;
  schema.domain = std::string(domain);
  schema.name = std::string(name);
  schema.since_version = version.since;
  schema.deprecated = version.deprecated;
  schema.summary = std::string(version.summary);
  for (const auto part : split(version.inputs, ' ')) schema.inputs.push_back(parse_parameter(part));
  for (const auto part : split(version.outputs, ' ')) schema.outputs.push_back(parse_parameter(part));
  for (const auto part : split(version.attributes, ' ')) schema.attributes.push_back(parse_attribute(part));
  std::ranges::sort(schema.attributes, {}, &AttributeSchema::name);
  for (std::string_view part : split(version.types, ';')) {
    part = trim(part);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) bad_line(part);
    schema.type_constraints.push_back({std::string(part.substr(0, equals)), expand(part.substr(equals + 1))});
  }
  for (const auto* parameters : {&schema.inputs, &schema.outputs}) {
    for (const ParameterSchema& parameter : *parameters) schema.allowed_types(parameter);  // every type must resolve
  }
  return schema;
}

std::string type_name(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kUnset: return "";
    case Type::Kind::kTensor: return type.dtype == DataType::kUndefined ? "" : std::string(name(type.dtype));
    case Type::Kind::kSparseTensor: return fmt::format("sparse_tensor({})", name(type.dtype));
    case Type::Kind::kMap: return fmt::format("map({},{})", name(type.dtype), type.element ? type_name(*type.element) : "");
    case Type::Kind::kSequence: return fmt::format("seq({})", type.element ? type_name(*type.element) : "");
    case Type::Kind::kOptional: return fmt::format("optional({})", type.element ? type_name(*type.element) : "");
  }
  return "";
}

}  // namespace lppool
