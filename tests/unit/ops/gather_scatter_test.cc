#include <catch2/catch.hpp>

#include "support/chain.h"

using namespace lppool;
using namespace lppool::test;

namespace {

Tensor ints(Shape shape, std::vector<std::int64_t> values) { return Tensor::of<std::int64_t>(std::move(shape), values); }
Tensor floats(Shape shape, std::vector<float> values) { return Tensor::of<float>(std::move(shape), values); }
using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("Gather picks along any axis", "[ops][Gather]") {
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor rows = run_op1({"Gather", 13, {x, ints({2, 2}, {0, 1, 1, -1})}});
  CHECK(to_string(rows.shape()) == "2x2x2");
  CHECK(to_doubles(rows) == Numbers{1, 2, 3, 4, 3, 4, 5, 6});
  const Tensor column = run_op1({"Gather", 13, {x, ints({}, {1})}, {attr_i("axis", 1)}});
  CHECK(to_string(column.shape()) == "3");
  CHECK(to_doubles(column) == Numbers{2, 4, 6});
  CHECK(to_string(run_op1({"Gather", 13, {x, ints({0}, {})}}).shape()) == "0x2");
  const Tensor words = Tensor::of<std::string>({2}, {"a", "b"});
  CHECK(run_op1({"Gather", 13, {words, Tensor::of<std::int32_t>({1}, {1})}}).strings()[0] == "b");
  CHECK_THROWS_WITH(run_op1({"Gather", 13, {x, ints({1}, {3})}}), Catch::Contains("index 3 is outside axis 0 of size 3"));
  CHECK_THROWS_AS(run_op1({"Gather", 13, {x, ints({1}, {-4})}}), Error);
}

TEST_CASE("Gather infers the shape of its indices in place of the axis", "[ops][Gather]") {
  const auto f = [](std::string_view s) { return ValueType::tensor(DataType::kFloat32, dims(s)); };
  const auto n = [](std::string_view s) { return ValueType::tensor(DataType::kInt64, dims(s)); };
  CHECK(to_string(infer_op({"Gather", 13, {}, {attr_i("axis", 1)}}, {f("NxVxD"), n("BxS")})[0]) == "float32 NxBxSxD");
  CHECK_THROWS_AS(infer_op({"Gather", 13}, {f("3xD"), {}}, {Tensor(), ints({1}, {3})}), Error);
}

TEST_CASE("GatherElements replaces one coordinate", "[ops][GatherElements]") {
  const Tensor x = floats({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(to_doubles(run_op1({"GatherElements", 13, {x, ints({2, 3}, {1, 2, 0, -1, 0, 0})}})) == Numbers{4, 8, 3, 7, 2, 3});
  CHECK(to_doubles(run_op1({"GatherElements", 13, {x, ints({2, 2}, {1, 0, 2, 1})}, {attr_i("axis", 1)}})) == Numbers{2, 1, 6, 5});
  CHECK_THROWS_AS(run_op1({"GatherElements", 13, {x, ints({2, 4}, {0, 0, 0, 0, 0, 0, 0, 0})}}), Error);
  CHECK_THROWS_AS(run_op1({"GatherElements", 13, {x, ints({1, 1}, {3})}}), Error);
  CHECK_THROWS_AS(run_op1({"GatherElements", 13, {x, ints({1}, {0})}}), Error);
}

TEST_CASE("GatherND picks by tuples, with batch axes since opset 12", "[ops][GatherND]") {
  const Tensor x = ints({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(to_doubles(run_op1({"GatherND", 11, {x, ints({2, 2}, {0, 1, 1, 0})}})) == Numbers{2, 3, 4, 5});
  CHECK(to_doubles(run_op1({"GatherND", 12, {x, ints({2, 1}, {1, 0})}, {attr_i("batch_dims", 1)}})) == Numbers{2, 3, 4, 5});
  CHECK(to_doubles(run_op1({"GatherND", 13, {x, ints({1, 3}, {-1, -1, 0})}})) == Numbers{6});
  const Tensor all = run_op1({"GatherND", 13, {x, Tensor::zeros(DataType::kInt64, {2, 0})}});
  CHECK(to_string(all.shape()) == "2x2x2x2");
  CHECK_THROWS_AS(run_op1({"GatherND", 13, {x, ints({1, 3}, {0, 0, 2})}}), Error);
  CHECK_THROWS_AS(run_op1({"GatherND", 13, {x, ints({1, 4}, {0, 0, 0, 0})}}), Error);
  CHECK_THROWS_AS(run_op1({"GatherND", 13, {x, ints({1, 1}, {0})}, {attr_i("batch_dims", 1)}}), Error);
  const auto f = [](std::string_view s) { return ValueType::tensor(DataType::kInt64, dims(s)); };
  CHECK(to_string(infer_op({"GatherND", 13, {}, {attr_i("batch_dims", 1)}}, {f("BxHxWxC"), f("BxKx2")})[0]) == "int64 BxKxC");
}

TEST_CASE("ScatterElements replaces and combines in order", "[ops][ScatterElements]") {
  const Tensor x = floats({1, 5}, {1, 2, 3, 4, 5}), index = ints({1, 3}, {1, 3, 1}), updates = floats({1, 3}, {10, 20, 30});
  const auto scatter = [&](std::string how) {
    return to_doubles(run_op1({"ScatterElements", 18, {x, index, updates}, {attr_i("axis", 1), attr_s("reduction", how)}}));
  };
  CHECK(scatter("none") == Numbers{1, 30, 3, 20, 5});
  CHECK(scatter("add") == Numbers{1, 42, 3, 24, 5});
  CHECK(scatter("mul") == Numbers{1, 600, 3, 80, 5});
  CHECK(scatter("max") == Numbers{1, 30, 3, 20, 5});
  CHECK(scatter("min") == Numbers{1, 2, 3, 4, 5});
  CHECK_THROWS_AS(scatter("mean"), Error);
  CHECK_THROWS_AS(run_op1({"ScatterElements", 16, {x, index, updates}, {attr_i("axis", 1), attr_s("reduction", "max")}}), Error);
  CHECK(to_doubles(run_op1({"Scatter", 9, {x, ints({1, 1}, {-1}), floats({1, 1}, {9})}, {attr_i("axis", 1)}})) ==
        Numbers{1, 2, 3, 4, 9});
  CHECK(to_doubles(x) == Numbers{1, 2, 3, 4, 5});  // the input stays as it is
}

TEST_CASE("ScatterElements sums halves exactly before it rounds", "[ops][ScatterElements]") {
  // 2048 + 1 is 2048 in float16: added one by one nothing would change.
  const Tensor x = Tensor::of<Float16>({1}, {Float16(2048.0f)});
  const Tensor ones = Tensor::of<Float16>({4}, std::vector<Float16>(4, Float16(1.0f)));
  const Tensor y = run_op1({"ScatterElements", 18, {x, ints({4}, {0, 0, 0, 0}), ones}, {attr_s("reduction", "add")}});
  CHECK(to_doubles(y) == Numbers{2052});
}

TEST_CASE("ScatterElements wraps integers", "[ops][ScatterElements]") {
  const Tensor x = Tensor::of<std::int8_t>({1}, {127});
  const Tensor y = run_op1({"ScatterElements", 18, {x, ints({1}, {0}), Tensor::of<std::int8_t>({1}, {1})}, {attr_s("reduction", "add")}});
  CHECK(to_doubles(y) == Numbers{-128});
}

TEST_CASE("ScatterND writes elements and slices", "[ops][ScatterND]") {
  const Tensor x = floats({4}, {1, 2, 3, 4});
  CHECK(to_doubles(run_op1({"ScatterND", 11, {x, ints({2, 1}, {3, -4}), floats({2}, {9, 8})}})) == Numbers{8, 2, 3, 9});
  const Tensor m = floats({2, 2}, {1, 2, 3, 4});
  CHECK(to_doubles(run_op1({"ScatterND", 18, {m, ints({2, 1}, {1, 1}), floats({2, 2}, {1, 1, 5, 5})}, {attr_s("reduction", "add")}})) ==
        Numbers{1, 2, 9, 10});
  CHECK_THROWS_AS(run_op1({"ScatterND", 18, {m, ints({1, 1}, {0}), floats({1}, {1})}}), Error);
  CHECK_THROWS_AS(run_op1({"ScatterND", 18, {m, ints({1, 1}, {2}), floats({1, 2}, {1, 1})}}), Error);
  const Tensor flags = Tensor::zeros(DataType::kBool, {2});
  CHECK_THROWS_WITH(run_op1({"ScatterND", 18, {flags, ints({1, 1}, {0}), Tensor::zeros(DataType::kBool, {1})}, {attr_s("reduction", "add")}}),
                    Catch::Contains("reduction of bool"));
}

TEST_CASE("TensorScatter writes each batch from its own position", "[ops][TensorScatter]") {
  const Tensor cache = floats({2, 3, 1}, {0, 0, 0, 0, 0, 0}), update = floats({2, 2, 1}, {1, 2, 3, 4});
  CHECK(to_doubles(run_op1({"TensorScatter", 24, {cache, update, ints({2}, {1, 0})}})) == Numbers{0, 1, 2, 3, 4, 0});
  CHECK(to_doubles(run_op1({"TensorScatter", 24, {cache, update, ints({2}, {2, 1})}, {attr_s("mode", "circular")}})) ==
        Numbers{2, 0, 1, 0, 3, 4});
  CHECK(to_doubles(run_op1({"TensorScatter", 24, {cache, update}})) == Numbers{1, 2, 0, 3, 4, 0});
  CHECK_THROWS_AS(run_op1({"TensorScatter", 24, {cache, update, ints({2}, {2, 0})}}), Error);
}
