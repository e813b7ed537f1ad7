// Concat and Split: one axis joined from parts, or cut into them. Each part is one box to copy.
#include <algorithm>

#include "lppool/base/checked.h"
#include "lppool/ops/contents.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

// ---- Concat ----

constexpr OpVersion kConcatVersions[] = {
    {1, "inputs*:T", "concat_result:T", "axis:int", "T=floats"},
    {4, "inputs*:T", "concat_result:T", "axis!:int", "T=all15"},
    {11, "inputs*:T", "concat_result:T", "axis!:int", "T=all15"},
    {13, "inputs*:T", "concat_result:T", "axis!:int", "T=all16"},
};

// Version 1 says "default value is 1" in words only.
std::int64_t concat_axis(const AttributeView& attributes) {
  return attributes.schema().since_version < 4 ? attributes.i("axis", 1) : attributes.i("axis");
}

// The elements of the joined list, where every input is a list. Unknown ones where only an input's length is known.
std::optional<std::vector<Dim>> joined_elements(const InferContext& ctx) {
  std::vector<Dim> result;
  bool anything = false;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    anything = anything || ctx.elements(i) != nullptr;
    const auto part = elements_or_unknown(ctx, i);
    if (!part || result.size() + part->size() > kMaxFollowed) return std::nullopt;
    result.insert(result.end(), part->begin(), part->end());
  }
  return anything ? std::optional(std::move(result)) : std::nullopt;
}

void infer_concat(InferContext& ctx) {
  std::optional<std::vector<Dim>> result;
  std::size_t axis = 0;
  Dim length(0);
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    const std::vector<Dim>* shape = ctx.shape(i);
    if (shape == nullptr) {
      length = Dim();
      continue;
    }
    if (!result) {
      result = *shape;
      axis = normalize_axis(concat_axis(ctx.attributes), shape->size());
    } else if (shape->size() != result->size()) {
      fail(ErrorKind::kRuntime, "input {} has shape {}, expected rank {} as before", i, to_string(*shape), result->size());
    }
    for (std::size_t k = 0; k < shape->size(); ++k) {
      if (k != axis) (*result)[k] = agree((*result)[k], (*shape)[k], fmt::format("input {}: size of axis {}", i, k));
    }
    length = length + (*shape)[axis];
  }
  if (result) (*result)[axis] = length;
  if (result && ctx.explaining) {
    std::vector<Dim> parts;
    for (std::size_t i = 0; i < ctx.input_count(); ++i) parts.push_back(ctx.shape(i) ? (*ctx.shape(i))[axis] : Dim());
    ctx.explain(0, axis, parts.size() == 1 ? size_name(ctx, 0, axis) : terms(parts, " + "));
  }
  const bool list = result && result->size() == 1;
  set_moved(ctx, std::move(result));
  if (!list) return;
  if (auto elements = joined_elements(ctx)) set_contents(ctx, std::move(*elements));
}

void run_concat(KernelContext& ctx) {
  const Tensor& first = ctx.input(0);
  const std::size_t axis = normalize_axis(concat_axis(ctx.attributes), first.rank());
  Shape shape = first.shape();
  for (std::size_t i = 1; i < ctx.input_count(); ++i) {
    const Tensor& part = ctx.input(i);
    bool fits = part.rank() == shape.rank() && part.dtype() == first.dtype();
    for (std::size_t k = 0; fits && k < shape.rank(); ++k) fits = k == axis || part.shape()[k] == shape[k];
    if (!fits) {
      fail(ErrorKind::kRuntime, "input {} is {} {}, expected {} {} but for axis {}", i, name(part.dtype()),
           to_string(part.shape()), name(first.dtype()), to_string(first.shape()), axis);
    }
    if (__builtin_add_overflow(shape[axis], part.shape()[axis], &shape[axis])) {
      fail(ErrorKind::kLimit, "the joined axis is longer than 63 bits can count");
    }
  }
  if (ctx.input_count() == 1) return ctx.set_output(0, Value(first));
  Tensor& out = ctx.output(0, first.dtype(), shape);
  const auto strides = shape.strides();
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    const Tensor& part = ctx.input(i);
    Box box = whole_box(part.shape());
    box.out_strides = strides;
    box.out_offset = offset;
    offset += part.shape()[axis] * strides[axis];
    copy_box(part, out, std::move(box), ctx.threads());
  }
}

