// schema: what ONNX says of an operator at an opset, and what changed between two.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <map>
#include <memory>

#include "commands.h"
#include "lppool/ops/op.h"
#include "lppool/ops/schema_diff.h"
#include "report.h"
#include "suggest.h"

namespace lppool::app {
namespace {

struct Options {
  std::string op, domain, diff;
  std::int64_t opset = 0;
};

std::string domain_name(std::string_view domain) { return domain.empty() ? "ai.onnx" : std::string(domain); }

const OpDef& find(const Options& options) {
  if (!options.domain.empty()) {
    if (const OpDef* op = find_op(options.domain, options.op)) return *op;
    for (const OpDef* op : all_ops()) {
      if (op->type == options.op) fail(ErrorKind::kUsage, "no operator '{}' in domain '{}', but in '{}'", options.op, options.domain, op->domain.empty() ? "ai.onnx" : op->domain);
    }
  } else {
    for (const OpDef* op : all_ops()) {
      if (op->type == options.op) return *op;
    }
  }
  std::vector<std::string> names;
  for (const OpDef* op : all_ops()) names.emplace_back(op->type);
  const auto near = nearest(options.op, names);
  fail(ErrorKind::kUsage, "no operator '{}'{}", options.op,
       near ? fmt::format(", did you mean '{}'?", *near) : "; 'lppool-cli schema' lists all");
}

std::string versions_text(const OpDef& op) {
  std::vector<int> versions;
  for (const OpVersion& v : op.versions) versions.push_back(v.since);
  return fmt::format("{}", fmt::join(versions, ", "));
}

int list(const Globals& globals) {
  if (globals.format == "json") {
    Json ops = Json::array();
    for (const OpDef* op : all_ops()) {
      Json versions = Json::array();
      for (const OpVersion& v : op->versions) versions.push_back(v.since);
      ops.push_back({{"name", op->type}, {"domain", domain_name(op->domain)}, {"versions", versions}, {"runs", op->run != nullptr}, {"infers", op->infer != nullptr}});
    }
    print_json({{"schema_version", kSchemaVersion}, {"operators", ops}});
    return 0;
  }
  std::string text;
  const bool md = globals.format == "md";
  if (md) text += "| operator | domain | versions | runs | infers |\n|---|---|---|---|---|\n";
  for (const OpDef* op : all_ops()) {
    if (md) {
      text += fmt::format("| {} | {} | {} | {} | {} |\n", op->type, domain_name(op->domain), versions_text(*op),
                          op->run ? "yes" : "no", op->infer ? "yes" : "no");
    } else {
      text += fmt::format("{:<28} {:<12} {}{}\n", op->type, domain_name(op->domain), versions_text(*op), op->run ? "" : "  (not run)");
    }
  }
  print(text);
  return 0;
}

std::string kind_name(const ParameterSchema& p) {
  switch (p.kind) {
    case ParameterSchema::Kind::kSingle: return "single";
    case ParameterSchema::Kind::kOptional: return "optional";
    case ParameterSchema::Kind::kVariadic: return p.homogeneous ? "variadic" : "variadic, mixed types";
  }
  return "";
}

bool onnx_infers(const OpDef& op, const OpSchema& schema) {
  // The first versions of the Lp pools have no inference function in ONNX (onnx/defs/nn/old.cc).
  return op.facts.onnx_infers && !(schema.since_version == 1 && (op.type == "LpPool" || op.type == "GlobalLpPool"));
}

Json default_json(const AttributeSchema& attribute) {
  if (!attribute.default_value) return nullptr;
  const Attribute& value = *attribute.default_value;
  switch (attribute.type) {
    case AttributeType::kInt: return value.i;
    case AttributeType::kFloat: return value.f;
    case AttributeType::kString: return value.s;
    case AttributeType::kInts: return value.ints;
    case AttributeType::kFloats: return value.floats;
    case AttributeType::kStrings: return value.strings;
    default: return attribute.default_text;
  }
}

Json schema_json(const OpDef& op, const OpSchema& schema) {
  Json attributes = Json::array(), inputs = Json::array(), outputs = Json::array(), types = Json::array();
  for (const AttributeSchema& a : schema.attributes) {
    attributes.push_back({{"name", a.name}, {"type", name(a.type)}, {"required", a.required}, {"default", default_json(a)}});
  }
  for (const auto& [from, to] : {std::pair{&schema.inputs, &inputs}, {&schema.outputs, &outputs}}) {
    for (const ParameterSchema& p : *from) to->push_back({{"name", p.name}, {"type", p.type}, {"kind", kind_name(p)}});
  }
  for (const TypeConstraint& t : schema.type_constraints) types.push_back({{"name", t.name}, {"allowed", t.allowed}});
  return {{"schema_version", kSchemaVersion}, {"op", schema.name}, {"domain", domain_name(schema.domain)},
          {"since_version", schema.since_version}, {"deprecated", schema.deprecated}, {"function", op.facts.function},
          {"support_level", op.facts.experimental ? "EXPERIMENTAL" : "COMMON"}, {"shape_inference", onnx_infers(op, schema)},
          {"runs_here", op.run != nullptr}, {"infers_here", op.infer != nullptr}, {"summary", schema.summary},
          {"attributes", attributes}, {"inputs", inputs}, {"outputs", outputs}, {"type_constraints", types}};
}

std::string schema_text(const OpDef& op, const OpSchema& schema, bool md) {
  std::string text = fmt::format("{}{} (since version {} of {}{})\n\n{}\n\n", md ? "## " : "", schema.name, schema.since_version,
                                 domain_name(schema.domain), schema.deprecated ? ", deprecated" : "", schema.summary);
  const char* row = md ? "| {} | {} |\n" : "  {:<18} {}\n";
  if (md) text += "| | |\n|---|---|\n";
  const auto add = [&](std::string_view key, std::string_view value) { text += fmt::format(fmt::runtime(row), key, value); };
  add("function", op.facts.function ? "yes" : "no");
  add("support level", op.facts.experimental ? "EXPERIMENTAL" : "COMMON");
  add("shape inference", onnx_infers(op, schema) ? "in ONNX and here" : op.infer ? "here only: ONNX has none for this version" : "none");
  add("runs here", op.run ? "yes" : "no");
  add("all versions", versions_text(op));
  const auto section = [&](std::string_view title, std::string_view header) {
    text += md ? fmt::format("\n### {}\n\n{}", title, header) : fmt::format("\n{}\n", title);
  };
  section("Attributes", "| name | type | required | default |\n|---|---|---|---|\n");
  for (const AttributeSchema& a : schema.attributes) {
    const std::string value = a.default_value ? (a.default_text.empty() ? "''" : a.default_text) : "";
    text += md ? fmt::format("| {} | {} | {} | {} |\n", a.name, name(a.type), a.required ? "yes" : "no", value)
               : fmt::format("  {:<18} {:<8} {}\n", a.name, name(a.type), a.required ? "required" : value.empty() ? "optional" : "default " + value);
  }
  if (schema.attributes.empty() && !md) text += "  none\n";
  for (const auto& [title, list] : {std::pair{"Inputs", &schema.inputs}, {"Outputs", &schema.outputs}}) {
    section(title, "| name | type | kind |\n|---|---|---|\n");
    for (const ParameterSchema& p : *list) {
      text += md ? fmt::format("| {} | {} | {} |\n", p.name, p.type, kind_name(p)) : fmt::format("  {:<18} {:<8} {}\n", p.name, p.type, kind_name(p));
    }
    if (list->empty() && !md) text += "  none\n";
  }
  section("Type constraints", "| name | allowed |\n|---|---|\n");
  for (const TypeConstraint& t : schema.type_constraints) {
    text += md ? fmt::format("| {} | {} |\n", t.name, fmt::join(t.allowed, ", ")) : fmt::format("  {:<18} {}\n", t.name, fmt::join(t.allowed, ", "));
  }
  return text;
}

std::int64_t parse_opset(std::string_view text, const std::string& whole) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    fail(ErrorKind::kUsage, "--diff is '{}', expected two opsets as in 11..18", whole);
  }
  return value;
}

