// show: what a file holds - a model at a glance, the tensors of a folder, or one tensor with its values.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "commands.h"
#include "lppool/base/error.h"
#include "lppool/base/file_bytes.h"
#include "lppool/compare/tensor_set.h"
#include "lppool/dump/statistics.h"
#include "lppool/io/print_tensor.h"
#include "lppool/io/tensor_io.h"
#include "lppool/io/text_tensor.h"
#include "lppool/npy/npz.h"
#include "lppool/onnx/model_file.h"
#include "lppool/report/drawing.h"
#include "report.h"
#include "validators.h"

namespace lppool::app {
namespace {

struct Options {
  std::string file, dtype, member, slice;
  std::string graph;
  bool all = false, nodes = false;
};

// --- models ------------------------------------------------------------------------------------------------------------

std::string domain_name(std::string_view domain) { return domain.empty() ? "ai.onnx" : std::string(domain); }

std::string type_text(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kTensor:
    case Type::Kind::kSparseTensor: {
      std::string text = type.kind == Type::Kind::kSparseTensor ? "sparse " : "";
      text += type.dtype != DataType::kUndefined ? std::string(name(type.dtype)) : fmt::format("type {}", type.dtype_number);
      if (!type.shape) return text + " ?";
      if (type.shape->empty()) return text + " scalar";
      text += ' ';
      for (std::size_t i = 0; i < type.shape->size(); ++i) {
        const Dimension& dim = (*type.shape)[i];
        text += i > 0 ? "x" : "";
        text += dim.value ? fmt::format("{}", *dim.value) : dim.symbol.empty() ? "?" : dim.symbol;
      }
      return text;
    }
    case Type::Kind::kSequence: return fmt::format("seq({})", type.element ? type_text(*type.element) : "?");
    case Type::Kind::kOptional: return fmt::format("optional({})", type.element ? type_text(*type.element) : "?");
    case Type::Kind::kMap: return fmt::format("map({}, {})", name(type.dtype), type.element ? type_text(*type.element) : "?");
    case Type::Kind::kUnset: return "?";
  }
  return "?";
}

Json type_shape_json(const Type& type) {
  if (!type.shape) return nullptr;
  Json json = Json::array();
  for (const Dimension& dim : *type.shape) {
    json.push_back(dim.value ? Json(*dim.value) : dim.symbol.empty() ? Json(nullptr) : Json(dim.symbol));
  }
  return json;
}

struct Summary {
  std::map<std::pair<std::string, std::string>, std::int64_t> operators;  // domain and type: how often, subgraphs included
  std::int64_t nodes = 0;                // of the main graph
  std::int64_t nested_nodes = 0;         // of its branches and bodies
  std::int64_t initializers = 0, elements = 0, external = 0, faulty = 0;
  double bytes = 0;
};

void count_nodes(const Graph& graph, bool main, Summary& summary) {
  for (const Node& node : graph.nodes) {
    ++summary.operators[{std::string(canonical_domain(node.domain)), node.op_type}];
    ++(main ? summary.nodes : summary.nested_nodes);
    for (const Attribute& attribute : node.attributes) {
      if (attribute.g) count_nodes(*attribute.g, false, summary);
      for (const auto& inner : attribute.graphs) count_nodes(*inner, false, summary);
    }
  }
  for (const StoredTensor& tensor : graph.initializers) {
    ++summary.initializers;
    summary.external += tensor.external;
    summary.faulty += tensor.problem.has_value();
    if (!tensor.value.defined()) continue;
    summary.elements += tensor.value.size();
    summary.bytes += static_cast<double>(tensor.value.size()) * storage_bits(tensor.value.dtype()) / 8;
  }
}

std::string bytes_text(double bytes) {
  const char* unit = "bytes";
  for (const char* larger : {"KiB", "MiB", "GiB", "TiB"}) {
    if (bytes < 1024) break;
    bytes /= 1024;
    unit = larger;
  }
  return bytes == std::floor(bytes) && unit[0] == 'b' ? fmt::format("{:.0f} {}", bytes, unit) : fmt::format("{:.1f} {}", bytes, unit);
}

std::vector<ValueInfo> real_inputs(const Graph& graph) {
  // Up to IR 3 every initializer is a graph input, too; what a caller has to give is the rest.
  std::set<std::string> stored;
  for (const StoredTensor& tensor : graph.initializers) stored.insert(tensor.name);
  std::vector<ValueInfo> inputs;
  for (const ValueInfo& input : graph.inputs) {
    if (!stored.contains(input.name)) inputs.push_back(input);
  }
  return inputs;
}

std::string node_line(const Node& node, std::size_t index) {
  std::string text = fmt::format("  {:>4}  {}", index, node.op_type);
  if (!node.name.empty()) text += fmt::format(" '{}'", node.name);
  text += fmt::format("  {} -> {}\n", fmt::join(node.inputs, ", "), fmt::join(node.outputs, ", "));
  return text;
}

std::string model_text(const std::string& shown, const Model& model, const Summary& summary, bool nodes) {
  std::string text = fmt::format("{}: ONNX model, IR {}", shown, model.ir_version ? fmt::format("{}", *model.ir_version) : "not stated");
  if (!model.producer_name.empty()) text += fmt::format(", by {}", model.producer_name);
  if (!model.producer_version.empty()) text += fmt::format(" {}", model.producer_version);
  text += "\nopsets:";
  for (const OpsetImport& import : model.opset_imports) text += fmt::format(" {} {}", domain_name(import.domain), import.version);
  if (model.opset_imports.empty()) text += " none";
  text += '\n';
  if (!model.graph) return text + "no graph\n";
  const Graph& graph = *model.graph;
  text += fmt::format("graph '{}': {} nodes", graph.name, summary.nodes);
  if (summary.nested_nodes > 0) text += fmt::format(" and {} in subgraphs", summary.nested_nodes);
  text += fmt::format(", {} initializers ({} elements, {}", summary.initializers, summary.elements, bytes_text(summary.bytes));
  if (summary.external > 0) text += fmt::format(", {} in other files", summary.external);
  text += ")\n";
  if (summary.faulty > 0) text += fmt::format("{} initializers are faulty: lppool-cli check says why\n", summary.faulty);
  for (const auto& [title, list] : {std::pair{"inputs", real_inputs(graph)}, {"outputs", graph.outputs}}) {
    text += fmt::format("{}:\n", title);
    for (const ValueInfo& info : list) text += fmt::format("  {}  {}\n", info.name, type_text(info.type));
  }
  text += "operators:\n";
  for (const auto& [key, count] : summary.operators) {
    text += fmt::format("  {:>5}  {}{}\n", count, key.first.empty() ? "" : key.first + ":", key.second);
  }
  if (!model.functions.empty()) {
    text += "functions:\n";
    for (const Function& f : model.functions) text += fmt::format("  {}:{}, {} nodes\n", domain_name(f.domain), f.name, f.nodes.size());
  }
  if (!model.metadata.empty()) text += "metadata:\n";
  for (const auto& [key, value] : model.metadata) text += fmt::format("  {}: {}\n", key, value);
  if (nodes) {
    text += "nodes:\n";
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) text += node_line(graph.nodes[i], i);
  }
  return text;
}

