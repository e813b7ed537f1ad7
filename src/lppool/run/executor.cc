#include "lppool/run/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "lppool/base/interrupt.h"
#include "lppool/infer/infer.h"
#include "lppool/run/packed_call.h"

namespace lppool {
namespace {

using Clock = std::chrono::steady_clock;

std::string describe(const Value& value) {
  if (value.empty()) return "nothing";
  if (value.is_sequence()) return fmt::format("a sequence of {}", value.sequence().elements.size());
  return fmt::format("{} {}", name(value.tensor().dtype()), to_string(value.tensor().shape()));
}

}  // namespace

// One execution: the frames of the graphs being run, and what stops it.
class Executor::Run {
 public:
  Run(Executor& executor, RunObserver* observer) : executor_(executor), observer_(observer) {
    if (executor.options_.time_limit.count() > 0) deadline_ = Clock::now() + executor.options_.time_limit;
  }

  std::vector<Value> main(std::map<std::string, Value> inputs) {
    const Plan& plan = executor_.plan_;
    std::vector<Value> frame(plan.names.size());
    for (const auto& [slot, tensor] : plan.defaults) frame[static_cast<std::size_t>(slot)] = Value(tensor);
    for (auto& [name, value] : inputs) {
      const auto found = plan.slots.find(name);
      if (found != plan.slots.end()) frame[static_cast<std::size_t>(found->second)] = std::move(value);
    }
    inputs.clear();
    return block(plan, frame, "");
  }

  void checkpoint() {
    check_interrupt();
    const std::int64_t allowed = executor_.options_.max_iterations;
    if (allowed > 0 && ++iterations_ > allowed) fail(ErrorKind::kLimit, "more than {} rounds of loops in one run, the limit set for it", allowed);
    if (deadline_ && Clock::now() > *deadline_) {
      fail(ErrorKind::kLimit, "the run takes longer than the {} ms allowed", executor_.options_.time_limit.count());
    }
  }

 private:
  class Context final : public KernelContext {
   public:
    Context(Run& run, const Plan& plan, const Step& step, std::vector<Value>& frame, const std::string& path)
        : KernelContext(step.node->node, *step.node->schema), run_(run), plan_(plan), step_(step), frame_(frame), path_(path) {
      opset = step.node->opset;
      thread_pool = &run.executor_.pool_;
      state_slot = &run.executor_.states_[&step];
      for (const Slot s : step.outputs) output_wanted.push_back(s != kNoSlot);
      outputs.resize(step.outputs.size());
    }
    std::vector<Value> run_subgraph(const Graph& graph, std::vector<Value> arguments) override {
      const auto found = step_.blocks.find(&graph);
      if (found == step_.blocks.end()) fail(ErrorKind::kDefect, "a subgraph that was not planned");
      run_.checkpoint();
      const Plan& inner = *found->second;
      if (arguments.size() > inner.inputs.size()) {
        fail(ErrorKind::kRuntime, "the subgraph takes {} inputs, {} given", inner.inputs.size(), arguments.size());
      }
      std::vector<Value> inner_frame(inner.names.size());
      for (const auto& [slot, tensor] : inner.defaults) inner_frame[static_cast<std::size_t>(slot)] = Value(tensor);
      for (const Capture& capture : inner.captures) {
        Value& outer = frame_[static_cast<std::size_t>(capture.outer)];
        if (outer.is_packed()) outer = run_.plain(outer);
        inner_frame[static_cast<std::size_t>(capture.inner)] = outer;
      }
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        inner_frame[static_cast<std::size_t>(inner.inputs[i])] = std::move(arguments[i]);
      }
      arguments.clear();
      std::string inner_path;
      if (run_.observer_ != nullptr) inner_path = fmt::format("{}{}/{}/{}/", path_, step_.node->label, attribute_of(graph), rounds_[&graph]++);
      return run_.block(inner, inner_frame, inner_path);
    }
    bool is_constant(std::size_t i) const override {
      const auto found = run_.executor_.constant_.find(&plan_);
      return i < step_.inputs.size() && step_.inputs[i] != kNoSlot && found != run_.executor_.constant_.end() &&
             found->second[static_cast<std::size_t>(step_.inputs[i])];
    }
    bool may_pack() const override { return true; }
    void checkpoint() override { run_.checkpoint(); }

   private:
    std::string_view attribute_of(const Graph& graph) const {
      for (const Attribute& attribute : step_.node->node.attributes) {
        if (attribute.g.get() == &graph) return attribute.name;
      }
      return "graph";
    }