int show_diff(const Globals& globals, const OpDef& op, const std::string& range) {
  const std::size_t dots = range.find("..");
  if (dots == std::string::npos) fail(ErrorKind::kUsage, "--diff is '{}', expected two opsets as in 11..18", range);
  const SchemaDiff diff = diff_schemas(op, parse_opset(std::string_view(range).substr(0, dots), range),
                                       parse_opset(std::string_view(range).substr(dots + 2), range));
  if (globals.format == "json") {
    Json changes = Json::array();
    for (const SchemaChange& c : diff.changes) {
      changes.push_back({{"what", c.what}, {"name", c.name}, {"change", c.change}, {"old", c.old_value.empty() ? Json(nullptr) : Json(c.old_value)},
                         {"new", c.new_value.empty() ? Json(nullptr) : Json(c.new_value)}, {"breaking", c.breaking}, {"why", c.why}});
    }
    print_json({{"schema_version", kSchemaVersion}, {"op", op.type}, {"old", diff.old_version}, {"new", diff.new_version},
                {"breaking", diff.breaking()}, {"changes", changes},
                {"summary_diff", diff.summary_lines}, {"summary_similarity", diff.summary_similarity}});
    return 0;
  }
  const bool md = globals.format == "md";
  std::string text = fmt::format("{}{} {} -> {}: {}\n", md ? "## " : "", op.type, diff.old_version, diff.new_version,
                                 diff.changes.empty() ? "no change" : diff.breaking() ? "breaking" : "not breaking");
  if (md) text += "\n| what | name | change | old | new | breaking | why |\n|---|---|---|---|---|---|---|\n";
  for (const SchemaChange& c : diff.changes) {
    if (md) {
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", c.what, c.name, c.change, c.old_value, c.new_value, c.breaking ? "yes" : "no", c.why);
      continue;
    }
    const std::string values = c.old_value.empty() ? c.new_value : c.new_value.empty() ? c.old_value : c.old_value + " -> " + c.new_value;
    text += fmt::format("  {} {} '{}' {}: {}\n      {}\n", c.breaking ? paint("!", "31;1", globals.color) : " ", c.what, c.name, c.change, values, c.why);
  }
  text += fmt::format("\n{}Summary (similarity {:.2f})\n{}", md ? "### " : "", diff.summary_similarity, md ? "\n```diff\n" : "");
  for (const std::string& line : diff.summary_lines) {
    const std::string_view sgr = line.starts_with('+') ? "32" : line.starts_with('-') ? "31" : "0";
    text += (line.starts_with(' ') ? line : paint(line, sgr, globals.color && !md)) + "\n";
  }
  if (md) text += "```\n";
  print(text);
  return 0;
}