Json model_json(const std::string& file, const Model& model, const Summary& summary, bool nodes) {
  Json opsets = Json::object(), operators = Json::array(), functions = Json::array();
  for (const OpsetImport& import : model.opset_imports) opsets[domain_name(import.domain)] = import.version;
  for (const auto& [key, count] : summary.operators) {
    operators.push_back({{"domain", domain_name(key.first)}, {"op_type", key.second}, {"count", count}});
  }
  for (const Function& f : model.functions) {
    functions.push_back({{"domain", domain_name(f.domain)}, {"name", f.name}, {"nodes", f.nodes.size()}});
  }
  Json document = {{"schema_version", kSchemaVersion},
                   {"model", file},
                   {"ir_version", model.ir_version ? Json(*model.ir_version) : Json(nullptr)},
                   {"producer", model.producer_name},
                   {"producer_version", model.producer_version},
                   {"opsets", opsets},
                   {"metadata", model.metadata},
                   {"functions", functions},
                   {"operators", operators}};
  if (!model.graph) {
    document["graph"] = nullptr;
    return document;
  }
  const auto infos = [](const std::vector<ValueInfo>& list) {
    Json json = Json::array();
    for (const ValueInfo& info : list) {
      json.push_back({{"name", info.name}, {"type", type_text(info.type)}, {"shape", type_shape_json(info.type)}});
    }
    return json;
  };
  document["graph"] = {{"name", model.graph->name},
                       {"nodes", summary.nodes},
                       {"nodes_in_subgraphs", summary.nested_nodes},
                       {"inputs", infos(real_inputs(*model.graph))},
                       {"outputs", infos(model.graph->outputs)},
                       {"initializers",
                        {{"count", summary.initializers},
                         {"elements", summary.elements},
                         {"bytes", summary.bytes},
                         {"external", summary.external},
                         {"faulty", summary.faulty}}}};
  if (nodes) {
    Json list = Json::array();
    for (const Node& node : model.graph->nodes) {
      list.push_back({{"name", node.name}, {"op_type", node.op_type}, {"domain", domain_name(canonical_domain(node.domain))},
                      {"inputs", node.inputs}, {"outputs", node.outputs}});
    }
    document["nodes"] = list;
  }
  return document;
}

