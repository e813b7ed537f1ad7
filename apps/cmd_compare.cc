// compare: two tensors, or two sets of tensors, whoever wrote them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "commands.h"
#include "inputs.h"
#include "validators.h"
#include "lppool/base/interrupt.h"
#include "lppool/compare/compare.h"
#include "lppool/compare/origin.h"
#include "lppool/compare/tensor_set.h"
#include "lppool/io/text_tensor.h"
#include "lppool/onnx/model_file.h"
#include "lppool/tensor/convert.h"
#include "progress.h"
#include "report.h"

namespace lppool::app {
namespace {

struct Options {
  std::string a, b, dtype, model;
  InputOptions inputs;
  ComparisonTolerance tolerance;
};

// What is said of one tensor. Of a sequence, each element is one.
struct Row {
  std::string name;
  TensorComparison result;
  DataType dtype = DataType::kUndefined;
  std::optional<Shape> shape;          // of b, where there is one
  std::vector<std::int64_t> worst;     // where its values are apart
  std::string a, b;                    // the two values there, as text
  Json json_a, json_b;                 // and as JSON
  bool only_a = false, only_b = false;
  std::optional<ErrorOrigin> origin;
};

// Numbers as JSON has them; 64-bit integers stay whole, complex numbers and strings are text.
Json element_json(const Tensor& tensor, std::int64_t index) {
  switch (tensor.dtype()) {
    case DataType::kInt64: return tensor.data<std::int64_t>()[static_cast<std::size_t>(index)];
    case DataType::kUInt64: return tensor.data<std::uint64_t>()[static_cast<std::size_t>(index)];
    case DataType::kBool: return element_as_int64(tensor, index) != 0;
    case DataType::kComplex64:
    case DataType::kComplex128:
    case DataType::kString: return element_text(tensor, index);
    default: return is_integer(tensor.dtype()) ? Json(element_as_int64(tensor, index)) : number_json(element_as_double(tensor, index));
  }
}

// A tolerance in few digits that is not below the true one, so that it can be used as printed.
std::string tolerance_text(double value) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 3);
  std::string text = fmt::format("{:.4g}", std::ceil(value / unit) * unit);
  return std::stod(text) >= value ? text : fmt::format("{}", value);
}

Row row_of(const std::string& name, const Tensor& a, const Tensor& b, const ComparisonTolerance& tolerance, ThreadPool& pool) {
  Row row;
  row.name = name;
  row.result = compare(a, b, tolerance, &pool);
  row.dtype = b.dtype();
  row.shape = b.shape();
  if (row.result.worst) {
    row.worst = index_of(*row.result.worst, b.shape());
    row.a = element_text(a, *row.result.worst);
    row.b = element_text(b, *row.result.worst);
    row.json_a = element_json(a, *row.result.worst);
    row.json_b = element_json(b, *row.result.worst);
  }
  return row;
}

// The index knows the tensor's own name; a file may carry it made safe.
const std::string& shown_as(const TensorEntry* in_a, const TensorEntry* in_b, const TensorSet& a, const TensorSet& b) {
  return in_a == nullptr || (in_b != nullptr && b.has_index && !a.has_index) ? in_b->name : in_a->name;
}

// An entry with what is known of its element type: what one index says holds for the other's bits.
TensorEntry typed(TensorEntry entry, const TensorEntry* other, const std::string& dtype) {
  if (entry.dtype.empty() && other != nullptr) entry.dtype = other->dtype;
  if (entry.dtype.empty()) entry.dtype = dtype;
  return entry;
}

Row misfit(const std::string& name, const std::string& problem) {
  Row row;
  row.name = name;
  row.result.problem = problem;
  return row;
}

void compare_values(const std::string& name, const Value& a, const Value& b, const ComparisonTolerance& tolerance,
                    ThreadPool& pool, std::vector<Row>& rows) {
  const auto kind = [](const Value& v) { return v.is_tensor() ? "a tensor" : v.is_sequence() ? "a sequence" : "nothing"; };
  if (a.is_tensor() && b.is_tensor()) {
    rows.push_back(row_of(name, a.tensor(), b.tensor(), tolerance, pool));
  } else if (a.is_sequence() && b.is_sequence()) {
    const auto &x = a.sequence().elements, &y = b.sequence().elements;
    if (x.size() != y.size()) rows.push_back(misfit(name, fmt::format("a sequence of {} against one of {}", x.size(), y.size())));
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      compare_values(fmt::format("{}[{}]", name, i), x[i], y[i], tolerance, pool, rows);
    }
  } else if (!a.empty() || !b.empty()) {
    rows.push_back(misfit(name, fmt::format("{} against {}", kind(a), kind(b))));
  }
}

