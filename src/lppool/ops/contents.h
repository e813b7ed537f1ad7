#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lppool/ops/op.h"
#include "lppool/ops/shape_rules.h"

// Shape arithmetic at inference time: what the movers' shape rules share to follow the contents of small integer tensors
// (Shape -> Gather -> Unsqueeze -> Concat -> Reshape). Tests: tests/unit/ops/contents_test.cc.
namespace lppool {

// Longer integer tensors are not followed, and longer shapes not written out: no file makes inference slow by size alone.
inline constexpr std::size_t kMaxFollowed = 1024;

// The elements of input i where each one is known as a number.
std::optional<std::vector<std::int64_t>> known_ints(const InferContext& ctx, std::size_t i);
// The elements of input i; where only their count is known, that many unknown ones.
std::optional<std::vector<Dim>> elements_or_unknown(const InferContext& ctx, std::size_t i);
// The number of elements of a rank-1 (or scalar) input, where known and at most kMaxFollowed.
std::optional<std::size_t> known_length(const InferContext& ctx, std::size_t i);

// Product of dims[from, to).
Dim product(std::span<const Dim> dims);
// A shape of `rank` unknown dims.
std::vector<Dim> unknown_dims(std::size_t rank);

// Two dims that have to be the same size at run time: the one that says more. Throws kRuntime where both are numbers and
// differ; `what` begins the message.
Dim agree(const Dim& a, const Dim& b, std::string_view what);
// Multidirectional broadcasting of two shapes, aligned at their ends, by broadcast_dim().
std::vector<Dim> broadcast_shape(std::span<const Dim> a, std::span<const Dim> b);

// Output 0 is input 0's element type with this shape; no shape: rank unknown.
void set_moved(InferContext& ctx, std::optional<std::vector<Dim>> shape);
// Output 0 is a tensor of rank 0 or 1 whose elements are known in part; ignored where there are too many.
void set_contents(InferContext& ctx, std::vector<Dim> elements);

// The element type an integer attribute names. Throws kUnsupported for a number that is none.
DataType dtype_attribute(std::int64_t number, std::string_view attribute);

}  // namespace lppool
