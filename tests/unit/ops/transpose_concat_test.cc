#include <catch2/catch.hpp>

#include "support/chain.h"

using namespace lppool;
using namespace lppool::test;

namespace {

Tensor list(std::vector<std::int64_t> values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}
Tensor grid(Shape shape) {  // 0, 1, 2 ...
  Tensor tensor = Tensor::allocate(DataType::kFloat32, std::move(shape));
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.size()); ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i);
  return tensor;
}
ValueType floats(std::string_view shape) { return ValueType::tensor(DataType::kFloat32, dims(shape)); }

}  // namespace

TEST_CASE("Transpose puts each element where its permuted indices say", "[ops][Transpose]") {
  const Tensor x = grid({2, 3, 4});
  const Tensor y = run_op1({"Transpose", 13, {x}, {attr_ints("perm", {2, 0, 1})}});
  REQUIRE(to_string(y.shape()) == "4x2x3");
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 4; ++k) CHECK(y.data<float>()[(k * 2 + i) * 3 + j] == static_cast<float>((i * 3 + j) * 4 + k));
    }
  }
  CHECK(to_string(run_op1({"Transpose", 1, {x}}).shape()) == "4x3x2");
}

TEST_CASE("Transpose that moves nothing shares the storage", "[ops][Transpose]") {
  const Tensor x = grid({2, 1, 4});
  const Tensor y = run_op1({"Transpose", 13, {x}, {attr_ints("perm", {1, 0, 2})}});
  CHECK(to_string(y.shape()) == "1x2x4");
  CHECK(y.storage_id() == x.storage_id());
}

TEST_CASE("Transpose refuses what is no permutation", "[ops][Transpose]") {
  for (const auto& perm : {std::vector<std::int64_t>{0, 0}, {0, 2}, {-1, 0}, {0}, {0, 1, 2}}) {
    CHECK_THROWS_AS(run_op1({"Transpose", 13, {grid({2, 3})}, {attr_ints("perm", perm)}}), Error);
    CHECK_THROWS_AS(infer_op({"Transpose", 13, {}, {attr_ints("perm", perm)}}, {floats("2x3")}), Error);
  }
}

TEST_CASE("Transpose infers the permuted shape", "[ops][Transpose]") {
  CHECK(to_string(infer_op({"Transpose", 13, {}, {attr_ints("perm", {0, 2, 1})}}, {floats("NxCxL")})[0]) == "float32 NxLxC");
  CHECK(to_string(infer_op({"Transpose", 13}, {floats("NxCxL")})[0]) == "float32 LxCxN");
  CHECK(to_string(infer_op({"Transpose", 13, {}, {attr_ints("perm", {1, 0})}}, {ValueType::tensor(DataType::kBool)})[0]) ==
        "bool ?x?");
}

TEST_CASE("Concat joins along any axis, strings too", "[ops][Concat]") {
  const Tensor a = Tensor::of<float>({2, 1}, {1, 2}), b = Tensor::of<float>({2, 2}, {3, 4, 5, 6});
  CHECK(to_doubles(run_op1({"Concat", 13, {a, b}, {attr_i("axis", 1)}})) == std::vector<double>{1, 3, 4, 2, 5, 6});
  CHECK(to_doubles(run_op1({"Concat", 13, {a, b}, {attr_i("axis", -1)}})) == std::vector<double>{1, 3, 4, 2, 5, 6});
  CHECK(to_doubles(run_op1({"Concat", 1, {a, b}})) == std::vector<double>{1, 3, 4, 2, 5, 6});  // axis 1 by default
  const Tensor s = Tensor::of<std::string>({1}, {"a"}), t = Tensor::of<std::string>({2}, {"b", "c"});
  const Tensor joined = run_op1({"Concat", 13, {s, t}, {attr_i("axis", 0)}});
  CHECK(joined.strings()[0] == "a");
  CHECK(joined.strings()[2] == "c");
}

