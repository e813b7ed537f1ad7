// If, Loop and Scan as whole models.
#include <catch2/catch.hpp>

#include "support/graphs.h"

using namespace lppool;
using namespace lppool::test;

namespace {

constexpr DataType kF = DataType::kFloat32, kI = DataType::kInt64, kB = DataType::kBool;
using Numbers = std::vector<double>;

Tensor number(std::int64_t v) { return Tensor::scalar(v); }
Tensor flag(bool v) { return Tensor::scalar(v); }
Tensor floats(Shape shape, std::vector<float> values) { return Tensor::of<float>(std::move(shape), values); }
Numbers numbers(const Value& v) { return to_doubles(v.tensor()); }

// Sums x over the rounds and stacks each sum; goes on while the sum is below `limit`.
Graph summing_loop(std::string_view loop_inputs, std::vector<ValueInfo> inputs) {
  const Graph body = graph({value("i", kI, ""), value("go_in", kB, ""), value("sum_in", kF, "2")},
                           {value("go", kB, ""), value("sum", kF, "2"), value("each", kF, "2")},
                           {node("Add", "sum_in x", "sum"), node("ReduceMax", "sum", "most", {attr_i("keepdims", 0)}),
                            node("Less", "most limit", "go"), node("Identity", "sum", "each")});
  inputs.push_back(value("x", kF, "2"));
  inputs.push_back(value("start", kF, "2"));
  inputs.push_back(value("limit", kF, ""));
  return graph(inputs, {value("last", kF, "2"), value("all", kF, "Rx2")},
               {node("Loop", loop_inputs, "last all", {attr_graph("body", body)})});
}

std::map<std::string, Value> loop_inputs(float limit) {
  return {{"x", floats({2}, {1, 2})}, {"start", floats({2}, {0, 0})}, {"limit", Tensor::scalar(limit)}};
}

}  // namespace

TEST_CASE("If runs the branch its condition names, with outer values in sight", "[ops][If]") {
  const Graph model = graph({value("c", kB, ""), value("x", kF, "2")}, {value("y", kF)},
                            {node("If", "c", "y",
                                  {attr_graph("then_branch", graph({}, {value("t", kF)}, {node("Add", "x x", "t")})),
                                   attr_graph("else_branch", graph({}, {value("e", kF)}, {node("Mul", "x x", "e")}))})});
  CHECK(numbers(run_graph(model, 16, {{"c", flag(true)}, {"x", floats({2}, {3, 4})}})[0]) == Numbers{6, 8});
  CHECK(numbers(run_graph(model, 16, {{"c", flag(false)}, {"x", floats({2}, {3, 4})}})[0]) == Numbers{9, 16});
  CHECK(inferred_type(model, 16, "y") == "float32 2");
}

TEST_CASE("If infers what is true of both branches", "[ops][If]") {
  const auto model = [](Tensor a, Tensor b) {
    return graph({value("c", kB, "")}, {value("y", DataType::kUndefined)},
                 {node("If", "c", "y",
                       {attr_graph("then_branch", graph({}, {value("t", a.dtype())}, {constant("t", a)})),
                        attr_graph("else_branch", graph({}, {value("e", b.dtype())}, {constant("e", b)}))})});
  };
  CHECK(inferred_type(model(floats({2, 3}, Numbers().empty() ? std::vector<float>(6) : std::vector<float>()), floats({2, 1}, {1, 2})), 16,
                      "y") == "float32 2x?");
  CHECK(inferred_type(model(floats({2}, {1, 2}), Tensor::scalar(1.0f)), 16, "y") == "float32 of unknown rank");
  CHECK_THROWS_AS(inferred_type(model(number(1), Tensor::scalar(1.0f)), 16, "y"), Error);
}

