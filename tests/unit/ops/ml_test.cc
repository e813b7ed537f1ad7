#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

using Numbers = std::vector<double>;
using Words = std::vector<std::string>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor floats(Shape shape, std::vector<float> values) { return Tensor::of<float>(std::move(shape), values); }
Tensor ints(Shape shape, std::vector<std::int64_t> values) { return Tensor::of<std::int64_t>(std::move(shape), values); }
Tensor words(Shape shape, Words values) { return Tensor::of<std::string>(std::move(shape), values); }
Words words_of(const Tensor& tensor) { return {tensor.strings().begin(), tensor.strings().end()}; }

std::vector<Value> ml(std::string op, std::int64_t opset, std::vector<Value> inputs, std::vector<Attribute> attributes, std::size_t outputs = 1) {
  OpCall call{std::move(op), opset, std::move(inputs), std::move(attributes), outputs};
  call.domain = "ai.onnx.ml";
  return run_op(call);
}
Tensor ml1(std::string op, std::int64_t opset, std::vector<Value> inputs, std::vector<Attribute> attributes) {
  return ml(std::move(op), opset, std::move(inputs), std::move(attributes))[0].tensor();
}

}  // namespace

TEST_CASE("LabelEncoder looks labels up, in three encodings", "[ops][LabelEncoder]") {
  CHECK(to_doubles(ml1("LabelEncoder", 1, {words({3}, {"b", "x", "a"})}, {attr_strings("classes_strings", {"a", "b"})})) == Numbers{1, -1, 0});
  CHECK(words_of(ml1("LabelEncoder", 1, {ints({2}, {1, 5})}, {attr_strings("classes_strings", {"a", "b"})})) == Words{"b", "_Unused"});
  CHECK(to_doubles(ml1("LabelEncoder", 2, {words({3}, {"Dori", "Amy", "Sally"})},
                       {attr_strings("keys_strings", {"Amy", "Sally"}), attr_ints("values_int64s", {5, 6})})) == Numbers{-1, 5, 6});
  // All NaN are one key; of equal keys the last counts.
  CHECK(to_doubles(ml1("LabelEncoder", 4, {floats({3}, {kNan, -0.0f, 2})},
                       {attr_floats("keys_floats", {kNan, 0, 2, 2}), attr_floats("values_floats", {7, 8, 1, 9})})) == Numbers{7, 8, 9});
  const Tensor y = ml1("LabelEncoder", 4, {Tensor::of<std::int32_t>({2}, {3, 4})},
                       {attr_tensor("keys_tensor", Tensor::of<std::int32_t>({1}, {3})), attr_tensor("values_tensor", Tensor::of<std::int16_t>({1}, {30})),
                        attr_tensor("default_tensor", Tensor::of<std::int16_t>({1}, {40}))});
  CHECK(y.dtype() == DataType::kInt16);
  CHECK(to_doubles(y) == Numbers{30, 40});
  CHECK_THROWS_AS(ml1("LabelEncoder", 2, {words({1}, {"a"})}, {attr_strings("keys_strings", {"a", "b"}), attr_ints("values_int64s", {5})}), Error);
  CHECK_THROWS_AS(ml1("LabelEncoder", 2, {words({1}, {"a"})}, {attr_strings("keys_strings", {"a"})}), Error);
}

TEST_CASE("CategoryMapper and OneHotEncoder", "[ops][OneHotEncoder]") {
  const std::vector<Attribute> cats = {attr_strings("cats_strings", {"a", "b"}), attr_ints("cats_int64s", {10, 20})};
  CHECK(to_doubles(ml1("CategoryMapper", 1, {words({2}, {"b", "z"})}, cats)) == Numbers{20, -1});
  CHECK(words_of(ml1("CategoryMapper", 1, {ints({2}, {10, 11})}, cats)) == Words{"a", "_Unused"});
  const Tensor y = ml1("OneHotEncoder", 1, {floats({1, 3}, {2.7f, 5, 1})}, {attr_ints("cats_int64s", {1, 2})});
  CHECK(to_string(y.shape()) == "1x3x2");
  CHECK(to_doubles(y) == Numbers{0, 1, 0, 0, 1, 0});
  CHECK_THROWS_AS(ml1("OneHotEncoder", 1, {words({1}, {"z"})}, {attr_strings("cats_strings", {"a"}), attr_i("zeros", 0)}), Error);
}

