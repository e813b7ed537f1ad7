// Tree ensembles of ai.onnx.ml: TreeEnsemble, and TreeEnsembleRegressor and TreeEnsembleClassifier before it. Both
// encodings are read into a Forest, which is evaluated in ml_forest.cc.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lppool/ops/contents.h"
#include "lppool/ops/ml_forest.h"
#include "lppool/ops/ml_scores.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

using ml::Aggregate;
using ml::Child;
using ml::Forest;
using ml::Test;
using ml::TreeNode;

// In the order of Test.
constexpr std::string_view kTestNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                           "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};

std::int64_t row_count(const Tensor& x) {
  if (x.rank() < 1 || x.rank() > 2) fail(ErrorKind::kRuntime, "input has shape {}, expected NxF", to_string(x.shape()));
  return x.rank() == 1 ? 1 : x.shape()[0];
}

template <typename T>
void check_length(const std::vector<T>& list, std::size_t expected, std::string_view what) {
  if (list.size() != expected) fail(ErrorKind::kRuntime, "{} has {} values, expected {}", what, list.size(), expected);
}

std::size_t index_in(std::int64_t index, std::size_t size, std::string_view what) {
  if (index < 0 || index >= static_cast<std::int64_t>(size)) {
    fail(ErrorKind::kRuntime, "{} has {}, expected 0 to {}", what, index, static_cast<std::int64_t>(size) - 1);
  }
  return static_cast<std::size_t>(index);
}

std::size_t feature_id(std::int64_t id) {
  if (id < 0) fail(ErrorKind::kRuntime, "nodes_featureids has {}, expected 0 or more", id);
  return static_cast<std::size_t>(id);
}

std::vector<double> doubles(const Tensor& tensor) {
  const Tensor wide = as_float64(tensor);
  const auto values = wide.data<double>();
  return {values.begin(), values.end()};
}

// ---- TreeEnsemble ----

constexpr OpVersion kTreeEnsembleVersions[] = {
    {5, "X:T", "Y:T",
     "aggregate_function:int=1 leaf_targetids!:ints leaf_weights!:tensor membership_values:tensor n_targets:int "
     "nodes_falseleafs!:ints nodes_falsenodeids!:ints nodes_featureids!:ints nodes_hitrates:tensor "
     "nodes_missing_value_tracks_true:ints nodes_modes!:tensor nodes_splits!:tensor nodes_trueleafs!:ints "
     "nodes_truenodeids!:ints post_transform:int=0 tree_roots!:ints",
     "T=floats"}};

const Tensor& required(const AttributeView& attributes, std::string_view name) {
  const Tensor* tensor = attributes.tensor(name);
  if (tensor == nullptr) fail(ErrorKind::kRuntime, "attribute '{}' is missing", name);
  return *tensor;
}

std::size_t target_count(const AttributeView& attributes) {
  const std::int64_t count = attributes.i("n_targets", 1);
  if (count < 1 || count > (std::int64_t{1} << 31))
    fail(ErrorKind::kRuntime, "n_targets is {}, expected 1 or more", count);
  return static_cast<std::size_t>(count);
}

// The members of each membership node in turn: lists that end in NaN.
void read_members(const AttributeView& attributes, Forest& forest) {
  std::vector<double> values;
  if (const Tensor* given = attributes.tensor("membership_values")) values = doubles(*given);
  std::size_t at = 0;
  for (TreeNode& node : forest.nodes) {
    if (node.test != Test::kMember) continue;
    while (at < values.size() && !std::isnan(values[at])) node.members.push_back(values[at++]);
    if (at == values.size())
      fail(ErrorKind::kRuntime, "membership_values has fewer lists than there are membership nodes");
    ++at;
  }
}

