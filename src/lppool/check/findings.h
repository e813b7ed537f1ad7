#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "lppool/base/diagnostic.h"
#include "lppool/graph/model.h"
#include "lppool/ops/schema.h"

namespace lppool {

// Where a finding belongs. What does not apply stays empty.
struct Place {
  std::string_view graph;  // path, as in Diagnostic::graph
  const Node* node = nullptr;
  std::int64_t index = 0;
  const OpSchema* schema = nullptr;
  std::string_view call = {};  // which call, where a finding about a function's body holds for one only
};

// The list a check fills. Severities come from the table of codes, so that one code never has two.
class Findings {
 public:
  explicit Findings(std::size_t most) : most_(most) {}

  // The finding, for the caller to add attribute or tensor to. Beyond the limit: one that is thrown away.
  Diagnostic& add(const Place& place, std::string_view code, std::string message, std::string hint = "");
  // A finding another stage made: code, message, hint, attribute and tensor are kept, the place is filled in.
  Diagnostic& adopt(const Place& place, const Diagnostic& finding);

  // Errors so far about the node at this place.
  bool has_errors(const Place& place) const;
  // Errors so far of one code.
  std::size_t count(std::string_view code) const;

  // All findings by graph and node, text made printable.
  Diagnostics take();

 private:
  using NodeKey = std::pair<std::string, std::int64_t>;
  std::size_t most_;
  std::size_t left_out_ = 0;
  bool seen_error_ = false;
  Diagnostics list_;
  Diagnostic scratch_;
  std::map<NodeKey, std::size_t, std::less<>> errors_by_node_;
  std::map<std::string, std::size_t, std::less<>> count_by_code_;
};

}  // namespace lppool
