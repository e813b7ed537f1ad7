#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> run(std::string op, std::int64_t opset, std::vector<Value> inputs,
                        std::vector<Attribute> attributes = {}) {
  return to_doubles(run_op1(
      {.op_type = std::move(op), .opset = opset, .inputs = std::move(inputs), .attributes = std::move(attributes)}));
}

Tensor axes_input(const std::vector<std::int64_t>& axes) {
  return Tensor::of<std::int64_t>({std::ssize(axes)}, axes);
}

// The literal reduction: every output gathers its elements in order, in long double.
std::vector<double> literal(const Tensor& x, const std::vector<bool>& reduces,
                            const std::function<double(const std::vector<long double>&)>& fold) {
  const std::size_t rank = x.rank();
  std::vector<std::vector<long double>> groups;
  std::int64_t outputs = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) outputs *= reduces[axis] ? 1 : x.shape()[axis];
  groups.resize(static_cast<std::size_t>(outputs));
  const std::vector<double> values = to_doubles(x);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), to = 0, step = 1;
    for (std::size_t axis = rank; axis-- > 0;) {
      const std::int64_t index = rest % x.shape()[axis];
      rest /= x.shape()[axis];
      if (reduces[axis]) continue;
      to += index * step;
      step *= x.shape()[axis];
    }
    groups[static_cast<std::size_t>(to)].push_back(values[i]);
  }
  std::vector<double> result;
  for (const auto& group : groups) result.push_back(fold(group));
  return result;
}

Tensor ramp(Shape shape) {
  Tensor x = Tensor::allocate(DataType::kFloat32, std::move(shape));
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) {
    x.mutable_data<float>()[i] = static_cast<float>((i * 7919 + 13) % 1009) / 97.0f - 5.0f;
  }
  return x;
}

long double sum_of(const std::vector<long double>& v, long double (*f)(long double)) {
  long double sum = 0;
  for (const auto x : v) sum += f(x);
  return sum;
}

}  // namespace

TEST_CASE("Reductions agree with the literal definition over every set of axes", "[ops][reduce]") {
  struct Case {
    const char* op;
    std::function<double(const std::vector<long double>&)> fold;
  };
  using Group = std::vector<long double>;
  const Case cases[] = {
      {"ReduceSum", [](const Group& v) { return static_cast<float>(sum_of(v, [](long double x) { return x; })); }},
      {"ReduceMean",
       [](const Group& v) { return static_cast<float>(sum_of(v, [](long double x) { return x; }) / v.size()); }},
      {"ReduceL1",
       [](const Group& v) { return static_cast<float>(sum_of(v, [](long double x) { return std::fabs(x); })); }},
      {"ReduceL2",
       [](const Group& v) { return static_cast<float>(std::sqrt(sum_of(v, [](long double x) { return x * x; }))); }},
      {"ReduceSumSquare",
       [](const Group& v) { return static_cast<float>(sum_of(v, [](long double x) { return x * x; })); }},
      {"ReduceLogSumExp",
       [](const Group& v) {
         return static_cast<float>(std::log(sum_of(v, [](long double x) { return std::exp(x); })));
       }},
      {"ReduceMax", [](const Group& v) { return static_cast<double>(*std::ranges::max_element(v)); }},
      {"ReduceMin", [](const Group& v) { return static_cast<double>(*std::ranges::min_element(v)); }},
  };
  for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{3, 1, 70, 2}, Shape{5, 150}, Shape{1, 1}}) {
    const Tensor x = ramp(shape);
    for (unsigned mask = 0; mask < 1u << shape.rank(); ++mask) {
      std::vector<bool> reduces;
      std::vector<std::int64_t> axes;
      for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        reduces.push_back((mask >> axis & 1) != 0);
        if (reduces.back())
          axes.push_back(axis % 2 == 0 ? static_cast<std::int64_t>(axis)
                                       : static_cast<std::int64_t>(axis) - std::ssize(shape.dims()));
      }
      for (const Case& c : cases) {
        CAPTURE(c.op, to_string(shape), mask);
        // An empty list of axes means all of them, unless noop_with_empty_axes says otherwise.
        const auto got = run(c.op, 18, {x, axes_input(axes)}, {attr_i("noop_with_empty_axes", 1)});
        CHECK(got == literal(x, reduces, c.fold));
      }
    }
  }
}

