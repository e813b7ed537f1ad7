// infer: types and shapes of every tensor, as a golden file for CI, as an annotated model, or explained.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>

#include "commands.h"
#include "golden_shapes.h"
#include "infer_report.h"
#include "lppool/base/text.h"
#include "lppool/check/check.h"
#include "lppool/infer/infer.h"
#include "lppool/infer/solve.h"
#include "lppool/onnx/model_file.h"
#include "lppool/run/session.h"
#include "model_files.h"
#include "options.h"
#include "report.h"
#include "suggest.h"

namespace lppool::app {
namespace {

struct Options {
  std::vector<std::string> models;
  ShapeOptions shapes;
  std::string output, expect, write_expect, explain, solve;
  bool update = false;
};

Json tensor_json(const TensorInfo& info) {
  return {{"name", info.name}, {"kind", name(info.kind)}, {"dtype", dtype_name(info.type)}, {"shape", shape_json(info.type.shape)},
          {"producer", info.producer.empty() ? Json(nullptr) : Json(info.producer)}};
}

Json result_json(const std::string& model, const InferResult& result) {
  Json tensors = Json::array(), findings = Json::array();
  for (const TensorInfo& info : result.tensors) tensors.push_back(tensor_json(info));
  for (const Diagnostic& finding : result.findings) findings.push_back(finding_json(finding));
  return {{"schema_version", kSchemaVersion}, {"model", model}, {"tensors", tensors}, {"findings", findings}};
}

// A line whose names and symbols come from a file, without what a terminal would act on.
template <typename... Args>
std::string line(fmt::format_string<Args...> format, Args&&... args) {
  return printable(fmt::format(format, std::forward<Args>(args)...), std::size_t{1} << 16) + "\n";
}

std::string result_text(const InferResult& result) {
  std::size_t width = 4, type_width = 5;
  for (const TensorInfo& info : result.tensors) {
    width = std::max(width, std::min<std::size_t>(info.name.size(), 48));
    type_width = std::max(type_width, dtype_name(info.type).size());
  }
  std::string text;
  for (const TensorInfo& info : result.tensors) {
    text += line("{:<12} {:<{}} {:<{}} {}{}", name(info.kind), info.name, width, dtype_name(info.type), type_width, shape_text(info.type),
                        info.producer.empty() ? "" : fmt::format("  <- {}", info.producer));
  }
  return text;
}

Type to_declared(const ValueType& type) {
  Type result;
  result.kind = type.kind;
  result.dtype = type.dtype;
  result.dtype_number = static_cast<std::int32_t>(type.dtype);
  if (type.element) result.element = std::make_shared<const Type>(to_declared(*type.element));
  if (type.shape) {
    result.shape.emplace();
    for (const Dim& dim : *type.shape) {
      Dimension d;
      d.value = dim.value();
      if (!d.value && dim.known()) d.symbol = dim.to_string();
      result.shape->push_back(std::move(d));
    }
  }
  return result;
}

// What a branch or loop body reads of the graph around it: the names that the main graph knows.
void add_outer_values(const BoundGraph& graph, const Node& node, const InferResult& result, std::vector<std::string>& names) {
  for (const Attribute& attribute : node.attributes) {
    const auto body = attribute.g ? graph.subgraphs.find(attribute.g.get()) : graph.subgraphs.end();
    if (body == graph.subgraphs.end()) continue;
    const auto add = [&](const std::string& name) {
      if (result.find(name) != nullptr) names.push_back(name);
    };
    for (const BoundNode& inner : body->second->nodes) {
      for (const std::string& input : inner.node.inputs) add(input);
      add_outer_values(*body->second, inner.node, result, names);
    }
    for (const ValueInfo& output : body->second->outputs) add(output.name);
  }
}

// A tensor and what it was made from, each once, in the order of a depth-first walk back to the inputs.
std::vector<const TensorInfo*> chain_of(const BoundGraph& graph, const InferResult& result, const std::string& tensor) {
  std::vector<const TensorInfo*> chain;
  std::set<std::string> seen;
  std::vector<std::string> waiting = {tensor};
  while (!waiting.empty()) {
    const TensorInfo* info = result.find(waiting.back());
    waiting.pop_back();
    if (info == nullptr || !seen.insert(info->name).second) continue;
    chain.push_back(info);
    if (info->node_index < 0) continue;
    const BoundNode& node = graph.nodes[static_cast<std::size_t>(info->node_index)];
    std::vector<std::string> sources = node.node.inputs;
    add_outer_values(graph, node.node, result, sources);
    waiting.insert(waiting.end(), sources.rbegin(), sources.rend());
  }
  return chain;
}

std::string contents_text(const TensorInfo& info) {
  std::string text;
  for (const Dim& element : *info.contents) text += fmt::format("{}{}", text.empty() ? "" : ", ", element.to_string());
  return info.type.shape && info.type.shape->empty() ? text : fmt::format("[{}]", text);
}

std::string explain_text(const BoundGraph& graph, const std::vector<const TensorInfo*>& chain) {
  std::string text;
  for (const TensorInfo* info : chain) {
    text += line("{} '{}': {} {}", name(info->kind), info->name, dtype_name(info->type), shape_text(info->type));
    if (info->node_index >= 0) {
      const BoundNode& node = graph.nodes[static_cast<std::size_t>(info->node_index)];
      text += line("    by {}, version {}{}", node.where, node.schema ? std::to_string(node.schema->since_version) : "unknown",
                          node.opset > 0 ? fmt::format(" (opset {})", node.opset) : "");
    }
    for (std::size_t axis = 0; axis < info->formulas.size(); ++axis) text += line("    axis {}: {}", axis, explained_size(*info, axis));
    if (info->contents) text += line("    contents: {}", contents_text(*info));
  }
  return text;
}

Json explain_json(const BoundGraph& graph, const std::vector<const TensorInfo*>& chain) {
  Json list = Json::array();
  for (const TensorInfo* info : chain) {
    Json entry = tensor_json(*info);
    if (info->node_index >= 0) {
      const BoundNode& node = graph.nodes[static_cast<std::size_t>(info->node_index)];
      entry["op_type"] = node.node.op_type;
      entry["since_version"] = node.schema ? Json(node.schema->since_version) : Json(nullptr);
      entry["opset"] = node.opset > 0 ? Json(node.opset) : Json(nullptr);
      entry["inputs"] = node.node.inputs;
      Json formulas = Json::array();
      for (const std::string& formula : info->formulas) formulas.push_back(formula.empty() ? Json(nullptr) : Json(formula));
      entry["formulas"] = formulas;
    }
    if (info->contents) entry["contents"] = shape_json(info->contents);
    list.push_back(std::move(entry));
  }
  return list;
}

[[noreturn]] void no_tensor(const std::string& file, const std::string& tensor, const InferResult& result) {
  std::vector<std::string> names;
  for (const TensorInfo& info : result.tensors) names.push_back(info.name);
  const auto near = nearest(tensor, names);
  fail(ErrorKind::kUsage, "{}: no tensor '{}' in the main graph{}", file, tensor, near ? fmt::format(", did you mean '{}'?", *near) : "");
}

// "y=1x8x7x7": the sizes asked of a tensor; '*' or '?' asks nothing.
std::pair<std::string, std::vector<std::int64_t>> parse_target(const std::string& text) {
  if (text.find('=') == std::string::npos) fail(ErrorKind::kUsage, "--solve is '{}', expected TENSOR=SHAPE as in y=1x8x7x*", text);
  const auto [tensor, shape] = split_assignment(text, "--solve");
  std::vector<std::int64_t> target;
  std::string part;
  const auto flush = [&] {
    if (part == "*" || part == "?") {
      target.push_back(-1);
    } else {
      const auto value = parse_dim(part).value();
      if (!value || *value < 0) fail(ErrorKind::kUsage, "--solve is '{}', expected TENSOR=SHAPE as in y=1x8x7x*", text);
      target.push_back(*value);
    }
    part.clear();
  };
  for (const char c : shape) {
    if (c == 'x') flush();
    else part += c;
  }
  flush();
  return {tensor, target};
}

// The values that the graph itself names: those inside called functions have no place in its value_info.
std::set<std::string> own_values(const Graph& graph) {
  std::set<std::string> names;
  for (const auto* list : {&graph.inputs, &graph.outputs}) {
    for (const ValueInfo& info : *list) names.insert(info.name);
  }
  for (const Node& node : graph.nodes) names.insert(node.outputs.begin(), node.outputs.end());
  return names;
}

void solve(const InferResult& result, const std::string& request, InferredModel& answer) {
  const auto [tensor, target] = parse_target(request);
  const TensorInfo* info = result.find(tensor);
  if (info == nullptr) no_tensor(answer.file, tensor, result);
  if (!info->type.shape) fail(ErrorKind::kUsage, "{}: no rank is known of tensor '{}'", answer.file, tensor);
  const DimSolution solution = solve_shape(*info->type.shape, target);
  Json values = Json::object();
  for (const auto& [symbol, ranges] : solution.values) {
    std::string words;
    Json list = Json::array();
    for (const auto& [low, high] : ranges) {
      list.push_back({low, high});
      words += fmt::format("{}{}", words.empty() ? "" : ", ", low == high ? std::to_string(low) : fmt::format("{}..{}", low, high));
    }
    values[symbol] = list;
    answer.text += fmt::format("{} = {}\n", symbol, words);
  }
  if (solution.possible && solution.values.empty()) answer.text += "the shape is always so\n";
  for (const std::string& reason : solution.reasons) answer.text += reason + "\n";
  answer.document["solve"] = {{"tensor", tensor}, {"possible", solution.possible}, {"values", values}, {"example", solution.example}, {"reasons", solution.reasons}};
  if (!solution.possible) answer.code = 1;
}

// Where the model is invalid beyond shapes, the checker's errors are the answer.
InferredModel infer_one(const Options& options, const std::string& path, const GoldenShapes* golden) {
  const auto begin = std::chrono::steady_clock::now();
  InferredModel answer;
  answer.file = path;
  LoadOptions load;
  load.keep_bytes = !options.output.empty();
  ModelFile file = ModelFile::read(path, load);
  CheckOptions check_options;
  check_options.infer = false;
  const Diagnostics structure = check_model(file.model(), check_options);
  InferResult result;
  BoundGraph graph;
  if (is_valid(structure)) {
    graph = bind_model(file.model());
    InferOptions infer_options = options.shapes.resolve();
    infer_options.explain = !options.explain.empty();
    result = infer_shapes(graph, infer_options);
  } else {
    for (const Diagnostic& finding : structure) {
      if (finding.severity == Severity::kError) result.findings.push_back(finding);
    }
  }
  answer.findings = result.findings;
  answer.code = result.ok() ? 0 : 1;
  answer.document = result_json(path, result);
  if (!options.solve.empty() && result.ok()) {
    solve(result, options.solve, answer);
  } else if (!options.explain.empty() && is_valid(structure)) {
    // Also where findings contradict a declaration: then more than ever.
    if (result.find(options.explain) == nullptr) no_tensor(path, options.explain, result);
    const std::vector<const TensorInfo*> chain = chain_of(graph, result, options.explain);
    answer.text = explain_text(graph, chain);
    answer.document["explain"] = explain_json(graph, chain);
  } else {
    answer.text = result_text(result);
  }
  if (golden != nullptr && result.ok()) {
    answer.compared = true;
    answer.differences = golden->compare(path, result);
    answer.document["differences"] = answer.differences;
    if (!answer.differences.empty() && !options.update) answer.code = 1;
  }
  if (!options.output.empty() && answer.code == 0) {
    const std::set<std::string> own = own_values(*file.model().graph);
    for (const TensorInfo& info : result.tensors) {
      if (!own.contains(info.name) || info.kind == TensorKind::kInitializer || info.type.kind == Type::Kind::kUnset) continue;
      if (info.type.is_tensor() && info.type.dtype == DataType::kUndefined) continue;
      file.annotate(info.name, to_declared(info.type));
    }
    file.write(options.output);
    warn_of_external_data(file.model(), path, options.output);
  }
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return answer;
}

// One model that cannot be read is an error of the call; among several it is one answer of many.
std::vector<InferredModel> infer_all(Globals& globals, const Options& options, const std::vector<std::string>& files, const GoldenShapes* golden) {
  if (files.size() == 1) {
    globals.model = files[0];
    return {infer_one(options, files[0], golden)};
  }
  std::vector<InferredModel> answers(files.size());
  each_model(globals, "infer", files, [&](std::size_t i) {
    try {
      answers[i] = infer_one(options, files[i], golden);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kInterrupted) throw;
      answers[i].file = files[i];
      answers[i].error = error;
      answers[i].code = exit_code(error.kind());
    }
  });
  return answers;
}

// What does not belong to the answer.
void log_findings(const Globals& globals, const std::vector<InferredModel>& answers) {
  for (const InferredModel& answer : answers) {
    for (const Diagnostic& finding : answer.findings) {
      if (!globals.quiet || finding.severity == Severity::kError) print_error(fmt::format("{}: {}", answer.file, finding_text(finding, false)));
    }
    if (answer.error) print_error(fmt::format("error: {}\n", one_line(answer.error->what())));
  }
}

int run(Globals& globals, const Options& options) {
  const std::vector<std::string> files = find_models(options.models);
  if (!options.output.empty() && files.size() > 1) fail(ErrorKind::kUsage, "-o takes one model, {} given", files.size());
  const int to_stdout = (options.output == "-" ? 1 : 0) + (options.write_expect == "-" ? 1 : 0);
  if (to_stdout > (globals.format == "text" ? 1 : 0)) {
    fail(ErrorKind::kUsage, "{} needs a file, because both would go to stdout",
         to_stdout == 2 ? "-o or --write-expect" : fmt::format("--format {} with {}", globals.format, options.output == "-" ? "-o" : "--write-expect"));
  }
  if (options.update && options.expect.empty()) fail(ErrorKind::kUsage, "--update renews the file that --expect names, which is missing");
  // With --update a file that is not there yet is made.
  const bool compare = !options.expect.empty() && !(options.update && !std::filesystem::exists(options.expect));
  std::optional<GoldenShapes> golden;
  if (compare) golden = GoldenShapes::read(options.expect, files.size() == 1);
  const std::vector<InferredModel> answers = infer_all(globals, options, files, golden ? &*golden : nullptr);
  int code = 0;
  Json documents = Json::array();
  for (const InferredModel& answer : answers) {
    code = std::max(code, answer.code);
    documents.push_back(answer.document);
  }
  // Written whole or not at all: not where a model has no shapes to write.
  const bool complete = code == 0 || (code == 1 && std::ranges::all_of(answers, &InferredModel::compared));
  const std::string& target = options.write_expect.empty() ? options.expect : options.write_expect;
  if (!complete && (options.update || !options.write_expect.empty())) spdlog::warn("{} is not written: a model has no sound shapes", target);
  if (complete && !options.write_expect.empty()) GoldenShapes::write(options.write_expect, documents);
  if (complete && options.update && !golden) GoldenShapes::write(options.expect, documents);
  if (complete && options.update && golden) {
    for (const InferredModel& answer : answers) golden->renew(answer.file, answer.document);
    golden->write();
  }
  // Of documents for machines, stderr says which model could not be read; log_findings says it beside text.
  for (const InferredModel& answer : answers) {
    if (answer.error && globals.format != "text") print_error(fmt::format("error: {}\n", one_line(answer.error->what())));
  }
  if (globals.format == "json") print_json(infer_json(answers));
  else if (globals.format == "github") print(infer_github(answers));
  else if (globals.format == "junit") print(infer_junit(answers));
  else {
    log_findings(globals, answers);
    const bool asked_else = !options.explain.empty() || !options.solve.empty();
    const bool table = options.expect.empty() || asked_else;
    if (options.output != "-" && options.write_expect != "-" && (table || golden)) print(infer_text(answers, table, globals.color));
    if (options.update && complete) spdlog::info("{} {}", options.expect, golden ? "renewed" : "written");
  }
  return code;
}

}  // namespace