// The graph as a picture, or as the text that Graphviz makes one of.
void show_graph(const Options& options, const Model& model) {
  if (!model.graph) fail(ErrorKind::kParse, "{}: the model has no graph", options.file);
  const BoundGraph graph = bind_model(model);
  const report::Drawing drawing = report::draw_graph(model.graph->name, graph, infer_shapes(graph));
  if (options.graph == "dot") return print(report::dot_text(drawing));
  const auto svg = report::svg_text(drawing, true);
  if (!svg) {
    fail(ErrorKind::kLimit, "the graph has {} nodes and {} edges: too much for a readable picture ('--graph dot' has no limit)",
         drawing.nodes.size(), drawing.edges.size());
  }
  print(*svg);
}

void show_model(const Globals& globals, const Options& options, const ModelFile& file) {
  if (!options.graph.empty()) {
    if (globals.format != "text") fail(ErrorKind::kUsage, "--graph {} is no {}: leave --format out", options.graph, globals.format);
    return show_graph(options, file.model());
  }
  Summary summary;
  if (file.model().graph) count_nodes(*file.model().graph, true, summary);
  if (globals.format == "json") print_json(model_json(options.file, file.model(), summary, options.nodes));
  else print(model_text(shown_name(options.file), file.model(), summary, options.nodes));
}

// --- tensors -----------------------------------------------------------------------------------------------------------

Json optional_json(const std::optional<double>& value) { return value ? number_json(*value) : Json(nullptr); }

Json tensor_json(const NamedTensor& t) {
  const Statistics s = statistics_of(t.tensor);
  return {{"name", t.name}, {"dtype", name(t.tensor.dtype())}, {"shape", shape_json(t.tensor.shape())},
          {"elements", t.tensor.size()}, {"min", optional_json(s.min)}, {"max", optional_json(s.max)},
          {"mean", optional_json(s.mean)}, {"nan", s.nan}, {"inf", s.inf}, {"zero", s.zero}, {"subnormal", s.subnormal}};
}

