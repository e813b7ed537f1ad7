#include "lppool/conformance/backend_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "lppool/base/error.h"
#include "lppool/compare/compare.h"
#include "lppool/io/text_tensor.h"
#include "lppool/onnx/model_file.h"
#include "lppool/onnx/tensor_file.h"
#include "lppool/run/session.h"

namespace lppool {
namespace {

namespace fs = std::filesystem;

std::string tensor_mismatch(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  const TensorComparison result = compare(got, want, {tolerance.rtol, tolerance.atol, tolerance.ulp, false});
  if (result.match) return "";
  if (!result.problem.empty()) return fmt::format("{} (got against expected)", result.problem);
  const std::int64_t first = result.first.value_or(0), worst = result.worst.value_or(0);
  const auto values = [&](std::int64_t at) {
    return fmt::format("[{}]: {}, expected {}", fmt::join(index_of(at, got.shape()), ", "), element_text(got, at), element_text(want, at));
  };
  const std::string allowed = tolerance.ulp ? fmt::format("{} ulp", *tolerance.ulp) : fmt::format("rtol {}, atol {}", tolerance.rtol, tolerance.atol);
  std::string text = fmt::format("{} of {} values outside {}, the first at {}", result.mismatches, result.elements, allowed, values(first));
  if (worst != first) text += fmt::format(", the farthest at {}", values(worst));
  return text;
}

struct NumberedFile {
  std::size_t number;
  fs::path path;
};

// input_0.pb, input_1.pb, ... in the order of their numbers.
std::vector<NumberedFile> numbered(const fs::path& folder, std::string_view prefix) {
  std::vector<NumberedFile> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(prefix) || !file.ends_with(".pb")) continue;
    const std::string digits = file.substr(prefix.size(), file.size() - prefix.size() - 3);
    if (digits.empty() || digits.size() > 6 || !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) continue;
    files.push_back({static_cast<std::size_t>(std::stoul(digits)), entry.path()});
  }
  if (error) fail(ErrorKind::kIo, "{}: cannot be listed: {}", folder.string(), error.message());
  std::ranges::sort(files, {}, &NumberedFile::number);
  return files;
}

NamedValue read_for(const NumberedFile& file, const std::vector<ValueInfo>& declared, std::size_t& index) {
  index = file.number;
  NamedValue value = read_value(file.path, index < declared.size() ? declared[index].type : Type{});
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (value.name.empty() || declared[i].name != value.name || i == index) continue;
    index = i;
    return read_value(file.path, declared[i].type);
  }
  if (index >= declared.size()) fail(ErrorKind::kRuntime, "{}: the graph has only {} values of this kind", file.path.string(), declared.size());
  return value;
}

Tolerance tolerance_of(const fs::path& folder, const CaseOptions& options) {
  Tolerance tolerance;
  if (std::ifstream file(folder / "tolerance.json"); file) {
    const auto json = nlohmann::json::parse(file, nullptr, false);
    if (json.is_discarded() || !json.is_object()) fail(ErrorKind::kParse, "{}: not a JSON object", (folder / "tolerance.json").string());
    for (const auto& [key, value] : json.items()) {
      const bool good = value.is_number() && value.get<double>() >= 0;
      if (key == "rtol" && good) tolerance.rtol = value.get<double>();
      else if (key == "atol" && good) tolerance.atol = value.get<double>();
      else if (key == "ulp" && good && value.is_number_integer()) tolerance.ulp = value.get<std::uint64_t>();
      else fail(ErrorKind::kParse, "{}: '{}' is {}, expected rtol, atol (a number from 0 on) or ulp (a whole one)",
                (folder / "tolerance.json").string(), key, value.dump());
    }
  }
  if (options.rtol || options.atol) tolerance.ulp.reset();
  if (options.rtol) tolerance.rtol = *options.rtol;
  if (options.atol) tolerance.atol = *options.atol;
  if (options.ulp) tolerance.ulp = options.ulp;
  return tolerance;
}

// True where some node, inside branches and functions too, draws random numbers.
bool draws(const std::vector<Node>& nodes) {
  return std::ranges::any_of(nodes, [](const Node& node) {
    const OpDef* op = find_op(node.domain, node.op_type);
    if (op != nullptr && op->facts.random) return true;
    return std::ranges::any_of(node.attributes, [](const Attribute& a) { return a.g != nullptr && draws(a.g->nodes); });
  });
}

// The difference that drawing does not explain: of kind, element type or shape.
std::string form_mismatch(const Value& got, const Value& want) {
  if (!got.is_tensor() || !want.is_tensor()) return mismatch(got, want, {});
  const Tensor &a = got.tensor(), &b = want.tensor();
  if (a.dtype() == b.dtype() && a.shape() == b.shape()) return "";
  return fmt::format("{} {}, expected {} {}", name(a.dtype()), to_string(a.shape()), name(b.dtype()), to_string(b.shape()));
}

