#include "lppool/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lppool/report/drawing.h"
#include "lppool/report/markup.h"

namespace lppool::report {
namespace {

std::string plural(std::size_t n, std::string_view word) { return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s"); }

std::string_view severity_name(Severity severity) {
  return severity == Severity::kError ? "error" : severity == Severity::kWarning ? "warning" : "note";
}

std::string section(std::string_view id, std::string_view title, std::string_view contents, bool open = true) {
  return fmt::format("<details class=\"part\" id=\"{}\"{}><summary><h2>{}</h2></summary>\n{}</details>\n", id, open ? " open" : "", title, contents);
}

std::string opsets_text(const Model& model) {
  std::string text;
  for (const OpsetImport& import : model.opset_imports) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", import.domain.empty() ? "ai.onnx" : import.domain, import.version);
  }
  return text.empty() ? "none" : text;
}

struct Fact {
  std::string name, value;
};

std::string facts_html(const PageContents& page) {
  const Graph& graph = *page.model->graph;
  std::int64_t elements = 0;
  double bytes = 0;
  for (const StoredTensor& tensor : graph.initializers) {
    if (!tensor.value.defined()) continue;
    elements += tensor.value.size();
    bytes += static_cast<double>(tensor.value.size()) * storage_bits(tensor.value.dtype()) / 8;
  }
  std::size_t counts[3] = {};
  for (const Diagnostic& finding : *page.findings) ++counts[static_cast<int>(finding.severity)];
  std::string findings;
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kNote}) {
    const std::size_t count = counts[static_cast<int>(severity)];
    if (count > 0) findings += (findings.empty() ? "" : ", ") + plural(count, severity_name(severity));
  }
  std::vector<Fact> facts = {{"Opsets", opsets_text(*page.model)},
                             {"Nodes", fmt::format("{}", page.graph->nodes.size())},
                             {"Weights", elements == 0 ? "none" : fmt::format("{} in {} ({})", elements, plural(graph.initializers.size(), "tensor"), bytes_text(bytes))},
                             {"Findings", findings.empty() ? "none" : findings}};
  if (page.run != nullptr && !page.run->totals.empty()) {
    std::vector<double> totals = page.run->totals;
    std::ranges::sort(totals);
    facts.push_back({"One run", fmt::format("{} (median of {}, {})", seconds_text(totals[totals.size() / 2]), totals.size(),
                                            plural(static_cast<std::size_t>(page.run->threads), "thread"))});
    facts.push_back({"Inputs of the run", page.run->source});
  }
  std::string text = "<dl class=\"facts\">\n";
  for (const Fact& fact : facts) text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", fact.name, escape(fact.value));
  return text + "</dl>\n";
}

std::string header_html(const PageContents& page) {
  const Model& model = *page.model;
  std::string sub = fmt::format("ONNX model, IR {}", model.ir_version ? fmt::format("{}", *model.ir_version) : "not stated");
  if (!model.producer_name.empty()) sub += fmt::format(", by {}{}{}", model.producer_name, model.producer_version.empty() ? "" : " ", model.producer_version);
  if (!model.graph->name.empty()) sub += fmt::format(", graph '{}'", model.graph->name);
  std::string text = fmt::format("<header>\n<h1 class=\"name\">{}</h1>\n<p class=\"sub\">{}</p>\n{}", escape(page.file), escape(sub), facts_html(page));
  if (page.run == nullptr && !page.not_run.empty()) text += fmt::format("<p class=\"alarm\"><b>Not run:</b> {}</p>\n", escape(page.not_run));
  if (page.run != nullptr && !page.run->failure.empty()) {
    text += fmt::format("<p class=\"alarm\"><b>The run ended early:</b> {}</p>\n", escape(page.run->failure));
  }
  return text + "</header>\n";
}