// ---- Split ----

constexpr OpVersion kSplitVersions[] = {
    {1, "input:T split?:T", "outputs...*:T", "axis:int split:ints", "T=floats"},
    {2, "input:T", "outputs*:T", "axis:int=0 split:ints", "T=all15"},
    {11, "input:T", "outputs*:T", "axis:int=0 split:ints", "T=all15"},
    {13, "input:T split?:int64", "outputs*:T", "axis:int=0", "T=all16"},
    {18, "input:T split?:int64", "outputs*:T", "axis:int=0 num_outputs:int", "T=all16"},
};

// The lengths of equal parts. Since version 18 the last parts may be shorter; before, the axis has to divide evenly.
std::vector<std::int64_t> equal_parts(std::int64_t length, std::int64_t parts, int since_version) {
  if (since_version < 18 && length % parts != 0) {
    fail(ErrorKind::kRuntime, "axis of size {} cannot be split into {} equal parts", length, parts);
  }
  const std::int64_t part = ceil_div(length, parts);
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < parts; ++i) {
    result.push_back(std::min(part, length));
    length -= result.back();
  }
  return result;
}

void check_num_outputs(const AttributeView& attributes, std::size_t outputs, bool lengths_given) {
  if (attributes.schema().since_version < 18 || !attributes.has("num_outputs")) return;
  const std::int64_t number = attributes.i("num_outputs");
  if (lengths_given) fail(ErrorKind::kRuntime, "input 'split' and attribute 'num_outputs' are both given, expected one");
  if (number != static_cast<std::int64_t>(outputs)) {
    fail(ErrorKind::kRuntime, "num_outputs is {}, but the node has {} outputs", number, outputs);
  }
}

void check_lengths(const std::vector<std::int64_t>& lengths, std::size_t outputs, std::optional<std::int64_t> total) {
  if (lengths.size() != outputs) {
    fail(ErrorKind::kRuntime, "split has {} values, but the node has {} outputs", lengths.size(), outputs);
  }
  std::int64_t sum = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0 || __builtin_add_overflow(sum, length, &sum)) {
      fail(ErrorKind::kRuntime, "split has a length of {}, expected 0 or more", length);
    }
  }
  if (total && sum != *total) fail(ErrorKind::kRuntime, "split sums to {}, expected the axis' size {}", sum, *total);
}

std::string equal_part_formula(const Dim& total, std::size_t outputs, std::size_t part, int since_version) {
  const auto count = static_cast<std::int64_t>(outputs);
  const std::string quotient = fmt::format("{}/{}", term(total), count);
  if (total.value() ? *total.value() % count == 0 : since_version < 18) return quotient;
  if (part == 0) return fmt::format("ceil({})", quotient);
  return fmt::format("ceil({}) or less: what {} before it of {} leave", quotient, part == 1 ? "the one" : fmt::format("the {}", part),
                     total.to_string());
}