void run_data_sets(const fs::path& path, const CaseOptions& options) {
  const Tolerance tolerance = tolerance_of(path, options);
  const ModelFile file = ModelFile::read(path / "model.onnx");
  const Model& model = file.model();
  ExecutorOptions executor_options;
  executor_options.threads = options.threads;
  Session session(model, executor_options);
  const bool random = model.graph && (draws(model.graph->nodes) ||
                                      std::ranges::any_of(model.functions, [](const Function& f) { return draws(f.nodes); }));
  std::string drawn;  // an output whose values differ because they are random
  std::size_t sets = 0;
  for (std::size_t n = 0; fs::is_directory(path / fmt::format("test_data_set_{}", n)); ++n) {
    ++sets;
    const fs::path folder = path / fmt::format("test_data_set_{}", n);
    const std::vector<Value> outputs = session.run(read_data_set_inputs(folder, model));
    const auto expected = numbered(folder, "output_");
    if (expected.empty()) fail(ErrorKind::kParse, "{}: no output_0.pb", folder.string());
    for (const NumberedFile& output : expected) {
      std::size_t index = 0;
      const NamedValue want = read_for(output, model.graph->outputs, index);
      std::string problem = mismatch(outputs[index], want.value, tolerance);
      if (!problem.empty() && random) {
        drawn = model.graph->outputs[index].name;
        problem = form_mismatch(outputs[index], want.value);
      }
      if (!problem.empty()) {
        fail(ErrorKind::kRuntime, "data set {}: output '{}': {}", n, model.graph->outputs[index].name, problem);
      }
    }
  }
  if (sets == 0) fail(ErrorKind::kIo, "{}: no test_data_set_0", path.string());
  if (!drawn.empty()) {
    fail(ErrorKind::kUnsupported, "output '{}' is drawn at random: it has the expected type and shape, values cannot be compared", drawn);
  }
}

}  // namespace

std::string mismatch(const Value& got, const Value& want, const Tolerance& tolerance) {
  if (want.empty() || got.empty()) return want.empty() == got.empty() ? "" : got.empty() ? "no value, expected one" : "a value, expected none";
  if (got.is_sequence() != want.is_sequence()) return got.is_sequence() ? "a sequence, expected a tensor" : "a tensor, expected a sequence";
  if (want.is_tensor()) return tensor_mismatch(got.tensor(), want.tensor(), tolerance);
  const auto& a = got.sequence().elements;
  const auto& b = want.sequence().elements;
  if (a.size() != b.size()) return fmt::format("a sequence of {}, expected {}", a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (auto problem = mismatch(a[i], b[i], tolerance); !problem.empty()) return fmt::format("element {}: {}", i, problem);
  }
  return "";
}

std::map<std::string, Value> read_data_set_inputs(const fs::path& folder, const Model& model) {
  std::map<std::string, Value> inputs;
  for (const NumberedFile& file : numbered(folder, "input_")) {
    std::size_t index = 0;
    NamedValue value = read_for(file, model.graph->inputs, index);
    inputs[model.graph->inputs[index].name] = std::move(value.value);
  }
  return inputs;
}

std::vector<fs::path> find_cases(const fs::path& root) {
  std::error_code error;
  if (!fs::exists(root, error)) fail(ErrorKind::kIo, "{}: no such file or folder", root.string());
  std::vector<fs::path> cases;
  const auto is_case = [](const fs::path& folder) {
    std::error_code ignored;
    return fs::is_regular_file(folder / "model.onnx", ignored) && fs::is_directory(folder / "test_data_set_0", ignored);
  };
  if (is_case(root)) cases.push_back(root);
  for (fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_directory(error)) continue;
    if (it.depth() > 32) it.disable_recursion_pending();
    if (!is_case(it->path())) continue;
    cases.push_back(it->path());
    it.disable_recursion_pending();
  }
  std::ranges::sort(cases);
  return cases;
}

CaseResult run_case(const fs::path& path, const CaseOptions& options) {
  CaseResult result;
  result.path = path;
  const fs::path shown = path.filename().empty() ? path.parent_path() : path;
  result.name = shown.filename().string();
  const auto begin = std::chrono::steady_clock::now();
  try {
    run_data_sets(path, options);
    result.status = CaseStatus::kPassed;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted) throw;
    result.status = error.kind() == ErrorKind::kUnsupported ? CaseStatus::kSkipped : CaseStatus::kFailed;
    result.message = error.what();
  } catch (const std::exception& error) {
    result.message = error.what();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace lppool
