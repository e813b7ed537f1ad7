#include "lppool/report/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_set>

#include "lppool/report/markup.h"

namespace lppool::report {
namespace {

constexpr std::size_t kMostWeights = 3;

// Names that a subgraph reads from outside.
void collect_captures(const Graph& graph, std::set<std::string> inside, std::set<std::string>& captures) {
  for (const ValueInfo& input : graph.inputs) inside.insert(input.name);
  for (const StoredTensor& tensor : graph.initializers) inside.insert(tensor.name);
  for (const Node& node : graph.nodes) inside.insert(node.outputs.begin(), node.outputs.end());
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs) {
      if (!input.empty() && !inside.contains(input)) captures.insert(input);
    }
    for (const Attribute& attribute : node.attributes) {
      if (attribute.g) collect_captures(*attribute.g, inside, captures);
      for (const auto& g : attribute.graphs) collect_captures(*g, inside, captures);
    }
  }
  for (const ValueInfo& output : graph.outputs) {
    if (!output.name.empty() && !inside.contains(output.name)) captures.insert(output.name);
  }
}

std::vector<std::string> values_read(const Node& node) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const std::string& input : node.inputs) {
    if (!input.empty() && seen.insert(input).second) names.push_back(input);
  }
  std::set<std::string> captures;
  for (const Attribute& attribute : node.attributes) {
    if (attribute.g) collect_captures(*attribute.g, {}, captures);
    for (const auto& g : attribute.graphs) collect_captures(*g, {}, captures);
  }
  for (const std::string& name : captures) {
    if (seen.insert(name).second) names.push_back(name);
  }
  return names;
}

class Drawer {
 public:
  Drawer(const BoundGraph& graph, const InferResult& types, const std::map<std::string, std::string>& shapes)
      : graph_(graph), types_(types), shapes_(shapes) {}

