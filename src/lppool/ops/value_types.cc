#include "lppool/ops/value_types.h"

namespace lppool {

ValueType union_of(const ValueType& a, const ValueType& b) {
  if (a.kind == Type::Kind::kUnset || b.kind == Type::Kind::kUnset) return {};
  if (a.kind != b.kind) {
    // A value with contents may stand for an optional.
    if (a.kind == Type::Kind::kOptional && a.element) return ValueType::optional(union_of(*a.element, b));
    if (b.kind == Type::Kind::kOptional && b.element) return ValueType::optional(union_of(a, *b.element));
    fail(ErrorKind::kRuntime, "a value is {} in one place and {} in another", to_string(a), to_string(b));
  }
  ValueType result;
  result.kind = a.kind;
  if (a.element && b.element) result.element = std::make_shared<const ValueType>(union_of(*a.element, *b.element));
  if (a.dtype != DataType::kUndefined && b.dtype != DataType::kUndefined && a.dtype != b.dtype) {
    fail(ErrorKind::kRuntime, "a value is {} in one place and {} in another", name(a.dtype), name(b.dtype));
  }
  result.dtype = a.dtype != DataType::kUndefined ? a.dtype : b.dtype;
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) return result;
  result.shape.emplace();
  for (std::size_t k = 0; k < a.shape->size(); ++k) {
    result.shape->push_back(same((*a.shape)[k], (*b.shape)[k]) ? (*a.shape)[k] : Dim());
  }
  return result;
}

Value make_sequence(DataType dtype, std::vector<Value> elements) {
  struct Charged : Sequence {
    memory::Charge charge;
  };
  auto sequence = std::make_shared<Charged>();
  sequence->charge.add(elements.size() * sizeof(Value));
  sequence->dtype = dtype;
  sequence->elements = std::move(elements);
  return Value(std::shared_ptr<const Sequence>(std::move(sequence)));
}

const Sequence& sequence_input(const KernelContext& ctx, std::size_t i) {
  if (i >= ctx.inputs.size() || !ctx.inputs[i].is_sequence()) {
    fail(ErrorKind::kRuntime, "input {} is {}, expected a sequence", i, ctx.has_input(i) ? "a tensor" : "absent");
  }
  return ctx.inputs[i].sequence();
}

ValueType sequence_element(const InferContext& ctx, std::size_t i) {
  const ValueType& type = ctx.input(i);
  if (type.kind == Type::Kind::kUnset) return {};
  if (type.kind != Type::Kind::kSequence)
    fail(ErrorKind::kRuntime, "input {} is {}, expected a sequence", i, to_string(type));
  return type.element ? *type.element : ValueType();
}

}  // namespace lppool
