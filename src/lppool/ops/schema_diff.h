#pragma once

#include <string>
#include <vector>

#include "lppool/ops/op.h"

namespace lppool {

// One difference between two versions of an operator, as its users meet it.
struct SchemaChange {
  std::string what;      // "attribute", "input", "output", "type", "rule"
  std::string name;      // of the attribute, parameter, type constraint or rule
  std::string change;    // "added", "removed", "type", "required", "default", "optional", "allowed", "behaviour"
  std::string old_value, new_value;
  bool breaking = false;  // a node that was valid may be refused, or give another result
  std::string why;
};

struct SchemaDiff {
  int old_version = 0, new_version = 0;
  std::vector<SchemaChange> changes;
  bool breaking() const;
  // The two summaries line by line ("  same", "- old", "+ new") and how alike they are (2 * same / all lines).
  std::vector<std::string> summary_lines;
  double summary_similarity = 1;
};

// What changed from one opset to another: the schema in force at `old_opset` against that at `new_opset`. Throws kUsage
// where the operator does not exist at one of them.
SchemaDiff diff_schemas(const OpDef& op, std::int64_t old_opset, std::int64_t new_opset);

}  // namespace lppool