void infer_split(InferContext& ctx) {
  const std::size_t outputs = ctx.output_count();
  const bool by_input = ctx.since_version() == 1 || ctx.since_version() >= 13;
  const bool input_given = by_input && ctx.has_input(1);
  const bool attribute_given = ctx.since_version() < 13 && ctx.attributes.has("split");
  check_num_outputs(ctx.attributes, outputs, input_given);
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) {
    for (std::size_t i = 0; i < outputs; ++i) ctx.set_output(i, ctx.input(0).dtype, std::nullopt);
    return;
  }
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis", 0), shape->size());
  const Dim& total = (*shape)[axis];
  std::vector<Dim> lengths(outputs);
  if (attribute_given && !input_given) {
    const auto given = ctx.attributes.ints("split");
    check_lengths(given, outputs, total.value());
    lengths.assign(given.begin(), given.end());
  } else if (input_given) {
    if (const auto given = known_ints(ctx, 1)) check_lengths(*given, outputs, total.value());
    const std::vector<Dim>* given = ctx.elements(1);
    if (given != nullptr && given->size() == outputs) lengths = *given;
  } else if (const auto length = total.value()) {
    const auto parts = equal_parts(*length, static_cast<std::int64_t>(outputs), ctx.since_version());
    lengths.assign(parts.begin(), parts.end());
  } else if (ctx.since_version() < 18) {
    for (Dim& part : lengths) part = floor_div(total, Dim(static_cast<std::int64_t>(outputs)));
  } else {
    const Dim part = ceil_div(total, Dim(static_cast<std::int64_t>(outputs)));
    for (std::size_t i = 0; i < outputs; ++i) {
      lengths[i] = i == 0 ? part : max(Dim(0), min(part, total - Dim(static_cast<std::int64_t>(i)) * part));
    }
  }
  std::int64_t begin = 0;
  const std::vector<Dim>* elements = shape->size() == 1 ? ctx.elements(0) : nullptr;
  for (std::size_t i = 0; i < outputs; ++i) {
    if (attribute_given && !input_given) ctx.explain(i, axis, fmt::format("attribute split[{}]", i));
    else if (!input_given) ctx.explain(i, axis, equal_part_formula(total, outputs, i, ctx.since_version()));
    std::vector<Dim> part = *shape;
    part[axis] = lengths[i];
    ctx.set_output(i, ctx.input(0).dtype, std::move(part));
    const auto length = lengths[i].value();
    if (elements == nullptr || !length || *length > static_cast<std::int64_t>(elements->size()) - begin) {
      elements = nullptr;
      continue;
    }
    ctx.set_elements(i, {elements->begin() + begin, elements->begin() + begin + *length});
    begin += *length;
  }
}

void run_split(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const std::size_t outputs = ctx.output_count();
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis", 0), data.rank());
  const std::int64_t total = data.shape()[axis];
  const bool by_input = ctx.since_version() == 1 || ctx.since_version() >= 13;
  const Tensor* input = by_input ? ctx.optional_input(1) : nullptr;
  check_num_outputs(ctx.attributes, outputs, input != nullptr);
  std::vector<std::int64_t> lengths;
  if (input != nullptr) {
    lengths = ctx.since_version() == 1 ? whole_values(*input, "split") : int_values(*input, "split");
  } else if (ctx.since_version() < 13 && ctx.attributes.has("split")) {
    lengths = ctx.attributes.ints("split");
  } else {
    lengths = equal_parts(total, static_cast<std::int64_t>(outputs), ctx.since_version());
  }
  check_lengths(lengths, outputs, total);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < outputs; ++i) {
    const std::int64_t length = lengths[i];
    if (ctx.wants_output(i)) {
      Shape shape = data.shape();
      shape[axis] = length;
      Box box = whole_box(shape);
      box.in_strides = data.shape().strides();
      box.in_offset = begin * box.in_strides[axis];
      copy_box(data, ctx.output(i, data.dtype(), std::move(shape)), std::move(box), ctx.threads());
    }
    begin += length;
  }
}

}  // namespace

extern const OpDef kConcat;
const OpDef kConcat = {
    .domain = "",
    .type = "Concat",
    .summary = "Joins tensors along one axis; all other sizes have to agree.",
    .versions = kConcatVersions,
    .infer = infer_concat,
    .run = run_concat,
    .packed = PackedUse::kJoin,
};

extern const OpDef kSplit;
const OpDef kSplit = {
    .domain = "",
    .type = "Split",
    .summary = "Cuts a tensor along one axis, into parts of given lengths or into equal ones.",
    .versions = kSplitVersions,
    .infer = infer_split,
    .run = run_split,
};

}  // namespace lppool
