// infer: types and shapes of every tensor, as a golden file for CI, as an annotated model, or explained.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "golden_shapes.h"
#include "lppool/check/check.h"
#include "lppool/infer/infer.h"
#include "lppool/onnx/model_file.h"
#include "lppool/run/session.h"
#include "options.h"
#include "report.h"

namespace lppool::app {
namespace {

struct Options {
  std::vector<std::string> models;
  ShapeOptions shapes;
  std::string output, expect, write_expect, explain;
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

std::string result_text(const InferResult& result) {
  std::size_t width = 4, type_width = 5;
  for (const TensorInfo& info : result.tensors) {
    width = std::max(width, std::min<std::size_t>(info.name.size(), 48));
    type_width = std::max(type_width, dtype_name(info.type).size());
  }
  std::string text;
  for (const TensorInfo& info : result.tensors) {
    text += fmt::format("{:<12} {:<{}} {:<{}} {}{}\n", name(info.kind), info.name, width, dtype_name(info.type), type_width, shape_text(info.type),
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

void explain(const BoundGraph& graph, const InferResult& result, const std::string& tensor, std::string& text, std::set<std::string>& seen, int depth) {
  const TensorInfo* info = result.find(tensor);
  if (info == nullptr || !seen.insert(tensor).second || depth > 1000) return;
  text += fmt::format("{} '{}': {} {}", name(info->kind), tensor, dtype_name(info->type), shape_text(info->type));
  if (info->node_index < 0) {
    text += "\n";
    return;
  }
  const BoundNode& node = graph.nodes[static_cast<std::size_t>(info->node_index)];
  text += fmt::format("\n    by {}, version {}{}\n", node.where, node.schema ? std::to_string(node.schema->since_version) : "unknown",
                      node.opset > 0 ? fmt::format(" (opset {})", node.opset) : "");
  for (std::size_t axis = 0; axis < info->formulas.size(); ++axis) {
    const std::string value = (*info->type.shape)[axis].to_string();
    const std::string& formula = info->formulas[axis];
    text += fmt::format("    axis {}: {}{}\n", axis, value, formula.empty() || formula == value ? "" : " = " + formula);
  }
  for (const std::string& input : node.node.inputs) explain(graph, result, input, text, seen, depth + 1);
}

// Findings of inference; where the model is invalid beyond shapes, all that the checker says stands in front.
int infer_one(const Globals& globals, const Options& options, const std::string& path, Json& document, std::string& text, GoldenShapes* golden) {
  const ModelFile file = ModelFile::read(path);
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
  int code = result.ok() ? 0 : 1;
  document = result_json(path, result);
  if (!options.explain.empty() && result.ok()) {
    if (result.find(options.explain) == nullptr) fail(ErrorKind::kUsage, "{}: no tensor '{}' in the main graph", path, options.explain);
    std::set<std::string> seen;
    explain(graph, result, options.explain, text, seen, 0);
    document["explain"] = text;
  } else {
    text += result_text(result);
  }
  if (globals.format == "text") {
    for (const Diagnostic& finding : result.findings) {
      if (!globals.quiet || finding.severity == Severity::kError) fmt::print(stderr, "{}: {}", path, finding_text(finding, false));
    }
  }
  if (golden != nullptr && result.ok()) {
    const auto differences = golden->compare(path, result);
    for (const std::string& difference : differences) {
      if (globals.format == "text") fmt::print(stderr, "{}: {}\n", path, difference);
    }
    document["differences"] = differences;
    if (!differences.empty()) code = 1;
  }
  if (!options.output.empty() && code == 0) {
    ModelFile annotated = ModelFile::read(path);
    for (const TensorInfo& info : result.tensors) {
      if (info.kind == TensorKind::kInitializer || info.type.kind == Type::Kind::kUnset) continue;
      if (info.type.is_tensor() && info.type.dtype == DataType::kUndefined) continue;
      annotated.annotate(info.name, to_declared(info.type));
    }
    annotated.write(options.output);
  }
  return code;
}

int run(Globals& globals, const Options& options) {
  if (!options.output.empty() && options.models.size() > 1) fail(ErrorKind::kUsage, "-o takes one model, {} given", options.models.size());
  std::optional<GoldenShapes> golden;
  if (!options.expect.empty()) golden = GoldenShapes::read(options.expect);
  Json documents = Json::array();
  std::string text;
  int code = 0;
  for (const std::string& model : options.models) {
    globals.model = model;
    Json document;
    std::string part;
    code = std::max(code, infer_one(globals, options, model, document, part, golden ? &*golden : nullptr));
    if (options.models.size() > 1) text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", model);
    text += part;
    documents.push_back(std::move(document));
  }
  if (!options.write_expect.empty()) GoldenShapes::write(options.write_expect, documents);
  if (globals.format == "json") {
    print_json(documents.size() == 1 ? documents[0] : Json{{"schema_version", kSchemaVersion}, {"models", documents}});
  } else if (options.output != "-" && options.write_expect != "-") {
    print(text);
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
               "  lppool-cli infer model.onnx --explain features             how each dimension came about");
  verb->add_option("MODEL", options->models, "Model files; '-' reads stdin")->required();
  options->shapes.declare(*verb);
  verb->add_option("-o,--output", options->output, "Write the model with all inferred types as value_info")->type_name("FILE");
  verb->add_option("--expect", options->expect, "Compare with a file of expected shapes; \"*\" matches any dimension")->type_name("FILE");
  verb->add_option("--write-expect", options->write_expect, "Write the file of expected shapes")->type_name("FILE");
  verb->add_option("--explain", options->explain, "Print how the tensor's shape came about, back to the inputs")->type_name("TENSOR");
  verb->add_option("--format", r.globals.format, "Form of the answer")->check(CLI::IsMember({"text", "json"}))->type_name("FORMAT");
  verb->callback([r, options] { r.action = [&globals = r.globals, options] { return run(globals, *options); }; });
}

}  // namespace lppool::app
