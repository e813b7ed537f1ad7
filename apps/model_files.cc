#include "model_files.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <unordered_set>

#include "lppool/base/error.h"
#include "lppool/base/thread_pool.h"
#include "progress.h"

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

bool has_external(const Graph& graph) {
  const auto external = [](const std::shared_ptr<const StoredTensor>& tensor) { return tensor->external; };
  for (const Node& node : graph.nodes) {
    for (const Attribute& attribute : node.attributes) {
      if (attribute.t && attribute.t->external) return true;
      if (std::ranges::any_of(attribute.tensors, external)) return true;
      if (attribute.g && has_external(*attribute.g)) return true;
      if (std::ranges::any_of(attribute.graphs, [](const auto& inner) { return has_external(*inner); })) return true;
    }
  }
  return std::ranges::any_of(graph.initializers, [](const StoredTensor& tensor) { return tensor.external; });
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

void each_model(const Globals& globals, std::string_view verb, const std::vector<std::string>& files,
                const std::function<void(std::size_t i)>& work) {
  constexpr std::size_t kMostThreads = 1024;
  ThreadPool pool(std::min(globals.threads, static_cast<int>(std::min(files.size(), kMostThreads))));
  Progress progress(globals.quiet);
  std::mutex mutex;
  std::size_t done = 0;
  pool.parallel_for(std::ssize(files), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      work(i);
      const std::lock_guard lock(mutex);
      progress.update(verb, ++done, files.size(), files[i]);
    }
  });
}

void warn_of_external_data(const Model& model, const std::string& input, const std::string& output) {
  if (output == "-" || !model.graph || !has_external(*model.graph)) return;
  std::error_code ignored;
  const fs::path from = fs::path(input).parent_path(), to = fs::path(output).parent_path();
  if (fs::equivalent(from.empty() ? "." : from, to.empty() ? "." : to, ignored)) return;
  spdlog::warn("{}: its external data stay in '{}'; copy them beside it", output, from.empty() ? "." : from.string());
}

}  // namespace lppool::app
