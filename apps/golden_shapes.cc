#include "golden_shapes.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

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
    text += dim.is_null() ? "?" : dim.is_string() ? dim.get<std::string>() : dim.dump();
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

}  // namespace

GoldenShapes GoldenShapes::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorKind::kIo, "{}: cannot be read", path);
  const Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded() || !json.is_object()) bad(path, "not a JSON object");
  GoldenShapes golden;
  golden.path_ = path;
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
  Json models = documents;
  for (Json& model : models) {
    for (const char* member : {"findings", "differences", "explain"}) model.erase(member);
  }
  const Json whole = models.size() == 1 ? models[0] : Json{{"schema_version", kSchemaVersion}, {"models", models}};
  write_file(path, whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

const Json* GoldenShapes::find(const std::string& model) const {
  const auto named = [&](const Json& entry, bool by_file) {
    if (!entry.contains("model") || !entry["model"].is_string()) return false;
    const std::filesystem::path theirs = entry["model"].get<std::string>(), mine = model;
    return by_file ? theirs.filename() == mine.filename() : theirs.lexically_normal() == mine.lexically_normal();
  };
  if (models_.size() == 1) return &models_[0];
  for (const bool by_file : {false, true}) {
    for (const Json& entry : models_) {
      if (named(entry, by_file)) return &entry;
    }
  }
  return nullptr;
}

std::vector<std::string> GoldenShapes::compare(const std::string& model, const InferResult& result) const {
  const Json* entry = find(model);
  if (entry == nullptr) return {fmt::format("{} does not list this model", path_)};
  std::vector<std::string> differences;
  for (const Json& want : (*entry)["tensors"]) {
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
