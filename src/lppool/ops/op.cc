#include "lppool/ops/op.h"

#include <fmt/format.h>

namespace lppool {

const Attribute* AttributeView::find(std::string_view name, AttributeType type) const {
  const Attribute* given = node_->find_attribute(name);
  if (given != nullptr) {
    if (given->type() != type) {
      fail(ErrorKind::kRuntime, "attribute '{}' is {}, expected {}", name, lppool::name(given->type()), lppool::name(type));
    }
    return given;
  }
  const AttributeSchema* schema = schema_->find_attribute(name);
  if (schema != nullptr && schema->default_value) {
    if (schema->type != type) {
      fail(ErrorKind::kDefect, "attribute '{}' read as {}, its schema says {}", name, lppool::name(type),
           lppool::name(schema->type));
    }
    return &*schema->default_value;
  }
  return nullptr;
}

namespace {
[[noreturn]] void missing(std::string_view name) { fail(ErrorKind::kRuntime, "attribute '{}' is missing", name); }
}  // namespace

std::int64_t AttributeView::i(std::string_view name) const {
  const Attribute* a = find(name, AttributeType::kInt);
  if (a == nullptr) missing(name);
  return a->i;
}
std::int64_t AttributeView::i(std::string_view name, std::int64_t fallback) const {
  const Attribute* a = find(name, AttributeType::kInt);
  return a == nullptr ? fallback : a->i;
}
float AttributeView::f(std::string_view name) const {
  const Attribute* a = find(name, AttributeType::kFloat);
  if (a == nullptr) missing(name);
  return a->f;
}
float AttributeView::f(std::string_view name, float fallback) const {
  const Attribute* a = find(name, AttributeType::kFloat);
  return a == nullptr ? fallback : a->f;
}
std::string AttributeView::s(std::string_view name) const {
  const Attribute* a = find(name, AttributeType::kString);
  if (a == nullptr) missing(name);
  return a->s;
}
std::string AttributeView::s(std::string_view name, std::string_view fallback) const {
  const Attribute* a = find(name, AttributeType::kString);
  return a == nullptr ? std::string(fallback) : a->s;
}
std::vector<std::int64_t> AttributeView::ints(std::string_view name) const {
  const Attribute* a = find(name, AttributeType::kInts);
  return a == nullptr ? std::vector<std::int64_t>{} : a->ints;
}
std::vector<float> AttributeView::floats(std::string_view name) const {
  const Attribute* a = find(name, AttributeType::kFloats);
  return a == nullptr ? std::vector<float>{} : a->floats;
}
std::vector<std::string> AttributeView::strings(std::string_view name) const {
  const Attribute* a = find(name, AttributeType::kStrings);
  return a == nullptr ? std::vector<std::string>{} : a->strings;
}
const Tensor* AttributeView::tensor(std::string_view name) const {
  const Attribute* a = find(name, AttributeType::kTensor);
  if (a == nullptr || !a->t) return nullptr;
  if (a->t->problem) fail(ErrorKind::kParse, "attribute '{}': {}", name, a->t->problem->message);
  return &a->t->value;
}
const Graph* AttributeView::graph(std::string_view name) const {
  const Attribute* a = find(name, AttributeType::kGraph);
  return a == nullptr ? nullptr : a->g.get();
}
const StoredSparseTensor* AttributeView::sparse_tensor(std::string_view name) const {
  const Attribute* a = find(name, AttributeType::kSparseTensor);
  return a == nullptr ? nullptr : a->sparse_tensor.get();
}
const Type* AttributeView::type_proto(std::string_view name) const {
  const Attribute* a = find(name, AttributeType::kTypeProto);
  return a == nullptr ? nullptr : a->tp.get();
}

ValueType ValueType::tensor(DataType dtype, std::optional<std::vector<Dim>> shape) {
  ValueType type;
  type.kind = Type::Kind::kTensor;
  type.dtype = dtype;
  type.shape = std::move(shape);
  return type;
}
ValueType ValueType::sequence(ValueType element) {
  ValueType type;
  type.kind = Type::Kind::kSequence;
  type.element = std::make_shared<const ValueType>(std::move(element));
  return type;
}
ValueType ValueType::optional(ValueType element) {
  ValueType type;
  type.kind = Type::Kind::kOptional;
  type.element = std::make_shared<const ValueType>(std::move(element));
  return type;
}

ValueType declared_type(const Type& type) {
  ValueType result;
  result.kind = type.kind;
  result.dtype = type.dtype;
  if (type.element) result.element = std::make_shared<const ValueType>(declared_type(*type.element));
  if (!type.shape) return result;
  result.shape.emplace();
  for (const Dimension& dim : *type.shape) {
    if (dim.value) result.shape->emplace_back(*dim.value);
    else if (!dim.symbol.empty()) result.shape->push_back(Dim::symbol(dim.symbol));
    else result.shape->emplace_back();
  }
  return result;
}

std::string to_string(const std::vector<Dim>& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const Dim& dim : shape) {
    if (!text.empty()) text += 'x';
    const std::string part = dim.to_string();
    text += part.find_first_of(" x") == std::string::npos ? part : fmt::format("({})", part);
  }
  return text;
}

