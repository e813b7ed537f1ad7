#include "lppool/extract/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "lppool/base/error.h"
#include "lppool/onnx/model_file.h"
#include "lppool/onnx/tensor_file.h"
#include "lppool/run/session.h"

namespace lppool {
namespace {

class Recorder final : public RunObserver {
 public:
  explicit Recorder(Recording& recording) : recording_(recording) {}
  void on_node(const NodeEvent& event) override {
    if (!event.path.empty()) return;
    for (std::size_t i = 0; i < event.outputs.size(); ++i) {
      const std::string& name = event.node.node.outputs[i];
      if (!name.empty()) recording_[name] = event.outputs[i];
    }
  }

 private:
  Recording& recording_;
};

Type type_of_value(const Value& value) {
  Type type;
  if (value.is_tensor()) {
    type.kind = Type::Kind::kTensor;
    type.dtype = value.tensor().dtype();
    type.dtype_number = static_cast<std::int32_t>(type.dtype);
    type.shape.emplace();
    for (const std::int64_t dim : value.tensor().shape()) type.shape->push_back({dim, ""});
  } else if (value.is_sequence()) {
    type.kind = Type::Kind::kSequence;
    Type element;
    element.kind = Type::Kind::kTensor;
    element.dtype = value.sequence().dtype;
    if (!value.sequence().elements.empty()) element = type_of_value(value.sequence().elements.front());
    element.shape.reset();
    element.dtype_number = static_cast<std::int32_t>(element.dtype);
    type.element = std::make_shared<const Type>(std::move(element));
  }
  return type;
}

// What a node reads, its branches' outer values included.
void reads_of(const Node& node, std::set<std::string>& names);

void outer_reads(const Graph& graph, std::set<std::string>& names) {
  std::set<std::string> own, read;
  for (const ValueInfo& input : graph.inputs) own.insert(input.name);
  for (const StoredTensor& tensor : graph.initializers) own.insert(tensor.name);
  for (const Node& node : graph.nodes) {
    own.insert(node.outputs.begin(), node.outputs.end());
    reads_of(node, read);
  }
  for (const ValueInfo& output : graph.outputs) read.insert(output.name);
  std::ranges::set_difference(read, own, std::inserter(names, names.end()));
}

void reads_of(const Node& node, std::set<std::string>& names) {
  names.insert(node.inputs.begin(), node.inputs.end());
  for (const Attribute& attribute : node.attributes) {
    if (attribute.g) outer_reads(*attribute.g, names);
    for (const auto& g : attribute.graphs) outer_reads(*g, names);
  }
  names.erase("");
}

const Value& recorded(const Recording& recording, const std::string& name) {
  const auto found = recording.find(name);
  if (found == recording.end() || found->second.empty()) fail(ErrorKind::kRuntime, "the run has made no value of tensor '{}'", name);
  return found->second;
}

}  // namespace

Recording record(const Model& model, std::map<std::string, Value> inputs, int threads) {
  Recording recording;
  for (const auto& [name, value] : inputs) recording[name] = value;
  ExecutorOptions options;
  options.threads = threads;
  options.request.keep_all = true;
  Session session(model, options);
  Recorder recorder(recording);
  session.run(std::move(inputs), &recorder);
  for (const StoredTensor& tensor : model.graph->initializers) recording.emplace(tensor.name, tensor.value);
  return recording;
}

Model cut(const Model& model, const std::vector<std::size_t>& nodes, const Recording& recording) {
  const Graph& graph = *model.graph;
  std::set<std::size_t> chosen(nodes.begin(), nodes.end());
  std::set<std::string> made, read, read_elsewhere;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const bool inside = chosen.contains(i);
    if (inside) made.insert(graph.nodes[i].outputs.begin(), graph.nodes[i].outputs.end());
    reads_of(graph.nodes[i], inside ? read : read_elsewhere);
  }
  made.erase("");
  for (const ValueInfo& output : graph.outputs) read_elsewhere.insert(output.name);

