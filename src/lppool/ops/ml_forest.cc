#include "lppool/ops/ml_forest.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "lppool/base/error.h"

namespace lppool::ml {
namespace {

bool passes(const TreeNode& node, double x) {
  if (std::isnan(x) && node.missing_is_true) return true;
  switch (node.test) {
    case Test::kLessEqual:
      return x <= node.split;
    case Test::kLess:
      return x < node.split;
    case Test::kGreaterEqual:
      return x >= node.split;
    case Test::kGreater:
      return x > node.split;
    case Test::kEqual:
      return x == node.split;
    case Test::kNotEqual:
      return x != node.split;
    case Test::kMember:
      return std::ranges::find(node.members, x) != node.members.end();
  }
  return false;
}

// The leaf a row of features ends in. A path longer than there are nodes runs in a circle.
const std::vector<Vote>& leaf_of(const Forest& forest, Child place, std::span<const double> row) {
  for (std::size_t steps = 0; !place.leaf; ++steps) {
    if (steps > forest.nodes.size()) fail(ErrorKind::kRuntime, "the nodes of a tree form a circle");
    const TreeNode& node = forest.nodes[place.index];
    if (node.feature >= row.size()) {
      fail(ErrorKind::kRuntime, "a node tests feature {}, but the input has {}", node.feature, row.size());
    }
    place = passes(node, row[node.feature]) ? node.when_true : node.when_false;
  }
  return forest.leaves[place.index];
}

}  // namespace

std::vector<double> evaluate(const Forest& forest, const Tensor& x, std::int64_t rows, Aggregate how,
                             ThreadPool& threads) {
  const std::int64_t features = rows == 0 ? 0 : x.size() / rows;
  std::vector<double> scores(static_cast<std::size_t>(rows) * forest.targets, 0.0);
  threads.parallel_for(rows, 16, [&](std::int64_t begin, std::int64_t end) {
    std::vector<bool> voted(forest.targets);
    for (std::int64_t r = begin; r < end; ++r) {
      const auto row =
          x.data<double>().subspan(static_cast<std::size_t>(r * features), static_cast<std::size_t>(features));
      double* score = scores.data() + static_cast<std::size_t>(r) * forest.targets;
      std::fill(voted.begin(), voted.end(), false);
      for (const Child& root : forest.roots) {
        for (const Vote& vote : leaf_of(forest, root, row)) {
          double& sum = score[vote.target];
          if (how == Aggregate::kMin)
            sum = voted[vote.target] ? std::min(sum, vote.weight) : vote.weight;
          else if (how == Aggregate::kMax)
            sum = voted[vote.target] ? std::max(sum, vote.weight) : vote.weight;
          else
            sum += vote.weight;
          voted[vote.target] = true;
        }
      }
      for (std::size_t t = 0; t < forest.targets; ++t) {
        if (how == Aggregate::kAverage) score[t] /= static_cast<double>(forest.roots.size());
        if ((how == Aggregate::kMin || how == Aggregate::kMax) && !voted[t]) {
          fail(ErrorKind::kRuntime, "no leaf votes for target {}: it has no least or largest vote", t);
        }
      }
    }
  });
  return scores;
}

}  // namespace lppool::ml
