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

ValueType merge_types(const ValueType& inferred, const ValueType& declared, bool& type_problem, bool& shape_problem) {
  if (declared.kind == Type::Kind::kUnset) return inferred;
  if (inferred.kind == Type::Kind::kUnset) return declared;
  if (inferred.kind != declared.kind) {
    // An optional holds its contents: a plain value may stand where an optional is declared, and the other way round.
    const bool optional = inferred.kind == Type::Kind::kOptional || declared.kind == Type::Kind::kOptional;
    if (!optional) type_problem = true;
    return inferred;
  }
  ValueType result = inferred;
  if (inferred.dtype == DataType::kUndefined) {
    result.dtype = declared.dtype;
  } else if (declared.dtype != DataType::kUndefined && declared.dtype != inferred.dtype) {
    type_problem = true;
  }
  if (inferred.element && declared.element) {
    result.element = std::make_shared<const ValueType>(
        merge_types(*inferred.element, *declared.element, type_problem, shape_problem));
  } else if (declared.element) {
    result.element = declared.element;
  }
  if (!inferred.shape) {
    result.shape = declared.shape;
    return result;
  }
  if (!declared.shape) return result;
  if (declared.shape->size() != inferred.shape->size()) {
    shape_problem = true;
    return result;
  }
  for (std::size_t i = 0; i < declared.shape->size(); ++i) {
    const Dim& mine = (*inferred.shape)[i];
    const Dim& theirs = (*declared.shape)[i];
    if (mine.value() && theirs.value() && mine.value() != theirs.value()) shape_problem = true;
    if (!mine.known() || (theirs.value() && !mine.value())) (*result.shape)[i] = theirs;
  }
  return result;
}

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