std::string statistics_text(const Tensor& tensor) {
  const Statistics s = statistics_of(tensor);
  std::string text;
  if (s.min) text += fmt::format("min {}  max {}  mean {:.6g}  ", *s.min, *s.max, *s.mean);
  if (s.zero > 0) text += fmt::format("zero {}  ", s.zero);
  if (s.subnormal > 0) text += fmt::format("subnormal {}  ", s.subnormal);
  if (s.nan > 0) text += fmt::format("nan {}  ", s.nan);
  if (s.inf > 0) text += fmt::format("inf {}  ", s.inf);
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

void show_tensor(const Globals& globals, const Options& options, NamedTensor t) {
  if (!options.slice.empty()) t.tensor = slice_tensor(t.tensor, options.slice);
  if (globals.format == "json") {
    Json document = {{"schema_version", kSchemaVersion}, {"file", options.file}};
    document.update(tensor_json(t));
    print_json(document);
    return;
  }
  std::string text = fmt::format("{}{}: {} {}, {} elements\n", shown_name(options.file), t.name.empty() ? "" : fmt::format(" '{}'", t.name),
                                 name(t.tensor.dtype()), to_string(t.tensor.shape()), t.tensor.size());
  const std::string statistics = statistics_text(t.tensor);
  if (!statistics.empty()) text += statistics + "\n";
  PrintOptions print_options;
  if (options.all) print_options.threshold = 0;
  print(text + print_tensor(t.tensor, print_options) + "\n");
}

void show_set(const Globals& globals, const Options& options, const TensorSet& set) {
  Json list = Json::array();
  std::string text;
  for (const TensorEntry& entry : set.entries) {
    TensorEntry typed = entry;
    if (typed.dtype.empty()) typed.dtype = options.dtype;
    const Value value = read_entry(typed);
    if (value.is_tensor()) {
      list.push_back(tensor_json({entry.name, value.tensor()}));
      text += fmt::format("{}: {} {}  {}\n", entry.name, name(value.tensor().dtype()), to_string(value.tensor().shape()),
                          statistics_text(value.tensor()));
    } else {
      const std::size_t length = value.is_sequence() ? value.sequence().elements.size() : 0;
      list.push_back({{"name", entry.name}, {"dtype", entry.dtype}, {"length", length}});
      text += fmt::format("{}: {}\n", entry.name, value.is_sequence() ? fmt::format("sequence of {}", length) : "nothing");
    }
  }
  if (globals.format == "json") print_json({{"schema_version", kSchemaVersion}, {"file", options.file}, {"tensors", list}});
  else print(text.empty() ? "no tensors\n" : text);
}

// A .pb file may hold a model or a tensor, and says neither: a model has a graph.
std::optional<ModelFile> as_model(const std::string& file, const FileBytes& bytes) {
  const bool named_model = std::filesystem::path(file).extension() == ".onnx";
  try {
    ModelFile model = ModelFile::parse(bytes.view(), std::filesystem::absolute(file).parent_path(), {}, shown_name(file));
    if (named_model || model.model().graph) return model;
  } catch (const Error&) {
    if (named_model) throw;
  }
  return std::nullopt;
}

int run(Globals& globals, const Options& options) {
  const auto tensors_have_no_graph = [&] {
    if (!options.graph.empty()) fail(ErrorKind::kUsage, "--graph draws models, and '{}' holds tensors", options.file);
  };
  if (std::filesystem::is_directory(options.file)) {
    tensors_have_no_graph();
    show_set(globals, options, TensorSet::open(options.file));
    return 0;
  }
  const auto bytes = FileBytes::open(options.file);
  const ReadTensorOptions read{dtype_option(options.dtype), options.member};
  const bool tensor_form = looks_like_npy(bytes->view()) || looks_like_text_tensor(bytes->view()) || looks_like_zip(bytes->view());
  if (!tensor_form) {
    if (const auto model = as_model(options.file, *bytes)) {
      globals.model = options.file;
      show_model(globals, options, *model);
      return 0;
    }
  }
  tensors_have_no_graph();
  if (looks_like_zip(bytes->view()) && options.member.empty()) {
    std::vector<NamedTensor> tensors = read_all_tensors(bytes, options.file, read);
    if (tensors.size() == 1) show_tensor(globals, options, std::move(tensors.front()));
    else show_set(globals, options, TensorSet::open(options.file));
    return 0;
  }
  show_tensor(globals, options, read_any_tensor(bytes, options.file, read));
  return 0;
}

}  // namespace

void add_show(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("show", "Show what a file holds: a model at a glance, or a tensor with its values");
  verb->footer(
      "\nA folder or an archive of tensors is listed, one line for each.\n"
      "\nExamples:\n"
      "  lppool-cli show model.onnx\n"
      "  lppool-cli show model.onnx --graph svg > model.svg      shapes on the edges; laid out by Graphviz where it is installed\n"
      "  lppool-cli show model.onnx --graph dot | dot -Tpdf -o model.pdf\n"
      "  lppool-cli show y.npy\n"
      "  lppool-cli show y.npy --slice '0, 3, 10:20, :' --all");
  verb->add_option("FILE", options->file, "Model, tensor file, archive or folder; '-' reads stdin")->required();
  verb->add_flag("--nodes", options->nodes, "List the nodes of the main graph, too");
  verb->add_option("--graph", options->graph, "Draw the main graph of a model instead")->check(CLI::IsMember({"svg", "dot"}))->type_name("FORM");
  verb->add_option("--slice", options->slice, "Part of the tensor, as numpy writes it")->type_name("INDEX");
  verb->add_flag("--all", options->all, "All values, however many");
  verb->add_option("--member", options->member, "Array of a .npz")->type_name("NAME");
  verb->add_option("--dtype", options->dtype, "Element type a .npy holds, where it cannot say (bfloat16, float8e4m3fn, ...)")
      ->check(dtype_check())->type_name("TYPE");
  verb->add_option("--format", r.globals.format, "Form of the answer")->check(CLI::IsMember({"text", "json"}))->type_name("FORMAT");
  verb->callback([r, options] { r.action = [&globals = r.globals, options] { return run(globals, *options); }; });
}

}  // namespace lppool::app
