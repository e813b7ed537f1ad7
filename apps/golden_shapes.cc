#include "golden_shapes.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "lppool/base/atomic_file.h"

namespace lppool::app {
namespace {

[[noreturn]] void bad(const std::string& path, std::string_view what) {
  fail(ErrorKind::kParse, "{}: not a file of expected shapes: {}", path, what);
}

std::string shape_words(const Json& shape) {
  if (shape.is_null()) return "?";
  if (shape.empty()) return "scalar";
  std::string text;
  for (const Json& dim : shape) {
    if (!text.empty()) text += 'x';
    const std::string word = dim.is_null() ? "?" : dim.is_string() ? dim.get<std::string>() : dim.dump();
    text += word.find(' ') == std::string::npos ? word : "(" + word + ")";
  }
  return text;
}

bool dim_matches(const Json& want, const Json& got) { return want == "*" || want == got; }

bool shape_matches(const Json& want, const Json& got) {
  if (want.is_null() || got.is_null()) return want == got;
  if (want.size() != got.size()) return false;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!dim_matches(want[i], got[i])) return false;
  }
  return true;
}

void validate(const std::string& path, const Json& model) {
  if (!model.is_object() || !model.contains("tensors") || !model["tensors"].is_array()) bad(path, "no \"tensors\" array");
  for (const Json& tensor : model["tensors"]) {
    if (!tensor.is_object() || !tensor.contains("name") || !tensor["name"].is_string()) bad(path, "a tensor without \"name\"");
    if (!tensor.contains("shape")) continue;
    const Json& shape = tensor["shape"];
    const bool good = shape.is_null() || (shape.is_array() && std::ranges::all_of(shape, [](const Json& d) {
                        return d.is_null() || d.is_string() || d.is_number_integer();
                      }));
    if (!good) bad(path, fmt::format("shape of '{}' is {}, expected an array of numbers, strings and null", tensor["name"].get<std::string>(), shape.dump()));
  }
}

Json without_answers(Json document) {
  for (const char* member : {"findings", "differences", "explain", "solve"}) document.erase(member);
  return document;
}

// What is inferred of a tensor, with the wildcards of the one that was expected.
Json renewed(const Json& expected, const Json& inferred) {
  Json tensor = expected;
  for (const auto& [member, value] : inferred.items()) {
    if (!tensor.contains(member)) continue;
    if (member == "shape" && tensor[member].is_array() && value.is_array() && tensor[member].size() == value.size()) {
      for (std::size_t axis = 0; axis < value.size(); ++axis) {
        if (!dim_matches(tensor[member][axis], value[axis])) tensor[member][axis] = value[axis];
      }
    } else if (member != "dtype" || tensor[member] != "*") {
      tensor[member] = value;
    }
  }
  return tensor;
}

}  // namespace

GoldenShapes GoldenShapes::read(const std::string& path, bool any_name) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorKind::kIo, "{}: cannot be read", path);
  const Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded() || !json.is_object()) bad(path, "not a JSON object");
  GoldenShapes golden;
  golden.path_ = path;
  golden.any_name_ = any_name;
  if (json.contains("models")) {
    if (!json["models"].is_array()) bad(path, "\"models\" is not an array");
    for (const Json& model : json["models"]) golden.models_.push_back(model);
  } else {
    golden.models_.push_back(json);
  }
  for (const Json& model : golden.models_) validate(path, model);
  return golden;
}

void GoldenShapes::write(const std::string& path, const Json& documents) {
  Json models = Json::array();
  for (const Json& document : documents) models.push_back(without_answers(document));
  const Json whole = models.size() == 1 ? models[0] : Json{{"schema_version", kSchemaVersion}, {"models", models}};
  write_file(path, whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::ptrdiff_t GoldenShapes::find(const std::string& model) const {
  if (any_name_ && models_.size() == 1) return 0;
  const std::filesystem::path mine = model;
  std::ptrdiff_t by_file = -1;
  int files = 0;
  for (std::size_t i = 0; i < models_.size(); ++i) {
    const Json& entry = models_[i];
    if (!entry.contains("model") || !entry["model"].is_string()) continue;
    const std::filesystem::path theirs = entry["model"].get<std::string>();
    if (theirs.lexically_normal() == mine.lexically_normal()) return static_cast<std::ptrdiff_t>(i);
    if (theirs.filename() != mine.filename()) continue;
    by_file = static_cast<std::ptrdiff_t>(i);
    ++files;
  }
  return files == 1 ? by_file : -1;
}

void GoldenShapes::renew(const std::string& model, const Json& document) {
  const std::ptrdiff_t place = find(model);
  if (place < 0) {
    models_.push_back(without_answers(document));
    return;
  }
  Json& entry = models_[static_cast<std::size_t>(place)];
  std::map<std::string, Json> listed;
  std::set<Json> kinds;
  for (const Json& tensor : entry["tensors"]) {
    listed.emplace(tensor["name"].get<std::string>(), tensor);
    if (tensor.contains("kind")) kinds.insert(tensor["kind"]);
  }
  Json tensors = Json::array();
  for (const Json& tensor : document["tensors"]) {
    const auto found = listed.find(tensor["name"].get<std::string>());
    if (found != listed.end()) tensors.push_back(renewed(found->second, tensor));
    else if (kinds.contains(tensor["kind"])) tensors.push_back(tensor);
  }
  entry["tensors"] = tensors;
}

void GoldenShapes::write() const { write(path_, Json(models_)); }

std::vector<std::string> GoldenShapes::compare(const std::string& model, const InferResult& result) const {
  const std::ptrdiff_t place = find(model);
  if (place < 0) return {fmt::format("{} does not list this model", path_)};
  std::vector<std::string> differences;
  for (const Json& want : models_[static_cast<std::size_t>(place)]["tensors"]) {
    const std::string tensor = want["name"].get<std::string>();
    const TensorInfo* got = result.find(tensor);
    if (got == nullptr) {
      differences.push_back(fmt::format("tensor '{}': not in the model, expected {}", tensor, want.contains("shape") ? shape_words(want["shape"]) : "it"));
      continue;
    }
    if (want.contains("shape")) {
      const Json shape = shape_json(got->type.shape);
      if (!shape_matches(want["shape"], shape)) {
        differences.push_back(fmt::format("tensor '{}': shape {}, expected {}", tensor, shape_words(shape), shape_words(want["shape"])));
      }
    }
    if (want.contains("dtype") && want["dtype"] != "*" && want["dtype"] != dtype_name(got->type)) {
      differences.push_back(fmt::format("tensor '{}': type {}, expected {}", tensor, dtype_name(got->type), want["dtype"].is_string() ? want["dtype"].get<std::string>() : want["dtype"].dump()));
    }
  }
  return differences;
}

}  // namespace lppool::app
