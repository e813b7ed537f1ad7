#include "lppool/check/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "lppool/base/text.h"
#include "lppool/check/codes.h"

namespace lppool {

Diagnostic& Findings::add(const Place& place, std::string_view code, std::string message, std::string hint) {
  Diagnostic finding;
  finding.code = code;
  finding.message = std::move(message);
  finding.hint = std::move(hint);
  return adopt(place, finding);
}

Diagnostic& Findings::adopt(const Place& place, const Diagnostic& original) {
  const CodeInfo* info = find_code(original.code);
  const Severity severity = info == nullptr ? original.severity : info->severity;
  if (severity == Severity::kError && place.node != nullptr) ++errors_by_node_[{std::string(place.graph), place.index}];
  ++count_by_code_[original.code];
  // The first error is always kept: the verdict must not depend on how many notes came before it.
  const bool first_error = severity == Severity::kError && !seen_error_;
  if (list_.size() >= most_ && !first_error) {
    ++left_out_;
    scratch_ = {};
    return scratch_;
  }
  if (severity == Severity::kError) seen_error_ = true;
  Diagnostic& finding = list_.emplace_back(original);
  finding.severity = severity;
  finding.graph = place.graph;
  if (!place.call.empty()) finding.message += fmt::format(" (in {})", place.call);
  if (place.node != nullptr) {
    finding.node = place.node->name;
    finding.node_index = place.index;
    finding.op_type = place.node->op_type;
    if (place.schema != nullptr) finding.since_version = place.schema->since_version;
  }
  return finding;
}

bool Findings::has_errors(const Place& place) const {
  return place.node != nullptr && errors_by_node_.contains(NodeKey(place.graph, place.index));
}

std::size_t Findings::count(std::string_view code) const {
  const auto found = count_by_code_.find(code);
  return found == count_by_code_.end() ? 0 : found->second;
}

Diagnostics Findings::take() {
  // Rules run one after the other, readers go through the model: the main graph first, then what was met later.
  std::unordered_map<std::string, std::size_t> rank{{"", 0}};
  for (const Diagnostic& finding : list_) rank.emplace(finding.graph, rank.size());
  std::ranges::stable_sort(list_, {}, [&](const Diagnostic& finding) {
    return std::pair(rank[finding.graph], finding.node_index.value_or(-1));
  });
  if (left_out_ != 0) {
    Diagnostic rest;
    rest.severity = Severity::kNote;
    rest.code = "IR006";
    rest.message = fmt::format("{} more findings are left out", left_out_);
    list_.push_back(std::move(rest));
  }
  for (Diagnostic& finding : list_) {
    finding.message = printable(finding.message, 4000);
    finding.hint = printable(finding.hint, 4000);
  }
  return std::move(list_);
}

}  // namespace lppool
