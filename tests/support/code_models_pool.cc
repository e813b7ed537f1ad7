// LP and PO: LpPool and GlobalLpPool.
#include "support/code_models_parts.h"
#include "support/model_builder.h"

namespace lppool::test {
namespace {

CodeModel pool(std::string code, std::string about, std::int64_t opset, std::vector<Attribute> attributes,
               std::string_view x = "float32 1x1x5x5", std::string_view y = "float32 ?x?x?x?") {
  return {
      std::move(code), std::move(about), serialized(lp_pool_model(opset, std::move(attributes), x, y)), {}, {}, false};
}

Attribute kernel(std::vector<std::int64_t> sizes) {
  return attr_ints("kernel_shape", std::move(sizes));
}
Attribute strides(std::vector<std::int64_t> sizes) {
  return attr_ints("strides", std::move(sizes));
}
Attribute pads(std::vector<std::int64_t> sizes) {
  return attr_ints("pads", std::move(sizes));
}

std::vector<CodeModel> attribute_models() {
  Model no_kernel = lp_pool_model(1);
  no_kernel.graph->nodes[0].attributes.clear();
  return {
      {"LP001", "no kernel_shape at opset 1", serialized(no_kernel), {}, {}, false},
      pool("LP002", "three pads", 18, {pads({1, 1, 1})}),
      pool("LP003", "p = 0", 18, {attr_i("p", 0)}),
      pool("LP004", "p = 0.5 at opset 1", 1, {attr_f("p", 0.5f)}),
      pool("LP005", "p = 1000", 18, {attr_i("p", 1000)}),
      pool("LP006", "a kernel of 0", 18, {kernel({2, 0})}),
      pool("LP007", "a stride of 0", 18, {strides({0, 1})}),
      pool("LP008", "a dilation of 0", 18, {attr_ints("dilations", {0, 1})}),
      pool("LP009", "a pad of -1", 18, {pads({-1, 0, 0, 0})}),
      pool("LP010", "auto_pad SAME", 18, {attr_s("auto_pad", "SAME")}),
      pool("LP011", "an empty auto_pad", 18, {attr_s("auto_pad", "")}),
      pool("LP012", "auto_pad and pads", 18, {attr_s("auto_pad", "SAME_UPPER"), pads({1, 0, 1, 0})}),
      pool("LP013", "ceil_mode 2", 18, {attr_i("ceil_mode", 2)}),
      pool("LP014", "a dilation that makes the window leave 64 bits", 18,
           {kernel({3, 2}), attr_ints("dilations", {INT64_MAX, 1})}),
      pool("LP015", "auto_pad VALID with ceil_mode", 18, {attr_s("auto_pad", "VALID"), attr_i("ceil_mode", 1)}),
      pool("LP021", "one stride for two axes", 18, {strides({2})}),
  };
}

// The same of other operators, over 1x1x5x5.
CodeModel window(std::string code, std::string about, std::string op, std::vector<Attribute> attributes, std::int64_t opset) {
  GraphBuilder g;
  g.input("x").output("y", "float32 ?x?x?x?").node(std::move(op), "x", "y", std::move(attributes));
  return {std::move(code), std::move(about), serialized(make_model(g.graph, opset)), {}, {}, false};
}

std::vector<CodeModel> window_models() {
  return {
      window("WI001", "a window of 6 on 5 elements", "MaxPool", {kernel({6, 2})}, 18),
      window("WI002", "a last window in the end padding at opset 18", "MaxPool",
             {kernel({2, 2}), strides({2, 1}), pads({1, 0, 1, 0}), attr_i("ceil_mode", 1)}, 18),
      window("WI003", "a window of 6 on 5 elements with stride 2", "AveragePool", {kernel({6, 2}), strides({2, 1})}, 18),
      window("WI004", "padding as large as the window", "AveragePool", {kernel({2, 2}), pads({2, 0, 0, 0})}, 18),
      window("WI005", "the last element is in no window", "MaxPool", {kernel({2, 2}), strides({2, 1})}, 18),
  };
}

std::vector<CodeModel> geometry_models() {
  return {
      pool("LP016", "a window of 6 on 5 elements", 18, {kernel({6, 2})}),
      pool("LP017", "a last window in the end padding at opset 18", 18,
           {strides({2, 1}), pads({1, 0, 1, 0}), attr_i("ceil_mode", 1)}),
      pool("LP018", "a window of 6 on 5 elements with stride 2", 18, {kernel({6, 2}), strides({2, 1})}),
      pool("LP019", "padding as large as the window", 18, {pads({2, 0, 0, 0})}),
      pool("LP020", "the last element is in no window", 18, {strides({2, 1})}),
  };
}

// Every LpPool has notes of engines that lack it (PO001), so these are about GlobalLpPool where one can do.
std::vector<CodeModel> portability_models() {
  std::vector<CodeModel> models = {
      pool("PO001", "LpPool in float64", 22, {}, "float64 1x1x5x5", "float64 ?x?x?x?"),
      pool("PO002", "p = 20", 22, {attr_i("p", 20)}),
      pool("PO003", "a last window in the end padding at opset 18", 18,
           {strides({2, 2}), pads({1, 1, 1, 1}), attr_i("ceil_mode", 1)}),
      pool("PO004", "padding as large as the kernel", 22, {attr_ints("dilations", {2, 1}), pads({2, 0, 0, 0})}),
  };
  for (CodeModel& model : models) model.portability = true;
  for (std::size_t i = 1; i < models.size(); ++i) models[i].also = {"PO001"};
  models[2].also = {"PO001", "LP017"};
  return models;
}

}  // namespace

std::vector<CodeModel> pool_code_models() {
  auto models = attribute_models();
  for (CodeModel& model : portability_models()) models.push_back(std::move(model));
  for (CodeModel& model : geometry_models()) models.push_back(std::move(model));
  for (CodeModel& model : window_models()) models.push_back(std::move(model));
  return models;
}

}  // namespace lppool::test
