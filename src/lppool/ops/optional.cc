// Optional, OptionalHasElement and OptionalGetElement. A value that is absent is an empty Value; one with contents is its
// contents.
#include "lppool/ops/explain.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr OpVersion kOptionalVersions[] = {
    {15, "input?:V", "output:O", "type:type_proto", "V=all15|seq(all15); O=optional(all15|seq(all15))"}};

constexpr OpVersion kHasElementVersions[] = {
    {15, "input:O", "output:B", "", "O=optional(all15|seq(all15)); B=bool"},
    {18, "input?:O", "output:B", "", "O=all15|seq(all15)|optional(all15|seq(all15)); B=bool"},
};

constexpr OpVersion kGetElementVersions[] = {
    {15, "input:O", "output:V", "", "O=optional(all15|seq(all15)); V=all15|seq(all15)"},
    {18, "input:O", "output:V", "", "O=all15|seq(all15)|optional(all15|seq(all15)); V=all15|seq(all15)"},
};

void infer_optional(InferContext& ctx) {
  if (ctx.has_input(0)) return ctx.set_output(0, ValueType::optional(ctx.input(0)));
  if (const Type* type = ctx.attributes.type_proto("type")) return ctx.set_output(0, ValueType::optional(declared_type(*type)));
  fail(ErrorKind::kRuntime, "neither an input nor the attribute 'type' is given, expected one");
}

void run_optional(KernelContext& ctx) { ctx.set_output(0, ctx.input_count() > 0 ? ctx.input_value(0) : Value()); }

void infer_has_element(InferContext& ctx) { ctx.set_output(0, DataType::kBool, std::vector<Dim>{}); }

void run_has_element(KernelContext& ctx) { ctx.set_output(0, Value(Tensor::scalar(ctx.has_input(0)))); }

void infer_get_element(InferContext& ctx) {
  const ValueType& type = ctx.input(0);
  if (type.kind != Type::Kind::kOptional) ctx.set_output(0, type);
  else if (type.element) ctx.set_output(0, *type.element);
  if (type.kind == Type::Kind::kOptional) explain_each(ctx, 0, "of the optional's contents");
}

void run_get_element(KernelContext& ctx) {
  if (!ctx.has_input(0)) fail(ErrorKind::kRuntime, "the optional value has no element");
  ctx.set_output(0, ctx.input_value(0));
}

}  // namespace

extern const OpDef kOptional;
const OpDef kOptional = {
    .domain = "",
    .type = "Optional",
    .summary = "An optional value that holds the input, or nothing where there is none.",
    .versions = kOptionalVersions,
    .infer = infer_optional,
    .run = run_optional,
    .constant_foldable = false,
};

extern const OpDef kOptionalHasElement;
const OpDef kOptionalHasElement = {
    .domain = "",
    .type = "OptionalHasElement",
    .summary = "Whether an optional value holds something.",
    .versions = kHasElementVersions,
    .infer = infer_has_element,
    .run = run_has_element,
    .constant_foldable = false,
};

extern const OpDef kOptionalGetElement;
const OpDef kOptionalGetElement = {
    .domain = "",
    .type = "OptionalGetElement",
    .summary = "What an optional value holds; an error where it holds nothing.",
    .versions = kGetElementVersions,
    .infer = infer_get_element,
    .run = run_get_element,
    .constant_foldable = false,
};

}  // namespace lppool
