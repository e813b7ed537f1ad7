#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lppool/ops/op.h"

// Inference rules that many operators share.
namespace lppool {

// The finding code of an attribute whose value is none of those its operator knows.
inline constexpr const char* kBadValue = "AT003";

// The size both dims must have where they are known to be equal: the more precise of the two. Throws kRuntime where
// they are different numbers; `what` names them in the message.
Dim unify(const Dim& a, const Dim& b, std::string_view what);

// The size two broadcasting dims give: exact where one is 1 or both are the same, or where one is a number other than 1
// (the other must then be that number or 1); else unknown. Throws kRuntime where two numbers do not fit.
Dim broadcast_dim(const Dim& a, const Dim& b);

// The numpy-style broadcast of the shapes of the inputs from `first` on, explained as those of output 0; empty where a rank
// is unknown.
std::optional<std::vector<Dim>> broadcast_inputs(InferContext& ctx, std::size_t first = 0);

// Element type of input i; kUndefined where unknown.
DataType input_dtype(const InferContext& ctx, std::size_t i);

// Output 0 has type, shape and, for integers, contents of input 0.
void infer_identity(InferContext& ctx);
// Output 0 has type and shape of input 0.
void infer_same(InferContext& ctx);
// Output 0 is bool, of the shape of input 0.
void infer_same_bool(InferContext& ctx);

// Shape of the output of a binary node: broadcast, or that of the first input under the attributes of opset 1 to 6.
std::optional<std::vector<Dim>> infer_binary_shape(InferContext& ctx);

// Contents of integer tensors, element by element, where inputs 0 and 1 are known and of one length (or one has length
// 1). `combine` may answer "unknown". Does nothing where contents are unknown.
void infer_binary_elements(InferContext& ctx, Dim (*combine)(const Dim& a, const Dim& b, DataType dtype));

// `value` if every tensor of type `dtype` can hold it, else unknown: run time would wrap it. Expressions pass.
Dim fits(const Dim& value, DataType dtype);

// The element type that an attribute of a type number names; throws kRuntime for numbers no tensor can have.
DataType dtype_attribute(const AttributeView& attributes, std::string_view name);

}  // namespace lppool
