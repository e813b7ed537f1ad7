#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/bind/bound_graph.h"

// What inference knows of each value: its type, and of small tensors the contents. Internal to infer.
namespace lppool {

struct Known {
  ValueType type;
  Tensor constant;                           // defined: the whole contents
  std::optional<std::vector<Dim>> elements;  // of an integer tensor of rank 0 or 1, as far as known
};

// By the name of the value.
using Scope = std::unordered_map<std::string, Known>;

Known known_tensor(const Tensor& tensor);

// Runs `node` where all its inputs are constant and small, and so are its outputs by what `made` knows of them; puts
// the results into `made` and returns true. Leaves `made` alone and returns false otherwise, and where the kernel
// throws: whoever runs the model will say why.
bool fold(const BoundNode& node, const Scope& scope, ThreadPool& pool, std::vector<Known>& made);

}  // namespace lppool
