#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lppool/graph/model.h"

namespace lppool {

// The names of one graph (main graph, branch or function body) while its nodes are visited in order, and what each node
// reads - by itself or from inside its branches. Names point into the model.
class Scope {
 public:
  Scope(const Scope* outer, const std::vector<Node>& nodes) : outer_(outer) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const auto& output : nodes[i].outputs) {
        if (!output.empty()) producers_.emplace(output, i);
      }
    }
    reads_.resize(nodes.size());
  }

  // False where this graph has the name already.
  bool define(std::string_view name) {
    // What the graph has before its first node - an input, an initializer - no node of it can give.
    if (current_ == kNone) producers_.erase(name);
    return defined_.insert(name).second;
  }
  bool defines(std::string_view name) const { return defined_.contains(name); }
  bool outer_defines(std::string_view name) const {
    for (const Scope* scope = outer_; scope != nullptr; scope = scope->outer_) {
      if (scope->defines(name)) return true;
    }
    return false;
  }
  bool visible(std::string_view name) const { return defines(name) || outer_defines(name); }

  // True if some node of this graph, visited or not, gives the name; of an enclosing graph where `or_outer`.
  bool produces(std::string_view name, bool or_outer) const {
    for (const Scope* scope = this; scope != nullptr; scope = or_outer ? scope->outer_ : nullptr) {
      if (scope->producers_.contains(name)) return true;
    }
    return false;
  }
  // The first node of this graph that gives the name, or the number of nodes.
  std::size_t producer(std::string_view name) const {
    const auto found = producers_.find(name);
    return found == producers_.end() ? reads_.size() : found->second;
  }

  // Nodes are visited in order: what is read from here on is read by node `index`.
  void visit(std::size_t index) { current_ = index; }
  // Records the read here and in the enclosing graphs, up to the one the name belongs to.
  void read(std::string_view name) {
    for (Scope* scope = this; scope != nullptr; scope = const_cast<Scope*>(scope->outer_)) {
      if (scope->current_ < scope->reads_.size()) scope->reads_[scope->current_].push_back(name);
      if (scope->defines(name) || scope->producers_.contains(name)) return;
    }
  }
  const std::vector<std::string_view>& reads(std::size_t node) const { return reads_[node]; }

  // Every name that is visible, for "did you mean"; at most `most`.
  std::vector<std::string_view> names(std::size_t most) const {
    std::vector<std::string_view> all;
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer_) {
      for (const std::string_view name : scope->defined_) {
        if (all.size() == most) return all;
        all.push_back(name);
      }
    }
    return all;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  const Scope* outer_;
  std::unordered_set<std::string_view> defined_;
  std::unordered_map<std::string_view, std::size_t> producers_;
  std::vector<std::vector<std::string_view>> reads_;
  std::size_t current_ = kNone;
};

}  // namespace lppool
