#include "inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lppool/base/error.h"
#include "lppool/conformance/backend_case.h"
#include "lppool/npy/npy.h"
#include "lppool/npy/npz.h"
#include "lppool/onnx/tensor_file.h"
#include "lppool/run/random_input.h"

namespace lppool::app {
namespace {

const ValueInfo* find_input(const Model& model, const std::string& name) {
  for (const ValueInfo& input : model.graph->inputs) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

// One value from a file of any kind; of an archive, the member named like the tensor, or the only one.
Value read_file(const std::string& path, const std::string& name, const Type& declared) {
  const auto ends = [&](std::string_view suffix) { return std::string_view(path).ends_with(suffix); };
  if (ends(".npy")) return read_npy(path, {declared.dtype});
  if (ends(".npz")) {
    const NpzReader archive(path);
    if (!archive.contains(name) && archive.names().size() == 1) return archive.read(archive.names()[0], {declared.dtype});
    return archive.read(name, {declared.dtype});
  }
  return read_value(path, declared).value;
}

}  // namespace

void InputOptions::declare(CLI::App& verb) {
  verb.add_option("-i,--input", files, "File for a graph input: .pb, .npy or .npz (repeatable)")->type_name("NAME=FILE");
  verb.add_option("--inputs", folder, "Folder with input_N.pb in graph-input order")->type_name("DIR");
  verb.add_option("--feed", feeds, "File for any inner tensor; what made it is not run (repeatable)")->type_name("NAME=FILE");
  verb.add_option_function<std::string>(
          "--random", [this](const std::string& text) {
            random = true;
            if (text.empty() || text == "true") return;
            std::uint64_t value = 0;
            if (!CLI::detail::lexical_cast(text, value)) throw CLI::ValidationError("--random", "is '" + text + "', expected a whole number >= 0");
            seed = value;
          }, "Make up the inputs that no file gives: the same bytes everywhere for the same seed")
      ->expected(0, 1)->default_str("")->type_name("[SEED]");
  shapes.declare(verb);
}

std::vector<std::string> InputOptions::fed_names() const {
  std::vector<std::string> names;
  for (const std::string& feed : feeds) names.push_back(split_assignment(feed, "--feed").first);
  return names;
}

std::map<std::string, Value> InputOptions::read(const Model& model, const BoundGraph& graph) const {
  std::map<std::string, Value> values;
  const InferOptions infer_options = shapes.resolve();
  if (!folder.empty()) values = read_data_set_inputs(folder, model);
  std::set<std::string> from_files;  // may replace what the folder has, but not each other
  for (const std::string& text : files) {
    // Names may hold '=', files may, too: the input decides.
    std::string name, file;
    for (std::size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
      if (find_input(model, text.substr(0, at)) == nullptr) continue;
      name = text.substr(0, at);
      file = text.substr(at + 1);
      break;
    }
    if (name.empty()) {
      const auto [wanted, ignored] = split_assignment(text, "-i");
      std::vector<std::string> names;
      for (const ValueInfo& input : model.graph->inputs) names.push_back(input.name);
      fail(ErrorKind::kRuntime, "the graph has no input '{}', expected one of: {}", wanted, fmt::join(names, ", "));
    }
    if (!from_files.insert(name).second) fail(ErrorKind::kUsage, "-i gives input '{}' twice, expected one file for it", name);
    values[name] = read_file(file, name, find_input(model, name)->type);
  }
  for (const std::string& text : feeds) {
    const auto [name, file] = split_assignment(text, "--feed");
    const bool exists = std::ranges::any_of(graph.nodes, [&, n = name](const BoundNode& node) {
      return std::ranges::find(node.node.outputs, n) != node.node.outputs.end();
    }) || find_input(model, name) != nullptr;
    if (!exists) fail(ErrorKind::kRuntime, "no tensor '{}' in the graph to feed", name);
    if (!from_files.insert(name).second) fail(ErrorKind::kUsage, "--feed gives '{}', which has a file already: expected one", name);
    values[name] = read_file(file, name, Type{});
  }
  // Shapes the command line gives bind the inputs that are made up, and are checked against those that are read.
  InferOptions bound = infer_options;
  const InferResult inferred = infer_shapes(graph, bound);
  std::set<std::string> defaults;
  for (const StoredTensor& tensor : graph.initializers) defaults.insert(tensor.name);
  for (const ValueInfo& input : model.graph->inputs) {
    const ValueType& type = inferred.find(input.name)->type;
    const auto given = values.find(input.name);
    if (given != values.end()) {
      if (!given->second.is_tensor() || !type.shape || (infer_options.dims.empty() && !infer_options.input_shapes.contains(input.name))) continue;
      const Shape& shape = given->second.tensor().shape();
      for (std::size_t axis = 0; axis < std::min(shape.rank(), type.shape->size()); ++axis) {
        const auto want = (*type.shape)[axis].value();
        if (want && *want != shape[axis]) {
          fail(ErrorKind::kRuntime, "input '{}' has shape {}, expected {} as the command line says", input.name, to_string(shape), to_string(*type.shape));
        }
      }
      continue;
    }
    if (!random || defaults.contains(input.name) || type.kind == Type::Kind::kOptional) continue;
    if (!type.is_tensor()) fail(ErrorKind::kUnsupported, "input '{}' is {}: --random makes tensors only", input.name, to_string(type));
    if (!type.shape) fail(ErrorKind::kRuntime, "input '{}' has no rank: give its shape with --input-shape {}=...", input.name, input.name);
    Shape shape;
    for (const Dim& dim : *type.shape) {
      if (!dim.value()) {
        const auto symbols = dim.symbols();
        fail(ErrorKind::kRuntime, "input '{}' has shape {}: {}", input.name, to_string(*type.shape),
             symbols.empty() ? fmt::format("give its sizes with --input-shape {}=...", input.name) : fmt::format("bind it with --dim {}=N", symbols[0]));
      }
      shape.push_back(*dim.value());
    }
    values[input.name] = random_tensor(type.dtype, shape, seed.value_or(0), input.name);
  }
  return values;
}

}  // namespace lppool::app