  Graph part;
  part.name = graph.name.empty() ? "extracted" : graph.name;
  for (const std::size_t i : chosen) {
    if (i >= graph.nodes.size()) fail(ErrorKind::kUsage, "the graph has {} nodes, no node {}", graph.nodes.size(), i);
    part.nodes.push_back(graph.nodes[i]);
  }
  std::set<std::string> constants, overridable;
  for (const ValueInfo& input : graph.inputs) overridable.insert(input.name);
  for (const StoredTensor& tensor : graph.initializers) {
    if (!read.contains(tensor.name) || overridable.contains(tensor.name)) continue;
    part.initializers.push_back(tensor);
    constants.insert(tensor.name);
  }
  for (const StoredSparseTensor& tensor : graph.sparse_initializers) {
    if (!read.contains(tensor.values.name)) continue;
    part.sparse_initializers.push_back(tensor);
    constants.insert(tensor.values.name);
  }
  for (const std::string& name : read) {
    if (made.contains(name) || constants.contains(name)) continue;
    part.inputs.push_back({name, type_of_value(recorded(recording, name))});
  }
  // IR 3 and earlier want initializers among the inputs.
  if (model.ir_version.value_or(0) < 4) {
    for (const StoredTensor& tensor : part.initializers) part.inputs.push_back({tensor.name, type_of_value(Value(tensor.value))});
  }
  for (const Node& node : part.nodes) {
    for (const std::string& output : node.outputs) {
      const bool wanted = !output.empty() && (read_elsewhere.contains(output) || !read.contains(output));
      const auto value = recording.find(output);
      if (wanted && value != recording.end() && !value->second.empty()) part.outputs.push_back({output, type_of_value(value->second)});
    }
  }
  if (part.outputs.empty()) fail(ErrorKind::kRuntime, "the chosen nodes make no value");
  Model result = model;
  result.graph = std::move(part);
  return result;
}

std::vector<std::size_t> find_nodes(const Model& model, const std::string& name) {
  std::vector<std::size_t> found;
  const auto& nodes = model.graph->nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].name == name) found.push_back(i);
  }
  for (std::size_t i = 0; found.empty() && i < nodes.size(); ++i) {
    if (std::ranges::find(nodes[i].outputs, name) != nodes[i].outputs.end()) found.push_back(i);
  }
  if (found.empty()) fail(ErrorKind::kUsage, "no node and no tensor '{}' in the main graph ('lppool-cli show' lists them)", name);
  return found;
}

std::vector<std::size_t> find_between(const Model& model, const std::vector<std::string>& from, const std::vector<std::string>& to) {
  const auto& nodes = model.graph->nodes;
  std::unordered_map<std::string, std::size_t> producers;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].outputs) producers.emplace(output, i);
  }
  const std::set<std::string> stop(from.begin(), from.end());
  for (const std::string& name : from) {
    const bool input = std::ranges::any_of(model.graph->inputs, [&](const ValueInfo& i) { return i.name == name; });
    if (!input && !producers.contains(name)) fail(ErrorKind::kUsage, "no tensor '{}' in the main graph", name);
  }
  std::set<std::size_t> chosen;
  std::vector<std::string> pending = to;
  for (const std::string& name : to) {
    if (!producers.contains(name)) fail(ErrorKind::kUsage, "no node makes a tensor '{}' in the main graph", name);
  }
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    const auto producer = producers.find(name);
    if (stop.contains(name) || producer == producers.end() || !chosen.insert(producer->second).second) continue;
    std::set<std::string> read;
    reads_of(nodes[producer->second], read);
    pending.insert(pending.end(), read.begin(), read.end());
  }
  if (chosen.empty()) fail(ErrorKind::kUsage, "there is no node between these tensors");
  return {chosen.begin(), chosen.end()};
}

void write_case(const std::filesystem::path& folder, const Model& model, const Recording& recording) {
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_empty(folder, error)) {
    fail(ErrorKind::kUsage, "{}: the folder exists and is not empty", folder.string());
  }
  const std::filesystem::path data = folder / "test_data_set_0";
  std::filesystem::create_directories(data, error);
  if (error) fail(ErrorKind::kIo, "{}: cannot be made: {}", data.string(), error.message());
  std::set<std::string> constants;
  for (const StoredTensor& tensor : model.graph->initializers) constants.insert(tensor.name);
  for (std::size_t i = 0; i < model.graph->inputs.size(); ++i) {
    const ValueInfo& input = model.graph->inputs[i];
    if (constants.contains(input.name)) continue;
    write_value(data / fmt::format("input_{}.pb", i), input.name, recorded(recording, input.name), input.type);
  }
  for (std::size_t i = 0; i < model.graph->outputs.size(); ++i) {
    const ValueInfo& output = model.graph->outputs[i];
    write_value(data / fmt::format("output_{}.pb", i), output.name, recorded(recording, output.name), output.type);
  }
  ModelFile::from(model).write(folder / "model.onnx");
}

Reduced reduce(std::size_t node_count, const std::function<bool(std::size_t begin, std::size_t end)>& fails) {
  Reduced result{0, node_count, 0};
  const auto try_range = [&](std::size_t begin, std::size_t end) {
    ++result.tries;
    if (begin >= end || !fails(begin, end)) return false;
    result.begin = begin;
    result.end = end;
    return true;
  };
  // Steps halve down to one node; at one, the loop goes on as long as something can be taken away.
  for (std::size_t step = std::max<std::size_t>(1, node_count / 2);;) {
    bool shrunk = false;
    while (result.end - result.begin > step && try_range(result.begin, result.end - step)) shrunk = true;
    while (result.end - result.begin > step && try_range(result.begin + step, result.end)) shrunk = true;
    if (step > 1) step /= 2;
    else if (!shrunk) break;
  }
  return result;
}

}  // namespace lppool
