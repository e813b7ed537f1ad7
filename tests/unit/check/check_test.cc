// What the models of code_models.h do not show: rules beside their first example, several findings at once, places,
// hints, and hostile models. Expectations come from docs/IR.md, onnx/checker.cc and the operator texts.
#include "lppool/check/check.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "support/model_builder.h"

namespace lppool::test {
namespace {

constexpr const char* kAny = "float32 ?x?x?x?";

// The codes of the findings in order, notes left out.
std::string codes(const Model& model, const CheckOptions& options = {}) {
  std::string text;
  for (const Diagnostic& finding : check_model(model, options)) {
    if (finding.severity != Severity::kNote) text += (text.empty() ? "" : " ") + finding.code;
  }
  return text;
}

Diagnostic only(const Model& model) {
  Diagnostics findings = check_model(model);
  std::erase_if(findings, [](const Diagnostic& d) { return d.severity == Severity::kNote; });
  REQUIRE(findings.size() == 1);
  return findings[0];
}

TEST_CASE("a sound model has no findings in any version", "[check]") {
  for (const std::int64_t opset : {1, 2, 3, 10, 11, 17, 18, 21, 22, 23, 27}) {
    CAPTURE(opset);
    CHECK(codes(lp_pool_model(opset)).empty());
    CHECK(check_model(lp_pool_model(opset)).empty());
  }
}

TEST_CASE("all findings come in one pass, ordered by graph and node", "[check]") {
  GraphBuilder g("");
  g.input("x");
  g.node("LpPool", "x", "a", {attr_i("p", 0), attr_ints("kernel_shape", {0, 2})});
  g.node("LpPool", "nowhere", "b", {attr_ints("kernel_shape", {2, 2}), attr_i("count_include_pad", 1)});
  g.node("GlobalLpPool", "a", "y", {attr_f("p", 2.0f)});
  g.output("y", kAny).output("z", kAny);
  CHECK(codes(make_model(g.graph)) == "GR001 GR007 LP003 LP006 GR004 AT006 AT007");
}

TEST_CASE("a finding names node, index, operator, version, attribute and tensor", "[check]") {
  Model model = lp_pool_model(18, {attr_f("p", 2.0f)});
  model.graph->nodes[0].name = "pool1";
  const Diagnostic finding = only(model);
  CHECK(finding.code == "AT007");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.node == "pool1");
  CHECK(finding.node_index == 0);
  CHECK(finding.op_type == "LpPool");
  CHECK(finding.since_version == 18);
  CHECK(finding.attribute == "p");
  CHECK(finding.hint == "write it as the int 2");
}

TEST_CASE("hints say what to write where there is one obvious fix", "[check]") {
  CHECK(only(lp_pool_model(18, {attr_f("p", 2.5f)})).hint == "2.5 has no int form");
  CHECK(only(lp_pool_model(1, {attr_i("p", 3)})).hint == "write it as the float 3.0");
  CHECK(only(lp_pool_model(18, {attr_ints("p", {3})})).hint == "write it as the int 3");
  CHECK(only(lp_pool_model(11, {attr_ints("dilations", {1, 1})})).hint == "LpPool has it from operator set 18 on");
  CHECK(only(lp_pool_model(18, {attr_ints("stride", {1, 1})})).hint == "did you mean strides?");
  CHECK(only(lp_pool_model(18, {}, "bfloat16 1x1x5x5", "bfloat16 ?x?x?x?")).hint ==
        "LpPool takes bfloat16 from operator set 22 on");
  GraphBuilder g;
  g.input("image").node("LpPol", "image", "y").output("y", kAny);
  CHECK(only(make_model(g.graph)).hint == "did you mean LpPool?");
  g.graph.nodes[0] = make_node("GlobalLpPool", "imgae", "y");
  CHECK(only(make_model(g.graph)).hint == "did you mean 'image'?");
}

TEST_CASE("operator sets bind as ONNX says", "[check][opset]") {
  const auto with_imports = [](std::vector<OpsetImport> imports, std::int64_t ir = 8) {
    Model model = lp_pool_model(18);
    model.ir_version = ir;
    model.opset_imports = std::move(imports);
    return codes(model);
  };
  CHECK(with_imports({{"ai.onnx", 18}}).empty());
  CHECK(with_imports({{"ai.onnx.ml", 3}, {"", 18}}).empty());
  CHECK(with_imports({}, 3) == "OP001");
  CHECK(with_imports({}, 2) == "");  // operator set 1 is meant, where kernel_shape may be given
  CHECK(with_imports({}, 1) == "");
  CHECK(with_imports({{"", -5}}) == "OP002");
  CHECK(with_imports({{"", 18}, {"", 19}}) == "OP003");
  CHECK(with_imports({{"", 18}, {"com.acme", 1}, {"com.acme", 2}}) == "OP003");
  CHECK(with_imports({{"", 28}}) == "OP005");
  CHECK(with_imports({{"com.acme", 1}}) == "OP006");
  CHECK(with_imports({{"AI.ONNX", 18}}) == "OP006");
  Model model = lp_pool_model(18);
  model.graph->nodes[0].domain = "ai.onnx";
  CHECK(codes(model).empty());
}

TEST_CASE("a model without default-domain nodes needs no import of the default domain", "[check][opset]") {
  GraphBuilder g;
  g.input("x").node("Thing", "x", "y", {}, "com.acme").output("y", kAny);
  Model model = make_model(g.graph);
  model.opset_imports = {{"com.acme", 1}};
  CHECK(codes(model) == "OP007");
}

TEST_CASE("foreign operators are warned of once each", "[check][opset]") {
  GraphBuilder g;
  g.input("x").node("A", "x", "a", {}, "d").node("A", "a", "b", {}, "d").node("B", "b", "y", {}, "d").output("y", kAny);
  Model model = make_model(g.graph);
  model.opset_imports.push_back({"d", 1});
  CHECK(codes(model) == "OP007 OP007");
}

TEST_CASE("IR versions decide about initializers, attribute types and functions", "[check]") {
  GraphBuilder g;
  g.initializer("w", Tensor::zeros(DataType::kFloat32, {1, 1, 2}))
      .node("GlobalLpPool", "w", "y")
      .output("y", "float32 ?x?x?");
  CHECK(codes(make_model(g.graph, 7, 3)) == "GR012");
  CHECK(codes(make_model(g.graph, 7, 4)).empty());
  g.input("w", "float32 1x1x2");
  CHECK(codes(make_model(g.graph, 7, 3)).empty());
  CHECK(codes(make_model(g.graph, 7, 8)).empty());

  Model untyped = lp_pool_model(1);
  untyped.graph->nodes[0].attributes[0].type_number = 0;
  CHECK(codes(untyped) == "AT014");
  untyped.ir_version = 1;
  untyped.opset_imports.clear();
  CHECK(codes(untyped).empty());
}

TEST_CASE("the default of an input must fit the input", "[check]") {
  GraphBuilder g;
  g.input("w", "float32 1x1xN").initializer("w", Tensor::zeros(DataType::kFloat32, {1, 1, 2}));
  g.node("GlobalLpPool", "w", "y").output("y", "float32 ?x?x?");
  CHECK(codes(make_model(g.graph)).empty());
  g.graph.inputs[0].type = type_of_text("float32 1x1x3");
  CHECK(codes(make_model(g.graph)) == "SH001");
  g.graph.inputs[0].type = type_of_text("float64 1x1x2");
  CHECK(codes(make_model(g.graph)).starts_with("TY002"));
}

TEST_CASE("values are defined once and before their use", "[check][names]") {
  const auto nodes = [](std::vector<Node> list) {
    GraphBuilder g;
    g.input("x").output("y", kAny);
    g.graph.nodes = std::move(list);
    return codes(make_model(g.graph));
  };
  const auto pool = [](const char* in, const char* out) { return make_node("GlobalLpPool", in, out); };
  CHECK(nodes({pool("x", "y")}).empty());
  CHECK(nodes({pool("x", "x"), pool("x", "y")}) == "GR002");
  CHECK(nodes({pool("x", "y"), pool("y", "x")}) == "GR002");
  CHECK(nodes({pool("x", "m"), pool("x", "m"), pool("m", "y")}) == "GR002");
  CHECK(nodes({pool("m", "y"), pool("x", "m")}) == "GR005");
  CHECK(nodes({pool("y", "y")}) == "GR006");
  CHECK(nodes({pool("b", "a"), pool("c", "b"), pool("a", "c"), pool("c", "y")}) == "GR006");
  CHECK(nodes({pool("b", "a"), pool("a", "b"), pool("d", "c"), pool("c", "d"), pool("x", "y")}) == "GR006 GR006");
  CHECK(nodes({pool("later", "y"), pool("b", "a"), pool("a", "b"), pool("x", "later")}) == "GR005 GR006");
  CHECK(nodes({pool("nowhere", "y")}) == "GR004");
  CHECK(nodes({}) == "GR007");
}

TEST_CASE("an input may be an output", "[check][names]") {
  GraphBuilder g;
  g.input("x").output("x", "float32 1x1x5x5");
  CHECK(codes(make_model(g.graph)).empty());
}

Graph branch(const char* in, const char* out) {
  GraphBuilder g("branch");
  g.node("GlobalLpPool", in, out).output(out, "");
  return g.graph;
}

Model with_if(Graph then_branch, Graph else_branch, std::vector<Node> before = {}, std::vector<Node> after = {}) {
  GraphBuilder g;
  g.input("x").input("c", "bool scalar");
  g.graph.nodes = std::move(before);
  g.node("If", "c", "y",
         {attr_graph("then_branch", std::move(then_branch)), attr_graph("else_branch", std::move(else_branch))});
  for (Node& node : after) g.graph.nodes.push_back(std::move(node));
  g.output("y", kAny);
  return make_model(g.graph);
}

TEST_CASE("branches see outer values, may share names among each other, and may not shadow", "[check][names]") {
  CHECK(codes(with_if(branch("x", "t"), branch("x", "e"))).empty());
  CHECK(codes(with_if(branch("x", "r"), branch("x", "r"))).empty());
  CHECK(codes(with_if(branch("x", "x"), branch("x", "e"))) == "GR003");
  CHECK(codes(with_if(branch("x", "c"), branch("x", "e"))) == "GR003");
  CHECK(codes(with_if(branch("m", "t"), branch("x", "e"), {make_node("GlobalLpPool", "x", "m")})).empty());
  CHECK(codes(with_if(branch("m", "t"), branch("x", "e"), {make_node("GlobalLpPool", "x", "m")})).empty());
  CHECK(codes(with_if(branch("m", "t"), branch("x", "e"), {}, {make_node("GlobalLpPool", "x", "m")})) == "GR005");
  CHECK(codes(with_if(branch("nowhere", "t"), branch("x", "e"))) == "GR004");

  Graph passes_outer;
  passes_outer.name = "branch";
  passes_outer.outputs.push_back({"x", {}});
  CHECK(codes(with_if(passes_outer, branch("x", "e"))) == "GR007");
  Graph unnamed = branch("x", "t");
  unnamed.name.clear();
  CHECK(codes(with_if(unnamed, branch("x", "e"))) == "GR001");
}

TEST_CASE("faults inside branches are found and placed", "[check][names]") {
  Graph bad = branch("x", "t");
  bad.nodes[0].attributes.push_back(attr_i("p", 0));
  Model model = with_if(bad, branch("x", "e"));
  model.graph->nodes[0].name = "if1";
  const Diagnostic finding = only(model);
  CHECK(finding.code == "LP003");
  CHECK(finding.graph == "if1/then_branch");
  CHECK(finding.node_index == 0);
}

Model calling(std::vector<Function> functions, std::vector<Attribute> attributes = {}) {
  GraphBuilder g;
  g.input("x").node("F", "x", "y", std::move(attributes), "local").output("y", kAny);
  Model model = make_model(g.graph);
  model.opset_imports.push_back({"local", 1});
  model.functions = std::move(functions);
  return model;
}

Node pool_with_references() {
  return make_node(
      "LpPool", "a", "b",
      {attr_ref("kernel_shape", AttributeType::kInts, "window"), attr_ref("p", AttributeType::kInt, "power")});
}

TEST_CASE("attributes of a function's nodes are judged with the values of each call", "[check][functions]") {
  const Function f = make_function("F", {"a"}, {"b"}, {pool_with_references()}, {"window", "power"});
  CHECK(codes(calling({f}, {attr_ints("window", {2, 2}), attr_i("power", 3)})).empty());
  CHECK(codes(calling({f}, {attr_ints("window", {2, 2})})).empty());  // p left out: the operator's default
  CHECK(codes(calling({f}, {attr_i("power", 3)})) == "AT008");        // kernel_shape left out: it has none
  CHECK(codes(calling({f}, {attr_ints("window", {2, 2}), attr_i("power", 0)})) == "LP003");
  CHECK(codes(calling({f}, {attr_ints("window", {2, 2}), attr_f("power", 2.0f)})) == "AT007");
  CHECK(codes(calling({f}, {attr_ints("window", {0, 2})})) == "LP006");

  const Diagnostic finding = only(calling({f}, {attr_ints("window", {9, 2})}));
  CHECK(finding.code == "SH002");
  CHECK(finding.graph == "function local:F");
  CHECK(finding.message.find("node #0 (F)") != std::string::npos);
}

TEST_CASE("functions are checked though nothing calls them", "[check][functions]") {
  Function unused = make_function("Unused", {"a"}, {"b"}, {make_node("LpPool", "a", "b", {attr_f("p", 2.0f)})});
  const Function f = make_function("F", {"a"}, {"b"}, {make_node("GlobalLpPool", "a", "b")});
  CHECK(codes(calling({f, unused})) == "AT007 AT008");
}

TEST_CASE("nested references reach through calls", "[check][functions]") {
  const Function inner = make_function("Inner", {"a"}, {"b"}, {pool_with_references()}, {"window", "power"});
  const Function f = make_function(
      "F", {"a"}, {"b"},
      {make_node("Inner", "a", "b", {attr_ref("window", AttributeType::kInts, "w"), attr_i("power", 0)}, "local")},
      {"w"});
  CHECK(codes(calling({inner, f}, {attr_ints("w", {2, 2})})) == "LP003");
}

TEST_CASE("a function sees none of the main graph's names and needs its own imports", "[check][functions]") {
  CHECK(codes(calling({make_function("F", {"a"}, {"b"}, {make_node("GlobalLpPool", "x", "b")})})) == "GR004");
  Function f = make_function("F", {"a"}, {"b"}, {make_node("GlobalLpPool", "a", "b")});
  f.opset_imports = {{"local", 1}};
  CHECK(codes(calling({f})) == "OP006");
}

TEST_CASE("recursion is found through branches and long circles", "[check][functions]") {
  Function f = make_function("F", {"a", "c"}, {"b"}, {});
  GraphBuilder inside("t");
  inside.node("F", "a c", "t", {}, "local").output("t", "");
  f.nodes = {make_node("If", "c", "b",
                       {attr_graph("then_branch", inside.graph), attr_graph("else_branch", branch("a", "e"))})};
  CHECK(codes(calling({f})) == "FN001");
  std::vector<Function> ring;
  for (int i = 0; i < 1000; ++i) {
    ring.push_back(make_function(i == 0 ? "F" : fmt::format("F{}", i), {"a"}, {"b"},
                                 {make_node(i == 999 ? "F" : fmt::format("F{}", i + 1), "a", "b", {}, "local")}));
  }
  CHECK(codes(calling(ring)).starts_with("FN001"));
}

TEST_CASE("type constraints are followed through the graph", "[check][types]") {
  for (const char* type : {"float16", "float32", "float64"}) {
    CHECK(codes(lp_pool_model(2, {}, fmt::format("{} 1x1x5x5", type), fmt::format("{} ?x?x?x?", type))).empty());
  }
  for (const char* type : {"int32", "int8", "uint8", "bool", "complex64", "float8e4m3fn", "string"}) {
    CAPTURE(type);
    CHECK(codes(lp_pool_model(22, {}, fmt::format("{} 1x1x5x5", type), fmt::format("{} ?x?x?x?", type))) == "TY001");
  }
  GraphBuilder g;
  g.input("x", "bfloat16 1x1x5x5").node("LpPool", "x", "m", {attr_ints("kernel_shape", {2, 2})});
  g.node("GlobalLpPool", "m", "y").output("y", "bfloat16 ?x?x?x?");
  CHECK(codes(make_model(g.graph, 22, 10)).empty());
  CHECK(codes(make_model(g.graph, 21, 10)) == "TY001 TY001");
}

TEST_CASE("odd names do not break messages", "[check]") {
  Model model = lp_pool_model(18, {attr_i("p", 0)});
  model.graph->nodes[0].name = "a\n\x1b[31m\xff\"";
  model.graph->nodes[0].attributes.push_back(attr_i("bad\nname", 1));
  for (const Diagnostic& finding : check_model(model)) {
    CHECK(finding.message.find('\n') == std::string::npos);
    CHECK(finding.message.find('\x1b') == std::string::npos);
  }
  Model internal = lp_pool_model(18, {attr_i("__layer", 3)});
  CHECK(codes(internal).empty());
}

TEST_CASE("work and memory are bounded on hostile models", "[check][hostile]") {
  SECTION("graphs nest past the limit") {
    Graph graph = branch("x", "t");
    for (int i = 0; i < 200; ++i) {
      GraphBuilder outer("branch");
      outer.node("If", "c", "t", {attr_graph("then_branch", graph), attr_graph("else_branch", branch("x", "e"))});
      outer.output("t", "");
      graph = outer.graph;
    }
    CHECK(codes(with_if(graph, branch("x", "e"))).find("GR022") != std::string::npos);
  }
  SECTION("a long chain of nodes backwards") {
    GraphBuilder g;
    g.input("x").output("n0", kAny);
    for (int i = 0; i < 50'000; ++i) g.node("GlobalLpPool", fmt::format("n{}", i + 1), fmt::format("n{}", i));
    g.node("GlobalLpPool", "x", "n50000");
    CheckOptions options;
    options.max_findings = 5;
    CHECK(codes(make_model(g.graph), options) == "GR005 GR005 GR005 GR005 GR005");
  }
  SECTION("the limit keeps an error that comes last") {
    GraphBuilder g;
    g.input("x").node("GlobalLpPool", "x", "y").output("y", kAny);
    for (int i = 0; i < 20; ++i) g.initializer(fmt::format("w{}", i), Tensor::scalar<float>(0));
    Model model = make_model(g.graph);
    model.graph->nodes[0].attributes.push_back(attr_i("p", 0));
    CheckOptions options;
    options.max_findings = 3;
    const Diagnostics findings = check_model(model, options);
    CHECK_FALSE(is_valid(findings));
    CHECK(findings.size() <= 5);
  }
  SECTION("empty and missing parts") {
    CHECK(codes(Model{}) == "IR002 IR001");
    Model model;
    model.ir_version = 8;
    model.opset_imports = {{"", 18}};
    model.graph.emplace();
    CHECK(codes(model) == "GR001");
    model.graph->nodes.emplace_back();
    model.graph->nodes[0].attributes.emplace_back();
    CHECK(codes(model) == "GR001 GR015 GR016 AT001 AT014");
  }
}

}  // namespace
}  // namespace lppool::test
