// Reshape, Flatten, Squeeze and Unsqueeze: the same elements under another shape. Kernels share the storage; inference
// follows the contents of shape lists through them.
#include <algorithm>

#include "lppool/ops/contents.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

// The elements stay as they are: contents that are known stay known where the result is a list or a scalar.
void set_reshaped(InferContext& ctx, std::optional<std::vector<Dim>> shape) {
  const bool small = shape && shape->size() <= 1;
  set_moved(ctx, std::move(shape));
  if (const std::vector<Dim>* elements = ctx.elements(0); small && elements != nullptr) set_contents(ctx, *elements);
}

// ---- Reshape ----

constexpr OpVersion kReshapeVersions[] = {
    {1, "data:T", "reshaped:T", "consumed_inputs:ints shape:ints", "T=floats"},
    {5, "data:T shape:int64", "reshaped:T", "", "T=all15"},
    {13, "data:T shape:int64", "reshaped:T", "", "T=all16"},
    {14, "data:T shape:int64", "reshaped:T", "allowzero:int=0", "T=all16"},
    {19, "data:T shape:int64", "reshaped:T", "allowzero:int=0", "T=all20"},
    {21, "data:T shape:int64", "reshaped:T", "allowzero:int=0", "T=all22"},
    {23, "data:T shape:int64", "reshaped:T", "allowzero:int=0", "T=all23"},
    {24, "data:T shape:int64", "reshaped:T", "allowzero:int=0", "T=all24"},
    {25, "data:T shape:int64", "reshaped:T", "allowzero:int=0", "T=all26"},
};

bool zero_is_zero(const AttributeView& attributes) {
  return attributes.schema().since_version >= 14 && attributes.i("allowzero") != 0;
}

[[noreturn]] void bad_size(std::int64_t size) { fail(ErrorKind::kRuntime, "new shape has a size of {}, expected -1 or more", size); }

void check_list(std::size_t rank) {
  if (rank != 1) fail(ErrorKind::kRuntime, "input 'shape' has rank {}, expected 1: a list of sizes", rank);
}

// The new shape as far as it can be known. A size to be found out - one -1, or one element nobody knows - is what the
// known ones leave over; sizes taken over from the input (0) cancel out on both sides, even unknown ones.
std::vector<Dim> reshaped(InferContext& ctx, const std::vector<Dim>& target, bool allow_zero) {
  const std::vector<Dim>* data = ctx.shape(0);
  std::vector<Dim> result(target.size());
  std::vector<bool> taken_over(data == nullptr ? 0 : data->size(), false);
  std::size_t holes = 0, asked = 0, hole = 0;
  bool countable = data != nullptr;
  std::vector<Dim> whole, parts_of;  // the factors of `total` and `divisor`
  Dim divisor(1);
  for (std::size_t k = 0; k < target.size(); ++k) {
    const auto size = target[k].value();
    if (!target[k].known() || size == -1) {
      ++holes;
      hole = k;
      if (size == -1 && ++asked > 1) fail(ErrorKind::kRuntime, "new shape {} has more than one -1", to_string(target));
    } else if (size && *size < -1) {
      bad_size(*size);
    } else if (size == 0 && !allow_zero) {
      if (data == nullptr) {
        countable = false;
      } else if (k >= data->size()) {
        fail(ErrorKind::kRuntime, "new shape {} takes over axis {}, but the input has rank {}", to_string(target), k,
             data->size());
      } else {
        result[k] = (*data)[k];
        taken_over[k] = true;
        if (ctx.explaining) ctx.explain(0, k, size_name(ctx, 0, k) + ", which the 0 takes over");
      }
    } else {
      result[k] = target[k];
      divisor = divisor * target[k];
      parts_of.push_back(target[k]);
      if (ctx.since_version() < 5) ctx.explain(0, k, fmt::format("attribute shape[{}]", k));
    }
  }
  if (!countable) return result;
  Dim total(1);
  for (std::size_t k = 0; k < data->size(); ++k) {
    if (taken_over[k]) continue;
    total = total * (*data)[k];
    whole.push_back((*data)[k]);
  }
  const auto count = total.value(), parts = divisor.value();
  if (holes == 0) {
    if (count && parts && *count != *parts) {
      fail(ErrorKind::kRuntime, "shape {} cannot become {}: {} elements, expected {}", to_string(*data), to_string(target),
           *parts, *count);
    }
  } else if (holes == 1) {
    if (parts == 0 && asked == 1) {
      fail(ErrorKind::kRuntime, "new shape {} has no elements whatever -1 stands for", to_string(target));
    }
    if (count && parts && *parts != 0 && *count % *parts != 0) {
      fail(ErrorKind::kRuntime, "shape {} cannot become {}: {} elements do not divide by {}", to_string(*data),
           to_string(target), *count, *parts);
    }
    result[hole] = floor_div(total, divisor);
    if (result[hole].known() && ctx.explaining) {
      const auto group = [](const std::vector<Dim>& factors) { return factors.size() > 1 ? "(" + terms(factors) + ")" : terms(factors); };
      const std::string formula = parts_of.empty() ? terms(whole) : group(whole) + "/" + group(parts_of);
      ctx.explain(0, hole, formula + (asked == 1 ? ", for the -1" : ", what the other sizes leave"));
    }
  }
  return result;
}

