#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lppool/bind/bound_graph.h"
#include "lppool/tensor/value.h"
#include "options.h"

// Where the inputs of a model come from: options that run, bench and others share.
namespace lppool::app {

struct InputOptions {
  std::vector<std::string> files, feeds;
  std::string folder;
  std::optional<std::uint64_t> seed;
  bool random = false;
  ShapeOptions shapes;

  void declare(CLI::App& verb);
  bool given() const { return !files.empty() || !feeds.empty() || !folder.empty() || random; }
  std::vector<std::string> fed_names() const;
  // Values by tensor name, graph inputs and fed tensors. With --random, inputs that no file gives and that have no default
  // are made up; their shapes must then be known. Throws kUsage, kIo, kParse, kRuntime (naming the dims to bind).
  std::map<std::string, Value> read(const Model& model, const BoundGraph& graph) const;
};

}  // namespace lppool::app
