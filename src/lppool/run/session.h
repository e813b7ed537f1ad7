#pragma once

#include "lppool/run/executor.h"

namespace lppool {

// From a model to an executor in one step: check, bind, plan. What the stages find wrong ends it: kParse for faulty stored
// tensors, kRuntime for any other error of the checker, kUnsupported naming every operator that cannot be run.
class Session {
 public:
  explicit Session(const Model& model, ExecutorOptions options = {});

  // As Executor::run.
  std::vector<Value> run(std::map<std::string, Value> inputs, RunObserver* observer = nullptr) {
    return executor_->run(std::move(inputs), observer);
  }
  Executor& executor() { return *executor_; }
  const BoundGraph& graph() const { return *graph_; }
  const Diagnostics& warnings() const { return warnings_; }  // what the checker says beside errors

 private:
  Diagnostics warnings_;
  std::shared_ptr<const BoundGraph> graph_;
  std::unique_ptr<Executor> executor_;
};

// Throws the first error among findings the way Session does, saying how many more there are. Returns without one.
void require_valid(const Diagnostics& findings);

}  // namespace lppool