void infer_reshape(InferContext& ctx) {
  std::optional<std::vector<Dim>> target;
  if (ctx.since_version() < 5) {
    const auto sizes = ctx.attributes.ints("shape");
    target.emplace(sizes.begin(), sizes.end());
  } else {
    if (const std::vector<Dim>* shape = ctx.shape(1)) check_list(shape->size());
    target = elements_or_unknown(ctx, 1);
  }
  if (!target) return set_moved(ctx, std::nullopt);
  set_reshaped(ctx, reshaped(ctx, *target, zero_is_zero(ctx.attributes)));
}

void run_reshape(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  if (ctx.since_version() >= 5) check_list(ctx.input(1).rank());
  std::vector<std::int64_t> sizes =
      ctx.since_version() < 5 ? ctx.attributes.ints("shape") : int_values(ctx.input(1), "the new shape");
  const Shape asked(sizes);
  const bool allow_zero = zero_is_zero(ctx.attributes);
  std::optional<std::size_t> hole;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] < -1) bad_size(sizes[k]);
    if (sizes[k] == -1) {
      if (hole) fail(ErrorKind::kRuntime, "new shape {} has more than one -1", to_string(asked));
      hole = k;
      sizes[k] = 1;
    } else if (sizes[k] == 0 && !allow_zero) {
      if (k >= data.rank()) {
        fail(ErrorKind::kRuntime, "new shape {} takes over axis {}, but the input has shape {}", to_string(asked), k,
             to_string(data.shape()));
      }
      sizes[k] = data.shape()[k];
    }
  }
  if (hole) {
    const std::int64_t rest = Shape(sizes).elements();
    if (rest == 0 || data.size() % rest != 0) {
      fail(ErrorKind::kRuntime, "shape {} cannot become {}: {} elements do not divide by {}", to_string(data.shape()),
           to_string(asked), data.size(), rest);
    }
    sizes[*hole] = data.size() / rest;
  }
  ctx.set_output(0, Value(data.reshaped(Shape(std::move(sizes)))));
}

// ---- Flatten ----

constexpr OpVersion kFlattenVersions[] = {
    {1, "input:T", "output:T", "axis:int=1", "T=floats"},  {9, "input:T", "output:T", "axis:int=1", "T=all15"},
    {11, "input:T", "output:T", "axis:int=1", "T=all15"},  {13, "input:T", "output:T", "axis:int=1", "T=all16"},
    {21, "input:T", "output:T", "axis:int=1", "T=all22"},  {23, "input:T", "output:T", "axis:int=1", "T=all23"},
    {24, "input:T", "output:T", "axis:int=1", "T=all24"},  {25, "input:T", "output:T", "axis:int=1", "T=all26"},
};

