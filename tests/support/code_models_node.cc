// AT, SC, TY and SH: attributes, inputs and outputs, types and shapes of nodes.
#include "support/code_models_parts.h"
#include "support/model_builder.h"

namespace lppool::test {
namespace {

CodeModel with(std::string code, std::string about, const Model& model) {
  return {std::move(code), std::move(about), serialized(model), {}, {}, false};
}

CodeModel pool(std::string code, std::string about, std::vector<Attribute> attributes, std::int64_t opset = 18) {
  return with(std::move(code), std::move(about), lp_pool_model(opset, std::move(attributes)));
}

// The attribute p = 2, spoilt.
template <typename Edit>
Attribute p_but(Edit edit) {
  Attribute p = attr_i("p", 2);
  edit(p);
  return p;
}

Model with_function(Attribute reference) {
  Function function = make_function(
      "Pool", {"a"}, {"b"}, {make_node("LpPool", "a", "b", {attr_ints("kernel_shape", {2, 2}), std::move(reference)})},
      {"power"});
  GraphBuilder g;
  g.input("x").node("Pool", "x", "y", {}, "local").output("y", "float32 ?x?x?x?");
  Model model = make_model(std::move(g.graph));
  model.opset_imports.push_back({"local", 1});
  model.functions.push_back(std::move(function));
  return model;
}

std::vector<CodeModel> attribute_models() {
  const auto bit = [](AttributeType type) { return 1u << static_cast<int>(type); };
  Attribute empty_graph;
  empty_graph.name = "then_branch";
  empty_graph.type_number = static_cast<std::int32_t>(AttributeType::kGraph);
  GraphBuilder branch("else"), g, conv;
  branch.node("GlobalLpPool", "x", "e").output("e", "");
  g.input("x").input("c", "bool scalar");
  g.node("If", "c", "y", {empty_graph, attr_graph("else_branch", branch.graph)}).output("y", "float32 ?x?x?x?");
  conv.input("x")
      .input("w", "float32 1x1x3x3")
      .node("Conv", "x w", "y", {attr_i("group", 0)})
      .output("y", "float32 ?x?x?x?");
  Attribute reference_with_value = attr_ref("p", AttributeType::kInt, "power");
  reference_with_value.fields = bit(AttributeType::kInt);
  reference_with_value.i = 2;
  return {
      pool("AT001", "an attribute without name", {p_but([](Attribute& p) { p.name.clear(); })}),
      pool("AT002", "p twice", {attr_i("p", 1), attr_i("p", 2)}),
      with("AT003", "Conv with group 0", make_model(conv.graph)),
      pool("AT004", "p as an int and a float", {p_but([&](Attribute& p) { p.fields |= bit(AttributeType::kFloat); })}),
      pool("AT005", "p says int and holds a float",
           {p_but([&](Attribute& p) { p.fields = bit(AttributeType::kFloat); })}),
      pool("AT006", "dilations at opset 11", {attr_ints("dilations", {2, 2})}, 11),
      pool("AT007", "p is the float 2.0 at opset 18", {attr_f("p", 2.0f)}),
      with("AT008", "no kernel_shape at opset 18",
           [] {
             Model model = lp_pool_model(18);
             model.graph->nodes[0].attributes.clear();
             return model;
           }()),
      pool("AT009", "p refers to a function's attribute in the main graph",
           {attr_ref("p", AttributeType::kInt, "power")}),
      with("AT010", "p refers to 'power' and has a value", with_function(reference_with_value)),
      with("AT011", "p refers to 'pow', the function declares 'power'",
           with_function(attr_ref("p", AttributeType::kInt, "pow"))),
      pool("AT012", "p is of type 99", {p_but([](Attribute& p) { p.type_number = 99; })}),
      with("AT013", "then_branch without graph", make_model(g.graph)),
      pool("AT014", "p without type", {p_but([](Attribute& p) { p.type_number = 0; })}),
  };
}

Model global(std::string_view inputs, std::string_view outputs, std::string_view type = "float32 1x1x5x5") {
  GraphBuilder g;
  g.input("x", type).node("GlobalLpPool", inputs, outputs);
  g.node("LpPool", "x", "z", {attr_ints("kernel_shape", {2, 2})}).output("z", "float32 ?x?x?x?");
  g.output("y", "float32 ?x?x?x?");
  return make_model(std::move(g.graph));
}

std::vector<CodeModel> arity_models() {
  GraphBuilder few, many_out, left_out, none_wanted, no_output;
  few.input("x")
      .node("GlobalLpPool", "", "y")
      .output("y", "float32 ?x?x?x?")
      .node("GlobalLpPool", "x", "z")
      .output("z", "float32 ?x?x?x?");
  many_out.input("x").node("GlobalLpPool", "x", "y i").output("y", "float32 ?x?x?x?").output("i", "float32 ?x?x?x?");
  left_out.input("x")
      .node("GlobalLpPool", "-", "y")
      .output("y", "float32 ?x?x?x?")
      .node("GlobalLpPool", "x", "z")
      .output("z", "float32 ?x?x?x?");
  none_wanted.input("x").node("GlobalLpPool", "x", "y").output("y", "float32 ?x?x?x?").node("GlobalLpPool", "x", "-");
  no_output.input("x").node("GlobalLpPool", "x", "y").output("y", "float32 ?x?x?x?").node("GlobalLpPool", "x", "");
  CodeModel without_output = with("SC003", "GlobalLpPool without output", make_model(no_output.graph));
  CodeModel unwanted = with("SC006", "the output of GlobalLpPool is left out", make_model(none_wanted.graph));
  return {
      with("SC001", "GlobalLpPool without input", make_model(few.graph)),
      with("SC002", "GlobalLpPool with two inputs",
           [] {
             Model model = global("x x", "y");
             model.graph->nodes.pop_back();
             model.graph->outputs.erase(model.graph->outputs.begin());
             return model;
           }()),
      without_output,
      with("SC004", "GlobalLpPool with two outputs", make_model(many_out.graph)),
      with("SC005", "the input of GlobalLpPool is left out", make_model(left_out.graph)),
      unwanted,
  };
}

std::vector<CodeModel> type_models() {
  Model unknown_type = lp_pool_model(18);
  unknown_type.graph->value_infos.push_back({"y", type_of_text("float32 ?x?x?x?")});
  unknown_type.graph->value_infos[0].type.dtype_number = 99;
  unknown_type.graph->value_infos[0].type.dtype = DataType::kUndefined;
  GraphBuilder mixed;
  mixed.input("a").input("b", "float64 1x1x5x5").node("Add", "a b", "y").output("y", "float32 1x1x5x5");
  GraphBuilder scalar;
  scalar.input("x", "float32 2x3")
      .node("LpPool", "x", "y", {attr_ints("kernel_shape", {2})})
      .output("y", "float32 ?x?");
  return {
      with("TY001", "bfloat16 at opset 18", lp_pool_model(18, {}, "bfloat16 1x1x5x5", "bfloat16 ?x?x?x?")),
      with("TY002", "'y' is declared float64 and computed in float32",
           lp_pool_model(18, {}, "float32 1x1x5x5", "float64 ?x?x?x?")),
      with("TY003", "float32 and float64 added", make_model(mixed.graph)),
      with("TY004", "element type 99", unknown_type),
      with("SH001", "'y' is declared 1x1x5x5 and computed as 1x1x4x4",
           lp_pool_model(18, {}, "float32 1x1x5x5", "float32 1x1x5x5")),
      with("SH002", "LpPool on a matrix", make_model(scalar.graph)),
      with("SH004", "'x' is declared with size -1", lp_pool_model(18, {}, "float32 -1x1x5x5")),
  };
}

}  // namespace

std::vector<CodeModel> node_code_models() {
  std::vector<CodeModel> models;
  for (auto part : {attribute_models, arity_models, type_models}) {
    for (CodeModel& model : part()) models.push_back(std::move(model));
  }
  return models;
}

}  // namespace lppool::test
