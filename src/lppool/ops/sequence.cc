// Sequences of tensors: made, read, changed, split off a tensor and joined again. Elements are shared, never copied.
#include <algorithm>

#include "lppool/base/checked.h"
#include "lppool/ops/contents.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"
#include "lppool/ops/value_types.h"

namespace lppool {
namespace {

// A position counted from the front. `last` is the largest allowed.
std::size_t checked_position(std::int64_t position, std::size_t length, std::int64_t last) {
  const auto n = static_cast<std::int64_t>(length);
  if (position < -n || position > last) {
    fail(ErrorKind::kRuntime, "position {} is outside a sequence of {}, expected {} to {}", position, n, -n, last);
  }
  return static_cast<std::size_t>(position < 0 ? position + n : position);
}

// ---- SequenceConstruct, SequenceEmpty ----

constexpr OpVersion kSequenceConstructVersions[] = {
    {11, "inputs*:T", "output_sequence:S", "", "T=all15; S=seq(all15)"}};
constexpr OpVersion kSequenceEmptyVersions[] = {{11, "", "output:S", "dtype:int", "S=seq(all15)"}};

void infer_sequence_construct(InferContext& ctx) {
  if (ctx.input_count() == 0) return;
  ValueType element = ctx.input(0);
  for (std::size_t i = 1; i < ctx.input_count(); ++i) element = union_of(element, ctx.input(i));
  ctx.set_output(0, ValueType::sequence(std::move(element)));
}

void run_sequence_construct(KernelContext& ctx) {
  const DataType dtype = ctx.input(0).dtype();
  std::vector<Value> elements;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    if (ctx.input(i).dtype() != dtype) {
      fail(ErrorKind::kRuntime, "input {} is {}, expected {} as input 0", i, name(ctx.input(i).dtype()), name(dtype));
    }
    elements.push_back(ctx.input_value(i));
  }
  ctx.set_output(0, make_sequence(dtype, std::move(elements)));
}

DataType empty_dtype(const AttributeView& attributes) {
  return attributes.has("dtype") ? dtype_attribute(attributes.i("dtype"), "dtype") : DataType::kFloat32;
}

void infer_sequence_empty(InferContext& ctx) {
  ctx.set_output(0, ValueType::sequence(ValueType::tensor(empty_dtype(ctx.attributes))));
}

void run_sequence_empty(KernelContext& ctx) {
  ctx.set_output(0, make_sequence(empty_dtype(ctx.attributes), {}));
}

// ---- SequenceAt, SequenceInsert, SequenceErase, SequenceLength ----

constexpr OpVersion kSequenceAtVersions[] = {
    {11, "input_sequence:S position:I", "tensor:T", "", "S=seq(all15); T=all15; I=int32|int64"}};
constexpr OpVersion kSequenceInsertVersions[] = {
    {11, "input_sequence:S tensor:T position?:I", "output_sequence:S", "", "T=all15; S=seq(all15); I=int32|int64"}};
constexpr OpVersion kSequenceEraseVersions[] = {
    {11, "input_sequence:S position?:I", "output_sequence:S", "", "S=seq(all15); I=int32|int64"}};
constexpr OpVersion kSequenceLengthVersions[] = {{11, "input_sequence:S", "length:I", "", "S=seq(all15); I=int64"}};

void infer_sequence_at(InferContext& ctx) {
  ctx.set_output(0, sequence_element(ctx, 0));
  explain_each(ctx, 0, "of all elements of the sequence");
}

void run_sequence_at(KernelContext& ctx) {
  const Sequence& sequence = sequence_input(ctx, 0);
  const std::size_t length = sequence.elements.size();
  const std::int64_t position = int_value(ctx.input(1), "position");
  ctx.set_output(0, sequence.elements[checked_position(position, length, static_cast<std::int64_t>(length) - 1)]);
}

void infer_sequence_insert(InferContext& ctx) {
  ctx.set_output(0, ValueType::sequence(union_of(sequence_element(ctx, 0), ctx.input(1))));
}

void run_sequence_insert(KernelContext& ctx) {
  const Sequence& sequence = sequence_input(ctx, 0);
  const Tensor& tensor = ctx.input(1);
  if (sequence.dtype != DataType::kUndefined && sequence.dtype != tensor.dtype()) {
    fail(ErrorKind::kRuntime, "the tensor is {}, expected {} as the sequence", name(tensor.dtype()),
         name(sequence.dtype));
  }
  const std::size_t length = sequence.elements.size();
  std::size_t place = length;
  if (ctx.has_input(2)) {
    place = checked_position(int_value(ctx.input(2), "position"), length, static_cast<std::int64_t>(length));
  }
  std::vector<Value> elements;
  elements.reserve(length + 1);
  elements.insert(elements.end(), sequence.elements.begin(), sequence.elements.end());
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(place), Value(tensor));
  ctx.set_output(0, make_sequence(tensor.dtype(), std::move(elements)));
}

