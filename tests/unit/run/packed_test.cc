// Values in blocks of channels: a run that keeps them packed gives the bits of one that does not, whoever watches.
#include <catch2/catch.hpp>

#include <cstring>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/node_context.h"
#include "lppool/run/session.h"
#include "support/model_builder.h"
#include "support/naive_conv.h"
#include "support/random.h"

using namespace lppool;
using namespace lppool::test;

namespace {

bool same_bits(const Value& a, const Value& b) {
  return a.is_tensor() && b.is_tensor() && a.tensor().shape() == b.tensor().shape() && a.tensor().dtype() == b.tensor().dtype() &&
         std::memcmp(a.tensor().raw(), b.tensor().raw(), a.tensor().bytes()) == 0;
}

Tensor weights(Shape shape, int seed) { return varied_tensor(DataType::kFloat32, std::move(shape), static_cast<std::uint64_t>(seed)); }

// Runs every node once more by itself, on plain inputs as it got them, and keeps what the graph had.
struct Again final : RunObserver {
  bool keep_inputs() const override { return true; }
  void on_node(const NodeEvent& event) override {
    values[event.node.node.outputs[0]] = event.outputs[0];
    if (!event.path.empty() || event.folded || event.node.node.op_type == "If") return;
    NodeContext context(event.node.node, *event.node.schema, event.node.opset, pool);
    context.inputs.assign(event.inputs.begin(), event.inputs.end());
    event.node.op->run(context);
    INFO(event.node.label << " " << event.node.node.op_type);
    CHECK(same_bits(context.outputs.at(0), event.outputs[0]));
    ++count;
  }
  ThreadPool pool{2};
  std::map<std::string, Value> values;
  int count = 0;
};

// Every operator that takes packed inputs, with readers that do not.
Model image_network() {
  GraphBuilder g;
  g.input("x", "float32 2x3x17x14");
  g.initializer("w1", weights({32, 3, 3, 3}, 1)).initializer("b1", weights({32}, 2));
  g.node("Conv", "x w1 b1", "c1", {attr_ints("pads", {1, 1, 1, 1})});
  g.initializer("scale", weights({32}, 3)).initializer("shift", weights({32}, 4)).initializer("mean", weights({32}, 5));
  g.initializer("variance", Tensor::of<float>({32}, std::vector<float>(32, 0.375f)));
  g.node("BatchNormalization", "c1 scale shift mean variance", "n1").node("Relu", "n1", "r1");
  g.node("MaxPool", "r1", "m1", {attr_ints("kernel_shape", {3, 2}), attr_ints("strides", {2, 1}), attr_ints("pads", {1, 0, 1, 1})});
  g.initializer("w2", weights({48, 32, 1, 1}, 6)).node("Conv", "m1 w2", "c2");
  g.initializer("slope", weights({48, 1, 1}, 7)).node("PRelu", "c2 slope", "p2");
  g.node("AveragePool", "p2", "a2", {attr_ints("kernel_shape", {3, 3}), attr_ints("pads", {1, 1, 1, 1})});
  g.initializer("w3", weights({16, 32, 3, 3}, 8)).node("Conv", "m1 w3", "c3", {attr_ints("pads", {1, 1, 1, 1})});
  g.node("Concat", "a2 c3", "j", {attr_i("axis", 1)}).node("Concat", "c3 c3", "tall", {attr_i("axis", 2)});
  g.initializer("factor", weights({1, 64, 1, 1}, 9)).initializer("term", weights({64, 1, 1}, 10)).initializer("one", weights({1}, 11));
  g.node("Mul", "j factor", "s1").node("Add", "term s1", "s2").node("Sub", "s2 one", "s3");
  g.node("Sum", "s1 s2 s3", "s4").node("Max", "s4 s1", "s5").node("Sigmoid", "s5", "g").node("Mul", "s5 g", "h");
  g.initializer("row", weights({14}, 12)).node("Add", "h row", "wide");
  g.initializer("low", Tensor::scalar<float>(-0.25f)).node("Clip", "h low", "k").node("Dropout", "k", "d");
  // 24 channels are no whole number of blocks; groups; a reader of packed values that is given a plain one.
  g.initializer("w4", weights({24, 64, 3, 3}, 13)).node("Conv", "d w4", "c4", {attr_ints("strides", {2, 2})});
  g.initializer("w5", weights({32, 32, 2, 2}, 14)).node("Conv", "d w5", "c5", {attr_i("group", 2), attr_ints("dilations", {2, 1})});
  g.initializer("w6", weights({64, 1, 3, 3}, 15)).node("Conv", "d w6", "c6", {attr_i("group", 64)});
  g.node("GlobalAveragePool", "c5", "q").node("Flatten", "q", "y").node("Transpose", "d", "t", {attr_ints("perm", {0, 2, 3, 1})});
  g.node("LRN", "c5", "l", {attr_i("size", 5)}).node("LpPool", "c5", "z", {attr_ints("kernel_shape", {2, 2})});
  GraphBuilder then_branch("then"), else_branch("else");
  then_branch.node("Neg", "c5", "minus").output("minus");
  else_branch.node("Abs", "c5", "plus").output("plus");
  Tensor yes = Tensor::zeros(DataType::kBool, {1});
  *yes.mutable_raw() = std::byte{1};
  then_branch.graph.outputs[0].type = else_branch.graph.outputs[0].type = type_of_text("float32 ?x?x?x?");
  g.initializer("yes", yes).node("If", "yes", "i", {attr_graph("then_branch", then_branch.graph), attr_graph("else_branch", else_branch.graph)});
  for (const char* name : {"y", "t", "c4", "c6", "l", "z", "i", "wide", "tall", "c5"}) {
    g.output(name, name[0] == 'y' ? "float32 ?x?" : "float32 ?x?x?x?");
  }
  return make_model(g.graph);
}

// One spatial axis, where a block of channels has no rows.
Model line_network() {
  GraphBuilder g;
  g.input("x", "float32 1x16x19").initializer("w", weights({16, 16, 3}, 1)).node("Conv", "x w", "c");
  g.node("MaxPool", "c", "m", {attr_ints("kernel_shape", {2})}).node("AveragePool", "m", "a", {attr_ints("kernel_shape", {3})});
  g.initializer("factor", weights({16, 1}, 2)).node("Mul", "a factor", "f").node("Identity", "f", "y").output("y", "float32 ?x?x?");
  return make_model(g.graph);
}

void check_network(const Model& model, const Tensor& x, int least_nodes) {
  CAPTURE(testing::test_seed());
  for (const int threads : {1, 3}) {
    ExecutorOptions options;
    options.threads = threads;
    Session session(model, options);
    const std::vector<Value> outputs = session.run({{"x", Value(x)}});
    for (const Value& output : outputs) REQUIRE(output.is_tensor());
    Again again;
    const std::vector<Value> observed = session.run({{"x", Value(x)}}, &again);
    CHECK(again.count >= least_nodes);
    REQUIRE(observed.size() == outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      CAPTURE(session.executor().output_names()[i]);
      CHECK(same_bits(observed[i], outputs[i]));
    }
    // Each inner tensor asked for by itself, and fed to what comes after it.
    for (const auto& [name, value] : again.values) {
      if (name == "minus") continue;
      CAPTURE(name);
      ExecutorOptions one = options;
      one.request.outputs = {name};
      CHECK(same_bits(Session(model, one).run({{"x", Value(x)}})[0], value));
      ExecutorOptions fed = options;
      fed.request.fed = {name};
      const std::vector<Value> from_fed = Session(model, fed).run({{"x", Value(x)}, {name, value}});
      for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(same_bits(from_fed[i], outputs[i]));
    }
  }
}

}  // namespace