int run(const Globals& globals, const Options& options) {
  if (options.op.empty()) {
    if (!options.diff.empty() || options.opset > 0) fail(ErrorKind::kUsage, "{} needs an operator, as in 'schema LpPool'", options.diff.empty() ? "--opset" : "--diff");
    return list(globals);
  }
  const OpDef& op = find(options);
  if (!options.diff.empty()) return show_diff(globals, op, options.diff);
  const std::int64_t opset = options.opset > 0 ? options.opset : newest_opset(op.domain);
  const OpSchema* schema = schema_for(op, opset);
  if (schema == nullptr) fail(ErrorKind::kUsage, "{} does not exist at opset {}, its versions are {}", op.type, opset, versions_text(op));
  if (globals.format == "json") print_json(schema_json(op, *schema));
  else print(schema_text(op, *schema, globals.format == "md"));
  return 0;
}

}  // namespace

void add_schema(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("schema", "Operator schemas per opset, and what changed between two versions");
  verb->footer("\nExamples:\n  lppool-cli schema                          all operators and versions\n"
               "  lppool-cli schema LpPool --opset 18        the schema in force at opset 18\n"
               "  lppool-cli schema LpPool --diff 11..22     what changed, and whether it breaks models");
  verb->add_option("OP", options->op, "Operator, as ONNX spells it (default: list all)");
  verb->add_option("--domain", options->domain, "Domain of the operator (default: the first that has it)")->type_name("DOMAIN");
  verb->add_option("--opset", options->opset, "Opset whose schema is meant (default: the newest)")->check(CLI::Range(1, 1000000))->type_name("N");
  verb->add_option("--diff", options->diff, "Two opsets, as in 11..18")->type_name("A..B");
  verb->add_option("--format", r.globals.format, "Form of the answer")->check(CLI::IsMember({"text", "json", "md"}))->type_name("FORMAT");
  verb->callback([r, options] { r.action = [&globals = r.globals, options] { return run(globals, *options); }; });
}

}  // namespace lppool::app