std::string values_table(const PageContents& page, const std::vector<ValueInfo>& values, const std::set<std::string>& without) {
  std::string rows;
  for (const ValueInfo& value : values) {
    if (without.contains(value.name)) continue;
    const TensorInfo* info = page.types->find(value.name);
    rows += fmt::format("<tr><td><code>{}</code></td><td>{}</td></tr>\n", escape(value.name), info == nullptr ? "?" : escape(to_string(info->type)));
  }
  return rows.empty() ? "<p class=\"note\">none</p>\n" : fmt::format("<div class=\"scroll\"><table class=\"list slim\"><tr><th>name</th><th>type</th></tr>\n{}</table></div>\n", rows);
}

std::string ends_html(const PageContents& page) {
  const Graph& graph = *page.model->graph;
  std::set<std::string> stored;
  for (const StoredTensor& tensor : graph.initializers) stored.insert(tensor.name);
  std::string text = fmt::format("<h3>Inputs</h3>\n{}<h3>Outputs</h3>\n{}", values_table(page, graph.inputs, stored), values_table(page, graph.outputs, {}));
  if (page.run != nullptr && !page.run->inputs.empty()) {
    text += "<h3>What went in</h3>\n";
    for (const TensorPicture& input : page.run->inputs) text += tensor_html(input);
  }
  return section("ends", "Inputs and outputs", text);
}

// Weights at a glance: a NaN among them, or one that is all zeros, is seen here.
std::string weights_html(const PageContents& page) {
  constexpr std::size_t kMost = 2000;
  const auto& weights = page.model->graph->initializers;
  if (weights.empty()) return "";
  std::string rows;
  for (std::size_t i = 0; i < std::min(kMost, weights.size()); ++i) {
    const StoredTensor& weight = weights[i];
    if (!weight.value.defined()) {
      rows += fmt::format("<tr><td><code>{}</code></td><td colspan=\"7\" class=\"error\">faulty</td></tr>\n", escape(weight.name));
      continue;
    }
    const Statistics s = statistics_of(weight.value);
    const auto number = [](const std::optional<double>& value) { return value ? number_text(*value) : std::string("–"); };
    const std::int64_t special = s.nan + s.inf;
    rows += fmt::format("<tr><td><code>{}</code></td><td>{} {}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td>"
                        "<td class=\"num\">{}</td><td class=\"num{}\">{}</td></tr>\n",
                        escape(weight.name), name(weight.value.dtype()), to_string(weight.value.shape()), bytes_text(static_cast<double>(weight.value.bytes())), number(s.min),
                        number(s.max), number(s.mean), s.zero, special > 0 ? " error" : "", special);
  }
  std::string text = "<div class=\"scroll\"><table class=\"list\"><tr><th>name</th><th>type</th><th class=\"num\">bytes</th><th class=\"num\">min</th><th class=\"num\">max</th>"
                     "<th class=\"num\">mean</th><th class=\"num\">zeros</th><th class=\"num\">NaN, Inf</th></tr>\n" + rows + "</table></div>\n";
  if (weights.size() > kMost) text += fmt::format("<p class=\"note\">The first {} of {}.</p>\n", kMost, weights.size());
  return section("weights", "Weights", text, false);
}

std::string findings_html(const PageContents& page) {
  if (page.findings->empty()) return "";
  std::string text = "<ul class=\"findings\">\n";
  std::map<std::string, std::size_t> indices;
  for (std::size_t i = 0; i < page.graph->nodes.size(); ++i) indices.emplace(page.graph->nodes[i].node.name, i);
  for (const Diagnostic& f : *page.findings) {
    constexpr const char* kClasses[] = {"error", "warning", "noteb"};
    std::string where;
    if (!f.op_type.empty()) {
      where = f.node.empty() ? fmt::format("node #{} ({})", f.node_index.value_or(0), f.op_type) : fmt::format("node '{}' ({})", f.node, f.op_type);
      const auto known = indices.find(f.node);
      where = f.graph.empty() && !f.node.empty() && known != indices.end() ? fmt::format("<a href=\"#n{}\">{}</a>", known->second, escape(where)) : escape(where);
    }
    text += fmt::format("<li><span class=\"badge {}\">{}</span> <code>{}</code> {}{}{}: {}", kClasses[static_cast<int>(f.severity)], severity_name(f.severity), escape(f.code),
                        f.graph.empty() ? "" : "in " + escape(f.graph) + " ", where, f.attribute.empty() ? "" : fmt::format(" attribute <code>{}</code>", escape(f.attribute)),
                        escape(f.message));
    if (!f.hint.empty()) text += fmt::format("<div class=\"hint\">Hint: {}</div>", escape(f.hint));
    text += "</li>\n";
  }
  return section("findings", "Findings", text + "</ul>\n");
}

