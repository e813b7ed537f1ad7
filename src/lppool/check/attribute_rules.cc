// AT: the form of attributes, and attributes against the schema.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <unordered_set>

#include "lppool/base/text.h"
#include "lppool/check/rules.h"

namespace lppool {
namespace {

bool has_reference(const Node& node) {
  for (const Attribute& attribute : node.attributes) {
    if (!attribute.ref_attr_name.empty()) return true;
  }
  return false;
}

bool declares(const Function& function, const std::string& attribute) {
  for (const std::string& name : function.attributes) {
    if (name == attribute) return true;
  }
  for (const Attribute& with_default : function.attribute_defaults) {
    if (with_default.name == attribute) return true;
  }
  return false;
}

void check_reference(CheckState& state, const Body& body, const Place& place, const Attribute& attribute) {
  if (body.function == nullptr) {
    state.findings
        .add(place, "AT009",
             fmt::format("attribute {} refers to {} of a function, but stands in the main graph",
                         quoted(attribute.name), quoted(attribute.ref_attr_name)))
        .attribute = attribute.name;
  } else if (!declares(*body.function, attribute.ref_attr_name)) {
    state.findings
        .add(place, "AT011",
             fmt::format("attribute {} refers to {}, which the function does not declare", quoted(attribute.name),
                         quoted(attribute.ref_attr_name)))
        .attribute = attribute.name;
  }
  if (attribute.fields != 0) {
    state.findings
        .add(place, "AT010",
             fmt::format("attribute {} refers to {} and has a value as well", quoted(attribute.name),
                         quoted(attribute.ref_attr_name)))
        .attribute = attribute.name;
  }
}

std::string field_names(std::uint32_t fields) {
  std::string names;
  for (int t = 1; t <= kLastAttributeType; ++t) {
    if ((fields >> t & 1u) == 0) continue;
    if (!names.empty()) names += " and ";
    names += name(static_cast<AttributeType>(t));
  }
  return names;
}

// Types that protobuf cannot leave at a zero value.
bool needs_field(AttributeType type) {
  return type == AttributeType::kTensor || type == AttributeType::kGraph || type == AttributeType::kSparseTensor ||
         type == AttributeType::kTypeProto;
}

void check_value(CheckState& state, const Place& place, const Attribute& attribute) {
  const auto report = [&](const char* code, std::string message) {
    state.findings.add(place, code, std::move(message)).attribute = attribute.name;
  };
  const std::string shown = quoted(attribute.name);
  if (attribute.type_number < 0 || attribute.type_number > kLastAttributeType) {
    report("AT012",
           fmt::format("attribute {} has type {}, expected 1 to {}", shown, attribute.type_number, kLastAttributeType));
    return;
  }
  if (std::popcount(attribute.fields) > 1) {
    report("AT004", fmt::format("attribute {} has {} values: {}", shown, std::popcount(attribute.fields),
                                field_names(attribute.fields)));
    return;
  }
  if (attribute.type_number == 0) {
    if (state.ir_version >= 2) {
      report("AT014",
             fmt::format("attribute {} has no type{}", shown,
                         attribute.fields == 0 ? "" : fmt::format(", its value is {}", field_names(attribute.fields))));
    }
    return;
  }
  const auto type = static_cast<AttributeType>(attribute.type_number);
  if (attribute.fields != 0 && !attribute.has_field(type)) {
    report("AT005", fmt::format("attribute {} has type {}, but its value is {}", shown, name(type),
                                field_names(attribute.fields)));
  } else if (attribute.fields == 0 && attribute.ref_attr_name.empty() && needs_field(type)) {
    report("AT013", fmt::format("attribute {} has type {} and no value", shown, name(type)));
  }
}

void check_stored(CheckState& state, const Place& place, const Attribute& attribute) {
  if (attribute.t) check_tensor(state, place, *attribute.t);
  for (const auto& tensor : attribute.tensors) {
    if (tensor) check_tensor(state, place, *tensor);
  }
  if (attribute.sparse_tensor) check_sparse_tensor(state, place, *attribute.sparse_tensor);
  for (const auto& tensor : attribute.sparse_tensors) {
    if (tensor) check_sparse_tensor(state, place, *tensor);
  }
}

// Against the schema ----------------------------------------------------------

// Versions of the operator in which `accept` holds for the attribute, as "operator set 18 on", for hints.
template <typename Accept>
const OpSchema* other_version(const OpSchema& schema, std::string_view attribute, Accept accept) {
  const OpDef* op = find_op(schema.domain, schema.name);
  if (op == nullptr) return nullptr;
  for (const OpVersion& version : op->versions) {
    const OpSchema* other = schema_for(*op, version.since);
    const AttributeSchema* declared = other->find_attribute(attribute);
    if (declared != nullptr && accept(*declared)) return other;
  }
  return nullptr;
}

void check_unknown(CheckState& state, const Place& place, const Attribute& attribute) {
  const OpSchema& schema = *place.schema;
  std::string hint;
  const OpSchema* other = other_version(schema, attribute.name, [](const AttributeSchema&) { return true; });
  if (other != nullptr) {
    hint = other->since_version > schema.since_version
               ? fmt::format("{} has it from operator set {} on", schema.name, other->since_version)
               : fmt::format("{} {} had it", schema.name, other->since_version);
  } else {
    std::vector<std::string_view> names;
    for (const AttributeSchema& declared : schema.attributes) names.push_back(declared.name);
    if (const auto near = nearest(attribute.name, names)) hint = fmt::format("did you mean {}?", *near);
  }
  state.findings
      .add(place, "AT006",
           fmt::format("{} {} has no attribute {}", schema.name, schema.since_version, quoted(attribute.name)), hint)
      .attribute = attribute.name;
}

// How to write the same value in the type that is expected, where that is possible.
std::string conversion_hint(const OpSchema& schema, const Attribute& attribute, AttributeType expected) {
  using enum AttributeType;
  const AttributeType given = attribute.type();
  if (!attribute.ref_attr_name.empty()) return "";
  if (expected == kInt && given == kFloat) {
    const bool whole = std::nearbyint(attribute.f) == attribute.f && std::fabs(attribute.f) < 0x1p31f;
    return whole ? fmt::format("write it as the int {}", static_cast<std::int64_t>(attribute.f))
                 : fmt::format("{} has no int form", attribute.f);
  }
  if (expected == kFloat && given == kInt) return fmt::format("write it as the float {}.0", attribute.i);
  if (expected == kInt && given == kInts && attribute.ints.size() == 1) {
    return fmt::format("write it as the int {}", attribute.ints[0]);
  }
  if (expected == kInts && given == kInt) return fmt::format("write it as the list [{}]", attribute.i);
  const OpSchema* other =
      other_version(schema, attribute.name, [&](const AttributeSchema& a) { return a.type == given; });
  return other == nullptr
             ? ""
             : fmt::format("{} {} takes a value of type {}", schema.name, other->since_version, name(given));
}

void check_known(CheckState& state, const Place& place, const Attribute& attribute, const AttributeSchema& declared) {
  const AttributeType given = attribute.type();
  // Without a type, of an unknown one or of two at once: said already.
  if (given == declared.type || given == AttributeType::kUndefined) return;
  state.findings
      .add(place, "AT007",
           fmt::format("{} {}: attribute {} is of type {}, expected {}", place.schema->name,
                       place.schema->since_version, quoted(attribute.name), name(given), name(declared.type)),
           conversion_hint(*place.schema, attribute, declared.type))
      .attribute = attribute.name;
}

}  // namespace

void check_attribute_form(CheckState& state, const Body& body, const Place& place) {
  std::unordered_set<std::string_view> seen;
  for (const Attribute& attribute : place.node->attributes) {
    if (attribute.name.empty()) {
      state.findings.add(place, "AT001", "an attribute has no name");
    } else if (!seen.insert(attribute.name).second) {
      state.findings.add(place, "AT002", fmt::format("attribute {} is given twice", quoted(attribute.name))).attribute =
          attribute.name;
    }
    if (!attribute.ref_attr_name.empty()) check_reference(state, body, place, attribute);
    check_attribute_value(state, place, attribute);
  }
}

void check_attribute_value(CheckState& state, const Place& place, const Attribute& attribute) {
  check_value(state, place, attribute);
  check_stored(state, place, attribute);
}

void check_attributes(CheckState& state, const Place& place) {
  const Node& node = *place.node;
  for (const Attribute& attribute : node.attributes) {
    if (attribute.name.empty() || attribute.name.starts_with("__")) continue;
    const AttributeSchema* declared = place.schema->find_attribute(attribute.name);
    if (declared == nullptr)
      check_unknown(state, place, attribute);
    else
      check_known(state, place, attribute, *declared);
  }
  for (const AttributeSchema& declared : place.schema->attributes) {
    if (!declared.required || node.find_attribute(declared.name) != nullptr) continue;
    state.findings
        .add(place, "AT008",
             fmt::format("{} {}: attribute '{}' ({}) is missing, but required", place.schema->name,
                         place.schema->since_version, declared.name, name(declared.type)))
        .attribute = declared.name;
  }
  check_attribute_values(state, place);
}

void check_attribute_values(CheckState& state, const Place& place) {
  // Values are judged once they can be read; those a call has to give are judged call by call (infer_rules.cc).
  const OpDef* op = find_op(place.schema->domain, place.schema->name);
  if (op == nullptr || op->check == nullptr || has_reference(*place.node) || state.findings.has_errors(place)) return;
  CheckContext context(*place.node, *place.schema);
  try {
    op->check(context);
  } catch (const Error& error) {
    context.error("AT003", "", error.what());
  }
  for (const Diagnostic& finding : context.findings) state.findings.adopt(place, finding);
}

}  // namespace lppool