TEST_CASE("Reduced axes are kept or dropped, and named by attribute or input", "[ops][ReduceSum]") {
  const Tensor x = ramp({2, 3, 4});
  CHECK(run_op1({.op_type = "ReduceSum", .opset = 13, .inputs = {x, axes_input({1})}}).shape() == Shape{2, 1, 4});
  CHECK(
      run_op1(
          {.op_type = "ReduceSum", .opset = 13, .inputs = {x, axes_input({1})}, .attributes = {attr_i("keepdims", 0)}})
          .shape() == Shape{2, 4});
  CHECK(run_op1({.op_type = "ReduceSum",
                 .opset = 11,
                 .inputs = {x},
                 .attributes = {attr_ints("axes", {-1, 0}), attr_i("keepdims", 0)}})
            .shape() == Shape{3});
  CHECK(run_op1({.op_type = "ReduceMean", .opset = 13, .inputs = {x}}).shape() == Shape{1, 1, 1});
  CHECK(
      run_op1(
          {.op_type = "ReduceMean", .opset = 18, .inputs = {x, axes_input({})}, .attributes = {attr_i("keepdims", 0)}})
          .shape() == Shape{});
  CHECK(run("ReduceSum", 13, {x}, {attr_i("noop_with_empty_axes", 1)}) == to_doubles(x));
  CHECK_THROWS_AS(run("ReduceSum", 13, {x, axes_input({3})}), Error);
  CHECK_THROWS_WITH(run("ReduceSum", 13, {x, axes_input({1, -2})}), Catch::Contains("twice"));
  CHECK(run("ReduceSum", 13, {Tensor::scalar<float>(3)}) == std::vector<double>{3});
}

TEST_CASE("A reduction of nothing gives the neutral element", "[ops][ReduceSum]") {
  const Tensor x = Tensor::allocate(DataType::kFloat32, {2, 0, 3});
  const auto over = [&](const char* op) { return run(op, 18, {x, axes_input({1})}, {attr_i("keepdims", 0)}); };
  CHECK(over("ReduceSum") == std::vector<double>(6, 0));
  CHECK(over("ReduceProd") == std::vector<double>(6, 1));
  CHECK(over("ReduceMax") == std::vector<double>(6, -kInf));
  CHECK(over("ReduceMin") == std::vector<double>(6, kInf));
  CHECK(over("ReduceLogSum") == std::vector<double>(6, -kInf));
  CHECK(over("ReduceLogSumExp") == std::vector<double>(6, -kInf));
  CHECK(over("ReduceL2") == std::vector<double>(6, 0));
  CHECK(std::isnan(over("ReduceMean")[0]));
  CHECK(run("ReduceSum", 13, {x, axes_input({0})}).empty());
  const Tensor ints = Tensor::allocate(DataType::kInt32, {0});
  CHECK(run("ReduceMax", 18, {ints}) == std::vector<double>{std::numeric_limits<std::int32_t>::lowest()});
  CHECK_THROWS_AS(run("ReduceMean", 18, {ints}), Error);
}