    Run& run_;
    const Plan& plan_;
    const Step& step_;
    std::vector<Value>& frame_;
    const std::string& path_;
    std::map<const Graph*, int> rounds_;
  };

  std::vector<Value> block(const Plan& plan, std::vector<Value>& frame, const std::string& path) {
    if (++depth_ > 200) fail(ErrorKind::kLimit, "graphs nest deeper than 200 at run time");
    for (const auto& [slot, tensor] : plan.constants) frame[static_cast<std::size_t>(slot)] = Value(tensor);
    const bool main_graph = path.empty() && depth_ == 1;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Step& step = plan.steps[i];
      if (main_graph) done_ = i + 1;
      if (const auto folded = executor_.folded_.find(&step); folded != executor_.folded_.end()) {
        for (std::size_t k = 0; k < step.outputs.size(); ++k) {
          if (step.outputs[k] != kNoSlot) frame[static_cast<std::size_t>(step.outputs[k])] = folded->second[k];
        }
        tell(step, path, {}, folded->second, 0, true);
      } else {
        one(plan, step, frame, path);
      }
      for (const Slot s : step.dead) frame[static_cast<std::size_t>(s)] = Value();
    }
    std::vector<Value> outputs;
    for (const Slot s : plan.outputs) outputs.push_back(plain(frame[static_cast<std::size_t>(s)]));
    --depth_;
    return outputs;
  }

  // The value as everybody outside a run knows it: nothing packed.
  Value plain(const Value& value) { return value.is_packed() ? Value(unpack(value.packed(), executor_.pool_)) : value; }

  void one(const Plan& plan, const Step& step, std::vector<Value>& frame, const std::string& path) {
    check_interrupt();
    Context context(*this, plan, step, frame, path);
    const bool keep = observer_ != nullptr && observer_->keep_inputs();
    std::vector<Value> kept;
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.inputs[i] == kNoSlot) {
        context.inputs.emplace_back();
        if (keep) kept.emplace_back();
        continue;
      }
      Value& value = frame[static_cast<std::size_t>(step.inputs[i])];
      if (keep) kept.push_back(plain(value));
      // Unpacked once for all who read it, unless this kernel reads blocks.
      if (value.is_packed() && step.node->op->packed == PackedUse::kNone) value = plain(value);
      context.inputs.push_back(step.last_use[i] ? std::move(value) : value);
    }
    const auto begin = Clock::now();
    try {
      const bool sees_blocks = adapt_packed_inputs(context, step.node->op->packed);
      step.node->op->run(context);
      if (sees_blocks) wrap_output(context);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kInterrupted) throw;
      throw Error(error.kind(), fmt::format("{}: {}", step.node->where, error.what()));
    } catch (const std::bad_alloc&) {
      fail(ErrorKind::kLimit, "{}: out of memory", step.node->where);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    context.inputs.clear();
    context.outputs.resize(step.outputs.size());
    for (std::size_t k = 0; k < step.outputs.size(); ++k) {
      if (step.outputs[k] != kNoSlot) frame[static_cast<std::size_t>(step.outputs[k])] = context.outputs[k];
    }
    if (observer_ != nullptr) {
      for (Value& value : context.outputs) value = plain(value);
    }
    tell(step, path, kept, context.outputs, seconds, false);
    if (deadline_ && Clock::now() > *deadline_) {
      fail(ErrorKind::kLimit, "the run takes longer than the {} ms allowed", executor_.options_.time_limit.count());
    }
  }

  void tell(const Step& step, const std::string& path, std::span<const Value> inputs, std::span<const Value> outputs,
            double seconds, bool folded) {
    if (observer_ == nullptr) return;
    observer_->on_node({*step.node, path, inputs, outputs, seconds, folded, done_, executor_.plan_.steps.size()});
  }

  Executor& executor_;
  RunObserver* observer_;
  std::optional<Clock::time_point> deadline_;
  std::int64_t iterations_ = 0;
  int depth_ = 0;
  std::size_t done_ = 0;
};

Executor::Executor(std::shared_ptr<const BoundGraph> graph, ExecutorOptions options)
    : graph_(std::move(graph)), options_(std::move(options)), pool_(options_.threads), plan_(make_plan(*graph_, options_.request)) {
  for (const Slot s : plan_.outputs) output_names_.push_back(plan_.names[static_cast<std::size_t>(s)]);
  fold_constants();
}

Executor::~Executor() = default;