Forest read_forest(const AttributeView& attributes) {
  Forest forest;
  forest.targets = target_count(attributes);
  const auto features = attributes.ints("nodes_featureids"), true_ids = attributes.ints("nodes_truenodeids"),
             false_ids = attributes.ints("nodes_falsenodeids"), true_leafs = attributes.ints("nodes_trueleafs"),
             false_leafs = attributes.ints("nodes_falseleafs"), leaf_targets = attributes.ints("leaf_targetids");
  auto missing = attributes.ints("nodes_missing_value_tracks_true");
  const auto splits = doubles(required(attributes, "nodes_splits")),
             modes = doubles(required(attributes, "nodes_modes")),
             weights = doubles(required(attributes, "leaf_weights"));
  const std::size_t count = features.size();
  if (missing.empty()) missing.assign(count, 0);
  check_length(true_ids, count, "nodes_truenodeids");
  check_length(false_ids, count, "nodes_falsenodeids");
  check_length(true_leafs, count, "nodes_trueleafs");
  check_length(false_leafs, count, "nodes_falseleafs");
  check_length(missing, count, "nodes_missing_value_tracks_true");
  check_length(splits, count, "nodes_splits");
  check_length(modes, count, "nodes_modes");
  check_length(weights, leaf_targets.size(), "leaf_weights");
  const auto child = [&](std::int64_t leaf, std::int64_t id, std::string_view what) {
    return Child{leaf != 0, index_in(id, leaf != 0 ? leaf_targets.size() : count, what)};
  };
  for (std::size_t i = 0; i < count; ++i) {
    TreeNode node;
    if (!(modes[i] >= 0 && modes[i] <= 6)) fail(ErrorKind::kRuntime, "nodes_modes has {}, expected 0 to 6", modes[i]);
    node.test = static_cast<Test>(static_cast<int>(modes[i]));
    node.feature = feature_id(features[i]);
    node.split = splits[i];
    node.missing_is_true = missing[i] != 0;
    node.when_true = child(true_leafs[i], true_ids[i], "nodes_truenodeids");
    node.when_false = child(false_leafs[i], false_ids[i], "nodes_falsenodeids");
    forest.nodes.push_back(std::move(node));
  }
  for (std::size_t i = 0; i < leaf_targets.size(); ++i) {
    forest.leaves.push_back({{index_in(leaf_targets[i], forest.targets, "leaf_targetids"), weights[i]}});
  }
  for (const std::int64_t root : attributes.ints("tree_roots"))
    forest.roots.push_back({false, index_in(root, count, "tree_roots")});
  read_members(attributes, forest);
  return forest;
}

void infer_tree_ensemble(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  set_moved(ctx, std::vector<Dim>{shape && shape->size() == 2 ? (*shape)[0] : Dim(),
                                  Dim(static_cast<std::int64_t>(target_count(ctx.attributes)))});
  if (ctx.explaining) ctx.explain(0, 1, fmt::format("{} (targets)", target_count(ctx.attributes)));
}

void run_tree_ensemble(KernelContext& ctx) {
  const std::int64_t aggregate = ctx.attributes.i("aggregate_function"), transform = ctx.attributes.i("post_transform");
  if (aggregate < 0 || aggregate > 3) fail(ErrorKind::kRuntime, "aggregate_function is {}, expected 0 to 3", aggregate);
  if (transform != 0) fail(ErrorKind::kUnsupported, "post_transform {}, supported is 0 (none)", transform);
  const Tensor& input = ctx.input(0);
  const std::int64_t rows = row_count(input);
  const Forest forest = read_forest(ctx.attributes);
  const auto scores = evaluate(forest, as_float64(input), rows, static_cast<Aggregate>(aggregate), ctx.threads());
  store(std::span<const double>(scores),
        ctx.output(0, input.dtype(), {rows, static_cast<std::int64_t>(forest.targets)}));
}

// ---- TreeEnsembleRegressor, TreeEnsembleClassifier ----

constexpr std::string_view kRegressor1 =
    "aggregate_function:string=SUM base_values:floats n_targets:int nodes_falsenodeids:ints nodes_featureids:ints "
    "nodes_hitrates:floats nodes_missing_value_tracks_true:ints nodes_modes:strings nodes_nodeids:ints "
    "nodes_treeids:ints "
    "nodes_truenodeids:ints nodes_values:floats post_transform:string=NONE target_ids:ints target_nodeids:ints "
    "target_treeids:ints target_weights:floats";
constexpr std::string_view kRegressor3 =
    "aggregate_function:string=SUM base_values:floats base_values_as_tensor:tensor n_targets:int "
    "nodes_falsenodeids:ints "
    "nodes_featureids:ints nodes_hitrates:floats nodes_hitrates_as_tensor:tensor nodes_missing_value_tracks_true:ints "
    "nodes_modes:strings nodes_nodeids:ints nodes_treeids:ints nodes_truenodeids:ints nodes_values:floats "
    "nodes_values_as_tensor:tensor post_transform:string=NONE target_ids:ints target_nodeids:ints target_treeids:ints "
    "target_weights:floats target_weights_as_tensor:tensor";
constexpr std::string_view kClassifier1 =
    "base_values:floats class_ids:ints class_nodeids:ints class_treeids:ints class_weights:floats "
    "classlabels_int64s:ints "
    "classlabels_strings:strings nodes_falsenodeids:ints nodes_featureids:ints nodes_hitrates:floats "
    "nodes_missing_value_tracks_true:ints nodes_modes:strings nodes_nodeids:ints nodes_treeids:ints "
    "nodes_truenodeids:ints "
    "nodes_values:floats post_transform:string=NONE";
