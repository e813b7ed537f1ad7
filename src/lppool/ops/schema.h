#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lppool/graph/model.h"

namespace lppool {

// One since-version of an operator, as its source file writes it: facts of the ONNX specification in a short notation,
// turned into an OpSchema on first use.
//
//   inputs, outputs   "X:T W:T B?:T" - name:type in order; ? optional, * variadic of one type, ** variadic of mixed
//                     types; type is a name bound in `types`, or a type itself (int64, seq(T) is written as its list)
//   attributes        "kernel_shape!:ints group:int=1 auto_pad:string=NOTSET" - ! required, = default
//                     (list defaults: [1,2]; strings run to the next blank; %20 stands for a blank)
//   types             "T=floats|bfloat16; I=int32|int64" - sets by | of types, seq(...), optional(...) and the groups
//                     that schema.cc lists (floats, ints, num11, all15, ...)
struct OpVersion {
  int since = 1;
  std::string_view inputs;
  std::string_view outputs;
  std::string_view attributes = "";
  std::string_view types = "";
  bool deprecated = false;         // in ONNX, from this version on
  std::string_view summary = "";   // one or two sentences of ours; "" = the operator's (OpDef::summary)
  // What a node means differently than in the version before, where the schema does not show it: "rule: text" lines; a
  // line that starts with '!' can change the result of a node that was valid; "!rule @attribute: text" only of nodes of
  // versions that have the attribute.
  std::string_view rule_changes = "";
};

struct AttributeSchema {
  std::string name;
  AttributeType type = AttributeType::kUndefined;
  bool required = false;
  std::optional<Attribute> default_value;
  std::string default_text;  // the default as written; "" without
};

struct ParameterSchema {
  enum class Kind { kSingle, kOptional, kVariadic };
  std::string name;
  std::string type;  // a name in type_constraints, or a type
  Kind kind = Kind::kSingle;
  bool homogeneous = true;  // of a variadic: all of one type
};

// Types are spelled float32, seq(float32), optional(seq(float32)), map(int64,float32), sparse_tensor(float32).
struct TypeConstraint {
  std::string name;
  std::vector<std::string> allowed;
};

struct OpSchema {
  std::string domain, name;
  int since_version = 1;
  bool deprecated = false;
  std::string summary;
  std::vector<AttributeSchema> attributes;  // sorted by name
  std::vector<ParameterSchema> inputs, outputs;
  std::vector<TypeConstraint> type_constraints;

  const AttributeSchema* find_attribute(std::string_view attribute_name) const;
  // Fewest and most inputs (outputs) a node may have, counted by position; most is SIZE_MAX for a variadic one.
  std::size_t min_inputs() const, max_inputs() const, min_outputs() const, max_outputs() const;
  // The types a parameter allows: its constraint's list, or the one type it names.
  std::vector<std::string> allowed_types(const ParameterSchema& parameter) const;
};

// Parses the notation above. Throws kDefect where a table line is wrong (a unit test walks all lines).
OpSchema parse_schema(std::string_view domain, std::string_view name, const OpVersion& version);

// The type as the lists above spell it; "" where it is not known.
std::string type_name(const Type& type);

}  // namespace lppool
