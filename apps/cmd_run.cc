// run: executes a model; writes outputs, and any or all inner tensors.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "inputs.h"
#include "lppool/base/glob.h"
#include "lppool/base/text.h"
#include "lppool/dump/tensor_folder.h"
#include "lppool/onnx/model_file.h"
#include "lppool/report/markup.h"
#include "lppool/run/session.h"
#include "lppool/tensor/memory.h"
#include "lppool/trap/shadow.h"
#include "lppool/trap/trap.h"
#include "progress.h"
#include "report.h"

namespace lppool::app {
namespace {

struct Options {
  std::string model, output_folder, format = "npy", npy_bf16 = "v2", dump_folder;
  std::vector<std::string> outputs, dump_only;
  InputOptions inputs;
  std::string trap;
  bool shadow = false;
  std::int64_t time_limit = 0, memory_limit = 0, dump_budget = 0;
  std::int64_t loop_limit = ExecutorOptions().max_iterations;
};

// What a dump will take, as far as inference can tell. `unknown` counts tensors whose size only the run will show.
struct DumpEstimate {
  std::uint64_t bytes = 0;
  std::size_t tensors = 0, unknown = 0;
};

DumpEstimate estimate_dump(const BoundGraph& graph, const std::map<std::string, Value>& inputs) {
  InferOptions options;
  for (const auto& [name, value] : inputs) {
    if (value.is_tensor()) options.fed[name] = type_of(value.tensor());
  }
  // Graph inputs are stated by their shapes, so that symbols are bound.
  for (const ValueInfo& input : graph.inputs) {
    const auto given = options.fed.find(input.name);
    if (given == options.fed.end()) continue;
    options.input_shapes[input.name] = *given->second.shape;
    options.fed.erase(given);
  }
  DumpEstimate estimate;
  for (const TensorInfo& info : infer_shapes(graph, options).tensors) {
    if (info.node_index < 0) continue;
    ++estimate.tensors;
    std::int64_t bytes = static_cast<std::int64_t>(element_size(info.type.dtype));
    bool known = info.type.shape.has_value();
    if (known) {
      for (const Dim& dim : *info.type.shape) known = known && dim.value() && !__builtin_mul_overflow(bytes, *dim.value(), &bytes);
    }
    if (known) estimate.bytes += static_cast<std::uint64_t>(bytes);
    else ++estimate.unknown;
  }
  return estimate;
}

// Writes inner tensors as they are made, and shows progress.
class Watcher final : public RunObserver {
 public:
  Watcher(const Globals& globals, const Options& options, TensorFolder* dump, const std::set<std::string>& outputs)
      : options_(options), dump_(dump), outputs_(outputs), progress_(globals.quiet) {}

  void on_node(const NodeEvent& event) override {
    if (dump_ == nullptr) return progress_.update("run", event.done, event.total, event.node.label);
    progress_.update("run", event.done, event.total,
                     fmt::format("{} tensors, {} dumped; {}", dump_->count(), report::bytes_text(static_cast<double>(dump_->bytes())), event.node.label));
    for (std::size_t i = 0; i < event.outputs.size(); ++i) {
      const std::string& output = event.node.node.outputs[i];
      if (output.empty() || event.outputs[i].empty()) continue;
      const std::string name = event.path + output;
      if (!wanted(event, name)) continue;
      if (options_.dump_budget > 0 && event.outputs[i].is_tensor() &&
          dump_->bytes() + event.outputs[i].tensor().bytes() > static_cast<std::size_t>(options_.dump_budget)) {
        fail(ErrorKind::kLimit, "tensor '{}' of {} bytes would pass the dump's budget of {} bytes ({} written)", name,
             event.outputs[i].tensor().bytes(), options_.dump_budget, dump_->bytes());
      }
      dump_->add(name, event.outputs[i], {outputs_.contains(output) && event.path.empty() ? "output" : "intermediate",
                                          event.path + event.node.label, event.node.node.op_type});
    }
  }
  void end() { progress_.clear(); }

 private:
  bool wanted(const NodeEvent& event, const std::string& name) const {
    if (options_.dump_only.empty()) return true;
    return std::ranges::any_of(options_.dump_only, [&](const std::string& glob) {
      return glob_match(glob, name) || glob_match(glob, event.node.label) || glob_match(glob, event.node.node.op_type);
    });
  }

