#include "lppool/infer/type_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lppool {
namespace {

// The type inside optional(...), or the type itself.
std::string_view contents(std::string_view type) {
  constexpr std::string_view kOptional = "optional(";
  return type.starts_with(kOptional) ? type.substr(kOptional.size(), type.size() - kOptional.size() - 1) : type;
}

bool allows(const std::vector<std::string>& allowed, std::string_view type) {
  return std::ranges::any_of(allowed, [&](const std::string& a) { return contents(a) == contents(type); });
}

std::string listed(const std::vector<std::string>& types) {
  constexpr std::size_t kShown = 8;
  if (types.size() <= kShown) return fmt::format("{}", fmt::join(types, ", "));
  return fmt::format("{} or {} more", fmt::join(types.begin(), types.begin() + kShown, ", "), types.size() - kShown);
}

const ParameterSchema* parameter_of(const OpSchema& schema, std::size_t input) {
  if (input < schema.inputs.size()) return &schema.inputs[input];
  const bool open = !schema.inputs.empty() && schema.inputs.back().kind == ParameterSchema::Kind::kVariadic;
  return open ? &schema.inputs.back() : nullptr;
}

std::string newer_version_hint(const OpSchema& schema, std::size_t input, std::string_view type) {
  const OpDef* op = find_op(schema.domain, schema.name);
  if (op == nullptr) return "";
  for (const OpVersion& version : op->versions) {
    const OpSchema* other = schema_for(*op, version.since);
    if (other->since_version <= schema.since_version) continue;
    const ParameterSchema* parameter = parameter_of(*other, input);
    if (parameter == nullptr || !allows(other->allowed_types(*parameter), type)) continue;
    return fmt::format("{} takes {} from operator set {} on", schema.name, type, other->since_version);
  }
  return "";
}

}  // namespace

std::string type_name(const ValueType& type) {
  const auto wrapped = [&](const char* wrapper) {
    const std::string inner = type.element ? type_name(*type.element) : "";
    return inner.empty() ? inner : fmt::format("{}({})", wrapper, inner);
  };
  switch (type.kind) {
    case Type::Kind::kTensor:
      return type.dtype == DataType::kUndefined ? "" : std::string(name(type.dtype));
    case Type::Kind::kSparseTensor:
      return type.dtype == DataType::kUndefined ? "" : fmt::format("sparse_tensor({})", name(type.dtype));
    case Type::Kind::kSequence:
      return wrapped("seq");
    case Type::Kind::kOptional:
      return wrapped("optional");
    default:
      return "";
  }
}

std::vector<TypeProblem> check_input_types(const OpSchema& schema, const std::vector<ValueType>& inputs) {
  std::vector<TypeProblem> problems;
  std::map<std::string_view, std::pair<std::size_t, std::string>> bound;  // type variable -> first input and its type
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ParameterSchema* parameter = parameter_of(schema, i);
    const std::string type = type_name(inputs[i]);
    if (parameter == nullptr || type.empty()) continue;
    const auto allowed = schema.allowed_types(*parameter);
    if (!allows(allowed, type)) {
      problems.push_back({"TY001", i,
                          fmt::format("input {} ({}) of {} {} is {}, expected {}", i, parameter->name, schema.name,
                                      schema.since_version, type, listed(allowed)),
                          newer_version_hint(schema, i, type)});
      continue;
    }
    const bool variable = std::ranges::any_of(
        schema.type_constraints, [&](const TypeConstraint& constraint) { return constraint.name == parameter->type; });
    if (!variable || !parameter->homogeneous) continue;
    const auto [first, added] = bound.emplace(parameter->type, std::pair(i, type));
    if (added || contents(first->second.second) == contents(type)) continue;
    problems.push_back({"TY003", i,
                        fmt::format("input {} ({}) of {} {} is {}, expected {} as input {}", i, parameter->name,
                                    schema.name, schema.since_version, type, first->second.second, first->second.first),
                        fmt::format("insert a Cast to {}", first->second.second)});
  }
  return problems;
}

}  // namespace lppool
