#pragma once

#include <string>
#include <vector>

namespace lppool::app {

// The models that arguments name: files as they are ("-" too), directories replaced by the .onnx files under them, sorted.
// Each file once. Throws kIo where an argument does not exist or a directory holds no model.
std::vector<std::string> find_models(const std::vector<std::string>& arguments);

}  // namespace lppool::app