// Where the input's axes are split in two: 0 to rank, both included; negative from the end since version 11.
std::size_t flatten_axis(const AttributeView& attributes, std::size_t rank) {
  const std::int64_t axis = attributes.i("axis");
  const auto r = static_cast<std::int64_t>(rank);
  const std::int64_t least = attributes.schema().since_version < 11 ? 0 : -r;
  if (axis < least || axis > r) fail(ErrorKind::kRuntime, "axis is {}, expected {} to {} for rank {}", axis, least, r, r);
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

void infer_flatten(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) return set_moved(ctx, unknown_dims(2));
  const std::size_t axis = flatten_axis(ctx.attributes, shape->size());
  const std::span<const Dim> dims(*shape);
  set_moved(ctx, std::vector<Dim>{product(dims.first(axis)), product(dims.subspan(axis))});
  if (!ctx.explaining) return;
  const auto formula = [&](std::size_t from, std::size_t to) {
    if (from == to) return std::string("1 (no axis is left for it)");
    return to - from == 1 ? size_name(ctx, 0, from) : terms(dims.subspan(from, to - from));
  };
  ctx.explain(0, 0, formula(0, axis));
  ctx.explain(0, 1, formula(axis, dims.size()));
}

void run_flatten(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const std::size_t axis = flatten_axis(ctx.attributes, data.rank());
  ctx.set_output(0, Value(data.reshaped({data.shape().elements(0, axis), data.shape().elements(axis, data.rank())})));
}

// ---- Squeeze and Unsqueeze ----

constexpr OpVersion kSqueezeVersions[] = {
    {1, "data:T", "squeezed:T", "axes:ints", "T=all15"},      {11, "data:T", "squeezed:T", "axes:ints", "T=all15"},
    {13, "data:T axes?:int64", "squeezed:T", "", "T=all16"},  {21, "data:T axes?:int64", "squeezed:T", "", "T=all22"},
    {23, "data:T axes?:int64", "squeezed:T", "", "T=all23"},  {24, "data:T axes?:int64", "squeezed:T", "", "T=all24"},
    {25, "data:T axes?:int64", "squeezed:T", "", "T=all26"},
};

constexpr OpVersion kUnsqueezeVersions[] = {
    {1, "data:T", "expanded:T", "axes!:ints", "T=all15"},    {11, "data:T", "expanded:T", "axes!:ints", "T=all15"},
    {13, "data:T axes:int64", "expanded:T", "", "T=all16"},  {21, "data:T axes:int64", "expanded:T", "", "T=all22"},
    {23, "data:T axes:int64", "expanded:T", "", "T=all23"},  {24, "data:T axes:int64", "expanded:T", "", "T=all24"},
    {25, "data:T axes:int64", "expanded:T", "", "T=all26"},
};

bool axes_are_attribute(int since_version) { return since_version < 13; }

// For each of `rank` axes whether it is in `axes`. Before version 11 axes count from the front only.
std::vector<bool> chosen_axes(std::span<const std::int64_t> axes, std::size_t rank, int since_version) {
  std::vector<bool> chosen(rank, false);
  for (const std::int64_t axis : axes) {
    if (axis < 0 && since_version < 11) fail(ErrorKind::kRuntime, "axis is {}, expected 0 or more before opset 11", axis);
  }
  for (const std::size_t axis : normalize_axes(axes, rank)) chosen[axis] = true;
  return chosen;
}

[[noreturn]] void not_one(std::size_t axis, std::int64_t size) {
  fail(ErrorKind::kRuntime, "axis {} to be squeezed has size {}, expected 1", axis, size);
}

void infer_squeeze(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  const bool attribute = axes_are_attribute(ctx.since_version());
  const bool given = attribute ? ctx.attributes.has("axes") : ctx.has_input(1);
  std::optional<std::vector<std::int64_t>> axes;
  if (given) axes = attribute ? ctx.attributes.ints("axes") : known_ints(ctx, 1);
  if (shape == nullptr) return set_moved(ctx, std::nullopt);
  if (given && !axes) {
    const auto count = known_length(ctx, 1);
    if (count && *count > shape->size()) {
      fail(ErrorKind::kRuntime, "{} axes to be squeezed, but the input has rank {}", *count, shape->size());
    }
    return set_moved(ctx, count ? std::optional(unknown_dims(shape->size() - *count)) : std::nullopt);
  }
  std::vector<Dim> result;
  if (!given) {
    for (const Dim& dim : *shape) {
      if (!dim.value()) return set_moved(ctx, std::nullopt);  // whether it is 1 decides the rank
      if (!dim.is(1)) result.push_back(dim);
    }
    return set_reshaped(ctx, std::move(result));
  }
  const auto chosen = chosen_axes(*axes, shape->size(), ctx.since_version());
  for (std::size_t k = 0; k < shape->size(); ++k) {
    const auto size = (*shape)[k].value();
    if (chosen[k] && size && *size != 1) not_one(k, *size);
    if (!chosen[k]) result.push_back((*shape)[k]);
  }
  set_reshaped(ctx, std::move(result));
}

