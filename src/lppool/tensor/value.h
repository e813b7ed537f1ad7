#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "lppool/tensor/packed.h"
#include "lppool/tensor/tensor.h"

namespace lppool {

class Value;

// The elements of a sequence value, and the type its tensors have (kUndefined for an empty sequence of unknown type).
struct Sequence {
  DataType dtype = DataType::kUndefined;
  std::vector<Value> elements;
};

// What an edge of the graph carries at run time: a tensor, a sequence, or nothing (an input left out, or an optional
// value without contents). An optional with contents is its contents. Cheap to copy: storage is shared.
class Value {
 public:
  Value() = default;
  Value(Tensor tensor) : data_(std::move(tensor)) {}  // NOLINT: a tensor is a value
  Value(std::shared_ptr<const Sequence> sequence) : data_(std::move(sequence)) {}  // NOLINT
  Value(PackedTensor packed) : data_(std::move(packed)) {}  // NOLINT

  bool empty() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(data_); }
  bool is_sequence() const { return std::holds_alternative<std::shared_ptr<const Sequence>>(data_); }
  const Tensor& tensor() const { return std::get<Tensor>(data_); }
  Tensor& tensor() { return std::get<Tensor>(data_); }
  // A tensor in blocks of channels. Only the executor and the kernels that ask for them (OpDef::packed) meet these.
  bool is_packed() const { return std::holds_alternative<PackedTensor>(data_); }
  const PackedTensor& packed() const { return std::get<PackedTensor>(data_); }
  PackedTensor& packed() { return std::get<PackedTensor>(data_); }
  const Sequence& sequence() const { return *std::get<std::shared_ptr<const Sequence>>(data_); }

 private:
  std::variant<std::monostate, Tensor, std::shared_ptr<const Sequence>, PackedTensor> data_;
};

}  // namespace lppool
