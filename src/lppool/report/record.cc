#include "lppool/report/record.h"

#include <algorithm>
#include <cmath>

#include "lppool/tensor/value_bytes.h"

namespace lppool::report {
namespace {

PictureSize size_for(std::size_t tensors) {
  constexpr double kPixels = 700'000;  // of all pictures; compressed and in base64 about as many bytes
  constexpr double kMostPixels = 16 * 32 * 32, kFewest = 2 * 12 * 12;
  const double pixels = std::min(kMostPixels, kPixels / static_cast<double>(std::max<std::size_t>(tensors, 1)));
  if (pixels < kFewest) return {0, 0};
  const double side = std::clamp(std::sqrt(pixels / 8), 12.0, 32.0);
  return {static_cast<std::size_t>(pixels / (side * side)), static_cast<std::size_t>(side)};
}

}  // namespace

double NodeRecord::median() const {
  if (seconds.empty()) return 0;
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

double RunRecord::node_seconds() const {
  double sum = 0;
  for (const NodeRecord& node : nodes) sum += node.median();
  return sum;
}

Recorder::Recorder(const BoundGraph& graph, RunRecord& record) : graph_(graph), record_(record), size_(size_for(graph.nodes.size())) {
  record_.nodes.resize(graph.nodes.size());
}

void Recorder::add_inputs(const std::map<std::string, Value>& inputs) {
  for (const auto& [name, value] : inputs) record_.inputs.push_back(picture_of(name, value, size_));
}

void Recorder::on_node(const NodeEvent& event) {
  if (!event.path.empty()) {
    record_.inner += pictures_ ? 1 : 0;
    return;
  }
  const auto index = static_cast<std::size_t>(&event.node - graph_.nodes.data());
  NodeRecord& node = record_.nodes[index];
  if (!pictures_) {
    if (!event.folded) node.seconds.push_back(event.seconds);
    return;
  }
  node.ran = true;
  node.folded = event.folded;
  for (const Value& input : event.inputs) node.bytes += bytes_of(input);
  for (std::size_t i = 0; i < event.outputs.size(); ++i) {
    node.bytes += bytes_of(event.outputs[i]);
    const std::string& name = event.node.node.outputs[i];
    if (name.empty() || event.outputs[i].empty()) continue;
    node.outputs.push_back(picture_of(name, event.outputs[i], event.folded ? PictureSize{0, 0} : size_));
  }
  const bool tensors = !event.inputs.empty() && event.inputs[0].is_tensor() && !event.outputs.empty() && event.outputs[0].is_tensor();
  if (tensors) node.window = picture_window(event.node, event.inputs[0].tensor(), event.outputs[0].tensor());
}

}  // namespace lppool::report