TEST_CASE("A run that packs channels gives the bits of plain kernels, watched or not", "[run][packed]") {
  check_network(image_network(), weights({2, 3, 17, 14}, 100), 28);
}

TEST_CASE("Packed channels work with one spatial axis", "[run][packed]") {
  check_network(line_network(), weights({1, 16, 19}, 101), 5);
}

TEST_CASE("A packed tensor holds the elements of the plain one", "[tensor][packed]") {
  PackedTensor packed = PackedTensor::allocate({1, 16, 1, 2}, 8);
  REQUIRE(packed.blocks.shape() == Shape{1, 2, 1, 2, 8});
  float next = 0;
  for (float& element : packed.blocks.mutable_data<float>()) element = next++;
  ThreadPool pool(1);
  const Tensor plain = unpack(packed, pool);
  REQUIRE(plain.shape() == Shape{1, 16, 1, 2});
  for (int channel = 0; channel < 16; ++channel) {
    for (int place = 0; place < 2; ++place) {
      const auto at = static_cast<std::size_t>(channel * 2 + place);
      CHECK(plain.data<float>()[at] == static_cast<float>(channel / 8 * 16 + place * 8 + channel % 8));
    }
  }
  CHECK(PackedTensor::wrap(packed.blocks).shape == packed.shape);
}