TEST_CASE("Loop counts, tests and stacks", "[ops][Loop]") {
  const std::vector<ValueInfo> trip = {value("m", kI, "")}, both = {value("m", kI, ""), value("c", kB, "")};
  auto in = loop_inputs(5);
  in["m"] = number(4);
  // The sum reaches 6 in round 3; without an initial condition the body's is ignored.
  auto out = run_graph(summing_loop("m - start", trip), 16, in);
  CHECK(numbers(out[0]) == Numbers{4, 8});
  CHECK(to_string(out[1].tensor().shape()) == "4x2");
  in["c"] = flag(true);
  out = run_graph(summing_loop("m c start", both), 16, in);
  CHECK(numbers(out[0]) == Numbers{3, 6});
  CHECK(numbers(out[1]) == Numbers{1, 2, 2, 4, 3, 6});
  in["c"] = flag(false);
  out = run_graph(summing_loop("m c start", both), 16, in);
  CHECK(numbers(out[0]) == Numbers{0, 0});
  CHECK(to_string(out[1].tensor().shape()) == "0x2");
  in.erase("m");
  in["c"] = flag(true);
  out = run_graph(summing_loop("- c start", {value("c", kB, "")}), 16, in);
  CHECK(numbers(out[0]) == Numbers{3, 6});
}

TEST_CASE("Loop leaves outer values and its initial state as they are", "[ops][Loop]") {
  auto in = loop_inputs(100);
  in["m"] = number(2);
  const Tensor start = in["start"].tensor();
  run_graph(summing_loop("m - start", {value("m", kI, "")}), 16, in);
  CHECK(to_doubles(start) == Numbers{0, 0});
}

TEST_CASE("a Loop without end respects the limit of rounds, and of memory", "[ops][Loop]") {
  const Graph empty_body = graph({value("i", kI, ""), value("go", kB, "")}, {value("go", kB, "")}, {});
  const Graph model = graph({value("m", kI, "")}, {value("y", kF, "")},
                            {node("Loop", "m", "", {attr_graph("body", empty_body)}), constant("y", Tensor::scalar(1.0f))});
  ExecutorOptions options;
  options.max_iterations = 1000;
  options.request.keep_all = true;
  try {
    run_graph(model, 16, {{"m", number(std::int64_t{1} << 62)}}, options);
    FAIL("the loop ended");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kLimit);
  }
}

TEST_CASE("Loop infers carried shapes that stay, and gives up those that change", "[ops][Loop]") {
  const auto model = [](Node step) {
    const Graph body = graph({value("i", kI, ""), value("go", kB, ""), value("v", kF)},
                             {value("go", kB, ""), value("w", kF), value("each", kF)}, {std::move(step), node("Identity", "w", "each")});
    return graph({value("m", kI, ""), value("x", kF, "Nx2")}, {value("y", kF), value("s", kF)},
                 {constant("five", number(5)), node("Loop", "five - x", "y s", {attr_graph("body", body)})});
  };
  CHECK(inferred_type(model(node("Add", "v x", "w")), 16, "y") == "float32 Nx2");
  CHECK(inferred_type(model(node("Add", "v x", "w")), 16, "s") == "float32 5xNx2");
  const Node grow = node("Concat", "v x", "w", {attr_i("axis", 0)});
  CHECK(inferred_type(model(grow), 16, "y") == "float32 ?x2");
  CHECK(inferred_type(model(grow), 16, "s") == "float32 5x?x2");
}

TEST_CASE("Loop carries sequences", "[ops][Loop]") {
  const Graph body = graph({value("i", kI, ""), value("go", kB, ""), sequence_value("list", kI)},
                           {value("go", kB, ""), sequence_value("longer", kI)}, {node("SequenceInsert", "list i", "longer")});
  const Graph model = graph({value("m", kI, "")}, {value("y", kI)},
                            {node("SequenceEmpty", "", "none", {attr_i("dtype", 7)}),
                             node("Loop", "m - none", "list", {attr_graph("body", body)}),
                             node("ConcatFromSequence", "list", "y", {attr_i("axis", 0), attr_i("new_axis", 1)})});
  CHECK(numbers(run_graph(model, 13, {{"m", number(4)}})[0]) == Numbers{0, 1, 2, 3});
}