std::string to_string(const ValueType& type) {
  switch (type.kind) {
    case Type::Kind::kTensor:
      return fmt::format("{} {}", type.dtype == DataType::kUndefined ? "?" : name(type.dtype),
                         type.shape ? to_string(*type.shape) : "of unknown rank");
    case Type::Kind::kSequence: return fmt::format("seq({})", type.element ? to_string(*type.element) : "?");
    case Type::Kind::kOptional: return fmt::format("optional({})", type.element ? to_string(*type.element) : "?");
    case Type::Kind::kMap:
      return fmt::format("map({}, {})", name(type.dtype), type.element ? to_string(*type.element) : "?");
    default: return "?";
  }
}

namespace {
const ValueType kNothing;
}

const ValueType& InferContext::input(std::size_t i) const { return i < inputs.size() ? inputs[i] : kNothing; }

const std::vector<Dim>* InferContext::shape(std::size_t i) const {
  const ValueType& type = input(i);
  return type.is_tensor() && type.shape ? &*type.shape : nullptr;
}

void InferContext::set_output(std::size_t i, ValueType type) {
  if (i < outputs.size()) outputs[i] = std::move(type);
}

void InferContext::set_output(std::size_t i, DataType dtype, std::optional<std::vector<Dim>> dims) {
  set_output(i, ValueType::tensor(dtype, std::move(dims)));
}

void InferContext::set_elements(std::size_t i, std::vector<Dim> values) {
  if (i < output_elements.size()) output_elements[i] = std::move(values);
}

void InferContext::warn(std::string code, std::string message) {
  Diagnostic finding;
  finding.severity = Severity::kWarning;
  finding.code = std::move(code);
  finding.message = std::move(message);
  warnings.push_back(std::move(finding));
}

void InferContext::note(std::string code, std::string message) {
  warn(std::move(code), std::move(message));
  warnings.back().severity = Severity::kNote;
}

void InferContext::explain(std::size_t i, std::size_t axis, std::string formula) {
  if (explaining) formulas.push_back({i, axis, std::move(formula)});
}

const Tensor& KernelContext::input(std::size_t i) const {
  if (i >= inputs.size() || !inputs[i].is_tensor()) {
    fail(ErrorKind::kRuntime, "input {} is {}, expected a tensor", i,
         i < inputs.size() && inputs[i].is_sequence() ? "a sequence" : "absent");
  }
  return inputs[i].tensor();
}

Tensor& KernelContext::output(std::size_t i, DataType dtype, Shape shape) {
  if (i >= outputs.size()) outputs.resize(i + 1);
  outputs[i] = Value(Tensor::allocate(dtype, std::move(shape)));
  return outputs[i].tensor();
}

Tensor& KernelContext::output_in_place(std::size_t i, std::size_t from, DataType dtype, Shape shape) {
  const bool usable = from < inputs.size() && inputs[from].is_tensor();
  if (usable && dtype != DataType::kString) {
    const Tensor& source = inputs[from].tensor();
    if (source.is_unique() && source.dtype() != DataType::kString && element_size(source.dtype()) == element_size(dtype) &&
        source.size() == shape.elements()) {
      if (i >= outputs.size()) outputs.resize(i + 1);
      // Shares the storage with the input on purpose: the input stays readable while the kernel runs.
      outputs[i] = Value(source.reshaped(std::move(shape)).viewed_as(dtype));
      return outputs[i].tensor();
    }
  }
  return output(i, dtype, std::move(shape));
}

void KernelContext::unpack_input(std::size_t i) {
  if (packed_input(i) != nullptr) inputs[i] = Value(unpack(inputs[i].packed(), *thread_pool));
}

PackedTensor& KernelContext::packed_output(std::size_t i, Shape shape, std::int64_t block) {
  if (i >= outputs.size()) outputs.resize(i + 1);
  outputs[i] = Value(PackedTensor::allocate(std::move(shape), block));
  return outputs[i].packed();
}

void KernelContext::set_output(std::size_t i, Value value) {
  if (i >= outputs.size()) outputs.resize(i + 1);
  outputs[i] = std::move(value);
}

namespace {
Diagnostic finding(Severity severity, std::string code, std::string attribute, std::string message, std::string hint) {
  Diagnostic result;
  result.severity = severity;
  result.code = std::move(code);
  result.attribute = std::move(attribute);
  result.message = std::move(message);
  result.hint = std::move(hint);
  return result;
}
}  // namespace

void CheckContext::error(std::string code, std::string attribute, std::string message, std::string hint) {
  findings.push_back(finding(Severity::kError, std::move(code), std::move(attribute), std::move(message), std::move(hint)));
}

void CheckContext::warning(std::string code, std::string attribute, std::string message, std::string hint) {
  findings.push_back(finding(Severity::kWarning, std::move(code), std::move(attribute), std::move(message), std::move(hint)));
}

}  // namespace lppool
