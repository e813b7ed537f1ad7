// Graphviz as a layout engine: dot reads sizes and edges and prints coordinates (its "plain" format). Labels are digits and
// underscores that take as much room as the real ones and say which edge they belong to.
#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "lppool/report/layout.h"
#include "lppool/report/process.h"

namespace lppool::report {
namespace {

constexpr std::size_t kMaxNodes = 1000, kMaxEdges = 4000;
constexpr double kPerInch = 72;
constexpr double kMargin = 12;
constexpr double kLabelColumn = 6.6;  // Courier of 11 points, 0.6 em a column

std::string program(const LayoutRequest& request) {
  std::string text =
      "digraph {\ngraph [nodesep=0.3 ranksep=0.28]\nnode [shape=box fixedsize=true label=\"\"]\n"
      "edge [arrowhead=none fontname=Courier fontsize=11]\n";
  for (std::size_t i = 0; i < request.nodes.size(); ++i) {
    text += fmt::format("{} [width={:.4f} height={:.4f}]\n", i, request.nodes[i].width / kPerInch, request.nodes[i].height / kPerInch);
  }
  for (std::size_t i = 0; i < request.edges.size(); ++i) {
    const auto& e = request.edges[i];
    std::string label = fmt::format("{}", i);
    const auto room = static_cast<std::size_t>(std::ceil(e.label.width / kLabelColumn));
    if (label.size() < room) label.append(room - label.size(), '_');
    text += fmt::format("{} -> {} [label=\"{}\"{}]\n", e.from, e.to, label, e.label.width > 0 ? "" : " fontsize=1");
  }
  return text + "}\n";
}

class PlainReader {
 public:
  PlainReader(const LayoutRequest& request, const std::string& text) : request_(request), in_(text) {}

  std::optional<Layout> read() {
    layout_.nodes.resize(request_.nodes.size());
    layout_.edges.resize(request_.edges.size());
    std::string word;
    std::size_t nodes = 0, edges = 0;
    double scale = 1;
    while (in_ >> word && word != "stop") {
      if (word == "graph") {
        in_ >> scale >> layout_.size.width >> layout_.size.height;
        height_ = layout_.size.height;
        layout_.size = {layout_.size.width * kPerInch + 2 * kMargin, layout_.size.height * kPerInch + 2 * kMargin};
      } else if (word == "node") {
        nodes += read_node() ? 1 : 0;
      } else if (word == "edge") {
        edges += read_edge() ? 1 : 0;
      }
      std::getline(in_, word);  // style and colours
    }
    const bool whole = word == "stop" && scale == 1 && nodes == request_.nodes.size() && edges == request_.edges.size();
    return whole ? std::optional(std::move(layout_)) : std::nullopt;
  }

 private:
  Point point() {
    double x = 0, y = 0;
    in_ >> x >> y;
    return {x * kPerInch + kMargin, (height_ - y) * kPerInch + kMargin};
  }

  bool read_node() {
    std::size_t id = SIZE_MAX;
    in_ >> id;
    const Point centre = point();
    if (!in_ || id >= request_.nodes.size()) return false;
    const Size& size = request_.nodes[id];
    layout_.nodes[id] = {centre.x - size.width / 2, centre.y - size.height / 2, size.width, size.height};
    return true;
  }

  bool read_edge() {
    std::size_t from = 0, to = 0, count = 0;
    in_ >> from >> to >> count;
    if (!in_ || count < 4 || count % 3 != 1 || count > 100'000) return false;
    Layout::Path path;
    for (std::size_t i = 0; i < count; ++i) path.points.push_back(point());
    std::string label;
    in_ >> label;
    path.label = point();
    if (label.starts_with('"')) label.erase(0, 1);
    std::size_t id = 0;
    for (const char c : label) {
      if (c < '0' || c > '9') break;
      id = id * 10 + static_cast<std::size_t>(c - '0');
    }
    if (!in_ || id >= request_.edges.size() || request_.edges[id].from != from || request_.edges[id].to != to) return false;
    layout_.edges[id] = std::move(path);
    return true;
  }

  const LayoutRequest& request_;
  std::istringstream in_;
  Layout layout_;
  double height_ = 0;
};

}  // namespace

std::optional<Layout> graphviz_layout(const LayoutRequest& request, std::chrono::milliseconds limit) {
  if (request.nodes.empty() || request.nodes.size() > kMaxNodes || request.edges.size() > kMaxEdges) return std::nullopt;
  const auto printed = run_program({"dot", "-Tplain"}, program(request), limit, std::size_t{32} << 20);
  if (!printed) return std::nullopt;
  return PlainReader(request, *printed).read();
}

}  // namespace lppool::report
