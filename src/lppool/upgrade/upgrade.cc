#include "lppool/upgrade/upgrade.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lppool/check/check.h"
#include "lppool/infer/infer.h"
#include "lppool/ops/lp_window.h"
#include "lppool/ops/schema_diff.h"
#include "lppool/run/session.h"

namespace lppool {
namespace {

bool is_lp(const Node& node) {
  return canonical_domain(node.domain).empty() && (node.op_type == "LpPool" || node.op_type == "GlobalLpPool");
}

Attribute int_attribute(std::int64_t value) {
  Attribute attribute;
  attribute.type_number = static_cast<std::int32_t>(AttributeType::kInt);
  attribute.fields = 1u << attribute.type_number;
  attribute.i = value;
  return attribute;
}

Attribute float_attribute(float value) {
  Attribute attribute;
  attribute.type_number = static_cast<std::int32_t>(AttributeType::kFloat);
  attribute.fields = 1u << attribute.type_number;
  attribute.f = value;
  return attribute;
}

// The edits that carry one Lp node from one version's schema to another's, and what stands against them.
struct NodeMove {
  std::vector<ModelFile::AttributeEdit> edits;
  std::vector<std::string> obstacles, remarks;
};

void move_p(const Node& node, const OpSchema& to, NodeMove& move) {
  const Attribute* p = node.find_attribute("p");
  if (p == nullptr) return;  // the default is 2 in every version
  const AttributeType wanted = to.find_attribute("p")->type;
  if (p->type() == wanted) return;
  if (!p->ref_attr_name.empty()) {
    move.obstacles.push_back(fmt::format("p refers to the function's attribute '{}', whose type the call decides", p->ref_attr_name));
  } else if (wanted == AttributeType::kInt) {
    if (p->f != std::floor(p->f) || std::abs(p->f) >= 0x1p63f) {
      move.obstacles.push_back(fmt::format("p is {}, and an int cannot say that", p->f));
      return;
    }
    move.edits.push_back({"p", int_attribute(static_cast<std::int64_t>(p->f))});
    move.remarks.push_back(fmt::format("p {} becomes an int", p->f));
  } else {
    const auto value = static_cast<float>(p->i);
    if (static_cast<double>(value) != static_cast<double>(p->i) || static_cast<std::int64_t>(static_cast<double>(p->i)) != p->i) {
      move.obstacles.push_back(fmt::format("p is {}, and a float cannot say that exactly", p->i));
      return;
    }
    move.edits.push_back({"p", float_attribute(value)});
    move.remarks.push_back(fmt::format("p {} becomes a float", p->i));
  }
}

// Attributes the target's schema lacks: fine where they have no effect.
void drop_attributes(const Node& node, const OpSchema& to, NodeMove& move) {
  for (const Attribute& attribute : node.attributes) {
    if (to.find_attribute(attribute.name) != nullptr || attribute.name.starts_with("__")) continue;
    const bool idle = (attribute.name == "ceil_mode" && attribute.i == 0 && attribute.ref_attr_name.empty()) ||
                      (attribute.name == "dilations" && attribute.ref_attr_name.empty() &&
                       std::ranges::all_of(attribute.ints, [](std::int64_t d) { return d == 1; }));
    if (idle) {
      move.edits.push_back({attribute.name, std::nullopt});
      move.remarks.push_back(fmt::format("{} is left out: version {} lacks it and it has no effect", attribute.name, to.since_version));
    } else {
      move.obstacles.push_back(fmt::format("{} has no form in version {}", attribute.name, to.since_version));
    }
  }
}

NodeMove move_node(const Node& node, const OpSchema& to) {
  NodeMove move;
  move_p(node, to, move);
  drop_attributes(node, to, move);
  for (const AttributeSchema& attribute : to.attributes) {
    if (attribute.required && node.find_attribute(attribute.name) == nullptr) {
      move.obstacles.push_back(fmt::format("{} is missing, and version {} requires it", attribute.name, to.since_version));
    }
  }
  return move;
}

// Whether an LpPool node's shape changes between 18 and 22, which differ in the dropped window only.
void judge_dropped_window(const BoundNode& node, const OpSchema& to, const ValueType* input, NodeMove& move) {
  if (node.node.op_type != "LpPool") return;
  const bool drops_before = node.schema->since_version >= 22, drops_after = to.since_version >= 22;
  const Attribute* ceil_mode = node.node.find_attribute("ceil_mode");
  if (drops_before == drops_after || ceil_mode == nullptr || ceil_mode->i == 0 || to.since_version < 18) return;
  if (input == nullptr || !input->shape) {
    move.obstacles.push_back("ceil_mode is 1 and the input's rank is unknown: versions 18 and 22 may differ in the last window");
    return;
  }
  LpWindow window = read_lp_window(AttributeView(node.node, *node.schema), input->shape->size());
  if (window.same()) return;
  window.drops_last_window = true;
  for (std::size_t axis = 0; axis < window.axes.size(); ++axis) {
    const auto n = (*input->shape)[axis + 2].value();
    if (!n) {
      move.obstacles.push_back(fmt::format("ceil_mode is 1 and axis {} has no fixed size: versions 18 and 22 may differ in the last window", axis + 2));
    } else if (plan_axis(window, axis, *n).last_window_dropped) {
      move.obstacles.push_back(fmt::format("axis {} of size {} has a last window that starts in the end padding: version 18 keeps it, version 22 drops it", axis + 2, *n));
    }
  }
}

class Planner {
 public:
  Planner(const Model& model, UpgradePlan& plan) : model_(model), plan_(plan) {}

