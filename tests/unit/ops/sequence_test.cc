#include <catch2/catch.hpp>

#include "support/graphs.h"

using namespace lppool;
using namespace lppool::test;

namespace {

using Numbers = std::vector<double>;
constexpr DataType kF = DataType::kFloat32;

Tensor floats(Shape shape, std::vector<float> values) { return Tensor::of<float>(std::move(shape), values); }
Tensor number(std::int64_t v) { return Tensor::scalar(v); }
Value sequence(std::vector<Tensor> tensors) {
  OpCall call{"SequenceConstruct", 11};
  for (Tensor& tensor : tensors) call.inputs.emplace_back(std::move(tensor));
  return run_op(call)[0];
}
std::vector<Numbers> elements(const Value& value) {
  std::vector<Numbers> result;
  for (const Value& element : value.sequence().elements) result.push_back(to_doubles(element.tensor()));
  return result;
}
const Tensor kA = floats({1}, {1}), kB = floats({2}, {2, 3}), kC = floats({1}, {4});

}  // namespace

TEST_CASE("sequences are read, lengthened and shortened at positions from either end", "[ops][SequenceAt]") {
  const Value list = sequence({kA, kB});
  CHECK(to_doubles(run_op1({"SequenceAt", 11, {list, number(-1)}})) == Numbers{2, 3});
  CHECK(to_doubles(run_op1({"SequenceLength", 11, {list}})) == Numbers{2});
  CHECK(elements(run_op({"SequenceInsert", 11, {list, kC}})[0]) == std::vector<Numbers>{{1}, {2, 3}, {4}});
  CHECK(elements(run_op({"SequenceInsert", 11, {list, kC, number(-2)}})[0]) == std::vector<Numbers>{{4}, {1}, {2, 3}});
  CHECK(elements(run_op({"SequenceInsert", 11, {list, kC, number(2)}})[0]) == std::vector<Numbers>{{1}, {2, 3}, {4}});
  CHECK(elements(run_op({"SequenceErase", 11, {list}})[0]) == std::vector<Numbers>{{1}});
  CHECK(elements(run_op({"SequenceErase", 11, {list, number(0)}})[0]) == std::vector<Numbers>{{2, 3}});
  CHECK(elements(list).size() == 2);
  CHECK_THROWS_AS(run_op({"SequenceAt", 11, {list, number(2)}}), Error);
  CHECK_THROWS_AS(run_op({"SequenceInsert", 11, {list, kC, number(3)}}), Error);
  CHECK_THROWS_AS(run_op({"SequenceErase", 11, {list, number(-3)}}), Error);
  CHECK_THROWS_AS(run_op({"SequenceInsert", 11, {list, number(1)}}), Error);
  CHECK_THROWS_AS(run_op({"SequenceConstruct", 11, {kA, number(1)}}), Error);
}

TEST_CASE("SequenceEmpty has no elements of its type", "[ops][SequenceEmpty]") {
  const Value none = run_op({"SequenceEmpty", 11, {}, {attr_i("dtype", 7)}})[0];
  CHECK(none.sequence().elements.empty());
  CHECK(none.sequence().dtype == DataType::kInt64);
  CHECK(run_op({"SequenceEmpty", 11})[0].sequence().dtype == kF);
  CHECK_THROWS_AS(run_op({"SequenceErase", 11, {none}}), Error);
}

TEST_CASE("SplitToSequence cuts into positions, equal or given parts", "[ops][SplitToSequence]") {
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto split = [&](std::vector<Value> inputs, std::vector<Attribute> attributes) {
    return run_op({"SplitToSequence", 11, std::move(inputs), std::move(attributes)})[0];
  };
  CHECK(elements(split({x}, {})) == std::vector<Numbers>{{1, 2}, {3, 4}, {5, 6}});
  CHECK(to_string(split({x}, {}).sequence().elements[0].tensor().shape()) == "1x2");
  CHECK(to_string(split({x}, {attr_i("keepdims", 0)}).sequence().elements[0].tensor().shape()) == "2");
  CHECK(elements(split({x, number(2)}, {})) == std::vector<Numbers>{{1, 2, 3, 4}, {5, 6}});
  CHECK(elements(split({x, Tensor::of<std::int32_t>({2}, {0, 2})}, {attr_i("axis", 1)})) ==
        std::vector<Numbers>{{}, {1, 2, 3, 4, 5, 6}});
  CHECK_THROWS_AS(split({x, number(0)}, {}), Error);
  CHECK_THROWS_AS(split({x, Tensor::of<std::int64_t>({2}, {1, 1})}, {}), Error);
}

