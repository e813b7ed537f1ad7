#include <catch2/catch.hpp>

#include "lppool/base/error.h"
#include "lppool/base/interrupt.h"
#include "lppool/run/session.h"
#include "support/model_builder.h"

using namespace lppool;
using namespace lppool::test;

namespace {

// x -> pool of 2 (p 1) -> a -> pool of 2 (p 1) -> b -> y = GlobalLpPool (p 1); and unused = another pool of x.
Model chain() {
  const std::vector<Attribute> pool = {attr_ints("kernel_shape", {2}), attr_i("p", 1)};
  GraphBuilder g;
  g.input("x", "float32 Nx1x4").output("y", "float32 Nx1x1");
  g.node("LpPool", "x", "a", pool).node("LpPool", "a", "b", pool).node("GlobalLpPool", "b", "y", {attr_i("p", 1)});
  g.node("LpPool", "x", "unused", pool);
  return make_model(g.graph);
}

const Tensor kInput = Tensor::of<float>({1, 1, 4}, {1, 2, 3, 4});

std::vector<float> floats(const Value& value) {
  const auto data = value.tensor().data<float>();
  return {data.begin(), data.end()};
}

struct Names final : RunObserver {
  std::vector<std::string> list;
  void on_node(const NodeEvent& event) override { list.push_back(event.node.node.outputs[0]); }
};

ErrorKind kind_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::kDefect;
}

}  // namespace

TEST_CASE("A graph runs in order and gives its outputs", "[run]") {
  Session session(chain());
  // a = 3 5 7, b = 8 12, y = 20.
  CHECK(floats(session.run({{"x", Value(kInput)}})[0]) == std::vector<float>{20});
}

TEST_CASE("What is not needed for the wanted outputs is not run", "[run]") {
  ExecutorOptions options;
  options.request.outputs = {"b"};
  Session session(chain(), options);
  Names names;
  CHECK(floats(session.run({{"x", Value(kInput)}}, &names)[0]) == std::vector<float>{8, 12});
  CHECK(names.list == std::vector<std::string>{"a", "b"});
}

TEST_CASE("What is fed is not computed", "[run]") {
  ExecutorOptions options;
  options.request.fed = {"a"};
  Session session(chain(), options);
  Names names;
  const Tensor a = Tensor::of<float>({1, 1, 3}, {1, 1, 1});
  CHECK(floats(session.run({{"a", Value(a)}}, &names)[0]) == std::vector<float>{4});
  CHECK(names.list == std::vector<std::string>{"b", "y"});
}

TEST_CASE("keep_all runs every node, and watching changes no bit", "[run]") {
  ExecutorOptions options;
  options.request.keep_all = true;
  Session all(chain(), options);
  Names names;
  const auto watched = all.run({{"x", Value(kInput)}}, &names);
  CHECK(names.list.size() == 4);
  CHECK(floats(watched[0]) == floats(Session(chain()).run({{"x", Value(kInput)}})[0]));
}

