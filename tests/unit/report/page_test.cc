#include "lppool/report/page.h"

#include <catch2/catch.hpp>
#include <limits>

#include "lppool/check/check.h"
#include "lppool/run/session.h"
#include "support/graphs.h"
#include "support/model_builder.h"

using namespace lppool;
using namespace lppool::report;
using namespace lppool::test;

namespace {

std::string page_of(const Model& model, std::map<std::string, Value> inputs, std::string file = "m.onnx") {
  const BoundGraph graph = bind_model(model);
  InferOptions options;
  options.explain = true;
  const InferResult types = infer_shapes(graph, options);
  const Diagnostics findings = check_model(model);
  PageContents page;
  page.file = std::move(file);
  page.program = "test";
  page.model = &model;
  page.graph = &graph;
  page.types = &types;
  page.findings = &findings;
  RunRecord record;
  if (!inputs.empty()) {
    Session session(model);
    Recorder recorder(session.graph(), record);
    recorder.add_inputs(inputs);
    session.run(inputs, &recorder);
    recorder.time_only();
    session.run(inputs, &recorder);
    page.run = &record;
  }
  return html_page(page);
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

Model hostile(const std::string& name) {
  GraphBuilder g(name);
  g.input("x" + name, "float32 1x1x4x4").output("y" + name, "float32 ?x?x?x?");
  Node node = make_node("LpPool", "x", "y", {attr_ints("kernel_shape", {2, 2})});
  node.name = name;
  node.inputs = {"x" + name};
  node.outputs = {"y" + name};
  g.graph.nodes = {node};
  Model model = make_model(g.graph);
  model.producer_name = name;
  return model;
}

}  // namespace

TEST_CASE("No name in a model becomes markup of the page", "[report]") {
  for (const std::string name : {"<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", "</style><b>", "]]>", "\x01\xff"}) {
    CAPTURE(name);
    const std::string page = page_of(hostile(name), {{"x" + name, Value(Tensor::zeros(DataType::kFloat32, {1, 1, 4, 4}))}}, name);
    CHECK(count(page, "<script") == 1);  // the page's own
    CHECK(count(page, "<img") == count(page, "src=\"data:image/png;base64,"));
    CHECK(count(page, "</style>") == 1);
    CHECK(page.find("' onmouseover") == std::string::npos);
    CHECK(page.find('\x01') == std::string::npos);
  }
}

TEST_CASE("A page refers to nothing outside itself", "[report]") {
  const std::string page = page_of(lp_pool_model(18), {{"x", Value(Tensor::zeros(DataType::kFloat32, {1, 1, 5, 5}))}});
  CHECK(page.find("http:") == std::string::npos);
  CHECK(page.find("https:") == std::string::npos);
  CHECK(page.find("url(") == std::string::npos);
  CHECK(page.find("@import") == std::string::npos);
}

TEST_CASE("A page of a model that was not run shows its graph and its findings", "[report]") {
  const std::string page = page_of(lp_pool_model(18, {attr_i("p", 0)}), {});
  CHECK(page.find("LP003") != std::string::npos);
  CHECK(page.find("<svg class=\"graph\"") != std::string::npos);
  CHECK(page.find("class=\"hist\"") == std::string::npos);
}

TEST_CASE("A page names NaN and infinity where they are", "[report]") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::string page = page_of(lp_pool_model(18, {}, "float32 1x1x2x2", "float32 1x1x1x1"), {{"x", Value(Tensor::of<float>({1, 1, 2, 2}, {1, inf, 2, 3}))}});
  CHECK(page.find("<span class=\"badge error\">Inf</span>") != std::string::npos);
  CHECK(page.find("√(|1|² + |∞|² + |2|² + |3|²) = <b>∞</b>") != std::string::npos);
}

TEST_CASE("Nodes of subgraphs count for the node that has them", "[report]") {
  GraphBuilder then_branch("then"), else_branch("else"), g;
  then_branch.output("t", "float32 ?").node("Neg", "x", "t");
  else_branch.output("e", "float32 ?").node("Abs", "x", "e");
  g.input("c", "bool scalar").input("x", "float32 2").output("y", "float32 ?");
  g.node("If", "c", "y", {attr_graph("then_branch", then_branch.graph), attr_graph("else_branch", else_branch.graph)});
  const std::string page = page_of(make_model(g.graph), {{"c", Value(Tensor::scalar(true))}, {"x", Value(Tensor::of<float>({2}, {1, 2}))}});
  CHECK(page.find("1 node of subgraphs ran inside these") != std::string::npos);
  CHECK(count(page, "<details class=\"node\"") == 1);
}

TEST_CASE("A page says how a window's output size came about", "[report][LpPool]") {
  const std::string page = page_of(lp_pool_model(18, {attr_ints("strides", {2, 2})}), {});
  CHECK(page.find("axis 2 of <code>y</code>: 2 = floor((5 - 2)/2) + 1") != std::string::npos);
}

TEST_CASE("A page lists weights with what is wrong with them", "[report]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  GraphBuilder g;
  g.input("x", "float32 3").initializer("w<", Tensor::of<float>({3}, {1, nan, 0})).output("y", "float32 3").node("Add", "x w<", "y");
  const std::string page = page_of(make_model(g.graph), {});
  CHECK(page.find("<code>w&lt;</code></td><td>float32 3</td><td class=\"num\">12 bytes</td><td class=\"num\">0</td><td class=\"num\">1</td>"
                  "<td class=\"num\">0.5</td><td class=\"num\">1</td><td class=\"num error\">1</td>") != std::string::npos);
}

TEST_CASE("Attributes are told in words", "[report]") {
  CHECK(attribute_text(attr_ints("a", {1, -2})) == "[1, -2]");
  CHECK(attribute_text(attr_f("a", 0.1f)) == "0.1");
  CHECK(attribute_text(attr_ints("a", std::vector<std::int64_t>(40, 1))).ends_with("40 in all]"));
}