void add_infer(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("infer", "Types and shapes of every tensor; a golden file for CI; an annotated model");
  verb->footer("\nExamples:\n  lppool-cli infer model.onnx --dim N=1\n"
               "  lppool-cli infer model.onnx --write-expect shapes.json     once\n"
               "  lppool-cli infer model.onnx --expect shapes.json           in CI: exit 1 where a shape changed\n"
               "  lppool-cli infer models/ --expect shapes.json --update     after a change that is meant\n"
               "  lppool-cli infer model.onnx --explain features             how each dimension came about\n"
               "  lppool-cli infer model.onnx --solve features=1x8x7x7       which input sizes give that shape");
  verb->add_option("MODEL", options->models, "Model files, or folders that hold them; '-' reads stdin")->required();
  options->shapes.declare(*verb);
  verb->add_option("-o,--output", options->output, "Write the model with all inferred types; every other byte stays as it is")->type_name("FILE");
  verb->add_option("--expect", options->expect, "Compare with a file of expected shapes; \"*\" matches any dimension")->type_name("FILE");
  verb->add_option("--write-expect", options->write_expect, "Write the file of expected shapes")->type_name("FILE");
  verb->add_flag("--update", options->update, "Renew the file of --expect where shapes changed; \"*\" and the choice of tensors stay");
  verb->add_option("--solve", options->solve, "Say which values of the inputs' symbols give this shape; '*' asks nothing")->type_name("TENSOR=SHAPE");
  verb->add_option("--explain", options->explain, "Print how the tensor's shape came about, back to the inputs")->type_name("TENSOR");
  verb->add_option("--format", r.globals.format, "Form of the answer")->check(CLI::IsMember({"text", "json", "github", "junit"}))->type_name("FORMAT");
  verb->callback([r, options] { r.action = [&globals = r.globals, options] { return run(globals, *options); }; });
}

}  // namespace lppool::app
