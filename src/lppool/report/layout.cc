// Layered drawing in the manner of Sugiyama, Tagawa and Toda (1981): ranks, order within ranks, coordinates.
//
// Nodes stand on even ranks and labels on odd ones, so that a label is a box like any other and can lie on nothing. An edge
// passes each rank between its ends through a point of its own. Order: barycentre sweeps, the best of all kept by its number
// of crossings. Coordinates: each rank is drawn to the mean of its neighbours under the condition that boxes keep their order
// and distance; that is an isotonic regression, solved exactly by pooling adjacent violators.
#include "lppool/report/layout.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace lppool::report {
namespace {

constexpr double kMargin = 12;
constexpr double kGapX = 22;      // between boxes of a rank
constexpr double kGapNarrow = 12;  // beside a passing edge
constexpr double kGapY = 13;      // between ranks
constexpr std::size_t kMaxCells = 60'000;

struct Cell {
  std::size_t rank = 0;
  Size size;
  bool node = false;
  double x = 0;  // centre
  std::vector<std::size_t> up, down;
};

class Layering {
 public:
  explicit Layering(const LayoutRequest& request) : request_(request) {}

  std::optional<Layout> run() {
    rank_nodes();
    if (!make_cells()) return std::nullopt;
    order();
    place();
    return result();
  }

 private:
  // Kahn's order; a circle is opened at its first node in the order of the request. Edges against the order are turned.
  void rank_nodes() {
    const std::size_t n = request_.nodes.size();
    std::vector<std::vector<std::size_t>> out(n);
    std::vector<std::size_t> waiting(n, 0), position(n, 0);
    for (const auto& e : request_.edges) {
      if (e.from == e.to) continue;
      out[e.from].push_back(e.to);
      ++waiting[e.to];
    }
    std::vector<bool> done(n, false);
    std::vector<std::size_t> order;
    std::size_t next = 0;
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < n; ++i) {
      if (waiting[i] == 0) ready.push_back(i);
    }
    while (order.size() < n) {
      for (std::size_t at = 0; at < ready.size(); ++at) {
        const std::size_t v = ready[at];
        done[v] = true;
        position[v] = order.size();
        order.push_back(v);
        for (const std::size_t w : out[v]) {
          if (--waiting[w] == 0 && !done[w]) ready.push_back(w);
        }
      }
      ready.clear();
      while (next < n && done[next]) ++next;
      if (next < n) {
        waiting[next] = SIZE_MAX / 2;  // opened here: what still comes in runs upwards
        ready.push_back(next);
      }
    }
    for (const auto& e : request_.edges) {
      const bool turned = position[e.from] > position[e.to];
      edges_.push_back(turned ? std::pair{e.to, e.from} : std::pair{e.from, e.to});
      turned_.push_back(turned);
    }
    rank_.assign(n, 0);
    std::vector<std::vector<std::size_t>> targets(n);
    std::vector<std::size_t> lowest(n, SIZE_MAX), sources(n, 0);
    for (const auto& [from, to] : edges_) {
      if (from != to) targets[from].push_back(to);
    }
    for (const std::size_t v : order) {
      for (const std::size_t w : targets[v]) {
        rank_[w] = std::max(rank_[w], rank_[v] + 2);
        ++sources[w];
      }
    }
    // What nothing leads to stands just above what it leads to, not at the top.
    for (std::size_t v = 0; v < n; ++v) {
      if (sources[v] > 0) continue;
      for (const std::size_t w : targets[v]) lowest[v] = std::min(lowest[v], rank_[w]);
      if (lowest[v] != SIZE_MAX) rank_[v] = lowest[v] - 2;
    }
  }