constexpr std::string_view kClassifier3 =
    "base_values:floats base_values_as_tensor:tensor class_ids:ints class_nodeids:ints class_treeids:ints "
    "class_weights:floats class_weights_as_tensor:tensor classlabels_int64s:ints classlabels_strings:strings "
    "nodes_falsenodeids:ints nodes_featureids:ints nodes_hitrates:floats nodes_hitrates_as_tensor:tensor "
    "nodes_missing_value_tracks_true:ints nodes_modes:strings nodes_nodeids:ints nodes_treeids:ints "
    "nodes_truenodeids:ints "
    "nodes_values:floats nodes_values_as_tensor:tensor post_transform:string=NONE";
constexpr std::string_view kClassifierTypes = "T1=float32|float64|int64|int32; T2=string|int64";

constexpr OpVersion kTreeEnsembleRegressorVersions[] = {
    {1, "X:T", "Y:float32", kRegressor1, "T=float32|float64|int64|int32"},
    {3, "X:T", "Y:float32", kRegressor3, "T=float32|float64|int64|int32"},
    {5, "X:T", "Y:float32", kRegressor3, "T=float32|float64|int64|int32", true},
};
constexpr OpVersion kTreeEnsembleClassifierVersions[] = {
    {1, "X:T1", "Y:T2 Z:float32", kClassifier1, kClassifierTypes},
    {3, "X:T1", "Y:T2 Z:float32", kClassifier3, kClassifierTypes},
    {5, "X:T1", "Y:T2 Z:float32", kClassifier3, kClassifierTypes, true},
};

// The list `name`, or the tensor `name`_as_tensor in its place.
std::vector<double> float_list(const AttributeView& attributes, const std::string& name) {
  if (attributes.schema().since_version >= 3) {
    if (const Tensor* tensor = attributes.tensor(name + "_as_tensor")) return doubles(*tensor);
  }
  const auto values = attributes.floats(name);
  return {values.begin(), values.end()};
}

// The older encoding: nodes and votes name their tree and node by ids; the first node of a tree is its root.
Forest read_old_forest(const AttributeView& attributes, const std::string& votes, std::size_t targets) {
  Forest forest;
  forest.targets = targets;
  const auto trees = attributes.ints("nodes_treeids"), ids = attributes.ints("nodes_nodeids"),
             features = attributes.ints("nodes_featureids"), true_ids = attributes.ints("nodes_truenodeids"),
             false_ids = attributes.ints("nodes_falsenodeids");
  const auto modes = attributes.strings("nodes_modes");
  auto missing = attributes.ints("nodes_missing_value_tracks_true");
  const auto values = float_list(attributes, "nodes_values");
  const std::size_t count = trees.size();
  if (missing.empty()) missing.assign(count, 0);
  check_length(ids, count, "nodes_nodeids");
  check_length(features, count, "nodes_featureids");
  check_length(true_ids, count, "nodes_truenodeids");
  check_length(false_ids, count, "nodes_falsenodeids");
  check_length(modes, count, "nodes_modes");
  check_length(missing, count, "nodes_missing_value_tracks_true");
  check_length(values, count, "nodes_values");

  using Id = std::pair<std::int64_t, std::int64_t>;  // tree, node
  std::map<Id, Child> places;
  std::set<std::int64_t> rooted;
  std::size_t inner = 0, leaf = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_leaf = modes[i] == "LEAF";
    const Child place{is_leaf, is_leaf ? leaf++ : inner++};
    if (!places.emplace(Id{trees[i], ids[i]}, place).second) {
      fail(ErrorKind::kRuntime, "node {} of tree {} is given twice", ids[i], trees[i]);
    }
    if (rooted.insert(trees[i]).second) forest.roots.push_back(place);
  }
  const auto find = [&](std::int64_t tree, std::int64_t id, std::string_view what) {
    const auto found = places.find({tree, id});
    if (found == places.end()) fail(ErrorKind::kRuntime, "{}: tree {} has no node {}", what, tree, id);
    return found->second;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (modes[i] == "LEAF") continue;
    const auto test = std::ranges::find(kTestNames, modes[i]);
    if (test == std::end(kTestNames))
      fail(ErrorKind::kRuntime, "nodes_modes has '{}', expected BRANCH_LEQ and so on, or LEAF", modes[i]);
    TreeNode node;
    node.test = static_cast<Test>(test - std::begin(kTestNames));
    node.feature = feature_id(features[i]);
    node.split = values[i];
    node.missing_is_true = missing[i] != 0;
    node.when_true = find(trees[i], true_ids[i], "nodes_truenodeids");
    node.when_false = find(trees[i], false_ids[i], "nodes_falsenodeids");
    forest.nodes.push_back(std::move(node));
  }
  forest.leaves.resize(leaf);
  const auto vote_trees = attributes.ints(votes + "_treeids"), vote_nodes = attributes.ints(votes + "_nodeids"),
             vote_targets = attributes.ints(votes + "_ids");
  const auto weights = float_list(attributes, votes + "_weights");
  check_length(vote_nodes, vote_trees.size(), votes + "_nodeids");
  check_length(vote_targets, vote_trees.size(), votes + "_ids");
  check_length(weights, vote_trees.size(), votes + "_weights");
  for (std::size_t i = 0; i < vote_trees.size(); ++i) {
    const Child place = find(vote_trees[i], vote_nodes[i], votes + "_nodeids");
    if (!place.leaf) continue;  // votes of inner nodes are never asked for
    forest.leaves[place.index].push_back({index_in(vote_targets[i], targets, votes + "_ids"), weights[i]});
  }
  return forest;
}

