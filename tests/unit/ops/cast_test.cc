#include <catch2/catch.hpp>
#include <cmath>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

Attribute to(DataType type) {
  return attr_i("to", static_cast<std::int64_t>(type));
}

Tensor cast(const Tensor& x, std::int64_t opset, std::vector<Attribute> attributes) {
  return run_op1({.op_type = "Cast", .opset = opset, .inputs = {x}, .attributes = std::move(attributes)});
}

}  // namespace

TEST_CASE("Cast names its target by text in opset 1 and by number later", "[ops][Cast]") {
  const Tensor x = Tensor::of<float>({2}, {1.5f, -2.5f});
  CHECK(to_doubles(cast(x, 1, {attr_s("to", "INT32")})) == std::vector<double>{1, -2});
  CHECK(to_doubles(cast(x, 6, {to(DataType::kInt64)})) == std::vector<double>{1, -2});
  CHECK(cast(x, 13, {to(DataType::kFloat32)}).dtype() == DataType::kFloat32);
  CHECK_THROWS_AS(cast(x, 1, {attr_s("to", "int32")}), Error);
  CHECK_THROWS_AS(cast(x, 13, {attr_i("to", 0)}), Error);
  CHECK_THROWS_AS(cast(x, 13, {attr_i("to", 99)}), Error);
}

TEST_CASE("Cast of infinity to the fnuz types follows the text of its opset", "[ops][Cast]") {
  const Tensor x = Tensor::of<float>({2}, {INFINITY, -INFINITY});
  const auto codes = [&](std::int64_t opset, std::vector<Attribute> attributes) {
    const Tensor y = cast(x, opset, std::move(attributes));
    return std::vector<int>{y.data<std::uint8_t>()[0], y.data<std::uint8_t>()[1]};
  };
  CHECK(codes(19, {to(DataType::kFloat8E4M3FNUZ)}) == std::vector<int>{0x80, 0x80});
  CHECK(codes(24, {to(DataType::kFloat8E4M3FNUZ)}) == std::vector<int>{0x7f, 0xff});
  CHECK(codes(19, {to(DataType::kFloat8E4M3FN)}) == std::vector<int>{0x7e, 0xfe});
  CHECK(codes(19, {to(DataType::kFloat8E5M2), attr_i("saturate", 0)}) == std::vector<int>{0x7c, 0xfc});
}

TEST_CASE("Cast to float8e8m0 takes a rounding mode", "[ops][Cast]") {
  const Tensor x = Tensor::of<float>({1}, {1.2f});
  const auto code = [&](const char* mode) {
    return static_cast<int>(
        cast(x, 24, {to(DataType::kFloat8E8M0), attr_s("round_mode", mode)}).data<std::uint8_t>()[0]);
  };
  CHECK(code("up") == 128);
  CHECK(code("down") == 127);
  CHECK(code("nearest") == 127);
  CHECK_THROWS_AS(code("sideways"), Error);
}

TEST_CASE("CastLike takes the type of its second input", "[ops][CastLike]") {
  const Tensor y = run_op1({.op_type = "CastLike",
                            .opset = 15,
                            .inputs = {Tensor::of<std::int32_t>({1}, {300}), Tensor::of<std::uint8_t>({0}, {})}});
  CHECK(y.dtype() == DataType::kUInt8);
  CHECK(to_doubles(y) == std::vector<double>{44});
}

TEST_CASE("BitCast keeps bits and refuses another width", "[ops][BitCast]") {
  const auto bit_cast = [](const Tensor& x, DataType type) {
    return run_op1({.op_type = "BitCast", .opset = 26, .inputs = {x}, .attributes = {to(type)}});
  };
  CHECK(bit_cast(Tensor::of<float>({1}, {1}), DataType::kInt32).data<std::int32_t>()[0] == 0x3f800000);
  CHECK_THROWS_AS(bit_cast(Tensor::of<float>({1}, {1}), DataType::kInt16), Error);
  const Tensor nibbles = Tensor::of<std::int8_t>({2}, {-1, 5}).viewed_as(DataType::kInt4);
  const Tensor unsigned_nibbles = bit_cast(nibbles, DataType::kUInt4);
  CHECK(unsigned_nibbles.data<std::uint8_t>()[0] == 15);
  CHECK(unsigned_nibbles.data<std::uint8_t>()[1] == 5);
  CHECK(bit_cast(unsigned_nibbles, DataType::kInt4).data<std::int8_t>()[0] == -1);
}

TEST_CASE("Identity passes sequences and absent optionals on", "[ops][Identity]") {
  auto sequence = std::make_shared<Sequence>();
  sequence->elements.emplace_back(Tensor::scalar<float>(1));
  const auto out =
      run_op({.op_type = "Identity", .opset = 16, .inputs = {Value(std::shared_ptr<const Sequence>(sequence))}});
  CHECK(out[0].sequence().elements.size() == 1);
  CHECK(run_op({.op_type = "Identity", .opset = 16, .inputs = {Value()}})[0].empty());
}

TEST_CASE("Contents of shape tensors follow casts and arithmetic", "[ops][infer]") {
  // Through a whole chain this is tested with Shape; here Reshape-like rules read the constants only.
  const ValueType x = ValueType::tensor(DataType::kFloat32, std::vector<Dim>{Dim::symbol("N")});
  const auto types = infer_op({.op_type = "Cast", .opset = 13, .attributes = {to(DataType::kFloat16)}}, {x});
  CHECK(to_string(types[0]) == "float16 N");
}