// Buckets of steps: {"from": 2, "to": 3, "count": 7}.
Json histogram_json(const std::vector<std::int64_t>& histogram) {
  Json buckets = Json::array();
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    if (histogram[i] == 0) continue;
    const std::uint64_t from = i == 0 ? 0 : std::uint64_t{1} << (i - 1);
    buckets.push_back({{"from", from}, {"to", i == 0 ? 0 : from + (from - 1)}, {"count", histogram[i]}});
  }
  return buckets;
}

Json origin_json(const ErrorOrigin& origin) {
  Json json = {{"node", origin.node.empty() ? Json(nullptr) : Json(origin.node)}};
  if (!origin.problem.empty()) json["problem"] = origin.problem;
  const auto add = [&json](const char* key, const std::optional<TensorComparison>& c) {
    if (!c) return;
    json[key] = {{"match", c->match}, {"max_abs", number_json(c->max_abs)}, {"max_rel", number_json(c->max_rel)},
                 {"max_ulp", c->max_ulp ? Json(*c->max_ulp) : Json(nullptr)}, {"mismatches", c->mismatches}};
  };
  add("own_a", origin.own_a);
  add("inherited", origin.inherited);
  add("own_b", origin.own_b);
  return json;
}

std::string origin_text(const ErrorOrigin& origin) {
  const auto part = [](const char* what, const std::optional<TensorComparison>& c) {
    if (!c) return std::string();
    if (!c->problem.empty()) return fmt::format("; {} {}", what, c->problem);
    if (c->different == 0) return fmt::format("; {} none", what);
    return fmt::format("; {} max abs {:.4g}{}{}", what, c->max_abs, c->max_ulp ? fmt::format(", max ulp {}", *c->max_ulp) : "",
                       c->match ? " (within the tolerance)" : "");
  };
  std::string text;
  if (origin.own_a || origin.own_b) {
    text = fmt::format("    {}, run on each side's inputs: {}\n", origin.node,
                       (part("A's own error", origin.own_a) + part("inherited", origin.inherited) +
                        part("B's own error", origin.own_b)).substr(2));
  }
  if (!origin.problem.empty()) text += fmt::format("    where the difference comes from cannot be said: {}\n", origin.problem);
  return text;
}

Json row_json(const Row& row) {
  const TensorComparison& c = row.result;
  Json json = {{"name", row.name}, {"match", c.match}};
  if (!c.problem.empty()) json["problem"] = c.problem;
  if (!row.shape) return json;
  json["dtype"] = name(row.dtype);
  json["shape"] = shape_json(*row.shape);
  json["max_abs"] = number_json(c.max_abs);
  json["max_rel"] = number_json(c.max_rel);
  json["max_ulp"] = c.max_ulp ? Json(*c.max_ulp) : Json(nullptr);
  json["mismatches"] = c.mismatches;
  json["elements"] = c.elements;
  json["worst_index"] = c.worst ? Json(row.worst) : Json(nullptr);
  json["a"] = c.worst ? row.json_a : Json(nullptr);
  json["b"] = c.worst ? row.json_b : Json(nullptr);
  json["different"] = c.different;
  json["incomparable"] = c.incomparable;
  json["needs"] = {{"rtol", number_json(c.needed_rtol)},
                   {"atol", number_json(c.needed_atol)},
                   {"ulp", c.max_ulp && c.incomparable == 0 ? Json(*c.max_ulp) : Json(nullptr)}};
  json["ulp_histogram"] = histogram_json(c.ulp_histogram);
  if (row.origin) json["origin"] = origin_json(*row.origin);
  return json;
}

// The least of each tolerance that passes; with the other of the first two as it is given. What was asked in ulp is
// answered in ulp.
std::string least_tolerance(const TensorComparison& c, const ComparisonTolerance& asked) {
  if (asked.ulp && c.max_ulp) return fmt::format("ulp {}", *c.max_ulp);
  std::string text = fmt::format("rtol {}, or atol {}", tolerance_text(c.needed_rtol), tolerance_text(c.needed_atol));
  if (c.max_ulp) text += fmt::format(", or ulp {}", *c.max_ulp);
  return text;
}

