#include "lppool/run/session.h"

#include <algorithm>

#if __has_include("lppool/check/check.h")
#include "lppool/check/check.h"
#endif

namespace lppool {

void require_valid(const Diagnostics& findings) {
  const Diagnostic* first = nullptr;
  std::size_t errors = 0;
  bool data = false;
  for (const Diagnostic& finding : findings) {
    if (finding.severity != Severity::kError) continue;
    const bool is_data = finding.code.starts_with("TD") || finding.code.starts_with("EX");
    if (first == nullptr || (is_data && !data)) first = &finding;
    data = data || is_data;
    ++errors;
  }
  if (first == nullptr) return;
  std::string where;
  if (!first->graph.empty()) where += fmt::format("{}: ", first->graph);
  if (!first->op_type.empty()) {
    where += first->node.empty() ? fmt::format("node #{} ({}): ", first->node_index.value_or(0), first->op_type)
                                 : fmt::format("node '{}' ({}): ", first->node, first->op_type);
  }
  fail(data ? ErrorKind::kParse : ErrorKind::kRuntime, "invalid model: {} {}{}{}", first->code, where, first->message,
       errors > 1 ? fmt::format(" (and {} more; 'lppool-cli check' shows all)", errors - 1) : "");
}

Session::Session(const Model& model, ExecutorOptions options) {
#if __has_include("lppool/check/check.h")
  warnings_ = check_model(model);
  require_valid(warnings_);
#endif
  graph_ = std::make_shared<const BoundGraph>(bind_model(model));
  executor_ = std::make_unique<Executor>(graph_, std::move(options));
}

}  // namespace lppool
