#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "lppool/ops/op.h"

// Words for InferContext::explain(). Sizes that a rule takes over unchanged from an input need none: inference sees where
// they come from by itself. Tests: tests/unit/infer/explain_test.cc, tests/cli/infer/explain_*.txt.
namespace lppool {

// "x.shape[1]", by the name of the tensor at input i.
std::string size_name(const InferContext& ctx, std::size_t i, std::size_t axis);
// A size inside a formula: "64", "H", "(H + 1)", "?".
std::string term(const Dim& dim);
// "1*256*6*6"; "1" where there is nothing to multiply.
std::string terms(std::span<const Dim> dims, std::string_view joint = "*");
// Sizes that meet along one axis, with their names: a rule that broadcasts them or wants them equal says which.
struct NamedSize {
  std::string name;
  Dim size;
};
NamedSize named_size(const InferContext& ctx, std::size_t i, std::size_t axis);
// "x.shape[1] = b.shape[0]" where all are the same, else "broadcast of x.shape[1] (64) and b.shape[0] (1)".
std::string broadcast_formula(std::span<const NamedSize> sizes);
// One remark on every axis of an output: "64 (as the body gives it)". To be called after set_output().
void explain_each(InferContext& ctx, std::size_t output, std::string_view remark);

}  // namespace lppool
