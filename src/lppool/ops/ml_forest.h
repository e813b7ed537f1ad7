#pragma once

#include <cstdint>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/tensor/tensor.h"

// The trees of an ensemble in the form they are evaluated in, whichever encoding a node has: inner nodes with two
// children each, and leaves with votes. Indices are checked by whoever fills it. Thresholds and features are compared
// as float64, which holds every type involved; votes are added up in float64.
namespace lppool::ml {

enum class Test { kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual, kMember };

struct Child {
  bool leaf = false;
  std::size_t index = 0;  // into leaves or nodes
};
struct TreeNode {
  Test test = Test::kLessEqual;
  std::size_t feature = 0;
  double split = 0;
  bool missing_is_true = false;
  std::vector<double> members;  // of kMember
  Child when_true, when_false;
};
struct Vote {
  std::size_t target = 0;
  double weight = 0;
};
struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<std::vector<Vote>> leaves;
  std::vector<Child> roots;
  std::size_t targets = 1;
};

// As TreeEnsemble's attribute aggregate_function counts them.
enum class Aggregate { kAverage, kSum, kMin, kMax };

// Scores of all rows, rows x targets, for `x` of float64 with rows x features elements. Throws kRuntime where a tree is
// circular, a node tests a feature that x does not have, or a target without votes has no least or largest one.
std::vector<double> evaluate(const Forest& forest, const Tensor& x, std::int64_t rows, Aggregate how,
                             ThreadPool& threads);

}  // namespace lppool::ml
