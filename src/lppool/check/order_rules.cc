// GR005, GR006 and GR017: the order of nodes, circles, and nodes without effect. Runs when every node of a graph was
// seen, on what each of them reads (from inside its branches, too).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lppool/check/rules.h"

namespace lppool {
namespace {

constexpr std::size_t kUnvisited = std::numeric_limits<std::size_t>::max();

// The node of this graph that a read of `name` means: none where an outer graph has the name, which GR003 has reported.
std::size_t local_producer(const Scope& scope, std::string_view name) {
  return scope.outer_defines(name) ? kUnvisited : scope.producer(name);
}

// Circles of a graph: Tarjan's strongly connected components, with a stack of its own instead of recursion.
class Circles {
 public:
  Circles(const std::vector<Node>& nodes, const Scope& scope)
      : component_(nodes.size(), kUnvisited),
        number_(nodes.size(), kUnvisited),
        low_(nodes.size(), 0),
        edges_(nodes.size()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const std::string_view name : scope.reads(i)) {
        const std::size_t from = local_producer(scope, name);
        if (from < nodes.size()) edges_[i].push_back(from);
      }
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (number_[i] == kUnvisited) visit(i);
    }
  }

  std::size_t component(std::size_t node) const { return component_[node]; }
  std::size_t size(std::size_t component) const { return sizes_[component]; }
  const std::vector<std::size_t>& edges(std::size_t node) const { return edges_[node]; }
  bool in_circle(std::size_t node) const {
    return size(component(node)) > 1 || std::ranges::find(edges_[node], node) != edges_[node].end();
  }

 private:
  struct Frame {
    std::size_t node, next = 0;
  };

  void visit(std::size_t root) {
    std::vector<Frame> stack{{root}};
    enter(root);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const std::size_t node = frame.node;
      if (frame.next < edges_[node].size()) {
        const std::size_t target = edges_[node][frame.next++];
        if (number_[target] == kUnvisited) {
          enter(target);
          stack.push_back({target});
        } else if (component_[target] == kUnvisited) {
          low_[node] = std::min(low_[node], number_[target]);
        }
        continue;
      }
      stack.pop_back();
      if (!stack.empty()) low_[stack.back().node] = std::min(low_[stack.back().node], low_[node]);
      if (low_[node] == number_[node]) close(node);
    }
  }

  void enter(std::size_t node) {
    number_[node] = low_[node] = count_++;
    open_.push_back(node);
  }

  void close(std::size_t node) {
    std::size_t members = 0, member = kUnvisited;
    do {
      member = open_.back();
      open_.pop_back();
      component_[member] = sizes_.size();
      ++members;
    } while (member != node);
    sizes_.push_back(members);
  }

  std::vector<std::size_t> component_, number_, low_, sizes_, open_;
  std::vector<std::vector<std::size_t>> edges_;
  std::size_t count_ = 0;
};

// A walk inside the component from `start` back to a node it met: names the values on the way.
std::string walk_circle(const std::vector<Node>& nodes, const Circles& circles, std::size_t start) {
  std::vector<std::size_t> path;
  std::size_t node = start;
  while (std::ranges::find(path, node) == path.end() && path.size() < 8) {
    path.push_back(node);
    for (const std::size_t next : circles.edges(node)) {
      if (circles.component(next) != circles.component(start)) continue;
      node = next;
      break;
    }
  }
  std::string text;
  for (const std::size_t step : path) text += describe(nodes[step], static_cast<std::int64_t>(step)) + " needs ";
  const bool closed = std::ranges::find(path, node) != path.end();
  return text + (closed ? describe(nodes[node], static_cast<std::int64_t>(node)) : "...");
}

}  // namespace

bool has_broken_edges(const CheckState& state) {
  for (const char* code : {"GR002", "GR003", "GR004", "GR005", "GR006", "GR007", "FN006", "SC001", "SC005"}) {
    if (state.findings.count(code) != 0) return true;
  }
  return false;
}

void check_order(CheckState& state, const std::vector<Node>& nodes, const Scope& scope, const std::string& path) {
  bool sorted = true;
  for (std::size_t i = 0; i < nodes.size() && sorted; ++i) {
    for (const std::string_view name : scope.reads(i)) {
      const std::size_t from = local_producer(scope, name);
      if (from < nodes.size() && from >= i) sorted = false;
    }
  }
  if (sorted) return;

  const Circles circles(nodes, scope);
  std::set<std::size_t> reported;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Place place{.graph = path, .node = &nodes[i], .index = static_cast<std::int64_t>(i)};
    if (circles.in_circle(i) && reported.insert(circles.component(i)).second) {
      state.findings.add(place, "GR006", "nodes depend on each other in a circle: " + walk_circle(nodes, circles, i));
    }
    for (const std::string& input : nodes[i].inputs) {
      const std::size_t from = local_producer(scope, input);
      if (from >= nodes.size() || from <= i || circles.component(from) == circles.component(i)) continue;
      state.findings
          .add(place, "GR005",
               fmt::format("input {} is defined later, by {}", quoted(input),
                           describe(nodes[from], static_cast<std::int64_t>(from))),
               "sort the nodes topologically")
          .tensor = input;
    }
  }
}

void check_dead_nodes(CheckState& state, const std::vector<Node>& nodes, const Scope& scope,
                      const std::vector<std::string_view>& outputs, const std::string& path) {
  if (has_broken_edges(state)) return;
  std::vector<bool> needed(nodes.size(), false);
  std::vector<std::string_view> wanted(outputs.begin(), outputs.end());
  while (!wanted.empty()) {
    const std::size_t producer = scope.producer(wanted.back());
    wanted.pop_back();
    if (producer >= nodes.size() || needed[producer]) continue;
    needed[producer] = true;
    wanted.insert(wanted.end(), scope.reads(producer).begin(), scope.reads(producer).end());
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Place place{.graph = path, .node = &nodes[i], .index = static_cast<std::int64_t>(i)};
    if (needed[i] || state.findings.has_errors(place)) continue;
    state.findings.add(
        place, "GR017",
        fmt::format("{} has no effect: no output of the graph depends on it", describe(nodes[i], place.index)));
  }
}

}  // namespace lppool