TEST_CASE("Integer reductions wrap, and means truncate", "[ops][ReduceMean]") {
  const Tensor x = Tensor::of<std::int32_t>({2}, {2147483647, 2});
  CHECK(run("ReduceSum", 13, {x}) == std::vector<double>{-2147483647});
  CHECK(run("ReduceMean", 18, {x}) == std::vector<double>{1073741824});
  CHECK(run("ReduceMean", 18, {Tensor::of<std::int64_t>({2}, {-3, 0})}) == std::vector<double>{-1});
  CHECK(run("ReduceL2", 18, {Tensor::of<std::int64_t>({2}, {3, -4})}) == std::vector<double>{5});
  CHECK(run("ReduceProd", 18, {Tensor::of<std::uint32_t>({3}, {65536, 65536, 3})}) == std::vector<double>{0});
  CHECK(run("ReduceMax", 13, {Tensor::of<std::int8_t>({3}, {-7, -9, -8})}) == std::vector<double>{-7});
  Tensor truth = Tensor::zeros(DataType::kBool, {2, 2});
  truth.mutable_data<std::uint8_t>()[1] = 1;
  CHECK(run("ReduceMax", 20, {truth, axes_input({1})}) == std::vector<double>{1, 0});
  CHECK(run("ReduceMin", 20, {truth, axes_input({1})}) == std::vector<double>{0, 0});
}

TEST_CASE("Reductions of doubles survive cancellation and range", "[ops][ReduceL2]") {
  CHECK(run("ReduceSum", 13, {Tensor::of<double>({4}, {1, 1e100, 1, -1e100})}) == std::vector<double>{2});
  CHECK(run("ReduceL2", 18, {Tensor::of<double>({2}, {3e200, 4e200})})[0] == Approx(5e200).epsilon(1e-15));
  CHECK(run("ReduceL2", 18, {Tensor::of<double>({2}, {3e-300, 4e-300})})[0] == Approx(5e-300).epsilon(1e-15));
  CHECK(run("ReduceL2", 18, {Tensor::of<double>({2}, {0, 0})}) == std::vector<double>{0});
  CHECK(run("ReduceL2", 18, {Tensor::of<double>({2}, {1, kInf})}) == std::vector<double>{kInf});
  CHECK(run("ReduceSum", 13, {Tensor::of<double>({2}, {1, kInf})}) == std::vector<double>{kInf});
  CHECK(run("ReduceLogSumExp", 18, {Tensor::of<double>({2}, {1000, 1000})})[0] == Approx(1000 + std::log(2.0)));
  CHECK(run("ReduceLogSumExp", 18, {Tensor::of<float>({2}, {-INFINITY, 1})}) == std::vector<double>{1});
}

TEST_CASE("NaN decides a maximum wherever it stands", "[ops][ReduceMax]") {
  for (std::size_t at = 0; at < 40; ++at) {
    std::vector<float> values(40, 1.0f);
    values[at] = std::numeric_limits<float>::quiet_NaN();
    CHECK(std::isnan(run("ReduceMax", 18, {Tensor::of<float>({40}, values)})[0]));
    CHECK(std::isnan(run("ReduceMin", 18, {Tensor::of<float>({2, 20}, values)})[0]));
  }
}

TEST_CASE("Reductions infer symbolic shapes", "[ops][infer]") {
  const ValueType x = ValueType::tensor(DataType::kFloat32, std::vector<Dim>{Dim::symbol("N"), 3, Dim::symbol("H")});
  const auto infer = [&](std::vector<ValueType> inputs, std::vector<Tensor> constants,
                         std::vector<Attribute> attributes) {
    return to_string(
        infer_op({.op_type = "ReduceMean", .opset = 18, .attributes = std::move(attributes)}, inputs, constants)[0]);
  };
  const ValueType axes = ValueType::tensor(DataType::kInt64, std::vector<Dim>{1});
  CHECK(infer({x, axes}, {Tensor(), axes_input({-1})}, {}) == "float32 Nx3x1");
  CHECK(infer({x, axes}, {Tensor(), axes_input({-1})}, {attr_i("keepdims", 0)}) == "float32 Nx3");
  CHECK(infer({x, axes}, {}, {}) == "float32 ?x?x?");
  CHECK(infer({x}, {}, {}) == "float32 1x1x1");
  CHECK(infer({x}, {}, {attr_i("noop_with_empty_axes", 1)}) == "float32 Nx3xH");
}

