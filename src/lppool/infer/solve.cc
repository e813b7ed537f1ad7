#include "lppool/infer/solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lppool/base/error.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr std::size_t kMaxCombinations = 1'000'000;

std::optional<std::int64_t> at(const Dim& dim, const std::map<std::string, std::int64_t>& values) {
  std::map<std::string, Dim> dims;
  for (const auto& [symbol, value] : values) dims.emplace(symbol, Dim(value));
  return dim.substitute(dims).value();
}

std::vector<std::pair<std::int64_t, std::int64_t>> ranges(const std::vector<std::int64_t>& ascending) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const std::int64_t v : ascending) {
    if (!result.empty() && result.back().second + 1 == v)
      result.back().second = v;
    else
      result.emplace_back(v, v);
  }
  return result;
}

class Solver {
 public:
  Solver(const std::vector<Dim>& shape, const std::vector<std::int64_t>& target, std::int64_t limit)
      : shape_(shape), target_(target), limit_(limit) {}

  DimSolution run() {
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) sort_out(axis);
    for (const std::size_t axis : single_) solve_single(axis);
    if (solution_.reasons.empty()) solve_joint();
    solution_.possible = solution_.reasons.empty();
    if (!solution_.possible) {
      solution_.values.clear();
      solution_.example.clear();
      return solution_;
    }
    for (const auto& [symbol, values] : candidates_) {
      if (!solution_.values.contains(symbol)) solution_.values[symbol] = ranges(values);
      solution_.example.emplace(symbol, values.front());
    }
    return solution_;
  }

 private:
  void sort_out(std::size_t axis) {
    const Dim& dim = shape_[axis];
    if (target_[axis] < 0) return;
    if (!dim.known()) {
      solution_.reasons.push_back(
          fmt::format("axis {} is unknown, so it cannot be told what gives {}", axis, target_[axis]));
    } else if (dim.value()) {
      if (*dim.value() != target_[axis]) {
        solution_.reasons.push_back(fmt::format("axis {} is always {}, never {}", axis, *dim.value(), target_[axis]));
      }
    } else {
      (dim.symbols().size() == 1 ? single_ : joint_).push_back(axis);
    }
  }

  void solve_single(std::size_t axis) {
    const std::string symbol = shape_[axis].symbols()[0];
    std::vector<std::int64_t> found;
    std::optional<std::pair<std::int64_t, std::int64_t>> below, above;  // symbol value, dimension: nearest misses
    for (std::int64_t v = 0; v <= limit_; ++v) {
      const auto size = at(shape_[axis], {{symbol, v}});
      if (!size) continue;
      if (*size == target_[axis])
        found.push_back(v);
      else if (*size < target_[axis] && (!below || *size > below->second))
        below = {v, *size};
      else if (*size > target_[axis] && (!above || *size < above->second))
        above = {v, *size};
    }
    if (found.empty()) {
      std::string near;
      for (const auto& miss : {below, above}) {
        if (miss)
          near += fmt::format("{}{} = {} gives {}", near.empty() ? "; " : ", ", symbol, miss->first, miss->second);
      }
      solution_.reasons.push_back(fmt::format("axis {} = {} is {} for no {} from 0 to {}{}", axis,
                                              shape_[axis].to_string(), target_[axis], symbol, limit_, near));
      return;
    }
    auto& known = candidates_[symbol];
    if (known.empty()) {
      known = std::move(found);
      return;
    }
    std::vector<std::int64_t> both;
    std::ranges::set_intersection(known, found, std::back_inserter(both));
    if (both.empty()) {
      solution_.reasons.push_back(fmt::format("axis {} = {} wants {} in {}..{}, another axis wants it in {}..{}", axis,
                                              shape_[axis].to_string(), symbol, found.front(), found.back(),
                                              known.front(), known.back()));
    }
    known = std::move(both);
  }

  // Dimensions over several symbols: all combinations of what is left for each, as long as they are few enough to try.
  void solve_joint() {
    if (joint_.empty()) return;
    std::vector<std::string> symbols;
    for (const std::size_t axis : joint_) {
      for (auto& s : shape_[axis].symbols()) {
        if (std::ranges::find(symbols, s) == symbols.end()) symbols.push_back(s);
      }
    }
    // A symbol that no single dimension has bound runs as far as the number of combinations allows.
    std::size_t free = 0, combinations = 1;
    for (const auto& s : symbols) {
      if (candidates_.contains(s))
        combinations *= std::min<std::size_t>(candidates_[s].size(), kMaxCombinations);
      else
        ++free;
      combinations = std::min(combinations, kMaxCombinations);
    }
    std::int64_t reach = limit_;
    for (; free > 0; reach /= 2) {
      double total = static_cast<double>(combinations);
      for (std::size_t i = 0; i < free; ++i) total *= static_cast<double>(reach + 1);
      if (total <= static_cast<double>(kMaxCombinations) || reach <= 1) break;
    }
    for (const auto& s : symbols) {
      if (candidates_.contains(s)) continue;
      auto& list = candidates_[s];
      for (std::int64_t v = 0; v <= reach; ++v) list.push_back(v);
    }
    std::map<std::string, std::vector<std::int64_t>> used;
    std::map<std::string, std::int64_t> values;
    std::size_t tried = 0;
    try_all(symbols, 0, values, used, tried);
    if (used.empty()) {
      solution_.reasons.push_back(fmt::format("no combination of {} up to {} gives the shape ({} tried)",
                                              fmt::join(symbols, ", "), reach, tried));
      return;
    }
    for (auto& [symbol, list] : used) {
      std::ranges::sort(list);
      list.erase(std::unique(list.begin(), list.end()), list.end());
      solution_.values[symbol] = ranges(list);
    }
  }

  void try_all(const std::vector<std::string>& symbols, std::size_t i, std::map<std::string, std::int64_t>& values,
               std::map<std::string, std::vector<std::int64_t>>& used, std::size_t& tried) {
    if (tried >= kMaxCombinations) return;
    if (i == symbols.size()) {
      ++tried;
      for (const std::size_t axis : joint_) {
        if (at(shape_[axis], values) != target_[axis]) return;
      }
      if (used.empty()) solution_.example = values;
      for (const auto& [symbol, value] : values) used[symbol].push_back(value);
      return;
    }
    for (const std::int64_t v : candidates_[symbols[i]]) {
      values[symbols[i]] = v;
      try_all(symbols, i + 1, values, used, tried);
    }
  }

  const std::vector<Dim>& shape_;
  const std::vector<std::int64_t>& target_;
  std::int64_t limit_;
  std::vector<std::size_t> single_, joint_;
  std::map<std::string, std::vector<std::int64_t>> candidates_;
  DimSolution solution_;
};

}  // namespace

DimSolution solve_shape(const std::vector<Dim>& shape, const std::vector<std::int64_t>& target, std::int64_t limit) {
  if (shape.size() != target.size()) {
    fail(ErrorKind::kUsage, "the shape asked for has rank {}, the tensor is {}", target.size(), to_string(shape));
  }
  return Solver(shape, target, limit).run();
}

}  // namespace lppool
