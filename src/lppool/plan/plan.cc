#include "lppool/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lppool/plan/sparse.h"

namespace lppool {
namespace {

// Names a graph (with its branches) reads from outside itself.
void collect_free(const BoundGraph& graph, std::set<std::string>& free) {
  std::set<std::string> own;
  for (const ValueInfo& input : graph.inputs) own.insert(input.name);
  for (const StoredTensor& tensor : graph.initializers) own.insert(tensor.name);
  for (const StoredSparseTensor& tensor : graph.sparse_initializers) own.insert(tensor.values.name);
  for (const BoundNode& node : graph.nodes) own.insert(node.node.outputs.begin(), node.node.outputs.end());
  std::set<std::string> read;
  for (const BoundNode& node : graph.nodes) read.insert(node.node.inputs.begin(), node.node.inputs.end());
  for (const ValueInfo& output : graph.outputs) read.insert(output.name);
  for (const auto& [key, subgraph] : graph.subgraphs) collect_free(*subgraph, read);
  for (const std::string& name : read) {
    if (!name.empty() && !own.contains(name)) free.insert(name);
  }
}

// The graphs a node carries, bound.
std::vector<std::pair<const Graph*, const BoundGraph*>> blocks_of(const BoundGraph& graph, const BoundNode& node) {
  std::vector<std::pair<const Graph*, const BoundGraph*>> result;
  const auto add = [&](const std::shared_ptr<const Graph>& g) {
    if (!g) return;
    const auto found = graph.subgraphs.find(g.get());
    if (found != graph.subgraphs.end()) result.emplace_back(g.get(), found->second.get());
  };
  for (const Attribute& attribute : node.node.attributes) {
    add(attribute.g);
    for (const auto& g : attribute.graphs) add(g);
  }
  return result;
}

std::string operator_name(const BoundNode& node) {
  std::string text = node.node.domain.empty() ? node.node.op_type : fmt::format("{}:{}", node.node.domain, node.node.op_type);
  if (node.op != nullptr && node.opset > 0) text += fmt::format(" at opset {}", node.opset);
  return text;
}

class Builder {
 public:
  Builder(const BoundGraph& graph, Builder* parent, std::map<std::string, std::string>& unsupported)
      : graph_(graph), parent_(parent), unsupported_(unsupported) {
    plan_.graph = &graph;
  }

  Plan build(const PlanRequest& request) {
    define_values(request);
    std::vector<std::string> wanted = request.outputs;
    if (wanted.empty()) {
      for (const ValueInfo& output : graph_.outputs) wanted.push_back(output.name);
    }
    const std::vector<bool> needed = find_needed(wanted, request);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (needed[i]) add_step(graph_.nodes[i], request);
    }
    for (const std::string& output : wanted) plan_.outputs.push_back(read(output, nullptr));
    release_values();
    return std::move(plan_);
  }

 private:
  Slot slot(const std::string& name) {
    const auto [entry, added] = plan_.slots.emplace(name, static_cast<Slot>(plan_.names.size()));
    if (added) plan_.names.push_back(name);
    return entry->second;
  }

  void define_values(const PlanRequest& request) {
    std::set<std::string> inputs;
    for (const ValueInfo& input : graph_.inputs) {
      plan_.inputs.push_back(slot(input.name));
      inputs.insert(input.name);
      defined_.insert(input.name);
    }
    for (const StoredTensor& tensor : graph_.initializers) {
      if (tensor.problem) fail(ErrorKind::kParse, "initializer '{}': {}", tensor.name, tensor.problem->message);
      if (!defined_.insert(tensor.name).second && !inputs.contains(tensor.name)) continue;
      auto& list = inputs.contains(tensor.name) ? plan_.defaults : plan_.constants;
      list.emplace_back(slot(tensor.name), tensor.value);
    }
    for (const StoredSparseTensor& tensor : graph_.sparse_initializers) {
      defined_.insert(tensor.values.name);
      plan_.constants.emplace_back(slot(tensor.values.name), to_dense(tensor));
    }
    for (const std::string& name : request.fed) {
      slot(name);
      defined_.insert(name);
    }
  }