TEST_CASE("ArgMax takes the first or last of equals", "[ops][ArgMax]") {
  const Tensor x = Tensor::of<float>({2, 3}, {2, 7, 7, 5, 5, 1});
  CHECK(run("ArgMax", 13, {x}, {attr_i("axis", 1)}) == std::vector<double>{1, 0});
  CHECK(run("ArgMax", 13, {x}, {attr_i("axis", -1), attr_i("select_last_index", 1)}) == std::vector<double>{2, 1});
  CHECK(run("ArgMin", 13, {x}, {attr_i("axis", 0)}) == std::vector<double>{0, 1, 1});
  CHECK(run_op1({.op_type = "ArgMax", .opset = 11, .inputs = {x}, .attributes = {attr_i("keepdims", 0)}}).shape() ==
        Shape{3});
  CHECK(run("ArgMax", 13, {Tensor::of<float>({3}, {1, NAN, 2})}) == std::vector<double>{1});
  CHECK(run("ArgMin", 13, {Tensor::of<std::uint8_t>({3}, {200, 7, 7})}) == std::vector<double>{1});
  CHECK_THROWS_AS(run("ArgMax", 13, {Tensor::allocate(DataType::kFloat32, {2, 0})}, {attr_i("axis", 1)}), Error);
}

TEST_CASE("Softmax normalises one axis from opset 13 on, all from the axis before", "[ops][Softmax]") {
  const Tensor x = ramp({2, 3, 4});
  const std::vector<double> values = to_doubles(x);
  const auto expect = [&](std::int64_t outer, std::int64_t length, std::int64_t inner, bool logarithm) {
    std::vector<double> out(values.size());
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t k = 0; k < inner; ++k) {
        long double sum = 0;
        const auto at = [&](std::int64_t i) { return static_cast<std::size_t>(o * length * inner + i * inner + k); };
        for (std::int64_t i = 0; i < length; ++i) sum += std::exp(static_cast<long double>(values[at(i)]));
        for (std::int64_t i = 0; i < length; ++i) {
          const long double v = values[at(i)];
          out[at(i)] = static_cast<float>(logarithm ? v - std::log(sum) : std::exp(v) / sum);
        }
      }
    }
    return out;
  };
  CHECK(run("Softmax", 13, {x}) == expect(6, 4, 1, false));
  CHECK(run("Softmax", 13, {x}, {attr_i("axis", 1)}) == expect(2, 3, 4, false));
  CHECK(run("Softmax", 13, {x}, {attr_i("axis", 0)}) == expect(1, 2, 12, false));
  CHECK(run("Softmax", 11, {x}) == expect(2, 12, 1, false));
  CHECK(run("Softmax", 1, {x}, {attr_i("axis", 0)}) == expect(1, 24, 1, false));
  CHECK(run("LogSoftmax", 13, {x}, {attr_i("axis", -2)}) == expect(2, 3, 4, true));
  CHECK(run("LogSoftmax", 11, {x}, {attr_i("axis", -1)}) == expect(6, 4, 1, true));
  CHECK(run("Softmax", 13, {Tensor::of<float>({2}, {10000, 10000})}) == std::vector<double>{0.5, 0.5});
  CHECK(run("Softmax", 13, {Tensor::allocate(DataType::kFloat32, {2, 0})}).empty());
}

TEST_CASE("Hardmax marks the first largest element", "[ops][Hardmax]") {
  const Tensor x = Tensor::of<float>({2, 2, 2}, {1, 5, 5, 2, 3, 3, 4, 0});
  CHECK(run("Hardmax", 13, {x}) == std::vector<double>{0, 1, 1, 0, 1, 0, 1, 0});
  CHECK(run("Hardmax", 11, {x}) == std::vector<double>{0, 1, 0, 0, 0, 0, 1, 0});
  CHECK(run("Hardmax", 13, {x}, {attr_i("axis", 0)}) == std::vector<double>{0, 1, 1, 1, 1, 0, 0, 0});
}