std::string row_text(const Row& row, const ComparisonTolerance& asked, std::size_t width, bool color) {
  const TensorComparison& c = row.result;
  std::string text = fmt::format("{:<{}}  {}", row.name, width, c.match ? paint("match", "32", color) : paint("DIFFERS", "31;1", color));
  if (row.shape) text += fmt::format("  {} {}", name(row.dtype), to_string(*row.shape));
  if (!c.problem.empty()) text += fmt::format("  {}", c.problem);
  if (!row.shape || (c.worst == std::nullopt && c.problem.empty())) return text + (row.shape ? "  equal\n" : "\n");
  if (!c.worst) return text + "\n";
  text += fmt::format("  {} of {} outside, max abs {:.4g}, max rel {:.4g}", c.mismatches, c.elements, c.max_abs, c.max_rel);
  if (c.max_ulp) text += fmt::format(", max ulp {}", *c.max_ulp);
  text += fmt::format("\n    worst at [{}]: {} against {}\n", fmt::join(row.worst, ", "), row.a, row.b);
  if (c.match) return text;
  if (c.incomparable > 0) {
    text += fmt::format("    {} of them NaN or infinity against something else: no tolerance would pass\n", c.incomparable);
  } else {
    text += fmt::format("    would pass with {}\n", least_tolerance(c, asked));
  }
  if (!c.ulp_histogram.empty()) {
    text += "    ulp:";
    for (std::size_t i = 0; i < c.ulp_histogram.size(); ++i) {
      if (c.ulp_histogram[i] == 0) continue;
      const std::uint64_t from = i == 0 ? 0 : std::uint64_t{1} << (i - 1);
      text += from <= 1 ? fmt::format("  {}: {}", from, c.ulp_histogram[i])
                        : fmt::format("  {}-{}: {}", from, from + (from - 1), c.ulp_histogram[i]);
    }
    text += '\n';
  }
  if (row.origin) text += origin_text(*row.origin);
  return text;
}

// Adds to the rows that differ where their error comes from.
void explain(Globals& globals, const Options& options, const TensorSet& a, const TensorSet& b,
             const std::vector<TensorPair>& pairs, std::vector<Row>& rows) {
  globals.model = options.model;
  const ModelFile file = ModelFile::read(options.model);
  if (!file.model().graph) fail(ErrorKind::kParse, "{}: the model has no graph", options.model);
  std::map<std::string, Value> inputs;
  if (options.inputs.given()) inputs = options.inputs.read(file.model(), bind_model(file.model()));
  const OriginFinder finder(file.model(), std::move(inputs), globals.threads);
  // By the names the rows have.
  std::map<std::string, std::pair<const TensorEntry*, const TensorEntry*>> entries;
  for (const TensorPair& pair : pairs) {
    const TensorEntry* in_a = pair.a < 0 ? nullptr : &a.entries[static_cast<std::size_t>(pair.a)];
    const TensorEntry* in_b = pair.b < 0 ? nullptr : &b.entries[static_cast<std::size_t>(pair.b)];
    entries[shown_as(in_a, in_b, a, b)] = {in_a, in_b};
  }
  const auto a_holds = [&](const std::string& name) {
    const auto found = entries.find(name);
    if (found == entries.end() || found->second.first == nullptr) return Value();
    return read_entry(typed(*found->second.first, found->second.second, options.dtype));
  };
  const auto b_holds = [&](const std::string& name) {
    const auto found = entries.find(name);
    if (found == entries.end() || found->second.second == nullptr) return Value();
    return read_entry(typed(*found->second.second, found->second.first, options.dtype));
  };
  for (Row& row : rows) {
    if (row.result.match || !row.shape) continue;
    check_interrupt();
    const auto& [in_a, in_b] = entries[row.name];
    if (in_a == nullptr || in_b == nullptr) continue;  // an element of a sequence
    row.origin = finder.find(row.name, a_holds(row.name).tensor(), b_holds(row.name).tensor(), a_holds, b_holds, options.tolerance);
  }
}