TEST_CASE("Concat accepts empty parts and refuses parts that do not fit", "[ops][Concat]") {
  const Tensor a = grid({2, 0}), b = grid({2, 3});
  CHECK(to_doubles(run_op1({"Concat", 13, {a, b}, {attr_i("axis", 1)}})) == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK_THROWS_AS(run_op1({"Concat", 13, {a, b}, {attr_i("axis", 0)}}), Error);
  CHECK_THROWS_AS(run_op1({"Concat", 13, {grid({3}), b}, {attr_i("axis", 0)}}), Error);
  CHECK_THROWS_AS(run_op1({"Concat", 13, {b, b}, {attr_i("axis", 2)}}), Error);
}

TEST_CASE("Concat infers sums of symbolic sizes", "[ops][Concat]") {
  const auto shape = [](std::string_view a, std::string_view b) {
    return to_string(infer_op({"Concat", 13, {}, {attr_i("axis", 1)}}, {floats(a), floats(b)})[0]);
  };
  CHECK(shape("NxCxH", "Nx3xH") == "float32 Nx(C + 3)xH");
  CHECK(shape("NxCx?", "Nx3x7") == "float32 Nx(C + 3)x7");
  CHECK(shape("Nx?xH", "Nx3xH") == "float32 Nx?xH");
  CHECK_THROWS_WITH(shape("2x1", "3x1"), Catch::Contains("is 3, expected 2"));
  CHECK_THROWS_AS(shape("2x1", "2x1x1"), Error);
}

TEST_CASE("Split cuts into given lengths, wherever the opset keeps them", "[ops][Split]") {
  const Tensor x = Tensor::of<float>({5}, {1, 2, 3, 4, 5});
  const std::vector<OpCall> calls = {
      {"Split", 2, {x}, {attr_ints("split", {2, 3})}, 2},
      {"Split", 13, {x, list({2, 3})}, {}, 2},
      {"Split", 18, {x, list({2, 3})}, {}, 2},
      {"Split", 1, {x, Tensor::of<float>({2}, {2, 3})}, {}, 2},
  };
  for (const OpCall& call : calls) {
    const auto parts = run_op(call);
    CHECK(to_doubles(parts[0].tensor()) == std::vector<double>{1, 2});
    CHECK(to_doubles(parts[1].tensor()) == std::vector<double>{3, 4, 5});
  }
  CHECK_THROWS_WITH(run_op({"Split", 13, {x, list({2, 2})}, {}, 2}), Catch::Contains("sums to 4, expected the axis' size 5"));
  CHECK_THROWS_WITH(run_op({"Split", 13, {x, list({6, -1})}, {}, 2}), Catch::Contains("-1"));
  CHECK_THROWS_AS(run_op({"Split", 13, {x, list({5})}, {}, 2}), Error);
}

TEST_CASE("Split into equal parts: uneven only since opset 18", "[ops][Split]") {
  const Tensor x = grid({1, 5});
  const auto sizes = [&](std::int64_t opset, std::size_t count, std::vector<Attribute> attributes) {
    attributes.push_back(attr_i("axis", 1));
    std::vector<std::int64_t> result;
    for (const Value& part : run_op({"Split", opset, {x}, attributes, count})) result.push_back(part.tensor().shape()[1]);
    return result;
  };
  CHECK(sizes(18, 2, {attr_i("num_outputs", 2)}) == std::vector<std::int64_t>{3, 2});
  CHECK(sizes(18, 4, {attr_i("num_outputs", 4)}) == std::vector<std::int64_t>{2, 2, 1, 0});
  CHECK(sizes(13, 5, {}) == std::vector<std::int64_t>{1, 1, 1, 1, 1});
  CHECK_THROWS_AS(sizes(13, 2, {}), Error);
  CHECK_THROWS_WITH(sizes(18, 2, {attr_i("num_outputs", 3)}), Catch::Contains("num_outputs is 3"));
}

TEST_CASE("Split infers equal parts of a symbolic axis", "[ops][Split]") {
  const auto shapes = [](std::int64_t opset, std::string_view shape, std::size_t count) {
    std::string text;
    OpCall call{"Split", opset, {}, {}, count};
    if (opset >= 18) call.attributes.push_back(attr_i("num_outputs", static_cast<std::int64_t>(count)));
    for (const ValueType& type : infer_op(call, {floats(shape)})) text += to_string(*type.shape) + " ";
    return text;
  };
  CHECK(shapes(13, "Nx3", 2) == "floor(N/2)x3 floor(N/2)x3 ");
  CHECK(shapes(18, "7x3", 3) == "3x3 3x3 1x3 ");
  // ceil(N/2) and what is left of N.
  const auto types = infer_op({"Split", 18, {}, {attr_i("num_outputs", 2)}, 2}, {floats("N")});
  for (std::int64_t n = 0; n < 6; ++n) {
    std::int64_t sum = 0;
    for (const ValueType& type : types) sum += *(*type.shape)[0].substitute({{"N", Dim(n)}}).value();
    CHECK(sum == n);
  }
}
