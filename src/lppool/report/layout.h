#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

// Where the boxes and lines of a drawn graph go. Lengths are in pixels, y grows downwards.
namespace lppool::report {

struct Size {
  double width = 0, height = 0;
};
struct Point {
  double x = 0, y = 0;
};
struct Box {
  double x = 0, y = 0, width = 0, height = 0;  // from the upper left corner
};

struct LayoutRequest {
  struct Edge {
    std::size_t from = 0, to = 0;
    Size label;  // empty: none
  };
  std::vector<Size> nodes;
  std::vector<Edge> edges;
};

struct Layout {
  struct Path {
    std::vector<Point> points;  // 3k + 1 control points of k cubic Bezier curves, from the source to the target
    Point label;                // centre of the label
  };
  Size size;
  std::vector<Box> nodes;
  std::vector<Path> edges;
};

// Our own layered layout: boxes in rows, every edge from a row to a lower one (of a circle of edges, those that close it run
// upwards), no two boxes or labels on each other. The same request gives the same layout. Empty where the graph is so large
// and so entangled that the drawing would be of no use. Time grows about linearly with nodes plus the rows that edges cross.
std::optional<Layout> layered_layout(const LayoutRequest& request);

// The layout of Graphviz' dot. Empty where there is no `dot` on the PATH, where the graph has more than a thousand nodes, or
// where the program fails or takes longer than `limit`. Nothing of the model but sizes and edges reaches that program.
std::optional<Layout> graphviz_layout(const LayoutRequest& request, std::chrono::milliseconds limit = std::chrono::seconds(10));

// The better of the two: Graphviz where possible.
std::optional<Layout> lay_out(const LayoutRequest& request);

}  // namespace lppool::report
