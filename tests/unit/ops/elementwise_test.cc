#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "lppool/ops/broadcast.h"
#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <typename T>
Tensor of(Shape shape, std::vector<T> values) {
  return Tensor::of<T>(std::move(shape), values);
}

Tensor bools(Shape shape, const std::vector<int>& values) {
  Tensor tensor = Tensor::allocate(DataType::kBool, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) tensor.mutable_data<std::uint8_t>()[i] = values[i] != 0;
  return tensor;
}

std::vector<double> run(std::string op, std::int64_t opset, std::vector<Value> inputs,
                        std::vector<Attribute> attributes = {}) {
  return to_doubles(run_op1(
      {.op_type = std::move(op), .opset = opset, .inputs = std::move(inputs), .attributes = std::move(attributes)}));
}

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

std::vector<Dim> dims(std::initializer_list<Dim> list) {
  return list;
}

}  // namespace

TEST_CASE("Broadcasting agrees with a loop over indices for all small shapes", "[ops][broadcast]") {
  // Every pair of shapes up to rank 3 with sizes 0 to 3 that broadcasts, against index arithmetic.
  const std::vector<std::int64_t> sizes = {0, 1, 2, 3};
  std::vector<Shape> shapes = {Shape{}};
  for (const auto a : sizes) {
    shapes.push_back(Shape{a});
    for (const auto b : sizes) {
      shapes.push_back(Shape{a, b});
      for (const auto c : sizes) shapes.push_back(Shape{a, b, c});
    }
  }
  int compared = 0;
  for (const Shape& a : shapes) {
    for (const Shape& b : shapes) {
      const std::size_t rank = std::max(a.rank(), b.rank());
      const auto dim = [&](const Shape& s, std::size_t axis) {
        return axis + s.rank() < rank ? std::int64_t{1} : s[axis + s.rank() - rank];
      };
      std::vector<std::int64_t> expected;
      bool fits = true;
      for (std::size_t axis = 0; axis < rank; ++axis) {
        const auto x = dim(a, axis), y = dim(b, axis);
        fits = fits && (x == y || x == 1 || y == 1);
        expected.push_back(x == 1 ? y : x);
      }
      CAPTURE(to_string(a), to_string(b));
      if (!fits) {
        CHECK_THROWS_AS(broadcast_shape(a, b), Error);
        continue;
      }
      const Shape out = broadcast_shape(a, b);
      REQUIRE(out == Shape(expected));
      Tensor ta = Tensor::allocate(DataType::kInt32, a), tb = Tensor::allocate(DataType::kInt32, b);
      for (std::int64_t i = 0; i < ta.size(); ++i)
        ta.mutable_data<std::int32_t>()[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i * 100);
      for (std::int64_t i = 0; i < tb.size(); ++i)
        tb.mutable_data<std::int32_t>()[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i + 1);
      const Tensor sum = run_op1({.op_type = "Add", .opset = 14, .inputs = {ta, tb}});
      REQUIRE(sum.shape() == out);
      for (std::int64_t i = 0; i < sum.size(); ++i) {
        std::int64_t rest = i, at_a = 0, at_b = 0, step_a = 1, step_b = 1;
        for (std::size_t axis = rank; axis-- > 0;) {
          const std::int64_t index = rest % out[axis];
          rest /= out[axis];
          at_a += dim(a, axis) == 1 ? 0 : index * step_a;
          at_b += dim(b, axis) == 1 ? 0 : index * step_b;
          step_a *= dim(a, axis);
          step_b *= dim(b, axis);
        }
        REQUIRE(sum.data<std::int32_t>()[static_cast<std::size_t>(i)] == at_a * 100 + at_b + 1);
      }
      ++compared;
    }
  }
  CHECK(compared > 2000);
}

TEST_CASE("A large broadcast is the same on one thread and on three", "[ops][broadcast]") {
  Tensor a = Tensor::allocate(DataType::kFloat32, {37, 1, 501}), b = Tensor::allocate(DataType::kFloat32, {29, 1});
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.size()); ++i)
    a.mutable_data<float>()[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < static_cast<std::size_t>(b.size()); ++i)
    b.mutable_data<float>()[i] = static_cast<float>(i) * 0.5f;
  const auto one = run_op1({.op_type = "Sub", .opset = 14, .inputs = {a, b}});
  const auto three = run_op1({.op_type = "Sub", .opset = 14, .inputs = {a, b}, .threads = 3});
  REQUIRE(one.shape() == Shape{37, 29, 501});
  for (std::int64_t i = 0; i < one.size(); ++i) {
    const std::int64_t column = i % 501, row = i / 501 % 29, plane = i / (501 * 29);
    const float expected = static_cast<float>(plane * 501 + column) - static_cast<float>(row) * 0.5f;
    REQUIRE(one.data<float>()[static_cast<std::size_t>(i)] == expected);
    REQUIRE(three.data<float>()[static_cast<std::size_t>(i)] == expected);
  }
}

