#pragma once

#include <any>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/plan/plan.h"

namespace lppool {

// One node that has just run.
struct NodeEvent {
  const BoundNode& node;
  const std::string& path;        // where it stands: "" in the main graph, "loop1/body/3/" in the fourth round of a loop
  std::span<const Value> inputs;  // only with keep_inputs(): by position, empty where left out
  std::span<const Value> outputs; // in the node's order; empty where not wanted
  double seconds = 0;             // of the kernel alone
  bool folded = false;            // computed once at load, because all its inputs are constant
  std::size_t done = 0, total = 0;  // steps of the main graph
};

// Watches a run without changing it: values are shared, never copied or altered, and the outputs are the same bits with
// and without. Called on the thread that runs the graph.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual bool keep_inputs() const { return false; }
  virtual void on_node(const NodeEvent& event) = 0;
};

struct ExecutorOptions {
  int threads = 1;
  PlanRequest request;
  bool fold_constants = true;
  std::chrono::milliseconds time_limit{0};  // 0: none
  // Rounds of Loop and Scan bodies in one run, so that no model runs for ever unasked; 0: no limit.
  std::int64_t max_iterations = 10'000'000;
};

// Runs one bound graph, as often as wanted. Kernels' packed weights are kept between runs. Not thread safe: one run at a
// time; use one executor per thread (they may share the graph).
class Executor {
 public:
  // Throws as make_plan() does.
  Executor(std::shared_ptr<const BoundGraph> graph, ExecutorOptions options);
  ~Executor();

  // `inputs` by name: graph inputs (those with a default may be missing) and fed tensors. Returns the wanted outputs in
  // order. Throws kRuntime naming the node where inputs are missing, have another type or shape than declared, give one
  // symbol two sizes, or the data make a node impossible; kLimit where memory, time or rounds run out; kInterrupted.
  std::vector<Value> run(std::map<std::string, Value> inputs, RunObserver* observer = nullptr);

  const std::vector<std::string>& output_names() const { return output_names_; }
  std::size_t step_count() const { return plan_.steps.size(); }
  ThreadPool& threads() { return pool_; }

 private:
  class Run;
  // What never changes from run to run in one graph, per slot.
  struct Known {
    std::vector<bool> constant;
    std::vector<Value> values;
  };
  void fold_constants();
  void fold(const Plan& plan, Known known);
  bool fold(const Step& step, Known& known);
  void settle_defaults(const std::map<std::string, Value>& inputs);
  void check_inputs(const std::map<std::string, Value>& inputs) const;

  std::shared_ptr<const BoundGraph> graph_;
  ExecutorOptions options_;
  ThreadPool pool_;
  Plan plan_;
  std::vector<std::string> output_names_;
  std::set<Slot> replaced_defaults_;  // defaults that the last run's caller gave values for: not constant
  std::map<const Step*, std::any> states_;
  std::map<const Step*, std::vector<Value>> folded_;
  std::map<const Plan*, std::vector<bool>> constant_;  // per slot
};

}  // namespace lppool