TEST_CASE("Loop refuses scan outputs that change their shape", "[ops][Loop]") {
  const Graph body = graph({value("i", kI, ""), value("go", kB, "")}, {value("go", kB, ""), value("each", kI)},
                           {constant("zero", number(0)), constant("one", number(1)), node("Range", "zero i one", "each")});
  const Graph model =
      graph({value("m", kI, "")}, {value("y", kI)}, {node("Loop", "m -", "y", {attr_graph("body", body)})});
  CHECK_THROWS_WITH(run_graph(model, 16, {{"m", number(2)}}), Catch::Contains("expected int64 0 as in round 0"));
}

namespace {

// A running sum over the scan input, which is also stacked.
Graph running_sum(std::vector<Attribute> attributes, std::string_view x_shape) {
  attributes.push_back(attr_i("num_scan_inputs", 1));
  attributes.push_back(attr_graph("body", graph({value("s", kF, "2"), value("e", kF, "2")}, {value("t", kF, "2"), value("o", kF, "2")},
                                                {node("Add", "s e", "t"), node("Identity", "t", "o")})));
  return graph({value("start", kF), value("x", kF, x_shape)}, {value("last", kF), value("all", kF)},
               {node("Scan", "start x", "last all", attributes)});
}

}  // namespace

TEST_CASE("Scan walks an axis, forward or backward", "[ops][Scan]") {
  const Tensor start = floats({2}, {0, 0}), x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  auto out = run_graph(running_sum({}, "3x2"), 9, {{"start", start}, {"x", x}});
  CHECK(numbers(out[0]) == Numbers{9, 12});
  CHECK(numbers(out[1]) == Numbers{1, 2, 4, 6, 9, 12});
  out = run_graph(running_sum({attr_ints("scan_input_directions", {1})}, "3x2"), 9, {{"start", start}, {"x", x}});
  CHECK(numbers(out[1]) == Numbers{5, 6, 8, 10, 9, 12});
  out = run_graph(running_sum({attr_ints("scan_output_directions", {1})}, "3x2"), 11, {{"start", start}, {"x", x}});
  CHECK(numbers(out[1]) == Numbers{9, 12, 4, 6, 1, 2});
  out = run_graph(running_sum({attr_ints("scan_output_axes", {-1}), attr_ints("scan_input_axes", {1})}, "2x3"), 11,
                  {{"start", start}, {"x", floats({2, 3}, {1, 3, 5, 2, 4, 6})}});
  CHECK(numbers(out[1]) == Numbers{1, 4, 9, 2, 6, 12});
  CHECK(inferred_type(running_sum({}, "Tx2"), 11, "all") == "float32 Tx2");
}

TEST_CASE("Scan of opset 8 runs each batch to its own length", "[ops][Scan]") {
  const Graph body = graph({value("s", kF, ""), value("e", kF, "")}, {value("t", kF, ""), value("o", kF, "")},
                           {node("Add", "s e", "t"), node("Identity", "t", "o")});
  const Graph model = graph({value("n", kI, "2"), value("start", kF, "2"), value("x", kF, "2x3")}, {value("last", kF), value("all", kF)},
                            {node("Scan", "n start x", "last all", {attr_i("num_scan_inputs", 1), attr_graph("body", body)})});
  const auto out = run_graph(model, 8, {{"n", Tensor::of<std::int64_t>({2}, {3, 2})}, {"start", floats({2}, {0, 10})},
                                        {"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})}});
  CHECK(numbers(out[0]) == Numbers{6, 19});
  CHECK(numbers(out[1]) == Numbers{1, 3, 6, 14, 19, 0});
  CHECK(inferred_type(model, 8, "all") == "float32 2x3");
}
