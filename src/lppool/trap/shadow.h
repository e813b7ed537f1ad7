#pragma once

#include <string>
#include <vector>

#include "lppool/run/executor.h"

namespace lppool {

// How far one output is from the same node computed in float64 on the same inputs: the node's own error, not what it
// inherits.
struct ShadowRow {
  std::string tensor, label, op_type;
  double max_abs = 0, max_rel = 0;  // over elements that are finite in both
  std::int64_t elements = 0;
  std::int64_t special = 0;         // elements where one is NaN or infinite and the other is not
};

// Runs each node of the main graph a second time in float64, where its operator takes that type. Nodes with subgraphs,
// without float inputs, or that refuse float64 are counted in skipped(). The run itself is not touched.
class Shadow final : public RunObserver {
 public:
  explicit Shadow(int threads, RunObserver* next = nullptr) : pool_(threads), next_(next) {}
  bool keep_inputs() const override { return true; }
  void on_node(const NodeEvent& event) override;

  const std::vector<ShadowRow>& rows() const { return rows_; }
  std::size_t skipped() const { return skipped_; }

 private:
  ThreadPool pool_;
  RunObserver* next_;
  std::vector<ShadowRow> rows_;
  std::size_t skipped_ = 0;
};

}  // namespace lppool