int run(Globals& globals, const Options& options) {
  const bool folder_a = std::filesystem::is_directory(options.a), folder_b = std::filesystem::is_directory(options.b);
  const TensorSet a = TensorSet::open(options.a), b = TensorSet::open(options.b);
  for (const auto& [set, path] : {std::pair{&a, &options.a}, {&b, &options.b}}) {
    if (set->entries.empty()) fail(ErrorKind::kUsage, "{}: holds no tensors (.pb, .npy, .npz, .txt)", *path);
  }
  // Two files of one tensor each are compared whatever they are called.
  const bool single = !folder_a && !folder_b && a.entries.size() == 1 && b.entries.size() == 1;
  const std::vector<TensorPair> pairs = single ? std::vector<TensorPair>{{0, 0}} : pair_up(a, b);

  ThreadPool pool(globals.threads);
  Progress progress(globals.quiet);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    check_interrupt();
    const TensorEntry* in_a = pairs[i].a < 0 ? nullptr : &a.entries[static_cast<std::size_t>(pairs[i].a)];
    const TensorEntry* in_b = pairs[i].b < 0 ? nullptr : &b.entries[static_cast<std::size_t>(pairs[i].b)];
    const std::string& name = shown_as(in_a, in_b, a, b);
    progress.update("compare", i, pairs.size(), name);
    if (in_a != nullptr && in_b != nullptr) {
      compare_values(name, read_entry(typed(*in_a, in_b, options.dtype)), read_entry(typed(*in_b, in_a, options.dtype)),
                     options.tolerance, pool, rows);
    } else {
      Row row = misfit(name, in_b == nullptr ? "only in A" : "only in B");
      row.only_a = in_b == nullptr;
      row.only_b = in_a == nullptr;
      rows.push_back(std::move(row));
    }
  }
  progress.clear();
  if (!options.model.empty()) explain(globals, options, a, b, pairs, rows);

  const auto count = [&rows](auto test) { return std::count_if(rows.begin(), rows.end(), test); };
  const auto matched = count([](const Row& r) { return r.result.match; });
  const auto only_a = count([](const Row& r) { return r.only_a; }), only_b = count([](const Row& r) { return r.only_b; });
  const bool match = matched == static_cast<std::ptrdiff_t>(rows.size());
  const auto first =
      std::find_if(rows.begin(), rows.end(), [](const Row& r) { return !r.result.match && !r.only_a && !r.only_b; });

  if (globals.format == "json") {
    Json tensors = Json::array();
    for (const Row& row : rows) tensors.push_back(row_json(row));
    print_json({{"schema_version", kSchemaVersion},
                {"match", match},
                {"first_divergence", first == rows.end() ? Json(nullptr) : Json(first->name)},
                {"matched", matched},
                {"only_in_a", only_a},
                {"only_in_b", only_b},
                {"tensors", tensors}});
    return match ? 0 : 1;
  }
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, std::min<std::size_t>(row.name.size(), 48));
  std::string text;
  for (const Row& row : rows) text += row_text(row, options.tolerance, width, globals.color);
  if (rows.size() > 1) {
    text += fmt::format("{} of {} tensors match", matched, rows.size());
    if (only_a + only_b > 0) text += fmt::format(", {} only in A, {} only in B", only_a, only_b);
    text += '\n';
    if (first != rows.end()) text += fmt::format("first divergence: {}\n", first->name);
  }
  print(text);
  return match ? 0 : 1;
}

}  // namespace

void add_compare(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("compare", "Compare two tensors, or two folders of tensors, whoever wrote them");
  verb->footer(
      "\nB is the one that counts as right. Tensors match where |a - b| <= atol + rtol * |b| for all elements; NaN matches NaN,\n"
      "an infinity the same infinity. In folders and .npz archives tensors are paired by name: by index.json where there is\n"
      "one, else by file name. A tensor that only one side has is a difference.\n"
      "\nExamples:\n"
      "  lppool-cli compare y.npy output_0.pb --ulp 1\n"
      "  lppool-cli compare inner/ other_runtime/ --rtol 1e-4     which tensor diverges first\n"
      "  lppool-cli compare inner/ other/ --model m.onnx -i x=x.npy   and whether its node or its inputs are to blame");
  verb->add_option("A", options->a, "Tensor file, archive or folder")->required();
  verb->add_option("B", options->b, "The same, taken as right")->required();
  auto* rtol = verb->add_option("--rtol", options->tolerance.rtol, "Relative tolerance")
                   ->check(non_negative_check())->capture_default_str()->type_name("X");
  auto* atol = verb->add_option("--atol", options->tolerance.atol, "Absolute tolerance")
                   ->check(non_negative_check())->capture_default_str()->type_name("X");
  verb->add_option("--ulp", options->tolerance.ulp, "Instead: values may be this many representable values apart")
      ->check(non_negative_check())->excludes(rtol)->excludes(atol)->type_name("N");
  verb->add_option("--dtype", options->dtype, "Element type the files hold, where .npy cannot say (bfloat16, float8e4m3fn, ...)")
      ->check(dtype_check())->type_name("TYPE");
  verb->add_flag("--any-dtype", options->tolerance.any_dtype, "Compare values where the element types differ");
  verb->add_option("--model", options->model, "Model that made the tensors: run the nodes of those that differ on each side's inputs, and\n"
                   "say how much of the difference is A's own, B's own, and inherited through the inputs")->type_name("MODEL");
  options->inputs.declare(*verb);
  verb->add_option("--format", r.globals.format, "Form of the answer")->check(CLI::IsMember({"text", "json"}))->type_name("FORMAT");
  verb->callback([r, options] { r.action = [&globals = r.globals, options] { return run(globals, *options); }; });
}

}  // namespace lppool::app