std::map<std::string, std::string> run_shapes(const RunRecord* run) {
  std::map<std::string, std::string> shapes;
  if (run == nullptr) return shapes;
  const auto add = [&](const TensorPicture& picture) {
    if (!picture.shape.empty()) shapes[picture.name] = picture.shape;
  };
  std::ranges::for_each(run->inputs, add);
  for (const NodeRecord& node : run->nodes) std::ranges::for_each(node.outputs, add);
  return shapes;
}

std::string graph_html(const PageContents& page) {
  Drawing drawing = draw_graph(page.model->graph->name, *page.graph, *page.types, run_shapes(page.run));
  if (drawing.nodes.empty()) return "";
  const double total = page.run != nullptr ? page.run->node_seconds() : 0;
  if (total > 0) {
    for (std::size_t i = 0; i < page.run->nodes.size(); ++i) {
      if (drawing.drawn_as[i] != SIZE_MAX) drawing.nodes[drawing.drawn_as[i]].share = page.run->nodes[i].median() / total;
    }
  }
  // A link to a node that is not listed would lead nowhere.
  for (std::size_t i = kMaxNodes; i < drawing.drawn_as.size(); ++i) {
    if (drawing.drawn_as[i] != SIZE_MAX) drawing.nodes[drawing.drawn_as[i]].link.clear();
  }
  std::string note = "Edges carry shapes; [shapes in brackets] are weights.";
  if (drawing.left_out > 0) note += fmt::format(" {} that only make{} constants {} left out.", plural(drawing.left_out, "node"), drawing.left_out == 1 ? "s" : "", drawing.left_out == 1 ? "is" : "are");
  if (total > 0) note += " The orange line in a node is its share of the time.";
  const auto svg = svg_text(drawing, false);
  if (!svg) {
    return section("graph", "Graph", fmt::format("<p class=\"note\">{} and {}: too much for a readable picture.</p>\n", plural(drawing.nodes.size(), "node"), plural(drawing.edges.size(), "edge")));
  }
  return section("graph", "Graph", fmt::format("<p class=\"note\">{}</p>\n<div class=\"scroll picture\" tabindex=\"0\" role=\"region\" aria-label=\"Graph, scrolls\">\n{}</div>\n", escape(note), *svg));
}

std::string bar(double share) { return fmt::format("<td class=\"bar\"><i style=\"width:{:.1f}%\"></i></td>", std::clamp(share * 100, 0.5, 100.0)); }

