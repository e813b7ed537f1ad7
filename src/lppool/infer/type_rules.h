#pragma once

#include <string>
#include <vector>

#include "lppool/ops/op.h"

namespace lppool {

struct TypeProblem {
  std::string code;  // TY001: a type the input does not take; TY003: inputs of one type variable differ
  std::size_t input = 0;
  std::string message;
  std::string hint;
};

// Types of a node's inputs against its schema. Unknown types are no problem; nor is a plain value where an optional one
// is asked for, or the other way round.
std::vector<TypeProblem> check_input_types(const OpSchema& schema, const std::vector<ValueType>& inputs);

// What a value's inferred and declared type give together: `inferred`, completed by what only `declared` says. Sets
// `type_problem` or `shape_problem` where the two contradict each other.
ValueType merge_types(const ValueType& inferred, const ValueType& declared, bool& type_problem, bool& shape_problem);

// The type as schemas spell it: "float32", "seq(float32)"; "" where a part is not known.
std::string type_name(const ValueType& type);

}  // namespace lppool
