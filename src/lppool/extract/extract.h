#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lppool/graph/model.h"
#include "lppool/tensor/value.h"

namespace lppool {

// Cutting nodes out of a model together with the values that flowed through them.

// The tensors of one run by name: graph inputs, initializers and everything the main graph's nodes made.
using Recording = std::map<std::string, Value>;

// Runs the model on `inputs` and keeps every tensor. Throws as Session and Executor::run.
Recording record(const Model& model, std::map<std::string, Value> inputs, int threads);

// A model of the main graph's nodes at these positions (ascending), in their order. Its inputs are what they read and
// nobody among them makes, initializers apart, which come along; its outputs are what they make for others (or for nobody).
// Types and shapes are those of the recording. Functions and imports come along. Throws kUsage for a position the graph
// does not have, kRuntime where the recording lacks a value.
Model cut(const Model& model, const std::vector<std::size_t>& nodes, const Recording& recording);

// Positions of the nodes that `name` names: by node name, else by the name of an output. Throws kUsage, with the nearest
// names.
std::vector<std::size_t> find_nodes(const Model& model, const std::string& name);

// The nodes between tensors: all that the `to` tensors need, up to the `from` tensors. Throws kUsage for unknown tensors.
std::vector<std::size_t> find_between(const Model& model, const std::vector<std::string>& from, const std::vector<std::string>& to);

// Writes model.onnx and test_data_set_0/ with input_N.pb and output_N.pb, as ONNX's runner, ONNX Runtime and
// `lppool-cli test` take it. Throws kIo; kUsage where the folder exists and is not empty.
void write_case(const std::filesystem::path& folder, const Model& model, const Recording& recording);

// The smallest run of consecutive nodes that `fails` still accepts, found by halving from the end and from the beginning.
// `fails` is asked about the nodes [begin, end) of the main graph; it must accept all of them.
struct Reduced {
  std::size_t begin = 0, end = 0;
  int tries = 0;
};
Reduced reduce(std::size_t node_count, const std::function<bool(std::size_t begin, std::size_t end)>& fails);

}  // namespace lppool