  void run() {
    const BoundGraph graph = bind_model(model_);
    inferred_ = infer_shapes(graph);
    walk(graph, true);
  }

 private:
  void note(bool blocking, const std::string& node, std::string message) {
    UpgradeNote entry{blocking, node, std::move(message)};
    const bool known = std::ranges::any_of(plan_.notes, [&](const UpgradeNote& n) {
      return n.node == entry.node && n.message == entry.message;
    });
    if (!known) plan_.notes.push_back(std::move(entry));
  }

  void walk(const BoundGraph& graph, bool main) {
    for (const BoundNode& node : graph.nodes) {
      if (canonical_domain(node.node.domain).empty()) judge(node, main);
    }
    for (const auto& [key, subgraph] : graph.subgraphs) walk(*subgraph, false);
  }

  void judge(const BoundNode& node, bool main) {
    if (node.op == nullptr || node.schema == nullptr) {
      note(true, node.where, "the operator is not known here, so it cannot be told whether its meaning changes");
      return;
    }
    const OpSchema* to = schema_for(*node.op, plan_.new_opset);
    if (to == nullptr) {
      note(true, node.where, fmt::format("the operator does not exist at opset {}", plan_.new_opset));
      return;
    }
    if (to->since_version == node.schema->since_version) return;
    if (!is_lp(node.node)) {
      judge_other(node);
      return;
    }
    const TensorInfo* info = main && !node.node.inputs.empty() ? inferred_.find(node.node.inputs[0]) : nullptr;
    NodeMove move = move_node(node.node, *to);
    judge_dropped_window(node, *to, info ? &info->type : nullptr, move);
    if (info && info->type.is_tensor() && info->type.dtype != DataType::kUndefined) {
      const auto allowed = to->allowed_types(to->inputs[0]);
      if (std::ranges::find(allowed, name(info->type.dtype)) == allowed.end()) {
        move.obstacles.push_back(fmt::format("version {} does not take {}, it takes {}", to->since_version, name(info->type.dtype), fmt::join(allowed, ", ")));
      }
    }
    for (auto& obstacle : move.obstacles) note(true, node.where, std::move(obstacle));
    if (!move.obstacles.empty()) return;
    std::string text = fmt::format("version {} becomes {}", node.schema->since_version, to->since_version);
    for (const auto& remark : move.remarks) text += "; " + remark;
    note(false, node.where, std::move(text));
  }

  void judge_other(const BoundNode& node) {
    const SchemaDiff diff = diff_schemas(*node.op, node.opset, plan_.new_opset);
    for (const SchemaChange& change : diff.changes) {
      if (!change.breaking) continue;
      // A change about an attribute or input that the node does not have leaves it as it is.
      if (change.what == "attribute" && change.change == "removed" && node.node.find_attribute(change.name) == nullptr) continue;
      if (change.what == "attribute" && change.change == "default" && node.node.find_attribute(change.name) != nullptr) continue;
      note(true, node.where, fmt::format("version {} becomes {}: {} '{}' {}, so {}", diff.old_version, diff.new_version, change.what, change.name, change.change, change.why));
      return;
    }
    note(false, node.where, fmt::format("version {} becomes {}, by schema without change for this node", diff.old_version, diff.new_version));
  }

  const Model& model_;
  UpgradePlan& plan_;
  InferResult inferred_;
};

}  // namespace

bool UpgradePlan::possible() const {
  return std::ranges::none_of(notes, [](const UpgradeNote& note) { return note.blocking; });
}

UpgradePlan plan_upgrade(const Model& model, std::int64_t new_opset) {
  if (new_opset < 1 || new_opset > newest_opset("")) {
    fail(ErrorKind::kUsage, "--opset is {}, expected 1 to {}", new_opset, newest_opset(""));
  }
  CheckOptions options;
  options.infer = false;
  require_valid(check_model(model, options));
  const auto old_opset = opset_of(model.opset_imports, "", model.ir_version.value_or(0));
  if (!old_opset) fail(ErrorKind::kRuntime, "the model does not import the default domain: there is nothing to move");
  UpgradePlan plan;
  plan.old_opset = *old_opset;
  plan.new_opset = new_opset;
  Planner(model, plan).run();
  return plan;
}

void apply_upgrade(ModelFile& file, const UpgradePlan& plan) {
  file.edit_nodes([&](const Node& node) -> std::vector<ModelFile::AttributeEdit> {
    if (!is_lp(node)) return {};
    return move_node(node, *schema_for(*find_op("", node.op_type), plan.new_opset)).edits;
  });
  file.set_opset("", plan.new_opset);
}

}  // namespace lppool