  const Options& options_;
  TensorFolder* dump_;
  const std::set<std::string>& outputs_;
  Progress progress_;
};

Json value_json(const std::string& name, const Value& value) {
  Json json = {{"name", name}};
  if (value.is_tensor()) {
    json["dtype"] = lppool::name(value.tensor().dtype());
    json["shape"] = shape_json(value.tensor().shape());
  } else if (value.is_sequence()) {
    json["dtype"] = fmt::format("seq({})", lppool::name(value.sequence().dtype));
    json["length"] = value.sequence().elements.size();
  } else {
    json["dtype"] = nullptr;
  }
  return json;
}

int report_trap(const Globals& globals, const Options& options, const TrapReport& report) {
  if (globals.format == "json") {
    Json inputs = Json::array();
    for (const TrapElement& e : report.inputs) inputs.push_back({{"tensor", e.tensor}, {"index", e.index}, {"value", number_json(e.value)}});
    print_json({{"schema_version", kSchemaVersion}, {"model", options.model},
                {"trap", {{"kind", report.kind}, {"node", report.label}, {"op_type", report.op_type}, {"tensor", report.tensor},
                          {"index", report.index}, {"value", number_json(report.value)}, {"count", report.count},
                          {"window", report.window.empty() ? Json(nullptr) : Json(report.window)}, {"inputs", inputs}, {"chain", report.chain}}}});
  } else {
    print(to_string(report));
  }
  return 1;
}

Json shadow_json(const Shadow& shadow) {
  Json rows = Json::array();
  for (const ShadowRow& row : shadow.rows()) {
    rows.push_back({{"name", row.tensor}, {"producer", row.label}, {"op_type", row.op_type}, {"max_abs", row.max_abs},
                    {"max_rel", row.max_rel}, {"special", row.special}, {"elements", row.elements}});
  }
  return {{"tensors", rows}, {"skipped", shadow.skipped()}};
}

std::string shadow_text(const Shadow& shadow) {
  std::string text = fmt::format("\n{:<32} {:<20} {:>12} {:>12}\n", "error against float64", "operator", "max abs", "max rel");
  for (const ShadowRow& row : shadow.rows()) {
    text += fmt::format("{:<32} {:<20} {:>12.3g} {:>12.3g}{}\n", row.tensor.substr(0, 32), row.op_type, row.max_abs, row.max_rel,
                        row.special > 0 ? fmt::format("  {} NaN or Inf on one side only", row.special) : "");
  }
  if (shadow.skipped() > 0) text += fmt::format("{} nodes have no float64 form\n", shadow.skipped());
  return text;
}

using Symbols = std::map<std::string, std::int64_t>;

// The sizes that the inputs give the symbols of their declared shapes.
Symbols bound_symbols(const BoundGraph& graph, const std::map<std::string, Value>& inputs) {
  Symbols symbols;
  for (const ValueInfo& info : graph.inputs) {
    const auto given = inputs.find(info.name);
    if (given == inputs.end() || !given->second.is_tensor() || !info.type.shape) continue;
    const Shape& shape = given->second.tensor().shape();
    for (std::size_t i = 0; i < std::min(shape.rank(), info.type.shape->size()); ++i) {
      if (const std::string& symbol = (*info.type.shape)[i].symbol; !symbol.empty()) symbols.emplace(symbol, shape[i]);
    }
  }
  return symbols;
}

// Models whose exporter declared its outputs for other inputs are common and their values are right: no error, but said.
void warn_of_declaration(const std::string& model, const ValueInfo& declared, const Value& value, const Symbols& symbols) {
  if (!value.is_tensor() || declared.type.kind != Type::Kind::kTensor || !declared.type.shape) return;
  const Shape& shape = value.tensor().shape();
  bool agrees = declared.type.shape->size() == shape.rank();
  std::string where;
  for (std::size_t i = 0; agrees && i < shape.rank(); ++i) {
    const Dimension& dim = (*declared.type.shape)[i];
    const auto symbol = symbols.find(dim.symbol);
    const bool bound = !dim.value && symbol != symbols.end();
    if (!dim.value && !bound) continue;
    agrees = shape[i] == (bound ? symbol->second : *dim.value);
    if (!agrees && bound) where = fmt::format(", and {} is {}", dim.symbol, symbol->second);
  }
  if (agrees) return;
  spdlog::warn("{}: output '{}' has shape {}, the model declares {}{}", model, printable(declared.name), to_string(shape),
               printable(to_string(*declared_type(declared.type).shape)), where);
}

int run(Globals& globals, const Options& options) {
  globals.model = options.model;
  if (options.memory_limit > 0) memory::set_limit(static_cast<std::size_t>(options.memory_limit));
  TensorFolderOptions folder_options;
  folder_options.model = options.model;
  folder_options.format = *parse_folder_format(options.format);
  folder_options.npy_form = *parse_npy_form(options.npy_bf16);

  const ModelFile file = ModelFile::read(options.model);
  const Model& model = file.model();
  if (!model.graph) fail(ErrorKind::kParse, "{}: the model has no graph", options.model);
  ExecutorOptions executor_options;
  executor_options.threads = globals.threads;
  for (const std::string& name : options.outputs) {  // asked for twice, a tensor is written once
    std::vector<std::string>& asked = executor_options.request.outputs;
    if (std::ranges::find(asked, name) == asked.end()) asked.push_back(name);
  }
  executor_options.request.keep_all = !options.dump_folder.empty() && options.outputs.empty();
  executor_options.max_iterations = options.loop_limit;
  executor_options.time_limit = std::chrono::milliseconds(options.time_limit * 1000);
  for (const std::string& name : options.inputs.fed_names()) executor_options.request.fed.insert(name);

  Session session(model, executor_options);
  for (const Diagnostic& warning : session.warnings()) {
    if (warning.severity == Severity::kWarning) {
      std::string line = finding_text(warning, false);
      spdlog::warn("{}", line.substr(0, line.find('\n')));
    }
  }
  std::map<std::string, Value> inputs = options.inputs.read(model, session.graph());
  const Symbols symbols = bound_symbols(session.graph(), inputs);
  memory::reset_peak();

  std::set<std::string> output_names;
  for (const ValueInfo& output : model.graph->outputs) output_names.insert(output.name);
  std::optional<TensorFolder> dump;
  if (!options.dump_folder.empty()) {
    const DumpEstimate estimate = estimate_dump(session.graph(), inputs);
    spdlog::info("dump: {} tensors, {} bytes{}", estimate.tensors, estimate.bytes,
                 estimate.unknown > 0 ? fmt::format(" and {} tensors whose size the run will show", estimate.unknown) : "");
    if (options.dump_budget > 0 && options.dump_only.empty() && estimate.bytes > static_cast<std::uint64_t>(options.dump_budget)) {
      fail(ErrorKind::kLimit, "the dump would take {} bytes, its budget is {}", estimate.bytes, options.dump_budget);
    }
  }
  if (!options.dump_folder.empty()) dump.emplace(options.dump_folder, folder_options);
  Watcher watcher(globals, options, dump ? &*dump : nullptr, output_names);
  RunObserver* observer = &watcher;
  std::optional<Trap> trap;
  if (!options.trap.empty()) observer = &trap.emplace(*parse_trap_kinds(options.trap), session.graph(), observer);
  std::optional<Shadow> shadow;
  if (options.shadow) observer = &shadow.emplace(globals.threads, observer);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Value> outputs;
  try {
    outputs = session.run(std::move(inputs), observer);
  } catch (const TrapFired& fired) {
    watcher.end();
    if (dump) dump->close();
    return report_trap(globals, options, fired.report);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  watcher.end();
  if (dump) dump->close();

  const auto& names = session.executor().output_names();
  for (const ValueInfo& declared : session.graph().outputs) {
    const auto at = std::ranges::find(names, declared.name);
    if (at != names.end()) warn_of_declaration(options.model, declared, outputs[static_cast<std::size_t>(at - names.begin())], symbols);
  }
  if (!options.output_folder.empty()) {
    std::map<std::string, const BoundNode*> producers;
    for (const BoundNode& node : session.graph().nodes) {
      for (const std::string& output : node.node.outputs) producers[output] = &node;
    }
    TensorFolder folder(options.output_folder, folder_options);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto producer = producers.find(names[i]);
      TensorFolder::Source source{output_names.contains(names[i]) ? "output" : "intermediate", "", ""};
      if (producer != producers.end()) {
        source.producer = producer->second->label;
        source.op_type = producer->second->node.op_type;
      }
      folder.add(names[i], outputs[i], source);
    }
    folder.close();
  }
  if (globals.format == "json") {
    Json list = Json::array();
    for (std::size_t i = 0; i < names.size(); ++i) list.push_back(value_json(names[i], outputs[i]));
    Json document = {{"schema_version", kSchemaVersion}, {"model", options.model}, {"seconds", seconds}, {"peak_bytes", memory::peak()}, {"outputs", list}};
    if (dump) document["dump"] = {{"folder", options.dump_folder}, {"tensors", dump->count()}, {"bytes", dump->bytes()}};
    if (shadow) document["shadow"] = shadow_json(*shadow);
    print_json(document);
    return 0;
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Value& value = outputs[i];
    text += value.is_tensor() ? fmt::format("{}: {} {}\n", names[i], name(value.tensor().dtype()), to_string(value.tensor().shape()))
            : value.is_sequence() ? fmt::format("{}: sequence of {}\n", names[i], value.sequence().elements.size())
                                  : fmt::format("{}: nothing\n", names[i]);
  }
  if (shadow) text += shadow_text(*shadow);
  print(text);
  if (!options.output_folder.empty()) spdlog::info("{} tensor{} written to {}", names.size(), names.size() == 1 ? "" : "s", options.output_folder);
  if (dump) spdlog::info("{} tensors, {} bytes dumped to {}", dump->count(), dump->bytes(), options.dump_folder);
  return 0;
}

}  // namespace

void add_run(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("run", "Execute a model; write its outputs, and any or all inner tensors");
  verb->footer("\nOutputs are FOLDER/<tensor name made safe for files>; FOLDER/index.json says which file is which tensor, with\n"
               "type, shape, min, max, mean and counts of NaN and Inf.\n"
               "\nExamples:\n  lppool-cli run model.onnx -i x=x.npy -o out\n"
               "  lppool-cli run model.onnx --random --dim N=1 -o out --as pb\n"
               "  lppool-cli run model.onnx --inputs test_data_set_0 --dump inner --dump-only 'LpPool'\n"
               "  lppool-cli run model.onnx --random --output pool1_out -o out     only what pool1_out needs is run");
  verb->add_option("MODEL", options->model, "Model file; '-' reads stdin")->required();
  options->inputs.declare(*verb);
  verb->add_option("-o,--output-dir", options->output_folder, "Folder for the outputs")->type_name("DIR");
  verb->add_option("--as", options->format, "Format of written tensors")->check(CLI::IsMember({"npy", "pb", "npz"}))->type_name("FORMAT");
  verb->add_option("--npy-bf16", options->npy_bf16, "How .npy holds bfloat16: its bits as void or uint16, or widened")
      ->check(CLI::IsMember({"v2", "u16", "f32"}))->type_name("FORM");
  verb->add_option("--output", options->outputs, "Compute only this tensor, of any in the graph (repeatable)")->type_name("NAME");
  verb->add_option("--dump", options->dump_folder, "Folder for all inner tensors, written as they are produced")->type_name("DIR");
  verb->add_option("--dump-only", options->dump_only, "Dump only tensors whose name, node or operator matches (repeatable)")->type_name("GLOB");
  verb->add_option("--dump-budget", options->dump_budget, "Refuse a dump of more bytes than this (as in 500M)")
      ->transform(CLI::AsSizeValue(false))->type_name("BYTES");
  verb->add_option("--trap", options->trap, "Stop at the first node that makes nan, inf, subnormal or overflow16 from inputs without any")
      ->check([](const std::string& text) {
        return parse_trap_kinds(text) ? std::string() : "is '" + text + "', expected a list of nan, inf, subnormal, overflow16";
      })->type_name("KINDS");
  verb->add_flag("--shadow", options->shadow, "Run each node in float64 too, and report the error of each tensor");
  verb->add_option("--time-limit", options->time_limit, "Stop with code 6 after so many seconds")->check(CLI::PositiveNumber)->type_name("S");
  verb->add_option("--loop-limit", options->loop_limit, "Stop with code 6 after so many rounds of Loop and Scan bodies (0: no limit)")
      ->check(CLI::NonNegativeNumber)->capture_default_str()->type_name("N");
  verb->add_option("--memory-limit", options->memory_limit, "Stop with code 6 before tensors hold more bytes than this")
      ->transform(CLI::AsSizeValue(false))->type_name("BYTES");
  verb->add_option("--format", r.globals.format, "Form of the answer")->check(CLI::IsMember({"text", "json"}))->type_name("FORMAT");
  verb->callback([r, options] { r.action = [&globals = r.globals, options] { return run(globals, *options); }; });
}

}  // namespace lppool::app