TEST_CASE("Binary operators of opset 1 and 6 broadcast by attribute only", "[ops][Add]") {
  const Tensor a = of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(run("Add", 6, {a, of<float>({3}, {10, 20, 30})}, {attr_i("broadcast", 1)}) ==
        std::vector<double>{11, 22, 33, 14, 25, 36});
  CHECK(run("Add", 6, {a, of<float>({2}, {10, 20})}, {attr_i("broadcast", 1), attr_i("axis", 0)}) ==
        std::vector<double>{11, 12, 13, 24, 25, 26});
  CHECK(run("Sub", 1, {a, of<float>({1, 1}, {1})}, {attr_i("broadcast", 1)}) == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK_THROWS_WITH(run("Add", 6, {a, of<float>({3}, {10, 20, 30})}), Catch::Contains("broadcast is not 1"));
  CHECK_THROWS_WITH(run("Add", 6, {a, of<float>({2}, {1, 2})}, {attr_i("broadcast", 1)}),
                    Catch::Contains("does not fit"));
  CHECK_THROWS_AS(run("Add", 6, {a, of<float>({2}, {1, 2})}, {attr_i("broadcast", 1), attr_i("axis", 2)}), Error);
  CHECK_THROWS_AS(run("Add", 6, {a, of<float>({2}, {1, 2})}, {attr_i("broadcast", 1), attr_i("axis", -5)}), Error);
}

TEST_CASE("Integer arithmetic wraps and division truncates", "[ops][Div]") {
  const auto lowest = std::numeric_limits<std::int32_t>::min();
  CHECK(run("Div", 14, {of<std::int32_t>({4}, {7, -7, 7, lowest}), of<std::int32_t>({4}, {2, 2, -2, -1})}) ==
        std::vector<double>{3, -3, -3, static_cast<double>(lowest)});
  CHECK(run("Mul", 14, {of<std::int8_t>({2}, {100, -128}), of<std::int8_t>({2}, {3, -1})}) ==
        std::vector<double>{44, -128});
  CHECK(run("Add", 14, {of<std::uint8_t>({1}, {250}), of<std::uint8_t>({1}, {10})}) == std::vector<double>{4});
  CHECK(run("Sub", 14, {of<std::uint16_t>({1}, {0}), of<std::uint16_t>({1}, {1})}) == std::vector<double>{65535});
  CHECK_THROWS_WITH(run("Div", 14, {of<std::int64_t>({1}, {1}), of<std::int64_t>({1}, {0})}),
                    Catch::Contains("division by zero"));
  CHECK(run("Div", 14, {of<float>({2}, {1, 0}), of<float>({2}, {0, 0})})[0] == kInf);
}

TEST_CASE("Half types round each result once", "[ops][Add]") {
  // 1 + 2^-11 is a tie in float16 and goes to even; 1 + 2^-11 + 2^-20 cannot be reached by one addition of halves.
  const auto half = [](double v) { return Float16(v); };
  const Tensor a = of<Float16>({2}, {half(1), half(65504)}), b = of<Float16>({2}, {half(0x1p-11), half(32)});
  const Tensor sum = run_op1({.op_type = "Add", .opset = 14, .inputs = {a, b}});
  CHECK(sum.data<Float16>()[0].bits == half(1).bits);
  CHECK(std::isinf(static_cast<double>(sum.data<Float16>()[1])));
}

TEST_CASE("Mod takes the sign of the divisor, with fmod that of the dividend", "[ops][Mod]") {
  const Tensor a = of<std::int64_t>({6}, {-4, 7, 5, 4, -7, 8}), b = of<std::int64_t>({6}, {2, -3, 8, -2, 3, 5});
  CHECK(run("Mod", 13, {a, b}) == std::vector<double>{0, -2, 5, 0, 2, 3});
  CHECK(run("Mod", 13, {a, b}, {attr_i("fmod", 1)}) == std::vector<double>{0, 1, 5, 0, -1, 3});
  CHECK(run("Mod", 13, {of<float>({2}, {-5.5f, 5.5f}), of<float>({1}, {2})}, {attr_i("fmod", 1)}) ==
        std::vector<double>{-1.5, 1.5});
  CHECK_THROWS_WITH(run("Mod", 13, {of<float>({1}, {1}), of<float>({1}, {1})}), Catch::Contains("fmod"));
  const auto lowest = std::numeric_limits<std::int64_t>::min();
  CHECK(run("Mod", 13, {of<std::int64_t>({1}, {lowest}), of<std::int64_t>({1}, {-1})}) == std::vector<double>{0});
}

TEST_CASE("Pow gives the type of its base", "[ops][Pow]") {
  CHECK(run("Pow", 15, {of<std::int32_t>({3}, {1, 2, 3}), of<float>({3}, {4, 5, 6})}) ==
        std::vector<double>{1, 32, 729});
  CHECK(run("Pow", 15, {of<std::int64_t>({4}, {-1, -1, 2, 1}), of<std::int64_t>({4}, {-3, -2, -1, -9})}) ==
        std::vector<double>{-1, 1, 0, 1});
  CHECK_THROWS_WITH(run("Pow", 15, {of<std::int64_t>({1}, {0}), of<std::int64_t>({1}, {-1})}),
                    Catch::Contains("no value"));
  // Wraps: 3^41 modulo 2^64, computed as a product in unsigned arithmetic.
  std::uint64_t product = 1;
  for (int i = 0; i < 41; ++i) product *= 3;
  const Tensor power =
      run_op1({.op_type = "Pow", .opset = 15, .inputs = {of<std::int64_t>({1}, {3}), of<std::uint8_t>({1}, {41})}});
  CHECK(static_cast<std::uint64_t>(power.data<std::int64_t>()[0]) == product);

  const Tensor x = of<float>({5}, {-2, 0.1f, 3, -0.0f, -kInf});
  const auto half = run("Pow", 15, {x, of<float>({}, {0.5f})});
  CHECK(std::isnan(half[0]));
  CHECK(half[1] == std::sqrt(0.1f));
  CHECK(same_bits(half[3], 0.0));
  CHECK(half[4] == kInf);
  const auto square = run("Pow", 15, {x, of<std::int32_t>({1}, {2})});
  CHECK(square[1] == 0.1f * 0.1f);
  const auto cube = run("Pow", 15, {x, of<float>({}, {3})});
  CHECK(cube[1] == static_cast<float>(static_cast<double>(0.1f) * 0.1f * 0.1f));
  CHECK(same_bits(cube[3], -0.0));
  CHECK(run("Pow", 1, {of<float>({2}, {2, 3}), of<float>({1}, {3})}, {attr_i("broadcast", 1)}) ==
        std::vector<double>{8, 27});
}

TEST_CASE("Unary operators give the rounded value of the function", "[ops][unary]") {
  struct Case {
    const char* op;
    std::int64_t opset;
    double (*function)(double);
  };
  const Case cases[] = {{"Exp", 13, std::exp},
                        {"Log", 13, std::log},
                        {"Sin", 7, std::sin},
                        {"Cos", 7, std::cos},
                        {"Tan", 7, std::tan},
                        {"Asin", 7, std::asin},
                        {"Acos", 7, std::acos},
                        {"Atan", 7, std::atan},
                        {"Sinh", 9, std::sinh},
                        {"Cosh", 9, std::cosh},
                        {"Tanh", 13, std::tanh},
                        {"Asinh", 9, std::asinh},
                        {"Acosh", 9, std::acosh},
                        {"Atanh", 9, std::atanh},
                        {"Erf", 13, std::erf},
                        {"Sqrt", 13, std::sqrt},
                        {"Ceil", 13, std::ceil},
                        {"Floor", 13, std::floor},
                        {"Round", 11, std::nearbyint},
                        {"Abs", 13, std::fabs},
                        {"Reciprocal", 13, [](double x) { return 1 / x; }},
                        {"Neg", 13, [](double x) { return -x; }}};
  const std::vector<float> values = {0,     -0.0f, 1,    -1,     0.5f,  -0.5f,  2.5f, -2.5f, 1.5f,
                                     3.75f, 88.5f, -104, 1e-40f, 1e30f, -1e30f, kInf, -kInf, kNaN};
  const Shape shape{static_cast<std::int64_t>(values.size())};
  for (const Case& c : cases) {
    CAPTURE(c.op);
    const auto single = run(c.op, c.opset, {of<float>(shape, values)});
    std::vector<double> doubles(values.begin(), values.end());
    const auto wide = run(c.op, c.opset, {of<double>(shape, doubles)});
    std::vector<Float16> halves;
    for (const float v : values) halves.emplace_back(v);
    const Tensor half = run_op1({.op_type = c.op, .opset = c.opset, .inputs = {of<Float16>(shape, halves)}});
    for (std::size_t i = 0; i < values.size(); ++i) {
      CAPTURE(values[i], single[i]);
      CHECK(same_bits(single[i], static_cast<float>(c.function(doubles[i]))));
      CHECK(same_bits(wide[i], c.function(doubles[i])));
      const Float16 expected(c.function(static_cast<double>(halves[i])));
      CHECK(same_bits(static_cast<double>(half.data<Float16>()[i]), static_cast<double>(expected)));
    }
  }
}

TEST_CASE("Sign keeps NaN and knows zeros; Abs and Neg wrap", "[ops][Sign]") {
  const auto sign = run("Sign", 13, {of<float>({4}, {-3, 0, 2, kNaN})});
  CHECK(sign[0] == -1);
  CHECK(sign[1] == 0);
  CHECK(sign[2] == 1);
  CHECK(std::isnan(sign[3]));
  CHECK(run("Sign", 13, {of<std::uint8_t>({2}, {0, 200})}) == std::vector<double>{0, 1});
  CHECK(run("Abs", 13, {of<std::int8_t>({2}, {-128, -3})}) == std::vector<double>{-128, 3});
  CHECK(run("Neg", 13, {of<std::int32_t>({1}, {5})}) == std::vector<double>{-5});
}

TEST_CASE("Comparisons treat NaN as unordered", "[ops][Less]") {
  const Tensor a = of<float>({3}, {1, kNaN, 2}), b = of<float>({3}, {1, 1, kNaN});
  CHECK(run("Equal", 13, {a, b}) == std::vector<double>{1, 0, 0});
  CHECK(run("Less", 13, {a, b}) == std::vector<double>{0, 0, 0});
  CHECK(run("GreaterOrEqual", 16, {a, b}) == std::vector<double>{1, 0, 0});
  CHECK(run("LessOrEqual", 16, {of<std::uint64_t>({2}, {1, ~0ull}), of<std::uint64_t>({2}, {1, 2})}) ==
        std::vector<double>{1, 0});
  CHECK(run("Greater", 9, {of<std::int8_t>({2}, {-1, 5}), of<std::int8_t>({1}, {0})}) == std::vector<double>{0, 1});
  CHECK(run("Equal", 19, {of<std::string>({2}, {"a", "b"}), of<std::string>({1}, {"b"})}) == std::vector<double>{0, 1});
  CHECK(run("Equal", 1, {bools({2}, {1, 0}), bools({2}, {1, 1})}) == std::vector<double>{1, 0});
}

TEST_CASE("Logical and bitwise operators", "[ops][And]") {
  const Tensor a = bools({2, 2}, {0, 0, 1, 1}), b = bools({2}, {0, 1});
  CHECK(run("And", 7, {a, b}) == std::vector<double>{0, 0, 0, 1});
  CHECK(run("Or", 7, {a, b}) == std::vector<double>{0, 1, 1, 1});
  CHECK(run("Xor", 7, {a, b}) == std::vector<double>{0, 1, 1, 0});
  CHECK(run("Not", 1, {b}) == std::vector<double>{1, 0});
  CHECK(run("BitwiseAnd", 18, {of<std::int8_t>({1}, {-2}), of<std::int8_t>({1}, {7})}) == std::vector<double>{6});
  CHECK(run("BitwiseOr", 18, {of<std::uint32_t>({1}, {8}), of<std::uint32_t>({1}, {1})}) == std::vector<double>{9});
  CHECK(run("BitwiseXor", 18, {of<std::int64_t>({1}, {6}), of<std::int64_t>({1}, {3})}) == std::vector<double>{5});
  CHECK(run("BitwiseNot", 18, {of<std::uint16_t>({1}, {1})}) == std::vector<double>{65534});
  const Tensor x = of<std::uint8_t>({3}, {16, 4, 255});
  CHECK(run("BitShift", 11, {x, of<std::uint8_t>({3}, {1, 2, 8})}, {attr_s("direction", "RIGHT")}) ==
        std::vector<double>{8, 1, 0});
  CHECK(run("BitShift", 11, {x, of<std::uint8_t>({3}, {1, 200, 4})}, {attr_s("direction", "LEFT")}) ==
        std::vector<double>{32, 0, 240});
  CHECK_THROWS_AS(run("BitShift", 11, {x, x}, {attr_s("direction", "left")}), Error);
}

TEST_CASE("IsNaN and IsInf look at sign and at 8-bit floats", "[ops][IsInf]") {
  const Tensor x = of<float>({4}, {kInf, -kInf, kNaN, 1});
  CHECK(run("IsNaN", 9, {x}) == std::vector<double>{0, 0, 1, 0});
  CHECK(run("IsInf", 10, {x}) == std::vector<double>{1, 1, 0, 0});
  CHECK(run("IsInf", 10, {x}, {attr_i("detect_negative", 0)}) == std::vector<double>{1, 0, 0, 0});
  CHECK(run("IsInf", 10, {x}, {attr_i("detect_positive", 0)}) == std::vector<double>{0, 1, 0, 0});
  const Tensor e5m2 = of<std::uint8_t>({4}, {0x7c, 0xfc, 0x7e, 0x3c}).viewed_as(DataType::kFloat8E5M2);
  CHECK(run("IsInf", 20, {e5m2}) == std::vector<double>{1, 1, 0, 0});
  CHECK(run("IsNaN", 20, {e5m2}) == std::vector<double>{0, 0, 1, 0});
}

TEST_CASE("Where selects with broadcasting, strings too", "[ops][Where]") {
  CHECK(run("Where", 16, {bools({2, 1}, {1, 0}), of<std::int16_t>({2}, {1, 2}), of<std::int16_t>({1}, {9})}) ==
        std::vector<double>{1, 2, 9, 9});
  CHECK(run("Where", 16, {bools({2}, {1, 0}), of<double>({}, {1}), of<double>({2}, {8, 9})}) ==
        std::vector<double>{1, 9});
  CHECK(run("Where", 16, {bools({1}, {1}), of<float>({2}, {3, 4}), of<float>({2}, {8, 9})}) ==
        std::vector<double>{3, 4});
  const Tensor text = run_op1({.op_type = "Where",
                               .opset = 16,
                               .inputs = {bools({2}, {1, 0}), of<std::string>({2}, {"a", "b"}),
                                          of<std::string>({1}, {"longer than the object itself, surely"})}});
  CHECK(text.strings()[0] == "a");
  CHECK(text.strings()[1] == "longer than the object itself, surely");
}

TEST_CASE("Elementwise operators keep symbolic shapes", "[ops][infer]") {
  const Dim n = Dim::symbol("N"), h = Dim::symbol("H");
  const auto add = [](std::vector<Dim> a, std::vector<Dim> b) {
    return infer_op({.op_type = "Add", .opset = 14}, {ValueType::tensor(DataType::kFloat32, std::move(a)),
                                                      ValueType::tensor(DataType::kFloat32, std::move(b))})[0];
  };
  CHECK(to_string(add(dims({n, 3, h}), dims({3, 1}))) == "float32 Nx3xH");
  CHECK(to_string(add(dims({n}), dims({n}))) == "float32 N");
  CHECK(to_string(add(dims({n}), dims({h}))) == "float32 ?");  // either may be 1
  CHECK(to_string(add(dims({n}), dims({5}))) == "float32 5");  // N is 1 or 5
  CHECK(to_string(add(dims({Dim()}), dims({n}))) == "float32 ?");
  CHECK_THROWS_AS(add(dims({2}), dims({3})), Error);
  const auto unknown = infer_op({.op_type = "Add", .opset = 14}, {ValueType::tensor(DataType::kFloat32),
                                                                  ValueType::tensor(DataType::kFloat32, dims({1}))})[0];
  CHECK_FALSE(unknown.has_rank());
  const auto legacy = infer_op(
      {.op_type = "Mul", .opset = 6, .attributes = {attr_i("broadcast", 1), attr_i("axis", 1)}},
      {ValueType::tensor(DataType::kFloat32, dims({n, 3, h})), ValueType::tensor(DataType::kFloat32, dims({3}))})[0];
  CHECK(to_string(legacy) == "float32 Nx3xH");
  const auto where = infer_op({.op_type = "Where", .opset = 16}, {ValueType::tensor(DataType::kBool, dims({n, 1})),
                                                                  ValueType::tensor(DataType::kFloat16, dims({h})),
                                                                  ValueType::tensor(DataType::kFloat16, dims({}))})[0];
  CHECK(to_string(where) == "float16 NxH");
}
