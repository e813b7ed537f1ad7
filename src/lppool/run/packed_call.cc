#include "lppool/run/packed_call.h"

#include <algorithm>

namespace lppool {
namespace {

// The operand in the order of the blocks of `packed`, with which it broadcasts: one element, or one for each channel,
// repeated along the last spatial axis so that loops over it are long. An undefined tensor where it is neither.
Tensor beside_blocks(const Tensor& operand, const PackedTensor& packed) {
  const std::size_t rank = packed.shape.rank();
  const Shape& shape = operand.shape();
  if (operand.size() == 1 && shape.rank() <= rank) return operand;
  const bool aligned = shape.rank() == rank - 1 || (shape.rank() == rank && shape[0] == 1);
  const std::size_t channel_axis = shape.rank() == rank ? 1 : 0;
  if (!aligned || shape[channel_axis] != packed.shape[1] || operand.size() != packed.shape[1]) return {};
  if (operand.dtype() != DataType::kFloat32) return {};
  const std::int64_t block = packed.block(), width = packed.shape[rank - 1];
  std::vector<std::int64_t> dims(rank, 1);
  dims.front() = packed.groups();
  dims[rank - 2] = width;
  dims.back() = block;
  Tensor repeated = Tensor::allocate(DataType::kFloat32, Shape(std::move(dims)));
  const float* from = operand.data<float>().data();
  float* to = repeated.mutable_data<float>().data();
  for (std::int64_t group = 0; group < packed.groups(); ++group) {
    for (std::int64_t i = 0; i < width; ++i, to += block) std::copy_n(from + group * block, block, to);
  }
  return repeated;
}

// What stands in for each input; empty where the kernel has to see plain tensors.
std::vector<Value> blocks_of(const KernelContext& context, PackedUse use, const PackedTensor& first) {
  std::vector<Value> result;
  // A legacy operator places its second operand by attributes, which count the axes of the plain tensor.
  const bool legacy = context.attributes.schema().find_attribute("broadcast") != nullptr;
  for (const Value& value : context.inputs) {
    if (value.empty()) {
      result.emplace_back();
    } else if (value.is_packed()) {
      const PackedTensor& packed = value.packed();
      bool fits = packed.block() == first.block() && packed.shape.rank() == first.shape.rank();
      for (std::size_t axis = 0; fits && axis < first.shape.rank(); ++axis) {
        fits = packed.shape[axis] == first.shape[axis] || (use == PackedUse::kJoin && axis == 1);
      }
      if (!fits) return {};
      result.emplace_back(packed.blocks);
    } else {
      if (use != PackedUse::kElementwise || legacy || !value.is_tensor()) return {};
      Tensor operand = beside_blocks(value.tensor(), first);
      if (!operand.defined()) return {};
      result.emplace_back(std::move(operand));
    }
  }
  return result;
}

}  // namespace

bool adapt_packed_inputs(KernelContext& context, PackedUse use) {
  const auto first = std::ranges::find_if(context.inputs, &Value::is_packed);
  if (first == context.inputs.end() || use == PackedUse::kOwn) return false;
  const bool one_output = std::ranges::count(context.output_wanted, true) == 1 && context.wants_output(0);
  const bool joins_channels = use != PackedUse::kJoin || context.attributes.i("axis", 1) == 1;
  if (use != PackedUse::kNone && one_output && joins_channels) {
    if (std::vector<Value> blocks = blocks_of(context, use, first->packed()); !blocks.empty()) {
      context.inputs = std::move(blocks);
      return true;
    }
  }
  for (std::size_t i = 0; i < context.inputs.size(); ++i) context.unpack_input(i);
  return false;
}

void wrap_output(KernelContext& context) {
  context.set_output(0, PackedTensor::wrap(context.outputs.at(0).tensor()));
}

}  // namespace lppool