void run_squeeze(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const bool attribute = axes_are_attribute(ctx.since_version());
  const bool given = attribute ? ctx.attributes.has("axes") : ctx.has_input(1);
  Shape result;
  if (!given) {
    for (const std::int64_t size : data.shape()) {
      if (size != 1) result.push_back(size);
    }
  } else {
    const auto axes = attribute ? ctx.attributes.ints("axes") : int_values(ctx.input(1), "axes");
    const auto chosen = chosen_axes(axes, data.rank(), ctx.since_version());
    for (std::size_t k = 0; k < data.rank(); ++k) {
      if (chosen[k] && data.shape()[k] != 1) not_one(k, data.shape()[k]);
      if (!chosen[k]) result.push_back(data.shape()[k]);
    }
  }
  ctx.set_output(0, Value(data.reshaped(std::move(result))));
}

// `shape` with ones put in at `axes` of the result.
template <typename Size>
std::vector<Size> unsqueezed(std::span<const Size> shape, std::span<const std::int64_t> axes, int since_version) {
  const auto chosen = chosen_axes(axes, shape.size() + axes.size(), since_version);
  std::vector<Size> result;
  for (std::size_t k = 0, next = 0; k < chosen.size(); ++k) result.push_back(chosen[k] ? Size(1) : shape[next++]);
  return result;
}

void infer_unsqueeze(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  const auto axes = axes_are_attribute(ctx.since_version()) ? std::optional(ctx.attributes.ints("axes")) : known_ints(ctx, 1);
  if (shape == nullptr) return set_moved(ctx, std::nullopt);
  if (!axes) {
    const auto count = known_length(ctx, 1);
    return set_moved(ctx, count ? std::optional(unknown_dims(shape->size() + *count)) : std::nullopt);
  }
  set_reshaped(ctx, unsqueezed(std::span<const Dim>(*shape), *axes, ctx.since_version()));
  if (!ctx.explaining) return;
  for (const std::size_t axis : normalize_axes(*axes, shape->size() + axes->size())) ctx.explain(0, axis, "1 (inserted by axes)");
}

void run_unsqueeze(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const auto axes =
      axes_are_attribute(ctx.since_version()) ? ctx.attributes.ints("axes") : int_values(ctx.input(1), "axes");
  const std::span<const std::int64_t> sizes(data.shape().dims());
  ctx.set_output(0, Value(data.reshaped(Shape(unsqueezed(sizes, axes, ctx.since_version())))));
}

}  // namespace

extern const OpDef kReshape;
const OpDef kReshape = {
    .domain = "",
    .type = "Reshape",
    .summary = "Gives the elements another shape; 0 takes a size over from the input, one -1 is worked out.",
    .versions = kReshapeVersions,
    .infer = infer_reshape,
    .run = run_reshape,
};

extern const OpDef kFlatten;
const OpDef kFlatten = {
    .domain = "",
    .type = "Flatten",
    .summary = "Makes a matrix: the axes before `axis` become its rows, the others its columns.",
    .versions = kFlattenVersions,
    .infer = infer_flatten,
    .run = run_flatten,
};

extern const OpDef kSqueeze;
const OpDef kSqueeze = {
    .domain = "",
    .type = "Squeeze",
    .summary = "Removes the given axes of size 1, or all of size 1 where none are given.",
    .versions = kSqueezeVersions,
    .infer = infer_squeeze,
    .run = run_squeeze,
};

extern const OpDef kUnsqueeze;
const OpDef kUnsqueeze = {
    .domain = "",
    .type = "Unsqueeze",
    .summary = "Inserts axes of size 1 at the given places of the result.",
    .versions = kUnsqueezeVersions,
    .infer = infer_unsqueeze,
    .run = run_unsqueeze,
};

}  // namespace lppool