  bool make_cells() {
    for (std::size_t v = 0; v < request_.nodes.size(); ++v) cells_.push_back({rank_[v], request_.nodes[v], true, 0, {}, {}});
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const auto [from, to] = edges_[e];
      chains_.emplace_back();
      if (from == to) continue;
      std::size_t last = from;
      const std::size_t label_rank = turned_[e] ? rank_[to] - 1 : rank_[from] + 1;
      for (std::size_t r = rank_[from] + 1; r < rank_[to]; ++r) {
        if (cells_.size() >= kMaxCells) return false;
        cells_.push_back({r, r == label_rank ? request_.edges[e].label : Size{}, false, 0, {}, {}});
        connect(last, cells_.size() - 1);
        last = cells_.size() - 1;
        chains_[e].push_back(last);
      }
      connect(last, to);
    }
    std::size_t ranks = 0;
    for (const Cell& cell : cells_) ranks = std::max(ranks, cell.rank + 1);
    rows_.resize(ranks);
    return true;
  }

  void connect(std::size_t upper, std::size_t lower) {
    cells_[upper].down.push_back(lower);
    cells_[lower].up.push_back(upper);
  }

  void order() {
    // Depth first from the top keeps what belongs together side by side.
    std::vector<bool> seen(cells_.size(), false);
    std::vector<std::size_t> stack;
    for (std::size_t root = 0; root < cells_.size(); ++root) {
      if (!seen[root] && cells_[root].up.empty()) stack.push_back(root);
      while (!stack.empty()) {
        const std::size_t v = stack.back();
        stack.pop_back();
        if (seen[v]) continue;
        seen[v] = true;
        rows_[cells_[v].rank].push_back(v);
        for (auto w = cells_[v].down.rbegin(); w != cells_[v].down.rend(); ++w) {
          if (!seen[*w]) stack.push_back(*w);
        }
      }
    }
    position_.assign(cells_.size(), 0);
    for (const auto& row : rows_) number(row);
    auto best = rows_;
    std::uint64_t best_crossings = crossings();
    const int sweeps = cells_.size() > 20'000 ? 4 : 16;
    for (int sweep = 0; sweep < sweeps && best_crossings > 0; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        auto& row = rows_[down ? i : rows_.size() - 1 - i];
        std::vector<std::pair<double, std::size_t>> keyed;
        for (const std::size_t v : row) {
          const auto& neighbours = down ? cells_[v].up : cells_[v].down;
          double sum = 0;
          for (const std::size_t w : neighbours) sum += position_[w];
          keyed.emplace_back(neighbours.empty() ? position_[v] : sum / static_cast<double>(neighbours.size()), v);
        }
        std::ranges::stable_sort(keyed, {}, [](const auto& k) { return k.first; });
        for (std::size_t k = 0; k < row.size(); ++k) row[k] = keyed[k].second;
        number(row);
      }
      const std::uint64_t count = crossings();
      if (count < best_crossings) {
        best = rows_;
        best_crossings = count;
      }
    }
    rows_ = std::move(best);
    for (const auto& row : rows_) number(row);
  }

  void number(const std::vector<std::size_t>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) position_[row[i]] = static_cast<double>(i);
  }

  // Pairs of edges between neighbouring ranks that cross: inversions, counted with a Fenwick tree.
  std::uint64_t crossings() const {
    std::uint64_t sum = 0;
    for (std::size_t r = 0; r + 1 < rows_.size(); ++r) {
      std::vector<std::uint64_t> tree(rows_[r + 1].size() + 1, 0);
      std::uint64_t inserted = 0;
      for (const std::size_t v : rows_[r]) {
        std::vector<std::size_t> ends;
        for (const std::size_t w : cells_[v].down) ends.push_back(static_cast<std::size_t>(position_[w]));
        for (const std::size_t end : ends) {
          std::uint64_t before = 0;
          for (std::size_t i = end + 1; i > 0; i -= i & (~i + 1)) before += tree[i];
          sum += inserted - before;
        }
        for (const std::size_t end : ends) {
          for (std::size_t i = end + 1; i < tree.size(); i += i & (~i + 1)) ++tree[i];
          ++inserted;
        }
      }
    }
    return sum;
  }

  double gap(std::size_t left, std::size_t right) const {
    const bool narrow = !cells_[left].node || !cells_[right].node;
    return (cells_[left].size.width + cells_[right].size.width) / 2 + (narrow ? kGapNarrow : kGapX);
  }

  void place() {
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        cells_[row[i]].x = i == 0 ? cells_[row[i]].size.width / 2 : cells_[row[i - 1]].x + gap(row[i - 1], row[i]);
      }
    }
    const int sweeps = cells_.size() > 20'000 ? 6 : 24;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      for (std::size_t i = 0; i < rows_.size(); ++i) pull(rows_[sweep % 2 == 0 ? i : rows_.size() - 1 - i], sweep + 2 >= sweeps ? 2 : sweep % 2);
    }
  }

  // Moves a row to its neighbours above (0), below (1) or on both sides (2).
  void pull(const std::vector<std::size_t>& row, int side) {
    struct Block {
      double mean, weight;
      std::size_t count;
    };
    std::vector<Block> blocks;
    std::vector<double> offset(row.size(), 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Cell& cell = cells_[row[i]];
      if (i > 0) offset[i] = offset[i - 1] + gap(row[i - 1], row[i]);
      double sum = 0, weight = 0;
      const auto add = [&](std::size_t w) {
        const double pull = !cell.node && !cells_[w].node ? 8 : 1;  // long edges run straight
        sum += pull * cells_[w].x;
        weight += pull;
      };
      if (side != 1) std::ranges::for_each(cell.up, add);
      if (side != 0) std::ranges::for_each(cell.down, add);
      const double wish = weight > 0 ? sum / weight : cell.x;
      blocks.push_back({wish - offset[i], weight > 0 ? (cell.node ? 1.0 : 2.0) : 0.01, 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].mean > blocks.back().mean) {
        const Block b = blocks.back();
        blocks.pop_back();
        Block& a = blocks.back();
        a.mean = (a.mean * a.weight + b.mean * b.weight) / (a.weight + b.weight);
        a.weight += b.weight;
        a.count += b.count;
      }
    }
    std::size_t i = 0;
    for (const Block& block : blocks) {
      for (std::size_t k = 0; k < block.count; ++k, ++i) cells_[row[i]].x = block.mean + offset[i];
    }
  }

  Layout result() const {
    double left = 0, right = 0;
    for (std::size_t v = 0; v < cells_.size(); ++v) {
      const Cell& cell = cells_[v];
      left = v == 0 ? cell.x - cell.size.width / 2 : std::min(left, cell.x - cell.size.width / 2);
      right = v == 0 ? cell.x + cell.size.width / 2 : std::max(right, cell.x + cell.size.width / 2);
    }
    const double shift = kMargin - left;
    std::vector<double> top(rows_.size()), height(rows_.size(), 0);
    double y = kMargin;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (const std::size_t v : rows_[r]) height[r] = std::max(height[r], cells_[v].size.height);
      top[r] = y;
      y += height[r] + kGapY;
    }
    Layout layout;
    layout.size = {right - left + 2 * kMargin, std::max(y - kGapY, kMargin) + kMargin};
    for (std::size_t v = 0; v < request_.nodes.size(); ++v) {
      const Cell& c = cells_[v];
      layout.nodes.push_back({c.x + shift - c.size.width / 2, top[c.rank] + (height[c.rank] - c.size.height) / 2, c.size.width, c.size.height});
    }
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const auto [from, to] = edges_[e];
      Layout::Path path;
      const Box& a = layout.nodes[from];
      const Box& b = layout.nodes[to];
      if (from == to) {  // a loop at the right side
        const Point p{a.x + a.width, a.y + a.height * 0.3}, q{a.x + a.width, a.y + a.height * 0.7};
        path.points = {p, {p.x + 14, p.y}, {q.x + 14, q.y}, q};
        path.label = {p.x, a.y};
      } else {
        path.points.push_back({a.x + a.width / 2, a.y + a.height});
        for (const std::size_t v : chains_[e]) {
          const Cell& c = cells_[v];
          const double x = c.x + shift;
          curve(path.points, {x, top[c.rank]});
          curve(path.points, {x, top[c.rank] + height[c.rank]});
          if (c.size.width > 0) path.label = {x, top[c.rank] + height[c.rank] / 2};
        }
        curve(path.points, {b.x + b.width / 2, b.y});
        if (turned_[e]) std::ranges::reverse(path.points);
      }
      layout.edges.push_back(std::move(path));
    }
    return layout;
  }

  // On to `to`, leaving and arriving vertically.
  static void curve(std::vector<Point>& points, Point to) {
    const Point from = points.back();
    if (from.y == to.y && from.x == to.x) return;
    const double middle = (from.y + to.y) / 2;
    points.push_back({from.x, middle});
    points.push_back({to.x, middle});
    points.push_back(to);
  }

  const LayoutRequest& request_;
  std::vector<std::pair<std::size_t, std::size_t>> edges_;  // downwards
  std::vector<bool> turned_;
  std::vector<std::size_t> rank_;
  std::vector<Cell> cells_;  // the nodes first
  std::vector<std::vector<std::size_t>> chains_;  // the cells an edge passes, from its upper end
  std::vector<std::vector<std::size_t>> rows_;
  std::vector<double> position_;
};

}  // namespace

std::optional<Layout> layered_layout(const LayoutRequest& request) {
  if (request.nodes.empty()) return Layout{};
  return Layering(request).run();
}

std::optional<Layout> lay_out(const LayoutRequest& request) {
  if (auto layout = graphviz_layout(request)) return layout;
  return layered_layout(request);
}

}  // namespace lppool::report