TEST_CASE("A session can be run again and keeps the caller's input as it was", "[run]") {
  Session session(chain());
  const Value input(Tensor::of<float>({1, 1, 4}, {1, 2, 3, 4}));
  session.run({{"x", input}});
  session.run({{"x", input}});
  CHECK(floats(input) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("Inputs that do not fit are refused before anything runs", "[run]") {
  Session session(chain());
  CHECK(kind_of([&] { session.run({}); }) == ErrorKind::kRuntime);
  CHECK(kind_of([&] { session.run({{"x", Value(Tensor::of<double>({1, 1, 4}, {1, 2, 3, 4}))}}); }) == ErrorKind::kRuntime);
  CHECK(kind_of([&] { session.run({{"x", Value(Tensor::of<float>({1, 1, 3}, {1, 2, 3}))}}); }) == ErrorKind::kRuntime);
  CHECK(kind_of([&] { session.run({{"x", Value(kInput)}, {"z", Value(kInput)}}); }) == ErrorKind::kRuntime);
}

TEST_CASE("One symbol has one size in a run", "[run]") {
  GraphBuilder g;
  g.input("x", "float32 1x1xL").input("w", "float32 1x1xL").output("y", "float32 1x1x1").output("z", "float32 1x1x1");
  g.node("GlobalLpPool", "x", "y").node("GlobalLpPool", "w", "z");
  Session session(make_model(g.graph));
  const auto of = [](std::int64_t n) { return Value(Tensor::zeros(DataType::kFloat32, {1, 1, n})); };
  CHECK_NOTHROW(session.run({{"x", of(3)}, {"w", of(3)}}));
  CHECK(kind_of([&] { session.run({{"x", of(3)}, {"w", of(4)}}); }) == ErrorKind::kRuntime);
}

TEST_CASE("All operators that cannot be run are named at once, as unsupported", "[run]") {
  GraphBuilder g;
  g.input("x", "float32 1x1x4").output("y", "");
  g.node("First", "x", "t", {}, "other").node("Second", "t", "y", {}, "other");
  g.graph.outputs[0].type = type_of_text("float32 1x1x4");
  Model model = make_model(g.graph);
  model.opset_imports.push_back({"other", 1});
  try {
    Session session(model);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kUnsupported);
    CHECK(std::string(error.what()).find("other:First") != std::string::npos);
    CHECK(std::string(error.what()).find("other:Second") != std::string::npos);
  }
}

TEST_CASE("An interrupt ends a run", "[run]") {
  Session session(chain());
  request_interrupt();
  CHECK(kind_of([&] { session.run({{"x", Value(kInput)}}); }) == ErrorKind::kInterrupted);
  clear_interrupt();
}

TEST_CASE("An initializer that is an input is a default the caller may replace", "[run]") {
  GraphBuilder g;
  g.input("x", "float32 1x1x4").output("y", "float32 1x1x1").initializer("x", kInput).node("GlobalLpPool", "x", "y", {attr_i("p", 1)});
  Session session(make_model(g.graph));
  CHECK(floats(session.run({})[0]) == std::vector<float>{10});
  CHECK(floats(session.run({{"x", Value(Tensor::of<float>({1, 1, 4}, {1, 0, 0, 0}))}})[0]) == std::vector<float>{1});
}

TEST_CASE("What was computed from a default is computed anew where the caller replaces it", "[run]") {
  // w = 2 * k is computed at load; the convolution packs it.
  GraphBuilder g;
  g.input("x", "float32 1x1x1x4").input("k", "float32 1x1x1x2").output("y", "float32 1x1x1x3");
  g.initializer("k", Tensor::of<float>({1, 1, 1, 2}, {1, 10})).node("Add", "k k", "w").node("Conv", "x w", "y");
  Session session(make_model(g.graph));
  const Value x(kInput.reshaped({1, 1, 1, 4})), other(Tensor::of<float>({1, 1, 1, 2}, {0, 1}));
  for (int round = 0; round < 2; ++round) {
    CHECK(floats(session.run({{"x", x}})[0]) == std::vector<float>{42, 64, 86});
    CHECK(floats(session.run({{"x", x}, {"k", other}})[0]) == std::vector<float>{4, 6, 8});
    CHECK(floats(session.run({{"x", x}, {"k", Value(Tensor::of<float>({1, 1, 1, 2}, {1, 0}))}})[0]) ==
          std::vector<float>{2, 4, 6});
  }
}

TEST_CASE("What is constant inside a branch is computed once, and anew where the caller replaces it", "[run]") {
  // In the branch: w = k + k + 1 of the outer k, and y = x * w.
  GraphBuilder branch;
  branch.output("y", "float32 1x1x4").initializer("one", Tensor::of<float>({1}, {1}));
  branch.node("Add", "k k", "double").node("Add", "double one", "w").node("Mul", "x w", "y");
  GraphBuilder g;
  g.input("x", "float32 1x1x4").input("k", "float32 1").input("c", "bool ").output("z", "float32 1x1x4");
  g.initializer("k", Tensor::of<float>({1}, {3}));
  g.node("If", "c", "z", {attr_graph("then_branch", branch.graph), attr_graph("else_branch", branch.graph)});
  struct Folded final : RunObserver {
    std::vector<std::string> list;
    void on_node(const NodeEvent& event) override {
      if (event.folded) list.push_back(event.node.node.outputs[0]);
    }
  };
  Session session(make_model(g.graph));
  Tensor condition = Tensor::allocate(DataType::kBool, {});
  condition.mutable_data<std::uint8_t>()[0] = 1;
  const Value yes(condition);
  for (int round = 0; round < 2; ++round) {
    Folded folded;
    CHECK(floats(session.run({{"x", Value(kInput)}, {"c", yes}}, &folded)[0]) == std::vector<float>{7, 14, 21, 28});
    CHECK(folded.list == std::vector<std::string>{"double", "w"});
    const Value two(Tensor::of<float>({1}, {2}));
    CHECK(floats(session.run({{"x", Value(kInput)}, {"c", yes}, {"k", two}})[0]) == std::vector<float>{5, 10, 15, 20});
  }
}
