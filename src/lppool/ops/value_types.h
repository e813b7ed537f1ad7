#pragma once

#include <memory>
#include <vector>

#include "lppool/ops/op.h"

// Types of values that may come from more than one place, and sequences: what control flow and sequence operators share.
namespace lppool {

// What is true of both types: the type of a value that is one or the other. Throws kRuntime where kinds or element types
// contradict each other; shapes may differ. A type that knows nothing leaves nothing known.
ValueType union_of(const ValueType& a, const ValueType& b);

// A sequence value. The list itself counts against the memory limit (its tensors do anyway). Throws kLimit.
Value make_sequence(DataType dtype, std::vector<Value> elements);

// The sequence at input i. Throws kRuntime where it is none.
const Sequence& sequence_input(const KernelContext& ctx, std::size_t i);

// The type of the elements of the sequence at input i; knows nothing where that is unknown. Throws kRuntime where the input is
// no sequence.
ValueType sequence_element(const InferContext& ctx, std::size_t i);

}  // namespace lppool
