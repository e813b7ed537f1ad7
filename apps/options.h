#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "lppool/infer/infer.h"

// Options that several verbs share.
namespace lppool::app {

// "NAME=VALUE" cut at the last '=' (tensor names may hold one). Throws kUsage naming the option.
std::pair<std::string, std::string> split_assignment(const std::string& text, std::string_view option);

// --dim NAME=N and --input-shape NAME=1x3xHxW.
struct ShapeOptions {
  std::vector<std::string> dims, input_shapes;
  void declare(CLI::App& verb);
  // Throws kUsage for text that is not of that form.
  InferOptions resolve() const;
};

}  // namespace lppool::app