void infer_sequence_erase(InferContext& ctx) {
  ctx.set_output(0, ctx.input(0));
}

void run_sequence_erase(KernelContext& ctx) {
  const Sequence& sequence = sequence_input(ctx, 0);
  const std::size_t length = sequence.elements.size();
  const std::int64_t position = ctx.has_input(1) ? int_value(ctx.input(1), "position") : -1;
  const std::size_t place = checked_position(position, length, static_cast<std::int64_t>(length) - 1);
  std::vector<Value> elements = sequence.elements;
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(place));
  ctx.set_output(0, make_sequence(sequence.dtype, std::move(elements)));
}

void infer_sequence_length(InferContext& ctx) {
  ctx.set_output(0, DataType::kInt64, std::vector<Dim>{});
}

void run_sequence_length(KernelContext& ctx) {
  ctx.set_output(0, Value(Tensor::scalar(static_cast<std::int64_t>(sequence_input(ctx, 0).elements.size()))));
}

// ---- SplitToSequence, ConcatFromSequence ----

constexpr OpVersion kSplitToSequenceVersions[] = {
    {11, "input:T split?:I", "output_sequence:S", "axis:int=0 keepdims:int=1", "T=all15; I=int32|int64; S=seq(all15)"},
    {24, "input:T split?:I", "output_sequence:S", "axis:int=0 keepdims:int=1", "T=all16; I=int32|int64; S=seq(all16)"},
};

void infer_split_to_sequence(InferContext& ctx) {
  ValueType element = ValueType::tensor(ctx.input(0).dtype);
  if (const std::vector<Dim>* shape = ctx.shape(0)) {
    element.shape = *shape;
    const std::size_t axis = normalize_axis(ctx.attributes.i("axis"), shape->size());
    if (!ctx.has_input(1) && ctx.attributes.i("keepdims") == 0) {
      element.shape->erase(element.shape->begin() + static_cast<std::ptrdiff_t>(axis));
    } else if (!ctx.has_input(1)) {
      (*element.shape)[axis] = Dim(1);
    } else {
      // One length for all elements only where all parts are equal.
      (*element.shape)[axis] = Dim();
      const auto lengths = known_ints(ctx, 1);
      const auto total = (*shape)[axis].value();
      const bool equal = lengths && !lengths->empty() &&
                         std::ranges::all_of(*lengths, [&](std::int64_t l) { return l == lengths->front(); });
      const bool list = ctx.shape(1) != nullptr && ctx.shape(1)->size() == 1;
      if (equal && (list || (total && lengths->front() > 0 && *total % lengths->front() == 0))) {
        (*element.shape)[axis] = Dim(lengths->front());
      }
    }
  }
  ctx.set_output(0, ValueType::sequence(std::move(element)));
}

