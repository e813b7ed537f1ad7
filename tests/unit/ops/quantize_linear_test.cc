#include <catch2/catch.hpp>
#include <cmath>

#include "lppool/tensor/float8.h"
#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

Tensor run(std::string op, std::int64_t opset, std::vector<Value> inputs, std::vector<Attribute> attributes = {}) {
  return run_op1(
      {.op_type = std::move(op), .opset = opset, .inputs = std::move(inputs), .attributes = std::move(attributes)});
}

Tensor floats(Shape shape, const std::vector<float>& values) {
  return Tensor::of<float>(std::move(shape), values);
}

}  // namespace

TEST_CASE("QuantizeLinear rounds halves to even and saturates", "[ops][QuantizeLinear]") {
  const Tensor x = floats({8}, {0, 1, 3, 5, 1000, -254, -1000, NAN});
  CHECK(to_doubles(run("QuantizeLinear", 10, {x, floats({}, {2}), Tensor::scalar<std::uint8_t>(128)})) ==
        std::vector<double>{128, 128, 130, 130, 255, 1, 0, 0});
  CHECK(to_doubles(run("QuantizeLinear", 13, {x, floats({}, {2}), Tensor::scalar<std::int8_t>(1)})) ==
        std::vector<double>{1, 1, 3, 3, 127, -126, -128, -128});
  const Tensor plain = run("QuantizeLinear", 10, {x, floats({}, {2})});
  CHECK(plain.dtype() == DataType::kUInt8);
  CHECK(to_doubles(plain) == std::vector<double>{0, 0, 2, 2, 255, 0, 0, 0});
}

TEST_CASE("QuantizeLinear takes a scale for each slice or block of an axis", "[ops][QuantizeLinear]") {
  const Tensor x = floats({2, 3}, {2, 4, 6, 8, 10, 12});
  CHECK(to_doubles(run("QuantizeLinear", 13, {x, floats({3}, {1, 2, 3}), Tensor::of<std::uint8_t>({3}, {0, 1, 2})})) ==
        std::vector<double>{2, 3, 4, 8, 6, 6});
  CHECK(to_doubles(run("QuantizeLinear", 13, {x, floats({2}, {1, 2})}, {attr_i("axis", -2)})) ==
        std::vector<double>{2, 4, 6, 4, 5, 6});
  const std::vector<Attribute> blocks = {attr_i("axis", 1), attr_i("block_size", 2)};
  CHECK(to_doubles(run("QuantizeLinear", 21, {x, floats({2, 2}, {1, 2, 4, 3})}, blocks)) ==
        std::vector<double>{2, 4, 3, 2, 2, 4});
  CHECK_THROWS_AS(run("QuantizeLinear", 21, {x, floats({2, 3}, {1, 1, 1, 1, 1, 1})}, blocks), Error);
  CHECK_THROWS_AS(run("QuantizeLinear", 13, {x, floats({2}, {1, 2})}), Error);
  CHECK_THROWS_AS(run("QuantizeLinear", 13, {x, floats({3}, {1, 2, 3}), Tensor::scalar<std::uint8_t>(0)}), Error);
}

TEST_CASE("QuantizeLinear makes 16, 4 and 2 bits and small floats", "[ops][QuantizeLinear]") {
  const Tensor x = floats({4}, {-40000, -3, 2, 40000});
  const auto type = [](DataType t) { return attr_i("output_dtype", static_cast<std::int64_t>(t)); };
  CHECK(to_doubles(run("QuantizeLinear", 21, {x, floats({}, {1})}, {type(DataType::kInt16)})) ==
        std::vector<double>{-32768, -3, 2, 32767});
  CHECK(to_doubles(run("QuantizeLinear", 21, {x, floats({}, {1})}, {type(DataType::kUInt16)})) ==
        std::vector<double>{0, 0, 2, 40000});
  CHECK(to_doubles(run("QuantizeLinear", 21, {x, floats({}, {1})}, {type(DataType::kInt4)})) ==
        std::vector<double>{-8, -3, 2, 7});
  CHECK(to_doubles(run("QuantizeLinear", 25, {x, floats({}, {1})}, {type(DataType::kUInt2)})) ==
        std::vector<double>{0, 0, 2, 3});
  const Tensor e4m3 = run("QuantizeLinear", 21, {x, floats({}, {2})}, {type(DataType::kFloat8E4M3FN)});
  CHECK(small_float_value(DataType::kFloat8E4M3FN, e4m3.data<std::uint8_t>()[0]) == -448);
  CHECK(small_float_value(DataType::kFloat8E4M3FN, e4m3.data<std::uint8_t>()[1]) == -1.5);
  const Tensor wild =
      run("QuantizeLinear", 21, {x, floats({}, {2})}, {type(DataType::kFloat8E4M3FN), attr_i("saturate", 0)});
  CHECK(wild.data<std::uint8_t>()[3] == 0x7f);
  CHECK_THROWS_AS(run("QuantizeLinear", 21, {x, floats({}, {1})}, {type(DataType::kFloat32)}), Error);
  CHECK_THROWS_AS(
      run("QuantizeLinear", 21, {x, floats({}, {1}), Tensor::scalar<std::int8_t>(0)}, {type(DataType::kUInt8)}), Error);
}