std::string time_html(const PageContents& page) {
  if (page.run == nullptr || page.run->node_seconds() <= 0) return "";
  const RunRecord& run = *page.run;
  const double total = run.node_seconds();
  struct Sum {
    std::string op;
    std::size_t count = 0;
    double seconds = 0, bytes = 0;
  };
  std::map<std::string, Sum> sums;
  std::vector<std::size_t> slowest;
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    if (run.nodes[i].seconds.empty()) continue;
    Sum& sum = sums[page.graph->nodes[i].node.op_type];
    sum.op = page.graph->nodes[i].node.op_type;
    ++sum.count;
    sum.seconds += run.nodes[i].median();
    sum.bytes += static_cast<double>(run.nodes[i].bytes);
    slowest.push_back(i);
  }
  std::vector<Sum> by_op;
  for (const auto& [op, sum] : sums) by_op.push_back(sum);
  std::ranges::stable_sort(by_op, [](const Sum& a, const Sum& b) { return a.seconds > b.seconds; });
  std::ranges::stable_sort(slowest, [&](std::size_t a, std::size_t b) { return run.nodes[a].median() > run.nodes[b].median(); });
  constexpr std::size_t kMost = 15;

  std::string text = "<p class=\"note\">Medians of the kernels alone; GB/s counts the bytes of inputs and outputs once.</p>\n<h3>By operator</h3>\n"
                     "<div class=\"scroll\"><table class=\"list\"><tr><th>operator</th><th class=\"num\">nodes</th><th class=\"num\">time</th><th class=\"num\">share</th><th class=\"bar\"></th><th class=\"num\">bytes</th></tr>\n";
  for (const Sum& sum : by_op) {
    text += fmt::format("<tr><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{:.1f} %</td>{}<td class=\"num\">{}</td></tr>\n", escape(sum.op),
                        sum.count, seconds_text(sum.seconds), sum.seconds / total * 100, bar(sum.seconds / total), bytes_text(sum.bytes));
  }
  text += fmt::format("</table></div>\n<h3>Slowest nodes{}</h3>\n<div class=\"scroll\"><table class=\"list\"><tr><th>node</th><th>operator</th><th class=\"num\">time</th>"
                      "<th class=\"num\">share</th><th class=\"bar\"></th><th class=\"num\">bytes</th><th class=\"num\">GB/s</th></tr>\n",
                      slowest.size() > kMost ? fmt::format(", {} of {}", kMost, slowest.size()) : "");
  for (std::size_t k = 0; k < std::min(kMost, slowest.size()); ++k) {
    const NodeRecord& node = run.nodes[slowest[k]];
    const BoundNode& bound = page.graph->nodes[slowest[k]];
    const double seconds = node.median();
    text += fmt::format("<tr><td><a class=\"name\" href=\"#n{}\">{}</a></td><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{:.1f} %</td>{}<td class=\"num\">{}</td><td class=\"num\">{:.3g}</td></tr>\n",
                        slowest[k], escape(bound.label), escape(bound.node.op_type), seconds_text(seconds), seconds / total * 100, bar(seconds / total),
                        bytes_text(static_cast<double>(node.bytes)), seconds > 0 ? static_cast<double>(node.bytes) / seconds / 1e9 : 0);
  }
  return section("time", "Where the time goes", text + "</table></div>\n");
}

}  // namespace

std::string html_page(const PageContents& page) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" content=\"{}\">\n<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n",
      page_script_hash(), escape(page.program), escape(page.file), page_style(), svg_style());
  text += header_html(page) + "<main>\n" + findings_html(page) + graph_html(page) + time_html(page) + ends_html(page) + weights_html(page);
  std::string notes;
  if (page.run != nullptr && page.run->inner > 0) notes += fmt::format("<p class=\"note\">{} of subgraphs ran inside these, all rounds together.</p>\n", plural(page.run->inner, "node"));
  if (page.graph->nodes.size() > kMaxNodes) notes += fmt::format("<p class=\"note\">Only the first {} of {} nodes are listed.</p>\n", kMaxNodes, page.graph->nodes.size());
  text += section("nodes", "Nodes and their tensors", search_html() + notes + nodes_html(page, false));
  if (const std::string constants = nodes_html(page, true); !constants.empty()) text += section("constants", "Nodes that made a constant at load", constants, false);
  text += fmt::format("</main>\n<footer>Written by {}. This file needs nothing else: no network, no script.</footer>\n<script>{}</script>\n</body>\n</html>\n", escape(page.program), page_script());
  return text;
}

}  // namespace lppool::report
