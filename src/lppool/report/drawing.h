#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "lppool/infer/infer.h"
#include "lppool/report/layout.h"

// The picture of a graph: what is drawn, as Graphviz text and as SVG.
namespace lppool::report {

struct DrawnNode {
  enum class Kind { kInput, kOperator, kLpOperator, kOutput };
  Kind kind = Kind::kOperator;
  std::string title;               // operator, or name of an input or output
  std::vector<std::string> lines;  // name, weights; type of an input or output
  std::string tooltip;
  std::string link;      // fragment of the page, "" for none
  double share = 0;      // of the run's time, 0 to 1
};

struct DrawnEdge {
  std::size_t from = 0, to = 0;
  std::string label;   // shape
  std::string tensor;  // with its type, for the tooltip
};

struct Drawing {
  std::string name;
  std::vector<DrawnNode> nodes;
  std::vector<DrawnEdge> edges;
  std::vector<std::size_t> drawn_as;  // per node of the bound graph: its place in `nodes`, or SIZE_MAX where it is left out
  std::size_t left_out = 0;           // nodes that only make constants
};

// The main graph. Weights are lines of the nodes that read them, nodes that only make constants are left out (unless there
// is nothing else), a node with a subgraph also has edges for what the subgraph reads. `shapes`, where it has a tensor, says
// its shape better than inference could.
Drawing draw_graph(const std::string& name, const BoundGraph& graph, const InferResult& types,
                   const std::map<std::string, std::string>& shapes = {});

// As a file for `dot`.
std::string dot_text(const Drawing& drawing);

// Empty where the graph is too large to be drawn. `standalone`: with the XML and style that a file of its own needs.
std::optional<std::string> svg_text(const Drawing& drawing, bool standalone);

// Style sheet of the SVG: light, dark and for print. Uses only what it defines itself.
std::string_view svg_style();

}  // namespace lppool::report