TEST_CASE("feature preparation", "[ops][Scaler]") {
  const Tensor x = floats({2, 2}, {1, -2, 0, kNan});
  CHECK(to_doubles(ml1("ArrayFeatureExtractor", 1, {floats({2, 3}, {1, 2, 3, 4, 5, 6}), ints({2}, {2, 0})}, {})) == Numbers{3, 1, 6, 4});
  CHECK(to_string(ml1("ArrayFeatureExtractor", 1, {floats({3}, {1, 2, 3}), ints({1}, {2})}, {}).shape()) == "1x1");
  CHECK_THROWS_AS(ml1("ArrayFeatureExtractor", 1, {floats({3}, {1, 2, 3}), ints({1}, {3})}, {}), Error);
  CHECK(to_doubles(ml1("Binarizer", 1, {floats({3}, {0.5f, 0.6f, kNan})}, {attr_f("threshold", 0.5f)})) == Numbers{0, 1, 0});
  CHECK(to_doubles(ml1("Binarizer", 1, {ints({2}, {9223372036854775807, -1})}, {attr_f("threshold", -0.5f)})) == Numbers{1, 0});
  CHECK(to_doubles(ml1("Imputer", 1, {x}, {attr_floats("imputed_value_floats", {8, 9}), attr_f("replaced_value_float", kNan)})) == Numbers{1, -2, 0, 9});
  CHECK(to_doubles(ml1("Imputer", 1, {ints({2}, {3, 4})}, {attr_ints("imputed_value_int64s", {5}), attr_i("replaced_value_int64", 4)})) == Numbers{3, 5});
  CHECK(to_doubles(ml1("Scaler", 1, {ints({2, 2}, {1, 2, 3, 4})}, {attr_floats("offset", {1, 2}), attr_floats("scale", {10})})) == Numbers{0, 0, 20, 20});
  CHECK_THROWS_AS(ml1("Scaler", 1, {ints({2, 2}, {1, 2, 3, 4})}, {attr_floats("offset", {1, 2, 3})}), Error);
  const Tensor rows = floats({2, 2}, {3, -4, 0, 0});
  CHECK(to_doubles(ml1("Normalizer", 1, {rows}, {attr_s("norm", "MAX")})) == Numbers{0.75, -1, 0, 0});
  CHECK(to_doubles(ml1("Normalizer", 1, {floats({1, 2}, {2, -6})}, {attr_s("norm", "L1")})) == Numbers{0.25, -0.75});
  CHECK(to_doubles(ml1("Normalizer", 1, {rows}, {attr_s("norm", "L2")})) == Numbers{static_cast<double>(0.6f), static_cast<double>(-0.8f), 0, 0});
  CHECK(to_doubles(ml1("FeatureVectorizer", 1, {floats({2, 1}, {1, 2}), ints({2, 3}, {3, 4, 5, 6, 7, 8})}, {attr_ints("inputdimensions", {2, 2})})) ==
        Numbers{1, 0, 3, 4, 2, 0, 6, 7});
}

TEST_CASE("linear models", "[ops][LinearRegressor]") {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  CHECK(to_doubles(ml1("LinearRegressor", 1, {x}, {attr_floats("coefficients", {1, 0, 2, -1}), attr_floats("intercepts", {10, 20}), attr_i("targets", 2)})) ==
        Numbers{11, 20, 13, 22});
  CHECK_THROWS_AS(ml1("LinearRegressor", 1, {x}, {attr_floats("coefficients", {1, 0, 2})}), Error);
  const std::vector<Attribute> two = {attr_floats("coefficients", {1, 0, 0, 1, 0, 0}), attr_floats("intercepts", {0, 0, 2.5f}), attr_ints("classlabels_ints", {7, 8, 9})};
  const auto out = ml("LinearClassifier", 1, {x}, two, 2);
  CHECK(to_doubles(out[0].tensor()) == Numbers{9, 8});
  CHECK(to_doubles(out[1].tensor()) == Numbers{1, 2, 2.5, 3, 4, 2.5});
  auto soft = two;
  soft.push_back(attr_s("post_transform", "SOFTMAX"));
  const auto scores = to_doubles(ml("LinearClassifier", 1, {x}, soft, 2)[1].tensor());
  CHECK(scores[1] == Approx(std::exp(2.0) / (std::exp(1.0) + std::exp(2.0) + std::exp(2.5))));
  CHECK_THROWS_WITH(ml("LinearClassifier", 1, {x}, {attr_floats("coefficients", {1, 0}), attr_ints("classlabels_ints", {0, 1})}, 2), Catch::Contains("supported"));
}

