#pragma once

#include <vector>

#include "lppool/graph/model.h"
#include "lppool/ops/movement.h"

namespace lppool {

// Tensors of one shape collected one by one into a tensor with one more axis: scan outputs of Loop and Scan. Storage
// doubles as it fills, so that collecting n tensors costs their bytes a few times, not n times, and only storage counts.
class Stack {
 public:
  // How many will come, where known: that many fit without growing. At most a hint.
  void expect(std::int64_t count) { expected_ = count; }
  // Throws kRuntime where type or shape differ from the first one's; `what` names the output.
  void append(const Tensor& element, std::string_view what, ThreadPool& threads);
  std::int64_t count() const { return count_; }
  // All elements along a new axis, in the order they came or (`reversed`) the other way round. There is one at least.
  Tensor finish(std::int64_t axis, bool reversed, ThreadPool& threads);

 private:
  Shape shape_of(std::int64_t count) const;
  Tensor storage_;  // capacity x element shape
  Shape element_;
  DataType dtype_ = DataType::kUndefined;
  std::int64_t count_ = 0, capacity_ = 0, expected_ = 0;
};

// The stack of no tensors at all: an empty tensor of the declared type, unknown sizes being zero. Throws kRuntime where the
// element type is not declared.
Tensor empty_stack(const Type& declared, std::int64_t axis, std::string_view what);

}  // namespace lppool