// Lengths of the parts. A scalar is the length of each, the last one shorter where it does not divide evenly.
std::vector<std::int64_t> part_lengths(const Tensor* split, std::int64_t total) {
  if (split == nullptr) return std::vector<std::int64_t>(static_cast<std::size_t>(total), 1);
  std::vector<std::int64_t> lengths = int_values(*split, "split");
  std::int64_t sum = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0 || (split->rank() == 0 && length == 0) || __builtin_add_overflow(sum, length, &sum)) {
      fail(ErrorKind::kRuntime, "split has a length of {}", length);
    }
  }
  if (split->rank() == 0) {
    const std::int64_t length = lengths[0];
    lengths.assign(static_cast<std::size_t>(ceil_div(total, length)), length);
    if (total % length != 0) lengths.back() = total % length;
  } else if (split->rank() != 1 || sum != total) {
    fail(ErrorKind::kRuntime, "split of shape {} sums to {}, expected the axis' size {}", to_string(split->shape()),
         sum, total);
  }
  return lengths;
}

void run_split_to_sequence(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis"), data.rank());
  const std::int64_t total = data.shape()[axis];
  // One element per position would be made even of a tensor without elements: its length is bounded by nothing else.
  if (total > static_cast<std::int64_t>(memory::limit() / sizeof(Value))) {
    fail(ErrorKind::kLimit, "an axis of size {} split into a sequence, more than memory allows", total);
  }
  const Tensor* split = ctx.optional_input(1);
  const bool drop = split == nullptr && ctx.attributes.i("keepdims") == 0;
  std::vector<Value> elements;
  std::int64_t begin = 0;
  for (const std::int64_t length : part_lengths(split, total)) {
    Shape shape = data.shape();
    shape[axis] = length;
    Box box = whole_box(shape);
    box.in_strides = data.shape().strides();
    box.in_offset = begin * box.in_strides[axis];
    Tensor part = Tensor::allocate(data.dtype(), shape);
    copy_box(data, part, std::move(box), ctx.threads());
    if (drop) {
      std::vector<std::int64_t> dims = shape.dims();
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
      part = part.reshaped(Shape(std::move(dims)));
    }
    elements.emplace_back(std::move(part));
    begin += length;
  }
  ctx.set_output(0, make_sequence(data.dtype(), std::move(elements)));
}

constexpr OpVersion kConcatFromSequenceVersions[] = {
    {11, "input_sequence:S", "concat_result:T", "axis!:int new_axis:int=0", "S=seq(all15); T=all15"}};

void infer_concat_from_sequence(InferContext& ctx) {
  ValueType type = sequence_element(ctx, 0);
  if (!type.is_tensor()) return;
  if (type.shape) {
    const bool added = ctx.attributes.i("new_axis") != 0;
    const std::size_t axis = normalize_axis(ctx.attributes.i("axis"), type.shape->size() + (added ? 1 : 0));
    if (added)
      type.shape->insert(type.shape->begin() + static_cast<std::ptrdiff_t>(axis), Dim());
    else
      (*type.shape)[axis] = Dim();
  }
  ctx.set_output(0, std::move(type));
  explain_each(ctx, 0, "of all elements of the sequence");
}