TEST_CASE("QuantizeLinear divides in the precision of the scale, or the one asked for", "[ops][QuantizeLinear]") {
  // 1.0005 / 0.001 = 1000.5 in float16 would need 11 bits and a half: the quotient itself is rounded to float16 first.
  const Tensor x = Tensor::of<Float16>({1}, {Float16(3001.0)}), scale = Tensor::of<Float16>({}, {Float16(2.0)});
  // 3001 is 3000 or 3002 in float16; with scale 2 the quotient is 1500 or 1501, exact. With float32 input 3001 / 2 =
  // 1500.5.
  const auto stored = static_cast<double>(Float16(3001.0));
  const auto type = attr_i("output_dtype", static_cast<std::int64_t>(DataType::kInt16));
  CHECK(to_doubles(run("QuantizeLinear", 21, {x, scale}, {type})) == std::vector<double>{stored / 2});
  const Tensor wide = floats({1}, {3001.5f});
  CHECK(to_doubles(run("QuantizeLinear", 23, {wide, scale}, {type})) ==
        std::vector<double>{std::nearbyint(static_cast<double>(Float16(3001.5)) / 2)});
  CHECK(to_doubles(run("QuantizeLinear", 23, {wide, scale}, {type, attr_i("precision", 1)})) ==
        std::vector<double>{1501});
}

TEST_CASE("DequantizeLinear undoes every granularity", "[ops][DequantizeLinear]") {
  const Tensor x = Tensor::of<std::uint8_t>({2, 3}, {0, 128, 255, 1, 2, 3});
  CHECK(to_doubles(run("DequantizeLinear", 10, {x, floats({}, {2}), Tensor::scalar<std::uint8_t>(128)})) ==
        std::vector<double>{-256, 0, 254, -254, -252, -250});
  CHECK(
      to_doubles(run("DequantizeLinear", 13, {x, floats({3}, {1, 2, 3}), Tensor::of<std::uint8_t>({3}, {0, 1, 2})})) ==
      std::vector<double>{0, 254, 759, 1, 2, 3});
  CHECK(to_doubles(run("DequantizeLinear", 21, {x, floats({2, 2}, {1, 2, 3, 4})}, {attr_i("block_size", 2)})) ==
        std::vector<double>{0, 128, 510, 3, 6, 12});
  CHECK(to_doubles(run("DequantizeLinear", 10, {Tensor::of<std::int32_t>({1}, {-7}), floats({}, {0.5f})})) ==
        std::vector<double>{-3.5});
  const Tensor half =
      run("DequantizeLinear", 19, {Tensor::of<std::int8_t>({1}, {3}), Tensor::of<Float16>({}, {Float16(0.1)})});
  CHECK(half.dtype() == DataType::kFloat16);
  CHECK(static_cast<double>(half.data<Float16>()[0]) ==
        static_cast<double>(Float16(3 * static_cast<double>(Float16(0.1)))));
  const Tensor e5m2 = Tensor::of<std::uint8_t>({1}, {0x3c}).viewed_as(DataType::kFloat8E5M2);
  CHECK(to_doubles(run("DequantizeLinear", 19, {e5m2, floats({}, {3})})) == std::vector<double>{3});
  const Tensor power = Tensor::of<std::uint8_t>({}, {128}).viewed_as(DataType::kFloat8E8M0);
  CHECK(to_doubles(run("DequantizeLinear", 24, {Tensor::of<std::int8_t>({1}, {3}), power},
                       {attr_i("output_dtype", 1)})) == std::vector<double>{6});
}

TEST_CASE("DynamicQuantizeLinear covers the range of its input and zero", "[ops][DynamicQuantizeLinear]") {
  const auto out = run_op({.op_type = "DynamicQuantizeLinear",
                           .opset = 11,
                           .inputs = {floats({6}, {0, 2, -3, -2.5f, 1.34f, 0.5f})},
                           .outputs = 3});
  // From the operator's published example.
  CHECK(to_doubles(out[0].tensor()) == std::vector<double>{153, 255, 0, 26, 221, 179});
  CHECK(out[1].tensor().data<float>()[0] == Approx(0.0196078438).epsilon(1e-7));
  CHECK(to_doubles(out[2].tensor()) == std::vector<double>{153});
  const auto zeros =
      run_op({.op_type = "DynamicQuantizeLinear", .opset = 11, .inputs = {floats({2}, {0, 0})}, .outputs = 3});
  CHECK(to_doubles(zeros[0].tensor()) == std::vector<double>{0, 0});
  run_op({.op_type = "DynamicQuantizeLinear", .opset = 11, .inputs = {floats({3}, {NAN, -INFINITY, 1})}, .outputs = 3});
}
