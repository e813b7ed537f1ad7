// Constant and ConstantOfShape.
#include "lppool/ops/contents.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"
#include "lppool/ops/sparse.h"

namespace lppool {
namespace {

constexpr std::string_view kForms =
    "sparse_value:sparse_tensor value:tensor value_float:float value_floats:floats value_int:int value_ints:ints "
    "value_string:string value_strings:strings";

constexpr OpVersion kConstantVersions[] = {
    {1, "", "output:T", "value!:tensor", "T=floats"},
    {9, "", "output:T", "value!:tensor", "T=all15"},
    {11, "", "output:T", "sparse_value:sparse_tensor value:tensor", "T=all15"},
    {12, "", "output:T", kForms, "T=all15"},
    {13, "", "output:T", kForms, "T=all16"},
    {19, "", "output:T", kForms, "T=all20"},
    {21, "", "output:T", kForms, "T=all22"},
    {23, "", "output:T", kForms, "T=all23"},
    {24, "", "output:T", kForms, "T=all24"},
    {25, "", "output:T", kForms, "T=all26"},
};

// The attribute that holds the value. Exactly one of the forms must be given.
const Attribute& form_of(const AttributeView& attributes) {
  const Attribute* form = nullptr;
  for (const AttributeSchema& candidate : attributes.schema().attributes) {
    const Attribute* given = attributes.node().find_attribute(candidate.name);
    if (given == nullptr) continue;
    if (form != nullptr) {
      fail(ErrorKind::kRuntime, "attributes '{}' and '{}' are both given, expected one value", form->name, given->name);
    }
    form = given;
  }
  if (form == nullptr) fail(ErrorKind::kRuntime, "no value attribute is given, expected one");
  return *form;
}

void infer_constant(InferContext& ctx) {
  const Attribute& form = form_of(ctx.attributes);
  const auto explain = [&] {
    if (!ctx.explaining || !ctx.outputs[0].shape) return;
    const std::vector<Dim>& shape = *ctx.outputs[0].shape;
    for (std::size_t k = 0; k < shape.size(); ++k) ctx.explain(0, k, fmt::format("{} (attribute {})", shape[k].to_string(), form.name));
  };
  if (form.name == "value") {
    const Tensor* value = ctx.attributes.tensor("value");
    if (value == nullptr) return;
    ctx.set_output(0, value->dtype(), std::vector<Dim>(value->shape().begin(), value->shape().end()));
  } else if (form.name == "sparse_value") {
    const StoredSparseTensor* sparse = ctx.attributes.sparse_tensor("sparse_value");
    if (sparse == nullptr) return;
    ctx.set_output(0, sparse->values.dtype(), std::vector<Dim>(sparse->dims.begin(), sparse->dims.end()));
  } else if (form.name == "value_int") {
    ctx.set_output(0, DataType::kInt64, std::vector<Dim>{});
  } else if (form.name == "value_float") {
    ctx.set_output(0, DataType::kFloat32, std::vector<Dim>{});
  } else if (form.name == "value_string") {
    ctx.set_output(0, DataType::kString, std::vector<Dim>{});
  } else if (form.name == "value_ints") {
    ctx.set_output(0, DataType::kInt64, std::vector<Dim>{static_cast<std::int64_t>(form.ints.size())});
  } else if (form.name == "value_floats") {
    ctx.set_output(0, DataType::kFloat32, std::vector<Dim>{static_cast<std::int64_t>(form.floats.size())});
  } else if (form.name == "value_strings") {
    ctx.set_output(0, DataType::kString, std::vector<Dim>{static_cast<std::int64_t>(form.strings.size())});
  }
  explain();
}

template <typename T>
Tensor list(const std::vector<T>& values) {
  return Tensor::of(Shape{static_cast<std::int64_t>(values.size())}, values);
}

void run_constant(KernelContext& ctx) {
  const Attribute& form = form_of(ctx.attributes);
  const AttributeView& attributes = ctx.attributes;
  if (form.name == "value") {
    const Tensor* value = attributes.tensor("value");
    if (value == nullptr || !value->defined()) fail(ErrorKind::kRuntime, "attribute 'value' holds no tensor");
    ctx.set_output(0, Value(*value));
  } else if (form.name == "sparse_value") {
    const StoredSparseTensor* sparse = attributes.sparse_tensor("sparse_value");
    if (sparse == nullptr) fail(ErrorKind::kRuntime, "attribute 'sparse_value' holds no tensor");
    ctx.set_output(0, Value(to_dense(*sparse)));
  } else if (form.name == "value_int") {
    ctx.set_output(0, Value(Tensor::scalar(attributes.i("value_int"))));
  } else if (form.name == "value_float") {
    ctx.set_output(0, Value(Tensor::scalar(attributes.f("value_float"))));
  } else if (form.name == "value_string") {
    ctx.set_output(0, Value(Tensor::scalar(attributes.s("value_string"))));
  } else if (form.name == "value_ints") {
    ctx.set_output(0, Value(list(attributes.ints("value_ints"))));
  } else if (form.name == "value_floats") {
    ctx.set_output(0, Value(list(attributes.floats("value_floats"))));
  } else {
    ctx.set_output(0, Value(list(attributes.strings("value_strings"))));
  }
}

constexpr OpVersion kConstantOfShapeVersions[] = {
    {9, "input:T1", "output:T2", "value:tensor", "T1=int64; T2=num11|bool"},
    {20, "input:T1", "output:T2", "value:tensor", "T1=int64; T2=num12|float8s|bool"},
    {21, "input:T1", "output:T2", "value:tensor", "T1=int64; T2=num12|float8s|uint4|int4|bool"},
    {23, "input:T1", "output:T2", "value:tensor", "T1=int64; T2=num12|float8s|uint4|int4|bool|float4e2m1"},
    {24, "input:T1", "output:T2", "value:tensor", "T1=int64; T2=num12|float8s|uint4|int4|bool|float4e2m1|float8e8m0"},
    {25, "input:T1", "output:T2", "value:tensor",
     "T1=int64; T2=num12|float8s|uint4|int4|bool|float4e2m1|float8e8m0|uint2|int2"},
};

// The one-element tensor that gives type and value; float32 zero where the attribute is left out.
Tensor fill_value(const AttributeView& attributes) {
  const Tensor* value = attributes.tensor("value");
  if (value == nullptr) return Tensor::scalar(0.0f);
  if (value->size() != 1) {
    fail(ErrorKind::kRuntime, "attribute 'value' has shape {}, expected one element", to_string(value->shape()));
  }
  return *value;
}

void infer_constant_of_shape(InferContext& ctx) {
  const Tensor value = fill_value(ctx.attributes);
  auto dims = elements_or_unknown(ctx, 0);
  if (dims) {
    for (const Dim& dim : *dims) {
      if (dim.value().value_or(0) < 0) fail(ErrorKind::kRuntime, "shape {} has a negative size", to_string(*dims));
    }
  }
  ctx.set_output(0, value.dtype(), dims);
  if (value.dtype() != DataType::kInt64 && value.dtype() != DataType::kInt32) return;
  const Dim element(int_values(value, "value")[0]);
  if (dims && dims->empty()) set_contents(ctx, {element});
  if (!dims || dims->size() != 1) return;
  const auto count = (*dims)[0].value();
  if (count && *count <= static_cast<std::int64_t>(kMaxFollowed)) {
    set_contents(ctx, std::vector<Dim>(static_cast<std::size_t>(*count), element));
  }
}

void run_constant_of_shape(KernelContext& ctx) {
  const Tensor value = fill_value(ctx.attributes);
  Shape shape(int_values(ctx.input(0), "the shape"));
  for (const std::int64_t dim : shape) {
    if (dim < 0) fail(ErrorKind::kRuntime, "shape {} has a negative size", to_string(shape));
  }
  fill(ctx.output(0, value.dtype(), std::move(shape)), value, 0, ctx.threads());
}

}  // namespace

extern const OpDef kConstant;
const OpDef kConstant = {
    .domain = "",
    .type = "Constant",
    .summary = "Produces the tensor stored in its attribute.",
    .versions = kConstantVersions,
    .infer = infer_constant,
    .run = run_constant,
};

extern const OpDef kConstantOfShape;
const OpDef kConstantOfShape = {
    .domain = "",
    .type = "ConstantOfShape",
    .summary = "Makes a tensor of the shape its input lists, every element the one value of the attribute.",
    .versions = kConstantOfShapeVersions,
    .infer = infer_constant_of_shape,
    .run = run_constant_of_shape,
};

}  // namespace lppool
