// Constant folding: what depends on constants alone is computed once, when the executor is made.
#include <algorithm>
#include <new>

#include "lppool/run/executor.h"
#include "lppool/tensor/memory.h"

namespace lppool {
namespace {

constexpr std::size_t kAlwaysFoldedBytes = std::size_t{64} << 10;  // a folded value stays for the executor's life

class FoldContext final : public KernelContext {
 public:
  FoldContext(const Step& step, ThreadPool& pool) : KernelContext(step.node->node, *step.node->schema) {
    opset = step.node->opset;
    thread_pool = &pool;
    state_slot = &state_;
    for (const Slot output : step.outputs) output_wanted.push_back(output != kNoSlot);
    outputs.resize(step.outputs.size());
  }
  std::vector<Value> run_subgraph(const Graph&, std::vector<Value>) override {
    fail(ErrorKind::kDefect, "a folded node has no subgraph");
  }
  bool is_constant(std::size_t) const override { return true; }

 private:
  std::any state_;
};

std::size_t index(Slot slot) {
  return static_cast<std::size_t>(slot);
}

}  // namespace

void Executor::fold_constants() {
  Known known{std::vector<bool>(plan_.names.size(), false), std::vector<Value>(plan_.names.size())};
  // A default is as good as a constant as long as no caller gives another value.
  for (const auto& [slot, tensor] : plan_.defaults) {
    if (!options_.fold_constants || replaced_defaults_.contains(slot)) continue;
    known.constant[index(slot)] = true;
    known.values[index(slot)] = Value(tensor);
  }
  fold(plan_, std::move(known));
}

// Branches and bodies too: their weights are often constants of their own, and kernels prepare constant weights once.
void Executor::fold(const Plan& plan, Known known) {
  for (const auto& [slot, tensor] : plan.constants) {
    known.constant[index(slot)] = true;
    known.values[index(slot)] = Value(tensor);
  }
  for (const Step& step : plan.steps) {
    if (options_.fold_constants && fold(step, known)) continue;
    for (const auto& [graph, block] : step.blocks) {
      Known inner{std::vector<bool>(block->names.size(), false), std::vector<Value>(block->names.size())};
      for (const Capture& capture : block->captures) {
        inner.constant[index(capture.inner)] = known.constant[index(capture.outer)];
        inner.values[index(capture.inner)] = known.values[index(capture.outer)];
      }
      fold(*block, std::move(inner));
    }
  }
  constant_[&plan] = std::move(known.constant);
}

bool Executor::fold(const Step& step, Known& known) {
  const OpDef& op = *step.node->op;
  const bool foldable = op.constant_foldable && step.blocks.empty() && std::ranges::all_of(step.inputs, [&](Slot s) {
                          return s == kNoSlot || known.constant[index(s)];
                        });
  if (!foldable) return false;
  try {
    FoldContext context(step, pool_);
    for (const Slot s : step.inputs) context.inputs.push_back(s == kNoSlot ? Value() : known.values[index(s)]);
    op.run(context);
    context.inputs.clear();
    context.outputs.resize(step.outputs.size());
    std::size_t bytes = 0;
    for (const Value& value : context.outputs) bytes += value.is_tensor() ? value.tensor().bytes() : 0;
    // Large ones only while they leave room for the run itself.
    if (bytes > kAlwaysFoldedBytes && memory::in_use() > memory::limit() / 2) return false;
    for (std::size_t k = 0; k < step.outputs.size(); ++k) {
      if (step.outputs[k] == kNoSlot) continue;
      known.constant[index(step.outputs[k])] = true;
      known.values[index(step.outputs[k])] = context.outputs[k];
    }
    folded_[&step] = std::move(context.outputs);
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted) throw;
    // The step stays in the plan and says the same when it is run.
  } catch (const std::bad_alloc&) {
  }
  return false;
}

}  // namespace lppool
