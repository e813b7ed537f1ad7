#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lppool {

enum class Severity { kError, kWarning, kNote };

// One finding about a model: data, never thrown. `code` is stable for ever once released (see check/codes.h); everything
// else is for people. Members that do not apply are empty.
struct Diagnostic {
  Severity severity = Severity::kError;
  std::string code;
  std::string message;  // one sentence: the thing, the value seen, the value expected
  std::string hint;     // the one obvious fix, where there is one
  std::string graph;    // path of the graph: "" main, "if1/then_branch", "function my.domain:Name"
  std::string node;     // node name
  std::optional<std::int64_t> node_index;  // position in its graph
  std::string op_type;
  std::optional<std::int64_t> since_version;  // of the schema that was applied
  std::string attribute;
  std::string tensor;
};

using Diagnostics = std::vector<Diagnostic>;

}  // namespace lppool