  // Which nodes must run for the wanted values: a walk backwards over the producers.
  std::vector<bool> find_needed(const std::vector<std::string>& wanted, const PlanRequest& request) {
    const std::size_t count = graph_.nodes.size();
    std::vector<bool> needed(count, request.keep_all);
    std::unordered_map<std::string, std::size_t> producers;
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::string& output : graph_.nodes[i].node.outputs) {
        if (!output.empty() && !request.fed.contains(output)) producers.emplace(output, i);
      }
    }
    if (request.keep_all) {
      // Still nothing that is fed is computed.
      for (std::size_t i = 0; i < count; ++i) {
        const auto& outputs = graph_.nodes[i].node.outputs;
        needed[i] = outputs.empty() || std::ranges::any_of(outputs, [&](const std::string& o) { return producers.contains(o); });
      }
      return needed;
    }
    std::vector<std::size_t> pending;
    const auto want = [&](const std::string& name) {
      const auto found = producers.find(name);
      if (found == producers.end() || needed[found->second]) return;
      needed[found->second] = true;
      pending.push_back(found->second);
    };
    for (const std::string& name : wanted) want(name);
    while (!pending.empty()) {
      const BoundNode& node = graph_.nodes[pending.back()];
      pending.pop_back();
      for (const std::string& input : node.node.inputs) want(input);
      for (const auto& [key, block] : blocks_of(graph_, node)) {
        std::set<std::string> free;
        collect_free(*block, free);
        for (const std::string& name : free) want(name);
      }
    }
    return needed;
  }

  // The slot of a value that is read here; captured from the enclosing graph where it is not defined in this one.
  Slot read(const std::string& name, const BoundNode* node) {
    if (defined_.contains(name)) return slot(name);
    if (parent_ != nullptr) {
      const Slot outer = parent_->read(name, node);
      const Slot inner = slot(name);
      defined_.insert(name);
      plan_.captures.push_back({outer, inner});
      return inner;
    }
    if (node == nullptr) fail(ErrorKind::kRuntime, "no tensor '{}' in the graph", name);
    fail(ErrorKind::kRuntime, "{}: input '{}' is not defined by anything before it", node->where, name);
  }

  void add_step(const BoundNode& node, const PlanRequest& request) {
    Step step;
    step.node = &node;
    if (node.schema == nullptr || node.op->run == nullptr) unsupported_.emplace(operator_name(node), node.where);
    for (const Attribute& attribute : node.node.attributes) {
      if (attribute.t && attribute.t->problem) {
        fail(ErrorKind::kParse, "{}: attribute '{}': {}", node.where, attribute.name, attribute.t->problem->message);
      }
    }
    for (const std::string& input : node.node.inputs) step.inputs.push_back(input.empty() ? kNoSlot : read(input, &node));
    for (const auto& [key, block] : blocks_of(graph_, node)) {
      Builder inner(*block, this, unsupported_);
      step.blocks[key] = std::make_unique<Plan>(inner.build({}));
    }
    for (const std::string& output : node.node.outputs) {
      if (output.empty() || request.fed.contains(output)) {
        step.outputs.push_back(kNoSlot);
        continue;
      }
      defined_.insert(output);
      step.outputs.push_back(slot(output));
    }
    plan_.steps.push_back(std::move(step));
  }

  void release_values() {
    std::vector<bool> kept(plan_.names.size(), false);
    for (const Slot s : plan_.outputs) kept[static_cast<std::size_t>(s)] = true;
    for (const auto& [s, tensor] : plan_.constants) kept[static_cast<std::size_t>(s)] = true;
    std::vector<bool> read_later(plan_.names.size(), false);
    for (auto step = plan_.steps.rbegin(); step != plan_.steps.rend(); ++step) {
      std::map<Slot, int> reads;
      for (const Slot s : step->inputs) {
        if (s != kNoSlot) ++reads[s];
      }
      for (const auto& [key, block] : step->blocks) {
        for (const Capture& capture : block->captures) reads[capture.outer] += 2;  // read beside the inputs: never handed over
      }
      step->last_use.assign(step->inputs.size(), false);
      for (std::size_t i = 0; i < step->inputs.size(); ++i) {
        const Slot s = step->inputs[i];
        if (s == kNoSlot) continue;
        const auto at = static_cast<std::size_t>(s);
        step->last_use[i] = !read_later[at] && !kept[at] && reads[s] == 1;
      }
      for (const auto& [s, count] : reads) {
        const auto at = static_cast<std::size_t>(s);
        if (!read_later[at] && !kept[at]) step->dead.push_back(s);
        read_later[at] = true;
      }
      for (const Slot s : step->outputs) {
        if (s != kNoSlot && !read_later[static_cast<std::size_t>(s)] && !kept[static_cast<std::size_t>(s)]) step->dead.push_back(s);
      }
    }
  }

  const BoundGraph& graph_;
  Builder* parent_;
  std::map<std::string, std::string>& unsupported_;
  std::set<std::string> defined_;
  Plan plan_;
};

}  // namespace

Plan make_plan(const BoundGraph& graph, const PlanRequest& request) {
  std::map<std::string, std::string> unsupported;
  Plan plan = Builder(graph, nullptr, unsupported).build(request);
  if (!unsupported.empty()) {
    std::string list;
    for (const auto& [op, where] : unsupported) list += fmt::format("{}{} ({})", list.empty() ? "" : "; ", op, where);
    fail(ErrorKind::kUnsupported, "operators that cannot be run here: {}; 'lppool-cli schema' lists those that can", list);
  }
  return plan;
}

}  // namespace lppool