namespace {

// One tree: x0 <= 1 ? leaf 0 : (x1 is 2 or 5 ? leaf 1 : leaf 2).
std::vector<Attribute> tree(std::int64_t aggregate) {
  return {attr_i("n_targets", 2), attr_i("aggregate_function", aggregate), attr_ints("leaf_targetids", {0, 1, 0}),
          attr_tensor("leaf_weights", floats({3}, {0.5f, 4, 7})), attr_tensor("membership_values", floats({3}, {2, 5, kNan})),
          attr_ints("nodes_featureids", {0, 1}), attr_ints("nodes_trueleafs", {1, 1}), attr_ints("nodes_truenodeids", {0, 1}),
          attr_ints("nodes_falseleafs", {0, 1}), attr_ints("nodes_falsenodeids", {1, 2}),
          attr_tensor("nodes_modes", Tensor::of<std::uint8_t>({2}, {0, 6})), attr_tensor("nodes_splits", floats({2}, {1, 0})),
          attr_ints("nodes_missing_value_tracks_true", {1, 0}), attr_ints("tree_roots", {0})};
}

std::vector<Attribute> old_tree(const std::string& votes) {
  return {attr_ints("nodes_treeids", {0, 0, 0}), attr_ints("nodes_nodeids", {0, 1, 2}), attr_ints("nodes_featureids", {0, 0, 0}),
          attr_ints("nodes_truenodeids", {1, 0, 0}), attr_ints("nodes_falsenodeids", {2, 0, 0}), attr_floats("nodes_values", {0.5f, 0, 0}),
          attr_strings("nodes_modes", {"BRANCH_LT", "LEAF", "LEAF"}), attr_ints(votes + "_treeids", {0, 0, 0}),
          attr_ints(votes + "_nodeids", {1, 2, 2}), attr_ints(votes + "_ids", {0, 0, 1}), attr_floats(votes + "_weights", {1, 2, 3})};
}

}  // namespace

TEST_CASE("TreeEnsemble follows tests, membership and missing values", "[ops][TreeEnsemble]") {
  const Tensor x = floats({4, 2}, {1, 0, 2, 5, 2, 3, kNan, 0});
  CHECK(to_doubles(ml1("TreeEnsemble", 5, {x}, tree(1))) == Numbers{0.5, 0, 0, 4, 7, 0, 0.5, 0});
  CHECK_THROWS_AS(ml1("TreeEnsemble", 5, {x}, tree(2)), Error);  // target 1 has no least vote in row 0
  CHECK_THROWS_AS(ml1("TreeEnsemble", 5, {floats({1, 1}, {2})}, tree(1)), Error);
  auto circle = tree(1);
  circle[8] = attr_ints("nodes_falseleafs", {0, 0});
  circle[9] = attr_ints("nodes_falsenodeids", {1, 0});
  CHECK_THROWS_WITH(ml1("TreeEnsemble", 5, {floats({1, 2}, {2, 3})}, circle), Catch::Contains("circle"));
}

TEST_CASE("the older tree ensembles", "[ops][TreeEnsembleRegressor]") {
  const Tensor x = floats({2, 1}, {0, 1});
  auto regressor = old_tree("target");
  regressor.push_back(attr_i("n_targets", 2));
  regressor.push_back(attr_floats("base_values", {100, 200}));
  CHECK(to_doubles(ml1("TreeEnsembleRegressor", 1, {x}, regressor)) == Numbers{101, 200, 102, 203});
  auto classifier = old_tree("class");
  classifier.push_back(attr_strings("classlabels_strings", {"no", "yes"}));
  const auto out = ml("TreeEnsembleClassifier", 3, {x}, classifier, 2);
  CHECK(words_of(out[0].tensor()) == Words{"no", "yes"});
  CHECK(to_doubles(out[1].tensor()) == Numbers{1, 0, 2, 3});
  auto one_class = classifier;
  one_class[9] = attr_ints("class_ids", {1, 1, 1});
  CHECK_THROWS_WITH(ml("TreeEnsembleClassifier", 3, {x}, one_class, 2), Catch::Contains("supported"));
}

TEST_CASE("operators of maps have types, and are refused when run", "[ops][ZipMap]") {
  OpCall call{.op_type = "ZipMap", .opset = 1, .attributes = {attr_strings("classlabels_strings", {"a", "b"})}};
  call.domain = "ai.onnx.ml";
  const ValueType scores = ValueType::tensor(DataType::kFloat32, std::vector<Dim>{Dim::symbol("N"), 2});
  const ValueType maps = infer_op(call, {scores})[0];
  CHECK(to_string(maps) == "seq(map(string, float32 scalar))");
  CHECK(find_op("ai.onnx.ml", "ZipMap")->run == nullptr);
  call.op_type = "DictVectorizer";
  call.attributes = {attr_strings("string_vocabulary", {"a", "b", "c"})};
  CHECK(to_string(infer_op(call, {*maps.element})[0]) == "float32 1x3");
  call.op_type = "CastMap";
  call.attributes = {attr_s("cast_to", "TO_INT64")};
  CHECK(to_string(infer_op(call, {ValueType()})[0]) == "int64 of unknown rank");
}
