#include "lppool/infer/known.h"

#include "lppool/infer/infer.h"
#include "lppool/ops/node_context.h"

namespace lppool {
namespace {

constexpr std::int64_t kMaxFoldedElements = 4096;

// Elements of an integer tensor of rank 0 or 1 as dims; empty for other tensors and large ones.
std::optional<std::vector<Dim>> elements_of(const Tensor& tensor) {
  if (tensor.rank() > 1 || tensor.size() > kMaxFoldedElements) return std::nullopt;
  std::vector<Dim> result;
  const auto take = [&](auto values) {
    for (const auto v : values) result.emplace_back(static_cast<std::int64_t>(v));
  };
  switch (tensor.dtype()) {
    case DataType::kInt64:
      take(tensor.data<std::int64_t>());
      break;
    case DataType::kInt32:
      take(tensor.data<std::int32_t>());
      break;
    case DataType::kBool:
      take(tensor.data<std::uint8_t>());
      break;
    default:
      return std::nullopt;
  }
  return result;
}

}  // namespace

Known known_tensor(const Tensor& tensor) {
  return {type_of(tensor), tensor, elements_of(tensor)};
}

bool fold(const BoundNode& node, const Scope& scope, ThreadPool& pool, std::vector<Known>& made) {
  if (node.op->run == nullptr || !node.op->constant_foldable) return false;
  for (const Known& known : made) {
    if (!known.type.shape) {
      if (node.node.inputs.empty()) continue;  // Constant: as large as its attribute
      return false;
    }
    std::int64_t elements = 1;
    for (const Dim& dim : *known.type.shape) {
      if (!dim.value() || __builtin_mul_overflow(elements, *dim.value(), &elements)) return false;
    }
    if (elements > kMaxFoldedElements) return false;
  }
  NodeContext context(node.node, *node.schema, node.opset, pool);
  for (const std::string& input : node.node.inputs) {
    const auto found = scope.find(input);
    if (input.empty()) {
      context.inputs.emplace_back();
    } else if (found != scope.end() && found->second.constant.defined() &&
               found->second.constant.size() <= kMaxFoldedElements) {
      context.inputs.emplace_back(found->second.constant);
    } else {
      return false;
    }
  }
  try {
    node.op->run(context);
  } catch (const Error&) {
    return false;
  }
  for (std::size_t k = 0; k < made.size() && k < context.outputs.size(); ++k) {
    if (context.outputs[k].is_tensor()) made[k] = known_tensor(context.outputs[k].tensor());
  }
  return true;
}

}  // namespace lppool