void add_base_values(const AttributeView& attributes, std::vector<double>& scores, std::size_t targets) {
  const auto base = float_list(attributes, "base_values");
  if (base.empty()) return;
  check_length(base, targets, "base_values");
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += base[i % targets];
}

void infer_tree_ensemble_regressor(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, DataType::kFloat32,
                 std::vector<Dim>{shape && shape->size() == 2 ? (*shape)[0] : Dim(),
                                  Dim(static_cast<std::int64_t>(target_count(ctx.attributes)))});
  if (ctx.explaining) ctx.explain(0, 1, fmt::format("{} (targets)", target_count(ctx.attributes)));
}

void run_tree_ensemble_regressor(KernelContext& ctx) {
  constexpr std::string_view kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string word = ctx.attributes.s("aggregate_function"), transform = ctx.attributes.s("post_transform");
  const auto aggregate = std::ranges::find(kAggregates, word);
  if (aggregate == std::end(kAggregates)) {
    fail(ErrorKind::kRuntime, "aggregate_function is '{}', expected AVERAGE, SUM, MIN or MAX", word);
  }
  if (transform != "NONE") fail(ErrorKind::kUnsupported, "post_transform {}, supported is NONE", transform);
  const std::int64_t rows = row_count(ctx.input(0));
  const Forest forest = read_old_forest(ctx.attributes, "target", target_count(ctx.attributes));
  auto scores = evaluate(forest, as_float64(ctx.input(0)), rows,
                         static_cast<Aggregate>(aggregate - std::begin(kAggregates)), ctx.threads());
  add_base_values(ctx.attributes, scores, forest.targets);
  store(std::span<const double>(scores),
        ctx.output(0, DataType::kFloat32, {rows, static_cast<std::int64_t>(forest.targets)}));
}

void infer_tree_ensemble_classifier(InferContext& ctx) {
  infer_classifier(ctx, class_labels(ctx.attributes, "classlabels_int64s"));
}

void run_tree_ensemble_classifier(KernelContext& ctx) {
  const Tensor labels = class_labels(ctx.attributes, "classlabels_int64s");
  const auto ids = ctx.attributes.ints("class_ids");
  const std::set<std::int64_t> different(ids.begin(), ids.end());
  // With votes for one class only, implementations disagree on what the other class' score is.
  if (different.size() < 2 || labels.size() < 2) {
    fail(ErrorKind::kUnsupported, "votes for {} of {} classes, supported are votes for two or more", different.size(),
         labels.size());
  }
  const std::int64_t rows = row_count(ctx.input(0));
  const Forest forest = read_old_forest(ctx.attributes, "class", static_cast<std::size_t>(labels.size()));
  auto scores = evaluate(forest, as_float64(ctx.input(0)), rows, Aggregate::kSum, ctx.threads());
  add_base_values(ctx.attributes, scores, forest.targets);
  finish_classifier(ctx, labels, std::move(scores), rows);
}

}  // namespace

extern const OpDef kTreeEnsemble;
const OpDef kTreeEnsemble = {
    .domain = "ai.onnx.ml",
    .type = "TreeEnsemble",
    .summary = "Sends each row of features down a number of trees and combines what their leaves say.",
    .versions = kTreeEnsembleVersions,
    .infer = infer_tree_ensemble,
    .run = run_tree_ensemble,
};

extern const OpDef kTreeEnsembleRegressor;
const OpDef kTreeEnsembleRegressor = {
    .domain = "ai.onnx.ml",
    .type = "TreeEnsembleRegressor",
    .summary = "Regression by trees; replaced by TreeEnsemble in version 5.",
    .versions = kTreeEnsembleRegressorVersions,
    .infer = infer_tree_ensemble_regressor,
    .run = run_tree_ensemble_regressor,
};

extern const OpDef kTreeEnsembleClassifier;
const OpDef kTreeEnsembleClassifier = {
    .domain = "ai.onnx.ml",
    .type = "TreeEnsembleClassifier",
    .summary = "Classification by trees; replaced by TreeEnsemble in version 5.",
    .versions = kTreeEnsembleClassifierVersions,
    .infer = infer_tree_ensemble_classifier,
    .run = run_tree_ensemble_classifier,
};

}  // namespace lppool
