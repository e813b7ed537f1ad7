#include "lppool/ops/shape_rules.h"

#include <algorithm>
#include <limits>

#include "lppool/base/error.h"
#include "lppool/ops/explain.h"

namespace lppool {

Dim unify(const Dim& a, const Dim& b, std::string_view what) {
  if (a.value() && b.value() && *a.value() != *b.value()) {
    fail(ErrorKind::kRuntime, "{} must be equal, found {} and {}", what, *a.value(), *b.value());
  }
  if (a.value()) return a;
  if (b.value()) return b;
  return a.known() ? a : b;
}

Dim broadcast_dim(const Dim& a, const Dim& b) {
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  const auto x = a.value(), y = b.value();
  if (x && y && *x != *y) fail(ErrorKind::kRuntime, "sizes {} and {} do not broadcast", *x, *y);
  if (x) return a;
  if (y) return b;
  return same(a, b) ? a : Dim();
}

namespace {

void explain_broadcast(InferContext& ctx, std::size_t first, std::size_t rank) {
  for (std::size_t axis = 0; axis < rank; ++axis) {
    std::vector<NamedSize> sizes;
    for (std::size_t i = first; i < ctx.input_count(); ++i) {
      const std::vector<Dim>* shape = ctx.shape(i);
      if (shape != nullptr && shape->size() + axis >= rank) sizes.push_back(named_size(ctx, i, shape->size() + axis - rank));
    }
    ctx.explain(0, axis, broadcast_formula(sizes));
  }
}

}  // namespace

std::optional<std::vector<Dim>> broadcast_inputs(InferContext& ctx, std::size_t first) {
  std::vector<Dim> result;
  for (std::size_t i = first; i < ctx.input_count(); ++i) {
    if (!ctx.has_input(i)) continue;
    const std::vector<Dim>* shape = ctx.shape(i);
    if (shape == nullptr) return std::nullopt;
    if (shape->size() > result.size()) result.insert(result.begin(), shape->size() - result.size(), Dim(1));
    for (std::size_t axis = 0; axis < shape->size(); ++axis) {
      Dim& dim = result[result.size() - shape->size() + axis];
      dim = broadcast_dim(dim, (*shape)[axis]);
    }
  }
  if (ctx.explaining) explain_broadcast(ctx, first, result.size());
  return result;
}

DataType input_dtype(const InferContext& ctx, std::size_t i) {
  const ValueType& type = ctx.input(i);
  return type.is_tensor() ? type.dtype : DataType::kUndefined;
}

void infer_identity(InferContext& ctx) {
  ctx.set_output(0, ctx.input(0));
  if (const auto* elements = ctx.elements(0)) ctx.set_elements(0, *elements);
}

void infer_same(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, input_dtype(ctx, 0), shape ? std::optional(*shape) : std::nullopt);
}

void infer_same_bool(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, DataType::kBool, shape ? std::optional(*shape) : std::nullopt);
}

std::optional<std::vector<Dim>> infer_binary_shape(InferContext& ctx) {
  if (ctx.attributes.schema().find_attribute("broadcast") == nullptr) return broadcast_inputs(ctx);
  const std::vector<Dim>* a = ctx.shape(0);
  const std::vector<Dim>* b = ctx.shape(1);
  if (ctx.attributes.i("broadcast") != 0) return a ? std::optional(*a) : std::nullopt;
  if (a == nullptr || b == nullptr) return a ? std::optional(*a) : b ? std::optional(*b) : std::nullopt;
  if (a->size() != b->size()) {
    fail(ErrorKind::kRuntime, "shapes {} and {} differ, and the attribute broadcast is not 1", to_string(*a),
         to_string(*b));
  }
  std::vector<Dim> result;
  for (std::size_t i = 0; i < a->size(); ++i) {
    result.push_back(unify((*a)[i], (*b)[i], "the shapes of both inputs (the attribute broadcast is not 1)"));
  }
  return result;
}

void infer_binary_elements(InferContext& ctx, Dim (*combine)(const Dim& a, const Dim& b, DataType dtype)) {
  const DataType dtype = input_dtype(ctx, 0);
  const std::vector<Dim>* a = ctx.elements(0);
  const std::vector<Dim>* b = ctx.elements(1);
  if (a == nullptr || b == nullptr || dtype == DataType::kUndefined) return;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return;
  const std::size_t count = a->size() == 1 ? b->size() : a->size();
  std::vector<Dim> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(combine((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i], dtype));
  }
  ctx.set_elements(0, std::move(result));
}

Dim fits(const Dim& value, DataType dtype) {
  const auto number = value.value();
  if (!number) return dtype == DataType::kInt64 || dtype == DataType::kInt32 || nonnegative(value) ? value : Dim();
  const auto within = [&](std::int64_t low, std::int64_t high) {
    return *number >= low && *number <= high ? value : Dim();
  };
  switch (dtype) {
    case DataType::kInt64:
      return value;
    case DataType::kUInt64:
      return within(0, std::numeric_limits<std::int64_t>::max());
    case DataType::kInt32:
      return within(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
    case DataType::kUInt32:
      return within(0, std::numeric_limits<std::uint32_t>::max());
    case DataType::kInt16:
      return within(-32768, 32767);
    case DataType::kUInt16:
      return within(0, 65535);
    case DataType::kInt8:
      return within(-128, 127);
    case DataType::kUInt8:
      return within(0, 255);
    case DataType::kBool:
      return within(0, 1);
    default:
      return {};
  }
}

DataType dtype_attribute(const AttributeView& attributes, std::string_view name) {
  const std::int64_t number = attributes.i(name);
  if (number < 1 || number > kLastDataType) {
    fail(ErrorKind::kRuntime, "attribute '{}' is {}, expected the number of an element type (1 to {})", name, number,
         kLastDataType);
  }
  return static_cast<DataType>(number);
}

}  // namespace lppool
