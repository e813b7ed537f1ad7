#include "model_files.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "lppool/base/error.h"

namespace lppool::app {
namespace {

namespace fs = std::filesystem;

// Links to directories are not followed: a link upwards would never end.
std::vector<std::string> models_under(const fs::path& directory) {
  std::vector<std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->path().extension() == ".onnx" && !at->is_directory(ignored)) found.push_back(at->path().string());
  }
  if (error) fail(ErrorKind::kIo, "{}: {}", directory.string(), error.message());
  if (found.empty()) fail(ErrorKind::kIo, "{}: no .onnx file in this directory or below", directory.string());
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::vector<std::string> find_models(const std::vector<std::string>& arguments) {
  std::vector<std::string> models;
  std::unordered_set<std::string> seen;
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    const bool directory = argument != "-" && fs::is_directory(argument, ignored);
    for (std::string& model : directory ? models_under(argument) : std::vector<std::string>{argument}) {
      if (seen.insert(model).second) models.push_back(std::move(model));
    }
  }
  return models;
}

}  // namespace lppool::app