  Drawing draw(const std::string& name) {
    drawing_.name = name;
    find_constants();
    for (const ValueInfo& input : graph_.inputs) {
      if (constants_.contains(input.name) || makers_.contains(input.name)) continue;
      makers_[input.name] = drawing_.nodes.size();
      add({DrawnNode::Kind::kInput, input.name, {type_text(input.name)}, "graph input " + input.name, "", 0});
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) add_node(i);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) add_edges(i);
    for (const ValueInfo& output : graph_.outputs) {
      const auto maker = makers_.find(output.name);
      if (maker == makers_.end()) continue;
      const std::size_t from = maker->second;
      add({DrawnNode::Kind::kOutput, output.name, {type_text(output.name)}, "graph output " + output.name, "", 0});
      connect(from, drawing_.nodes.size() - 1, output.name);
    }
    return std::move(drawing_);
  }

 private:
  void add(DrawnNode node) { drawing_.nodes.push_back(std::move(node)); }

  std::string shape_text(const std::string& tensor) const {
    if (const auto known = shapes_.find(tensor); known != shapes_.end()) return known->second;
    const TensorInfo* info = types_.find(tensor);
    return info != nullptr && info->type.shape ? to_string(*info->type.shape) : "";
  }

  std::string type_text(const std::string& tensor) const {
    const TensorInfo* info = types_.find(tensor);
    if (info == nullptr || info->type.kind == Type::Kind::kUnset) return "?";
    const std::string shape = shape_text(tensor);
    if (!info->type.is_tensor()) return to_string(info->type);
    return fmt::format("{} {}", name(info->type.dtype), shape.empty() ? "?" : shape);
  }

  // Initializers that no caller replaces, and what is made of nothing else.
  void find_constants() {
    std::unordered_set<std::string> inputs, outputs;
    for (const ValueInfo& input : graph_.inputs) inputs.insert(input.name);
    for (const ValueInfo& output : graph_.outputs) outputs.insert(output.name);
    for (const StoredTensor& tensor : graph_.initializers) constants_.insert(tensor.name);
    for (const StoredSparseTensor& tensor : graph_.sparse_initializers) constants_.insert(tensor.values.name);
    std::vector<bool> constant(graph_.nodes.size(), false);
    std::size_t count = 0;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const BoundNode& node = graph_.nodes[i];
      if (node.op == nullptr || !node.op->constant_foldable || std::ranges::any_of(node.node.outputs, [&](const auto& o) { return outputs.contains(o); })) continue;
      const auto read = values_read(node.node);
      if (!std::ranges::all_of(read, [&](const auto& name) { return constants_.contains(name) || made_.contains(name); })) continue;
      constant[i] = true;
      ++count;
      made_.insert(node.node.outputs.begin(), node.node.outputs.end());
    }
    if (count == graph_.nodes.size()) {
      constant.assign(graph_.nodes.size(), false);
      count = 0;
      made_.clear();
    }
    constant_nodes_ = std::move(constant);
    drawing_.left_out = count;
  }

  void add_node(std::size_t i) {
    drawing_.drawn_as.push_back(SIZE_MAX);
    if (constant_nodes_[i]) return;
    const BoundNode& node = graph_.nodes[i];
    DrawnNode drawn;
    const bool lp = canonical_domain(node.node.domain).empty() && (node.node.op_type == "LpPool" || node.node.op_type == "GlobalLpPool");
    drawn.kind = lp ? DrawnNode::Kind::kLpOperator : DrawnNode::Kind::kOperator;
    drawn.title = node.node.op_type;
    if (!node.node.name.empty()) drawn.lines.push_back(node.node.name);
    std::string weights;
    std::size_t count = 0;
    for (const std::string& input : node.node.inputs) {
      if (!constants_.contains(input) && !made_.contains(input)) continue;
      if (++count > kMostWeights) break;
      const std::string shape = shape_text(input);
      weights += fmt::format("{}{}", weights.empty() ? "" : " · ", shape.empty() ? "?" : shape);
    }
    if (!weights.empty()) drawn.lines.push_back(fmt::format("[{}{}]", weights, count > kMostWeights ? " · …" : ""));
    drawn.tooltip = fmt::format("#{} {} {}", i, node.node.op_type, node.label);
    drawn.link = fmt::format("n{}", i);
    for (const std::string& output : node.node.outputs) {
      if (!output.empty()) makers_.emplace(output, drawing_.nodes.size());
    }
    drawing_.drawn_as.back() = drawing_.nodes.size();
    add(std::move(drawn));
  }

  void add_edges(std::size_t i) {
    if (constant_nodes_[i]) return;
    for (const std::string& name : values_read(graph_.nodes[i].node)) {
      if (const auto maker = makers_.find(name); maker != makers_.end()) connect(maker->second, drawing_.drawn_as[i], name);
    }
  }

  void connect(std::size_t from, std::size_t to, const std::string& tensor) {
    drawing_.edges.push_back({from, to, shape_text(tensor), fmt::format("{} {}", tensor, type_text(tensor))});
  }

  const BoundGraph& graph_;
  const InferResult& types_;
  const std::map<std::string, std::string>& shapes_;
  std::unordered_set<std::string> constants_, made_;
  std::vector<bool> constant_nodes_;
  std::map<std::string, std::size_t> makers_;
  Drawing drawing_;
};

}  // namespace

Drawing draw_graph(const std::string& name, const BoundGraph& graph, const InferResult& types,
                   const std::map<std::string, std::string>& shapes) {
  return Drawer(graph, types, shapes).draw(name);
}

std::string dot_text(const Drawing& drawing) {
  std::string text = fmt::format("digraph \"{}\" {{\n  node [shape=box fontname=\"monospace\" fontsize=10];\n  edge [fontname=\"monospace\" fontsize=9];\n",
                                 escape_dot(drawing.name));
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
    const DrawnNode& node = drawing.nodes[i];
    std::string label = escape_dot(node.title);
    for (const std::string& line : node.lines) label += "\\n" + escape_dot(line);
    const bool end = node.kind == DrawnNode::Kind::kInput || node.kind == DrawnNode::Kind::kOutput;
    text += fmt::format("  n{} [label=\"{}\"{}];\n", i, label,
                        end ? " style=rounded" : node.kind == DrawnNode::Kind::kLpOperator ? " style=bold" : "");
  }
  for (const DrawnEdge& edge : drawing.edges) {
    text += fmt::format("  n{} -> n{}", edge.from, edge.to);
    if (!edge.label.empty()) text += fmt::format(" [label=\"{}\"]", escape_dot(edge.label));
    text += ";\n";
  }
  return text + "}\n";
}

}  // namespace lppool::report
