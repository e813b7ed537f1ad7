#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lppool/report/tensor_picture.h"
#include "lppool/report/window_picture.h"
#include "lppool/run/executor.h"

// What a report remembers of the runs it watched.
namespace lppool::report {

struct NodeRecord {
  bool ran = false, folded = false;  // folded: its value is constant, and it ran once at load
  std::vector<double> seconds;       // of each timed run
  std::size_t bytes = 0;             // of its inputs and outputs
  std::vector<TensorPicture> outputs;
  std::optional<WindowPicture> window;

  double median() const;  // 0 where it was not timed
};

struct RunRecord {
  std::string source;  // where the inputs come from, for people
  int threads = 1;
  std::vector<TensorPicture> inputs;
  std::vector<NodeRecord> nodes;  // by position in the bound graph
  std::vector<double> totals;     // seconds of whole runs, without anybody watching
  std::size_t inner = 0;          // nodes of subgraphs that ran, all rounds together
  std::string failure;            // what ended the run early; "" where nothing did

  double node_seconds() const;    // sum of the medians
};

// Watches one run for its tensors, then others for their times. Pictures shrink as graphs grow, so that those of all tensors
// together stay near a MiB. Only nodes of the main graph are kept; the time of a subgraph is that of the node that has it.
class Recorder final : public RunObserver {
 public:
  Recorder(const BoundGraph& graph, RunRecord& record);
  bool keep_inputs() const override { return pictures_; }
  void on_node(const NodeEvent& event) override;
  void add_inputs(const std::map<std::string, Value>& inputs);
  void time_only() { pictures_ = false; }

 private:
  const BoundGraph& graph_;
  RunRecord& record_;
  PictureSize size_;
  bool pictures_ = true;
};

}  // namespace lppool::report
