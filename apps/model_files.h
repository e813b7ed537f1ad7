#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "lppool/graph/model.h"

namespace lppool::app {

// The models that arguments name: files as they are ("-" too), directories replaced by the .onnx files under them, sorted.
// Each file once. Throws kIo where an argument does not exist or a directory holds no model.
std::vector<std::string> find_models(const std::vector<std::string>& arguments);

// Calls work(i) for each of `files`, several at a time, with a line of progress that begins with `verb`. Throws what a call
// throws.
void each_model(const Globals& globals, std::string_view verb, const std::vector<std::string>& files,
                const std::function<void(std::size_t i)>& work);

// Warns where a copy of the model `input` that goes to `output` will not find the external data it names: they lie beside
// the original, in another folder.
void warn_of_external_data(const Model& model, const std::string& input, const std::string& output);

}  // namespace lppool::app
