#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "lppool/base/text.h"
#include "lppool/report/drawing.h"
#include "lppool/report/markup.h"

namespace lppool::report {
namespace {

constexpr double kTitleColumn = 7.8, kLineColumn = 6.6;  // 13 and 11 px of a monospaced font
constexpr double kTitleHeight = 17, kLineHeight = 14, kPadding = 7;
constexpr std::size_t kMostColumns = 30, kMostLabelColumns = 32;
constexpr std::size_t kMostNodes = 5000;

std::string short_text(const std::string& text, std::size_t most) { return shortened(printable(text), most); }

Size size_of(const DrawnNode& node) {
  double width = kTitleColumn * static_cast<double>(columns(short_text(node.title, kMostColumns)));
  for (const std::string& line : node.lines) {
    width = std::max(width, kLineColumn * static_cast<double>(columns(short_text(line, kMostColumns))));
  }
  return {std::max(width + 2 * kPadding, 56.0), kTitleHeight + kLineHeight * static_cast<double>(node.lines.size()) + kPadding + 4};
}

LayoutRequest request_for(const Drawing& drawing) {
  LayoutRequest request;
  for (const DrawnNode& node : drawing.nodes) request.nodes.push_back(size_of(node));
  for (const DrawnEdge& edge : drawing.edges) {
    const auto count = static_cast<double>(columns(short_text(edge.label, kMostLabelColumns)));
    request.edges.push_back({edge.from, edge.to, edge.label.empty() ? Size{} : Size{count * kLineColumn + 4, 14}});
  }
  return request;
}

std::string node_svg(const DrawnNode& node, const Box& box) {
  constexpr const char* kClasses[] = {"input", "op", "op lp", "output"};
  const double middle = box.x + box.width / 2;
  std::string text = fmt::format("<g class=\"{}\">", kClasses[static_cast<int>(node.kind)]);
  if (!node.link.empty()) text += fmt::format("<a href=\"#{}\" tabindex=\"-1\">", escape(node.link));  // by keyboard the list of nodes is the way
  text += fmt::format("<title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\"/>", escape(node.tooltip), box.x,
                      box.y, box.width, box.height, node.kind == DrawnNode::Kind::kInput || node.kind == DrawnNode::Kind::kOutput ? 12 : 4);
  if (node.share > 0.001) {
    text += fmt::format("<path class=\"share\" d=\"M{:.1f} {:.1f}h{:.1f}\"/>", box.x + 3, box.y + box.height - 2.5,
                        std::max(1.0, (box.width - 6) * std::min(node.share, 1.0)));
  }
  double y = box.y + kTitleHeight;
  text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"title\">{}</text>", middle, y, escape(short_text(node.title, kMostColumns)));
  for (const std::string& line : node.lines) {
    y += kLineHeight;
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", middle, y, escape(short_text(line, kMostColumns)));
  }
  if (!node.link.empty()) text += "</a>";
  return text + "</g>\n";
}

// A small triangle at the end of a curve, in its direction.
std::string arrow(const std::vector<Point>& points) {
  const Point tip = points.back();
  Point from = points[points.size() - 2];
  if (from.x == tip.x && from.y == tip.y) from = points[points.size() - 4];
  const double dx = tip.x - from.x, dy = tip.y - from.y;
  const double length = std::max(1e-6, std::sqrt(dx * dx + dy * dy));
  const double ux = dx / length, uy = dy / length;
  return fmt::format("<path class=\"arrow\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}z\"/>", tip.x, tip.y, tip.x - 6 * ux + 3 * uy,
                     tip.y - 6 * uy - 3 * ux, tip.x - 6 * ux - 3 * uy, tip.y - 6 * uy + 3 * ux);
}

std::string edge_svg(const DrawnEdge& edge, const Layout::Path& path) {
  if (path.points.size() < 4) return "";
  std::string d = fmt::format("M{:.1f} {:.1f}C", path.points[0].x, path.points[0].y);
  for (std::size_t i = 1; i < path.points.size(); ++i) d += fmt::format("{}{:.1f} {:.1f}", i > 1 ? " " : "", path.points[i].x, path.points[i].y);
  std::string text = fmt::format("<g class=\"edge\"><title>{}</title><path d=\"{}\"/>{}", escape(edge.tensor), d, arrow(path.points));
  if (!edge.label.empty()) {
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", path.label.x, path.label.y + 4, escape(short_text(edge.label, kMostLabelColumns)));
  }
  return text + "</g>\n";
}

}  // namespace

std::string_view svg_style() {
  return R"(.graph{--box:#fff;--line:#8a93a3;--ink:#1a2230;--soft:#5b6574;--end:#eef1f5;--lp:#fff1d6;--lp-line:#b36b00;--time:#c2410c;--halo:#fff}
@media (prefers-color-scheme:dark){.graph{--box:#232a35;--line:#717d8f;--ink:#e7ebf1;--soft:#a7b1bf;--end:#2f3846;--lp:#4a3410;--lp-line:#f0a63a;--time:#fb923c;--halo:#161b22}}
@media print{.graph{--box:#fff;--line:#777;--ink:#000;--soft:#333;--end:#eee;--lp:#fff1d6;--lp-line:#b36b00;--time:#c2410c;--halo:#fff}}
.graph text{font:11px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:var(--soft);text-anchor:middle}
.graph .title{font-size:13px;font-weight:600;fill:var(--ink)}
.graph rect{fill:var(--box);stroke:var(--line)}
.graph .input rect,.graph .output rect{fill:var(--end)}
.graph .lp rect{fill:var(--lp);stroke:var(--lp-line);stroke-width:1.5}
.graph .share{stroke:var(--time);stroke-width:3;fill:none}
.graph .edge path{fill:none;stroke:var(--line)}
.graph .edge .arrow{fill:var(--line);stroke:none}
.graph .edge text{paint-order:stroke;stroke:var(--halo);stroke-width:4px;stroke-linejoin:round}
.graph a{text-decoration:none}
.graph a:hover rect,.graph a:focus rect{stroke:var(--ink);stroke-width:2}
)";
}

std::optional<std::string> svg_text(const Drawing& drawing, bool standalone) {
  if (drawing.nodes.size() > kMostNodes) return std::nullopt;
  const auto layout = lay_out(request_for(drawing));
  if (!layout) return std::nullopt;
  std::string text = fmt::format(
      "<svg class=\"graph\"{} width=\"{:.0f}\" height=\"{:.0f}\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Graph {}\">\n",
      standalone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", layout->size.width, layout->size.height, layout->size.width, layout->size.height,
      escape(drawing.name));
  if (standalone) text += fmt::format("<style>{}.graph{{background:var(--halo)}}</style>\n", svg_style());
  for (std::size_t i = 0; i < drawing.edges.size(); ++i) text += edge_svg(drawing.edges[i], layout->edges[i]);
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
    DrawnNode node = drawing.nodes[i];
    if (standalone) node.link.clear();  // there is no page to go to
    text += node_svg(node, layout->nodes[i]);
  }
  return text + "</svg>\n";
}

}  // namespace lppool::report