// Starts over with what was computed from defaults where this run's caller replaces others than the last one's did.
void Executor::settle_defaults(const std::map<std::string, Value>& inputs) {
  std::set<Slot> replaced;
  for (const auto& [slot, tensor] : plan_.defaults) {
    if (inputs.contains(plan_.names[static_cast<std::size_t>(slot)])) replaced.insert(slot);
  }
  if (replaced == replaced_defaults_) return;
  replaced_defaults_ = std::move(replaced);
  states_.clear();
  folded_.clear();
  constant_.clear();
  fold_constants();
}

void Executor::check_inputs(const std::map<std::string, Value>& inputs) const {
  std::map<std::string, std::pair<std::int64_t, std::string>> symbols;  // size, and the input that set it
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < graph_->inputs.size(); ++i) {
    const ValueInfo& info = graph_->inputs[i];
    const auto given = inputs.find(info.name);
    if (given == inputs.end()) {
      const Slot slot = plan_.inputs[i];
      const bool has_default = std::ranges::any_of(plan_.defaults, [&](const auto& d) { return d.first == slot; });
      const bool is_read = std::ranges::any_of(plan_.steps, [&](const Step& step) {
        return std::ranges::find(step.inputs, slot) != step.inputs.end() ||
               std::ranges::any_of(step.blocks, [&](const auto& block) {
                 return std::ranges::any_of(block.second->captures, [&](const Capture& c) { return c.outer == slot; });
               });
      }) || std::ranges::find(plan_.outputs, slot) != plan_.outputs.end();
      const bool optional = info.type.kind == Type::Kind::kOptional;
      if (is_read && !has_default && !optional) missing.push_back(info.name);
      continue;
    }
    const ValueType declared = declared_type(info.type);
    const Value& value = given->second;
    if (declared.kind == Type::Kind::kTensor && !value.is_tensor()) {
      fail(ErrorKind::kRuntime, "input '{}' is {}, expected {}", info.name, describe(value), to_string(declared));
    }
    if (declared.kind == Type::Kind::kSequence && !value.is_sequence()) {
      fail(ErrorKind::kRuntime, "input '{}' is {}, expected {}", info.name, describe(value), to_string(declared));
    }
    if (!value.is_tensor() || declared.kind != Type::Kind::kTensor) continue;
    const Tensor& tensor = value.tensor();
    if (declared.dtype != DataType::kUndefined && declared.dtype != tensor.dtype()) {
      fail(ErrorKind::kRuntime, "input '{}' has type {}, expected {}", info.name, name(tensor.dtype()), name(declared.dtype));
    }
    if (!declared.shape) continue;
    const bool fits = declared.shape->size() == tensor.rank();
    for (std::size_t axis = 0; fits && axis < tensor.rank(); ++axis) {
      const Dimension& dim = (*info.type.shape)[axis];
      const std::int64_t size = tensor.shape()[axis];
      if (dim.value && *dim.value != size) {
        fail(ErrorKind::kRuntime, "input '{}' has shape {}, expected {}", info.name, to_string(tensor.shape()), to_string(*declared.shape));
      }
      if (dim.value || dim.symbol.empty()) continue;
      const auto [entry, first] = symbols.emplace(dim.symbol, std::pair(size, info.name));
      if (!first && entry->second.first != size) {
        fail(ErrorKind::kRuntime, "symbolic dimension '{}' is {} in input '{}', but {} in input '{}'", dim.symbol, size,
             info.name, entry->second.first, entry->second.second);
      }
    }
    if (!fits) {
      fail(ErrorKind::kRuntime, "input '{}' has shape {}, expected {}", info.name, to_string(tensor.shape()), to_string(*declared.shape));
    }
  }
  if (!missing.empty()) fail(ErrorKind::kRuntime, "no value given for input{} '{}'", missing.size() > 1 ? "s" : "", fmt::join(missing, "', '"));
  for (const auto& given : inputs) {
    const std::string& name = given.first;
    const bool known = std::ranges::any_of(graph_->inputs, [&](const ValueInfo& i) { return i.name == name; }) ||
                       options_.request.fed.contains(name);
    if (known) continue;
    std::vector<std::string> names;
    for (const ValueInfo& input : graph_->inputs) names.push_back(input.name);
    fail(ErrorKind::kRuntime, "the graph has no input '{}', expected one of: {}", name, fmt::join(names, ", "));
  }
}

std::vector<Value> Executor::run(std::map<std::string, Value> inputs, RunObserver* observer) {
  check_inputs(inputs);
  settle_defaults(inputs);
  return Run(*this, observer).main(std::move(inputs));
}

}  // namespace lppool
