#include <catch2/catch.hpp>

#include <limits>

#include "support/chain.h"

using namespace lppool;
using namespace lppool::test;

namespace {

Tensor list(std::vector<std::int64_t> values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}
Tensor floats(Shape shape, std::vector<float> values) { return Tensor::of<float>(std::move(shape), values); }
using Numbers = std::vector<double>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("NonZero lists coordinates axis by axis", "[ops][NonZero]") {
  const Tensor y = run_op1({"NonZero", 13, {floats({2, 2}, {1, -0.0f, kNan, 4})}});
  CHECK(to_string(y.shape()) == "2x3");
  CHECK(to_doubles(y) == Numbers{0, 1, 1, 0, 0, 1});
  CHECK(to_string(run_op1({"NonZero", 13, {Tensor::scalar(5.0f)}}).shape()) == "0x1");
  CHECK(to_string(run_op1({"NonZero", 13, {Tensor::scalar(0.0f)}}).shape()) == "0x0");
  CHECK(to_string(run_op1({"NonZero", 13, {Tensor::of<Float16>({1}, {Float16(-0.0f)})}}).shape()) == "1x0");
  CHECK(to_string(infer_op({"NonZero", 13}, {ValueType::tensor(DataType::kBool, dims("AxB"))})[0]) == "int64 2x?");
}

TEST_CASE("Compress keeps what the condition says", "[ops][Compress]") {
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor second = Tensor::of<bool>({2}, {false, true});
  CHECK(to_doubles(run_op1({"Compress", 11, {x, second}})) == Numbers{2});
  CHECK(to_doubles(run_op1({"Compress", 11, {x, second}, {attr_i("axis", 0)}})) == Numbers{3, 4});
  CHECK(to_doubles(run_op1({"Compress", 11, {x, second}, {attr_i("axis", -1)}})) == Numbers{2, 4, 6});
  const Tensor beyond = Tensor::of<bool>({3}, {false, false, true});
  CHECK_THROWS_AS(run_op1({"Compress", 11, {x, beyond}, {attr_i("axis", 1)}}), Error);
}

TEST_CASE("TopK ranks with ties by place and NaN as the largest", "[ops][TopK]") {
  const auto top = [](const Tensor& x, std::int64_t k, std::int64_t largest) {
    const auto out = run_op({"TopK", 11, {x, list({k})}, {attr_i("largest", largest)}, 2});
    return std::pair(to_doubles(out[0].tensor()), to_doubles(out[1].tensor()));
  };
  const Tensor x = floats({5}, {3, 1, 3, 2, 1});
  CHECK(top(x, 3, 1) == std::pair(Numbers{3, 3, 2}, Numbers{0, 2, 3}));
  CHECK(top(x, 3, 0) == std::pair(Numbers{1, 1, 2}, Numbers{1, 4, 3}));
  CHECK(top(x, 0, 1).first.empty());
  CHECK(top(floats({3}, {1, kNan, 2}), 2, 1).second == Numbers{1, 2});
  CHECK(top(floats({3}, {1, kNan, 2}), 2, 0).second == Numbers{0, 2});
  CHECK(top(floats({2}, {-0.0f, 0.0f}), 1, 1).second == Numbers{0});
  CHECK(top(Tensor::of<std::uint64_t>({2}, {1, 0xffffffffffffffffu}), 1, 1).second == Numbers{1});
  CHECK_THROWS_AS(top(x, 6, 1), Error);
  CHECK_THROWS_AS(top(x, -1, 1), Error);
}

TEST_CASE("TopK along an inner axis, with k as attribute in opset 1", "[ops][TopK]") {
  const Tensor x = floats({2, 2}, {1, 4, 3, 2});
  const auto out = run_op({"TopK", 1, {x}, {attr_i("axis", 0), attr_i("k", 1)}, 2});
  CHECK(to_doubles(out[0].tensor()) == Numbers{3, 4});
  CHECK(to_doubles(out[1].tensor()) == Numbers{1, 0});
  const auto types = infer_op({"TopK", 11, {}, {}, 2}, {ValueType::tensor(DataType::kFloat32, dims("NxC")), {}}, {Tensor(), list({5})});
  CHECK(to_string(types[0]) == "float32 Nx5");
  CHECK(to_string(types[1]) == "int64 Nx5");
}

TEST_CASE("Unique sorts, or keeps the order of first occurrence", "[ops][Unique]") {
  const Tensor x = floats({6}, {2, 1, 1, 3, 4, 3});
  const auto run = [&](std::int64_t sorted) {
    std::vector<Numbers> result;
    for (const Value& v : run_op({"Unique", 11, {x}, {attr_i("sorted", sorted)}, 4})) result.push_back(to_doubles(v.tensor()));
    return result;
  };
  CHECK(run(0) == std::vector<Numbers>{{2, 1, 3, 4}, {0, 1, 3, 4}, {0, 1, 1, 2, 3, 2}, {1, 2, 2, 1}});
  CHECK(run(1) == std::vector<Numbers>{{1, 2, 3, 4}, {1, 0, 3, 4}, {1, 0, 0, 2, 3, 2}, {2, 1, 2, 1}});
}

TEST_CASE("Unique of slices, strings and NaN", "[ops][Unique]") {
  const Tensor x = floats({2, 4, 2}, {1, 1, 0, 1, 2, 1, 0, 1, 1, 1, 0, 1, 2, 1, 0, 1});
  const auto out = run_op({"Unique", 11, {x}, {attr_i("axis", 1)}, 4});
  CHECK(to_string(out[0].tensor().shape()) == "2x3x2");
  CHECK(to_doubles(out[0].tensor()) == Numbers{0, 1, 1, 1, 2, 1, 0, 1, 1, 1, 2, 1});
  CHECK(to_doubles(out[1].tensor()) == Numbers{1, 0, 2});
  CHECK(to_doubles(out[2].tensor()) == Numbers{1, 0, 2, 0});
  CHECK(to_doubles(out[3].tensor()) == Numbers{2, 1, 1});
  const Tensor words = run_op1({"Unique", 11, {Tensor::of<std::string>({3}, {"b", "a", "b"})}});
  CHECK(words.size() == 2);
  CHECK(words.strings()[0] == "a");
  CHECK(run_op1({"Unique", 11, {floats({3}, {kNan, 1, kNan})}}).size() == 2);
}

TEST_CASE("ReverseSequence reverses each sequence up to its length", "[ops][ReverseSequence]") {
  const Tensor x = floats({4, 4}, {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15});
  CHECK(to_doubles(run_op1({"ReverseSequence", 10, {x, list({4, 3, 2, 1})}})) ==
        Numbers{3, 6, 9, 12, 2, 5, 8, 13, 1, 4, 10, 14, 0, 7, 11, 15});
  CHECK(to_doubles(run_op1({"ReverseSequence", 10, {x, list({1, 2, 0, 4})}, {attr_i("batch_axis", 0), attr_i("time_axis", 1)}})) ==
        Numbers{0, 4, 8, 12, 5, 1, 9, 13, 2, 6, 10, 14, 15, 11, 7, 3});
  CHECK_THROWS_AS(run_op1({"ReverseSequence", 10, {x, list({5, 1, 1, 1})}}), Error);
  CHECK_THROWS_AS(run_op1({"ReverseSequence", 10, {x, list({1, 1})}}), Error);
  CHECK_THROWS_AS(run_op1({"ReverseSequence", 10, {x, list({1, 1, 1, 1})}, {attr_i("batch_axis", 0)}}), Error);
}

TEST_CASE("DepthToSpace and SpaceToDepth move blocks", "[ops][DepthToSpace]") {
  const Tensor x = floats({1, 8, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  const auto mode = [&](std::string word) {
    return to_doubles(run_op1({"DepthToSpace", 11, {x}, {attr_i("blocksize", 2), attr_s("mode", word)}}));
  };
  // DCR: channel = (row * 2 + column) * 2 + depth; CRD: channel = depth * 4 + row * 2 + column.
  CHECK(mode("DCR") == Numbers{0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15});
  CHECK(mode("CRD") == Numbers{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15});
  const Tensor space = run_op1({"DepthToSpace", 1, {x}, {attr_i("blocksize", 2)}});
  CHECK(to_string(space.shape()) == "1x2x2x4");
  CHECK(to_doubles(run_op1({"SpaceToDepth", 13, {space}, {attr_i("blocksize", 2)}})) == to_doubles(x));
  CHECK_THROWS_AS(run_op1({"DepthToSpace", 13, {x}, {attr_i("blocksize", 3)}}), Error);
  CHECK_THROWS_AS(run_op1({"DepthToSpace", 13, {x}, {attr_i("blocksize", 0)}}), Error);
  CHECK_THROWS_AS(run_op1({"SpaceToDepth", 13, {x}, {attr_i("blocksize", 2)}}), Error);
  CHECK(to_string(infer_op({"DepthToSpace", 13, {}, {attr_i("blocksize", 2)}}, {ValueType::tensor(DataType::kFloat32, dims("Nx8xHxW"))})[0]) ==
        "float32 Nx2x2*Hx2*W");
}

TEST_CASE("CenterCropPad keeps the middle", "[ops][CenterCropPad]") {
  const Tensor x = floats({5}, {1, 2, 3, 4, 5});
  CHECK(to_doubles(run_op1({"CenterCropPad", 18, {x, list({2})}})) == Numbers{2, 3});
  CHECK(to_doubles(run_op1({"CenterCropPad", 18, {x, list({8})}})) == Numbers{0, 1, 2, 3, 4, 5, 0, 0});
  const Tensor m = floats({2, 2}, {1, 2, 3, 4});
  CHECK(to_doubles(run_op1({"CenterCropPad", 18, {m, list({1, 4})}})) == Numbers{0, 1, 2, 0});
  CHECK(to_doubles(run_op1({"CenterCropPad", 18, {m, list({1})}, {attr_ints("axes", {-1})}})) == Numbers{1, 3});
  CHECK_THROWS_AS(run_op1({"CenterCropPad", 18, {m, list({1})}}), Error);
}
