#include "support/example_models.h"

#include <cstring>

#include "lppool/npy/npy.h"
#include "lppool/onnx/model_file.h"
#include "lppool/onnx/tensor_file.h"
#include "support/model_builder.h"

namespace lppool::test {
namespace {

std::string serialized(const Model& model) { return ModelFile::from(model).serialize(); }

Node named(Node node, std::string name) {
  node.name = std::move(name);
  return node;
}

// Three poolings in a row over images of any size.
Model tower() {
  GraphBuilder g("tower");
  g.input("x", "float32 Nx3xHxW").output("y", "float32 Nx3x1x1");
  g.graph.nodes = {
      named(make_node("LpPool", "x", "pool1_out",
                      {attr_ints("kernel_shape", {3, 3}), attr_ints("strides", {2, 2}), attr_ints("pads", {1, 1, 1, 1}), attr_i("p", 2)}),
            "pool1"),
      named(make_node("LpPool", "pool1_out", "pool2_out", {attr_ints("kernel_shape", {2, 2}), attr_ints("strides", {2, 2}), attr_i("p", 1)}),
            "pool2"),
      named(make_node("GlobalLpPool", "pool2_out", "y", {attr_i("p", 3)}), "head")};
  return make_model(g.graph, 18, 8);
}

// Several things wrong at once, each in another place.
Model broken() {
  GraphBuilder g("broken");
  g.input("x", "float32 1x3x8x8").output("y", "float32 1x3x4x4");
  g.graph.nodes = {
      named(make_node("LpPool", "x", "a", {attr_ints("kernel_shape", {2, 2}), attr_ints("strides", {0, 2}), attr_i("p", 0)}), "pool1"),
      named(make_node("LpPool", "a", "b", {attr_ints("kernel_shape", {2, 2}), attr_f("p", 2.0f)}), "pool2"),
      named(make_node("LpPool", "b", "y", {attr_ints("kernel_shape", {2, 2}), attr_i("count_include_pad", 1)}), "pool3")};
  return make_model(g.graph, 18, 8);
}

// The pooled features of a batch of any size, joined, flattened by a shape worked out from their own sizes, and scored.
Model head() {
  GraphBuilder g("head");
  g.input("x", "float32 Nx64x14x14").input("skip", "float32 Nx32x7x7").output("scores", "float32 Nx10");
  g.initializer("area", Tensor::of<std::int64_t>({1}, {49})).initializer("batch", Tensor::of<std::int64_t>({1}, {0}));
  g.initializer("rest", Tensor::of<std::int64_t>({1}, {-1}));
  g.initializer("weights", Tensor::zeros(DataType::kFloat32, {96, 10})).initializer("bias", Tensor::zeros(DataType::kFloat32, {10}));
  g.initializer("start", Tensor::of<std::int64_t>({1}, {0})).initializer("end", Tensor::of<std::int64_t>({1}, {1}));
  g.graph.nodes = {
      named(make_node("LpPool", "x", "pooled", {attr_ints("kernel_shape", {2, 2}), attr_ints("strides", {2, 2})}), "pool"),
      named(make_node("Concat", "pooled skip", "joined", {attr_i("axis", 1)}), "join"),
      named(make_node("Shape", "joined", "sizes"), "shape_of"),
      named(make_node("Gather", "sizes batch", "batch_size", {attr_i("axis", 0)}), "pick"),
      named(make_node("Concat", "batch_size rest area", "target", {attr_i("axis", 0)}), "make_target"),
      named(make_node("Reshape", "joined target", "rows"), "flatten"),
      named(make_node("Transpose", "rows", "columns", {attr_ints("perm", {0, 2, 1})}), "turn"),
      named(make_node("Slice", "columns start end batch_axis", "first"), "first_place"),
      named(make_node("ReduceMax", "first", "features", {attr_ints("axes", {1}), attr_i("keepdims", 0)}), "drop_place"),
      named(make_node("Gemm", "features weights bias", "logits"), "score"),
      named(make_node("Softmax", "logits", "scores", {attr_i("axis", 1)}), "normalise")};
  g.initializer("batch_axis", Tensor::of<std::int64_t>({1}, {1}));
  return make_model(g.graph, 17, 8);
}

Model one_pool(std::string x, std::string y, std::vector<Attribute> attributes, std::int64_t opset, std::string op = "LpPool") {
  GraphBuilder g("one_pool");
  g.input("x", x).output("y", y);
  g.graph.nodes = {named(make_node(std::move(op), "x", "y", std::move(attributes)), "pool1")};
  return make_model(g.graph, opset, opset >= 22 ? 10 : 8);
}

// Names that a careless writer of HTML, XML or shell commands would act on.
Model hostile_names() {
  const std::string x = "<img src=x onerror=alert(1)>", y = "\"'&amp;y</td></table>";
  GraphBuilder g("</title><script>alert(2)</script>");
  g.input(x, "float32 1x1x4x4").output(y, "float32 1x1x2x2");
  Node node = make_node("LpPool", "a", "b", {attr_ints("kernel_shape", {3, 3}), attr_ints("strides", {2, 2}), attr_ints("pads", {1, 1, 0, 0})});
  node.inputs = {x};
  node.outputs = {y};
  node.name = "</summary><script>alert(3)</script>; rm -rf * $(id) \xE2\x80\xAE" + std::string(300, 'n');
  g.graph.nodes = {node};
  return make_model(g.graph, 18, 8);
}

std::string npy(const Tensor& tensor) {
  const NpyParts parts = npy_parts(tensor, NpyForm::kVoid);
  std::string bytes = parts.header;
  bytes.append(reinterpret_cast<const char*>(parts.elements.raw()), parts.elements.bytes());
  return bytes;
}

}  // namespace

std::vector<ExampleFile> example_files() {
  std::vector<ExampleFile> files;
  const auto add = [&](std::string path, std::string about, std::string bytes) {
    files.push_back({std::move(path), std::move(about), std::move(bytes)});
  };
  add("models/tower.onnx", "LpPool, LpPool, GlobalLpPool over images of any size; opset 18", serialized(tower()));
  add("models/head.onnx", "Concat, Shape -> Gather -> Concat -> Reshape, Slice, ReduceMax and Gemm, for `infer --explain`", serialized(head()));
  add("models/broken.onnx", "several faults in three nodes, for `check`", serialized(broken()));
  add("models/old.onnx", "LpPool 1 with p = 3.0, for `upgrade`",
      serialized(one_pool("float32 1x2x6x6", "float32 1x2x3x3", {attr_ints("kernel_shape", {2, 2}), attr_ints("strides", {2, 2}), attr_f("p", 3.0f)}, 1)));
  add("models/fractional.onnx", "LpPool 1 with p = 2.5, which no later version can say",
      serialized(one_pool("float32 1x2x6x6", "float32 1x2x5x5", {attr_ints("kernel_shape", {2, 2}), attr_f("p", 2.5f)}, 1)));
  add("models/ceil18.onnx", "LpPool 18 whose last window lies in the end padding, where version 22 has one output less",
      serialized(one_pool("float32 1x1x5", "float32 1x1x4", {attr_ints("kernel_shape", {2}), attr_ints("strides", {2}), attr_ints("pads", {1, 2}), attr_i("ceil_mode", 1)}, 18)));
  add("models/half.onnx", "LpPool in float16 over a window whose norm is above the largest half, for `run --trap`",
      serialized(one_pool("float16 1x1x4", "float16 1x1x2", {attr_ints("kernel_shape", {2}), attr_ints("strides", {2})}, 18)));
  add("models/bfloat.onnx", "GlobalLpPool in bfloat16, which version 22 added", serialized(one_pool("bfloat16 1x2x4", "bfloat16 1x2x1", {}, 22, "GlobalLpPool")));
  add("models/stale.onnx", "LpPool over rows of any length, whose output is declared for rows of 4, for `run`",
      serialized(one_pool("float32 Nx2xH", "float32 Nx2x3", {attr_ints("kernel_shape", {2})}, 18)));
  add("models/names.onnx", "LpPool between tensors whose names are HTML, for `report`", serialized(hostile_names()));

  const Tensor x = Tensor::of<float>({1, 1, 4}, {3, -4, 5, 12});
  const Tensor y = Tensor::of<float>({1, 1, 2}, {5, 13});
  add("cases/lp_pool_pythagoras/model.onnx", "kernel 2, stride 2, p 2 over 3 -4 5 12: the norms are 5 and 13",
      serialized(one_pool("float32 1x1x4", "float32 1x1x2", {attr_ints("kernel_shape", {2}), attr_ints("strides", {2})}, 18)));
  add("cases/lp_pool_pythagoras/test_data_set_0/input_0.pb", "", serialize_tensor("x", x));
  add("cases/lp_pool_pythagoras/test_data_set_0/output_0.pb", "", serialize_tensor("y", y));
  add("tensors/y.npy", "5 13, as float32 1x1x2", npy(y));
  add("tensors/y_off.npy", "5 13.000001 (one step of float32 above 13)", npy(Tensor::of<float>({1, 1, 2}, {5, 13.000001f})));
  add("tensors/half.npy", "60000 60000 3 4 as float16 1x1x4, input of half.onnx",
      npy(Tensor::of<Float16>({1, 1, 4}, {Float16(60000.0f), Float16(60000.0f), Float16(3.0f), Float16(4.0f)})));
  return files;
}

}  // namespace lppool::test
