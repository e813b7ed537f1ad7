// Both layouts promise the same: no box on another, edges that start and end at their boxes and run downwards.
#include "lppool/report/layout.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/random.h"

using namespace lppool;
using namespace lppool::report;
using lppool::testing::Random;

namespace {

bool on_each_other(const Box& a, const Box& b) {
  constexpr double kSlack = 0.01;
  return a.x + a.width > b.x + kSlack && b.x + b.width > a.x + kSlack && a.y + a.height > b.y + kSlack && b.y + b.height > a.y + kSlack;
}

Box label_box(const LayoutRequest::Edge& edge, const Layout::Path& path) {
  return {path.label.x - edge.label.width / 2, path.label.y - edge.label.height / 2, edge.label.width, edge.label.height};
}

bool touches(const Box& box, const Point& p) {
  constexpr double kSlack = 2;  // dot rounds, and draws lines half a pixel off
  return p.x >= box.x - kSlack && p.x <= box.x + box.width + kSlack && p.y >= box.y - kSlack && p.y <= box.y + box.height + kSlack;
}

void require_sound(const LayoutRequest& request, const Layout& layout) {
  REQUIRE(layout.nodes.size() == request.nodes.size());
  REQUIRE(layout.edges.size() == request.edges.size());
  for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
    const Box& box = layout.nodes[i];
    CAPTURE(i, box.x, box.y);
    CHECK(box.width == request.nodes[i].width);
    CHECK(box.height == request.nodes[i].height);
    CHECK(box.x >= 0);
    CHECK(box.y >= 0);
    CHECK(box.x + box.width <= layout.size.width + 0.01);
    CHECK(box.y + box.height <= layout.size.height + 0.01);
    for (std::size_t k = 0; k < i; ++k) {
      CAPTURE(k);
      CHECK_FALSE(on_each_other(box, layout.nodes[k]));
    }
  }
  for (std::size_t e = 0; e < request.edges.size(); ++e) {
    const auto& [from, to, label] = request.edges[e];
    const auto& points = layout.edges[e].points;
    CAPTURE(e, from, to);
    REQUIRE(points.size() >= 4);
    CHECK(points.size() % 3 == 1);
    CHECK(touches(layout.nodes[from], points.front()));
    CHECK(touches(layout.nodes[to], points.back()));
  }
}

void require_downwards(const LayoutRequest& request, const Layout& layout) {
  for (const auto& edge : request.edges) {
    CAPTURE(edge.from, edge.to);
    CHECK(layout.nodes[edge.from].y + layout.nodes[edge.from].height < layout.nodes[edge.to].y);
  }
}

// Edges from lower to higher numbers: no circle.
LayoutRequest random_request(Random& random, int nodes, int edges) {
  LayoutRequest request;
  for (int i = 0; i < nodes; ++i) request.nodes.push_back({static_cast<double>(random.between(20, 200)), static_cast<double>(random.between(15, 50))});
  for (int i = 0; i < edges && nodes > 1; ++i) {
    const int to = random.between(1, nodes - 1), from = random.between(0, to - 1);
    const double width = random.one_in(4) ? 0 : random.between(10, 90);
    request.edges.push_back({static_cast<std::size_t>(from), static_cast<std::size_t>(to), {width, width > 0 ? 14.0 : 0.0}});
  }
  return request;
}

}  // namespace

TEST_CASE("Our layout puts no box on another and lets every edge run downwards", "[report]") {
  Random random(9001);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(testing::test_seed(), round);
    const LayoutRequest request = random_request(random, random.between(1, 40), random.between(0, 80));
    const auto layout = layered_layout(request);
    REQUIRE(layout);
    require_sound(request, *layout);
    require_downwards(request, *layout);
    for (const auto& path : layout->edges) {
      for (std::size_t i = 1; i < path.points.size(); ++i) CHECK(path.points[i].y >= path.points[i - 1].y);
    }
  }
}

TEST_CASE("No label of our layout lies on a node or on another label", "[report]") {
  Random random(9002);
  for (int round = 0; round < 30; ++round) {
    CAPTURE(testing::test_seed(), round);
    const LayoutRequest request = random_request(random, random.between(2, 25), random.between(1, 50));
    const auto layout = layered_layout(request);
    REQUIRE(layout);
    std::vector<Box> boxes = layout->nodes;
    for (std::size_t e = 0; e < request.edges.size(); ++e) {
      if (request.edges[e].label.width == 0) continue;
      const Box box = label_box(request.edges[e], layout->edges[e]);
      for (const Box& other : boxes) CHECK_FALSE(on_each_other(box, other));
      boxes.push_back(box);
    }
  }
}

TEST_CASE("Our layout draws circles and loops without end", "[report]") {
  LayoutRequest request;
  request.nodes.assign(4, {50, 20});
  request.edges = {{0, 1, {}}, {1, 2, {30, 14}}, {2, 1, {30, 14}}, {2, 3, {}}, {3, 3, {}}};
  const auto layout = layered_layout(request);
  REQUIRE(layout);
  require_sound(request, *layout);
  CHECK(layout->nodes[1].y < layout->nodes[2].y);
}

TEST_CASE("A straight chain is drawn straight", "[report]") {
  LayoutRequest request;
  request.nodes.assign(5, {60, 20});
  request.nodes[2].width = 160;
  for (std::size_t i = 0; i + 1 < request.nodes.size(); ++i) request.edges.push_back({i, i + 1, {40, 14}});
  const auto layout = layered_layout(request);
  REQUIRE(layout);
  for (const Box& box : layout->nodes) CHECK(std::abs(box.x + box.width / 2 - layout->size.width / 2) < 1);
}

TEST_CASE("Our layout refuses a graph whose edges pass too many rows", "[report]") {
  LayoutRequest request;
  constexpr std::size_t kNodes = 2000;
  request.nodes.assign(kNodes, {20, 20});
  for (std::size_t i = 0; i + 1 < kNodes; ++i) {
    request.edges.push_back({i, i + 1, {}});
    request.edges.push_back({0, i + 1, {}});
  }
  CHECK_FALSE(layered_layout(request));
}

TEST_CASE("An empty graph has an empty layout", "[report]") {
  CHECK(layered_layout({})->nodes.empty());
  CHECK_FALSE(graphviz_layout({}));
}

TEST_CASE("Graphviz' layout is read back whole, where it is installed", "[report]") {
  Random random(9003);
  for (int round = 0; round < 3; ++round) {
    CAPTURE(testing::test_seed(), round);
    const LayoutRequest request = random_request(random, 20, 30);
    const auto layout = graphviz_layout(request);
    if (!layout) return;
    require_sound(request, *layout);
    require_downwards(request, *layout);
  }
}

TEST_CASE("A layout by Graphviz that takes too long is given up", "[report]") {
  Random random(9004);
  const LayoutRequest request = random_request(random, 900, 3900);
  CHECK_FALSE(graphviz_layout(request, std::chrono::milliseconds(1)));
}