void run_concat_from_sequence(KernelContext& ctx) {
  const Sequence& sequence = sequence_input(ctx, 0);
  if (sequence.elements.empty()) fail(ErrorKind::kRuntime, "the sequence is empty, expected one tensor or more");
  const bool added = ctx.attributes.i("new_axis") != 0;
  const Tensor& first = sequence.elements[0].tensor();
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis"), first.rank() + (added ? 1 : 0));
  const auto placed = [&](const Tensor& tensor) {  // its shape with the new axis
    std::vector<std::int64_t> dims = tensor.shape().dims();
    if (added) dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    return Shape(std::move(dims));
  };
  Shape shape = placed(first);
  shape[axis] = 0;
  for (std::size_t i = 0; i < sequence.elements.size(); ++i) {
    const Tensor& element = sequence.elements[i].tensor();
    bool fits = element.rank() == first.rank() && element.dtype() == first.dtype();
    if (fits) {
      const Shape part = placed(element);
      for (std::size_t k = 0; fits && k < shape.rank(); ++k) fits = k == axis || part[k] == shape[k];
      if (fits && __builtin_add_overflow(shape[axis], part[axis], &shape[axis])) {
        fail(ErrorKind::kLimit, "the joined axis is longer than 63 bits can count");
      }
    }
    if (!fits) {
      fail(ErrorKind::kRuntime, "element {} has shape {}, element 0 {}: they do not fit along axis {}", i,
           to_string(element.shape()), to_string(first.shape()), axis);
    }
  }
  const auto strides = shape.strides();
  Tensor& out = ctx.output(0, first.dtype(), shape);
  std::int64_t offset = 0;
  for (const Value& value : sequence.elements) {
    const Shape part = placed(value.tensor());
    Box box = whole_box(part);
    box.out_strides = strides;
    box.out_offset = offset;
    offset += part[axis] * strides[axis];
    copy_box(value.tensor(), out, std::move(box), ctx.threads());
  }
}

}  // namespace

extern const OpDef kSequenceConstruct;
const OpDef kSequenceConstruct = {
    .domain = "",
    .type = "SequenceConstruct",
    .summary = "Makes a sequence of its inputs.",
    .versions = kSequenceConstructVersions,
    .infer = infer_sequence_construct,
    .run = run_sequence_construct,
};

extern const OpDef kSequenceEmpty;
const OpDef kSequenceEmpty = {
    .domain = "",
    .type = "SequenceEmpty",
    .summary = "Makes a sequence without elements.",
    .versions = kSequenceEmptyVersions,
    .infer = infer_sequence_empty,
    .run = run_sequence_empty,
};

extern const OpDef kSequenceAt;
const OpDef kSequenceAt = {
    .domain = "",
    .type = "SequenceAt",
    .summary = "The element at a position of a sequence; negative positions count from the end.",
    .versions = kSequenceAtVersions,
    .infer = infer_sequence_at,
    .run = run_sequence_at,
};

extern const OpDef kSequenceInsert;
const OpDef kSequenceInsert = {
    .domain = "",
    .type = "SequenceInsert",
    .summary = "A sequence with a tensor put in at a position, at the end by default.",
    .versions = kSequenceInsertVersions,
    .infer = infer_sequence_insert,
    .run = run_sequence_insert,
};

extern const OpDef kSequenceErase;
const OpDef kSequenceErase = {
    .domain = "",
    .type = "SequenceErase",
    .summary = "A sequence without the element at a position, the last one by default.",
    .versions = kSequenceEraseVersions,
    .infer = infer_sequence_erase,
    .run = run_sequence_erase,
};

extern const OpDef kSequenceLength;
const OpDef kSequenceLength = {
    .domain = "",
    .type = "SequenceLength",
    .summary = "The number of elements of a sequence.",
    .versions = kSequenceLengthVersions,
    .infer = infer_sequence_length,
    .run = run_sequence_length,
};

extern const OpDef kSplitToSequence;
const OpDef kSplitToSequence = {
    .domain = "",
    .type = "SplitToSequence",
    .summary =
        "Cuts a tensor along an axis into a sequence: into single positions, parts of one length or given lengths.",
    .versions = kSplitToSequenceVersions,
    .infer = infer_split_to_sequence,
    .run = run_split_to_sequence,
};

extern const OpDef kConcatFromSequence;
const OpDef kConcatFromSequence = {
    .domain = "",
    .type = "ConcatFromSequence",
    .summary = "Joins the elements of a sequence along an axis, or stacks them along a new one.",
    .versions = kConcatFromSequenceVersions,
    .infer = infer_concat_from_sequence,
    .run = run_concat_from_sequence,
};

}  // namespace lppool
