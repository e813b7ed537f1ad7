// IR, OP and FN.
#include <fmt/format.h>

#include "support/code_models_parts.h"
#include "support/model_builder.h"
#include "support/wire.h"

namespace lppool::test {
namespace {

CodeModel with(std::string code, std::string about, const Model& model) {
  return {std::move(code), std::move(about), serialized(model), {}, {}, false};
}

template <typename Edit>
CodeModel edited(std::string code, std::string about, Model model, Edit edit) {
  edit(model);
  return with(std::move(code), std::move(about), model);
}

// One node of `op` between x and y.
Model one_node(std::string op, std::int64_t opset, std::vector<Attribute> attributes = {}, std::string domain = "") {
  GraphBuilder g;
  g.input("x").node(std::move(op), "x", "y", std::move(attributes), domain).output("y", "float32 ?x?x?x?");
  Model model = make_model(std::move(g.graph), opset);
  if (!domain.empty()) model.opset_imports.push_back({domain, 1});
  return model;
}

// A call of the last of `functions`, domain "local".
Model with_functions(std::vector<Function> functions, std::vector<Attribute> attributes = {},
                     std::string_view inputs = "x") {
  GraphBuilder g;
  g.input("x").node(functions.back().name, inputs, "y", std::move(attributes), "local").output("y", "float32 ?x?x?x?");
  Model model = make_model(std::move(g.graph));
  model.opset_imports.push_back({"local", 1});
  model.functions = std::move(functions);
  return model;
}

Node pool(std::string_view input, std::string_view output) {
  return make_node("LpPool", input, output, {attr_ints("kernel_shape", {2, 2})});
}

Function pool_function() {
  return make_function("Pool", {"a"}, {"b"}, {pool("a", "b")});
}

std::vector<Function> chain_of_functions(int length) {
  std::vector<Function> functions = {make_function("F1", {"a"}, {"b"}, {make_node("GlobalLpPool", "a", "b")})};
  for (int i = 2; i <= length; ++i) {
    functions.push_back(make_function(fmt::format("F{}", i), {"a"}, {"b"},
                                      {make_node(fmt::format("F{}", i - 1), "a", "b", {}, "local")}));
  }
  return functions;
}

std::vector<CodeModel> file_models() {
  Model many = lp_pool_model(18);
  for (int i = 0; i < 10'001; ++i) many.graph->nodes.push_back(make_node("", "x", "-"));
  CodeModel cut = with("IR006", "ten thousand nodes without op_type", many);
  cut.also = {"GR015"};
  return {
      edited("IR001", "no graph", lp_pool_model(18), [](Model& m) { m.graph.reset(); }),
      edited("IR002", "no ir_version", lp_pool_model(18), [](Model& m) { m.ir_version.reset(); }),
      edited("IR003", "ir_version 99", lp_pool_model(18), [](Model& m) { m.ir_version = 99; }),
      edited("IR004", "ir_version 2 with an import", lp_pool_model(7), [](Model& m) { m.ir_version = 2; }),
      {"IR005", "training_info", serialized(lp_pool_model(18)) + wire::bytes(20, ""), {}, {}, false},
      cut,
      edited("OP001", "no opset_import", lp_pool_model(18), [](Model& m) { m.opset_imports.clear(); }),
      edited("OP002", "opset 0", lp_pool_model(18), [](Model& m) { m.opset_imports[0].version = 0; }),
      edited("OP003", "opset 11 and 18", lp_pool_model(11),
             [](Model& m) {
               m.opset_imports.push_back({"ai.onnx", 18});
             }),
      edited("OP004", "opset 18 twice", lp_pool_model(18),
             [](Model& m) {
               m.opset_imports.push_back({"", 18});
             }),
      edited("OP005", "opset 99", lp_pool_model(18), [](Model& m) { m.opset_imports[0].version = 99; }),
      edited("OP006", "the default domain is not imported", lp_pool_model(18),
             [](Model& m) {
               m.opset_imports[0] = {"ai.onnx.ml", 3};
             }),
      with("OP007", "LpPool of another domain", one_node("LpPool", 18, {}, "com.acme")),
      with("OP008", "lppool in small letters", one_node("lppool", 18)),
      with("OP009", "Celu at opset 9", one_node("Celu", 9)),
      with("OP010", "Upsample at opset 10", one_node("Upsample", 10)),
      {"OP012", "an operator of opset 28", serialized(one_node("SwiGLU", 28)), {"OP005"}, {}, false},
      with("OP013", "an experimental operator of ONNX 1.0", one_node("ATen", 1)),
      {"OP011", "an unknown operator at opset 99", serialized(one_node("NewThing", 99)), {"OP005"}, {}, false},
  };
}

std::vector<CodeModel> function_models() {
  Function twice = pool_function();
  Function nameless = pool_function();
  nameless.name.clear();
  Function same_inputs = make_function("Pool", {"a", "a"}, {"b"}, {pool("a", "b")});
  Function no_output = make_function("Pool", {"a"}, {"b", "c"}, {pool("a", "b")});
  Function older = pool_function();
  older.opset_imports[0].version = 11;
  Function with_value_info = pool_function();
  with_value_info.value_infos.push_back({"b", type_of_text("float32 ?x?x?x?")});
  // Each calls the one before twice: 2^20 nodes once put in place.
  std::vector<Function> doubling = {make_function("D1", {"a"}, {"b"}, {make_node("GlobalLpPool", "a", "b")})};
  for (int i = 2; i <= 21; ++i) {
    const std::string callee = fmt::format("D{}", i - 1);
    doubling.push_back(
        make_function(fmt::format("D{}", i), {"a"}, {"b"},
                      {make_node(callee, "a", "m", {}, "local"), make_node(callee, "m", "b", {}, "local")}));
  }
  Function standard = pool_function();
  standard.name = "GlobalLpPool";
  standard.domain = "";
  Model overriding = one_node("GlobalLpPool", 18);
  overriding.functions = {standard};

  return {
      with("FN001", "two functions that call each other",
           with_functions({make_function("A", {"a"}, {"b"}, {make_node("B", "a", "b", {}, "local")}),
                           make_function("B", {"a"}, {"b"}, {make_node("A", "a", "b", {}, "local")})})),
      with("FN002", "two functions local:Pool", with_functions({pool_function(), twice})),
      with("FN003", "a function without name", with_functions({nameless, pool_function()})),
      edited("FN004", "functions in IR version 7", with_functions({pool_function()}),
             [](Model& m) { m.ir_version = 7; }),
      with("FN005", "input 'a' twice", with_functions({same_inputs})),
      with("FN006", "output 'c' is not produced", with_functions({no_output})),
      with("FN007", "opset 11 inside, 18 outside", with_functions({older})),
      with("FN008", "value_info in IR version 8", with_functions({with_value_info})),
      with("FN009", "a chain of 101 functions", with_functions(chain_of_functions(101))),
      with("FN010", "attribute 'size', which the function does not declare",
           with_functions({pool_function()}, {attr_i("size", 2)})),
      with("FN011", "two inputs for a function of one", with_functions({pool_function()}, {}, "x x")),
      with("FN012", "a function named GlobalLpPool in the default domain", overriding),
      with("SH005", "21 functions that stand for a million nodes", with_functions(doubling)),
  };
}

}  // namespace

std::vector<CodeModel> model_code_models() {
  auto models = file_models();
  for (CodeModel& model : function_models()) models.push_back(std::move(model));
  return models;
}

}  // namespace lppool::test