TEST_CASE("ConcatFromSequence joins or stacks", "[ops][ConcatFromSequence]") {
  const Value list = sequence({kA, kC});
  CHECK(to_doubles(run_op1({"ConcatFromSequence", 11, {sequence({kA, kB})}, {attr_i("axis", 0)}})) == Numbers{1, 2, 3});
  const Tensor stacked = run_op1({"ConcatFromSequence", 11, {list}, {attr_i("axis", -1), attr_i("new_axis", 1)}});
  CHECK(to_string(stacked.shape()) == "1x2");
  CHECK(to_doubles(stacked) == Numbers{1, 4});
  CHECK_THROWS_AS(run_op1({"ConcatFromSequence", 11, {sequence({kA, kB})}, {attr_i("axis", 0), attr_i("new_axis", 1)}}), Error);
  CHECK_THROWS_AS(run_op1({"ConcatFromSequence", 11, {run_op({"SequenceEmpty", 11})[0]}, {attr_i("axis", 0)}}), Error);
}

TEST_CASE("types of sequences are inferred element by element", "[ops][SequenceConstruct]") {
  const Graph model = graph({value("a", kF, "Nx3"), value("b", kF, "Nx4")}, {value("y", kF), value("z", kF)},
                            {node("SequenceConstruct", "a b", "list"), constant("one", number(1)), node("SequenceAt", "list one", "y"),
                             node("ConcatFromSequence", "list", "z", {attr_i("axis", 1)})});
  CHECK(inferred_type(model, 13, "list") == "seq(float32 Nx?)");
  CHECK(inferred_type(model, 13, "y") == "float32 Nx?");
  CHECK(inferred_type(model, 13, "z") == "float32 Nx?");
}

TEST_CASE("SequenceMap runs its body for each element", "[ops][SequenceMap]") {
  const Graph body = graph({value("e", kF), value("f", kF)}, {value("o", kF)}, {node("Mul", "e f", "o")});
  const Graph model = graph({value("a", kF, "1"), value("b", kF, "2"), value("k", kF, "")}, {value("y", kF)},
                            {node("SequenceConstruct", "a b", "list"), node("SequenceMap", "list k", "mapped", {attr_graph("body", body)}),
                             node("ConcatFromSequence", "mapped", "y", {attr_i("axis", 0)})});
  const auto out = run_graph(model, 17, {{"a", kA}, {"b", kB}, {"k", Tensor::scalar(10.0f)}});
  CHECK(to_doubles(out[0].tensor()) == Numbers{10, 20, 30});
}

TEST_CASE("optional values hold something or nothing", "[ops][Optional]") {
  CHECK(to_doubles(run_op1({"OptionalHasElement", 18, {Value()}})) == Numbers{0});
  CHECK(to_doubles(run_op1({"OptionalHasElement", 18, {}})) == Numbers{0});
  CHECK(to_doubles(run_op1({"OptionalHasElement", 15, {kA}})) == Numbers{1});
  CHECK(to_doubles(run_op1({"OptionalGetElement", 15, {run_op({"Optional", 15, {kA}})[0]}})) == Numbers{1});
  CHECK_THROWS_AS(run_op1({"OptionalGetElement", 18, {Value()}}), Error);
  const Graph model = graph({value("a", kF, "Nx3")}, {value("y", kF)}, {node("Optional", "a", "o"), node("OptionalGetElement", "o", "y")});
  CHECK(inferred_type(model, 15, "o") == "optional(float32 Nx3)");
  CHECK(inferred_type(model, 15, "y") == "float32 Nx3");
}
