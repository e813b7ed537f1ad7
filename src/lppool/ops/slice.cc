// Slice: a range of each axis, with a step. Positions count from the end where negative and are clamped.
#include <algorithm>
#include <limits>

#include "lppool/base/checked.h"
#include "lppool/ops/contents.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr OpVersion kSliceVersions[] = {
    {1, "data:T", "output:T", "axes:ints ends!:ints starts!:ints", "T=all15"},
    {10, "data:T starts:Tind ends:Tind axes?:Tind steps?:Tind", "output:T", "", "T=all15; Tind=int32|int64"},
    {11, "data:T starts:Tind ends:Tind axes?:Tind steps?:Tind", "output:T", "", "T=all15; Tind=int32|int64"},
    {13, "data:T starts:Tind ends:Tind axes?:Tind steps?:Tind", "output:T", "", "T=all16; Tind=int32|int64"},
};

// The elements an axis of `size` keeps: first, first + step, ... (count of them).
struct Range {
  std::int64_t first = 0, step = 1, count = 0;
};

Range resolve(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (step == 0) fail(ErrorKind::kRuntime, "a step is 0, expected another number");
  step = std::max(step, -std::numeric_limits<std::int64_t>::max());
  if (start < 0) start += size;
  if (end < 0) end += size;
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, size);
    end = std::clamp<std::int64_t>(end, 0, size);
    return {start, step, end > start ? ceil_div(end - start, step) : 0};
  }
  if (size == 0) return {};
  // Unlike numpy, which takes nothing where a backward slice starts before the first element: the text of version 13
  // clamps to that element, and so do ONNX's inference and ONNX Runtime, for all versions.
  start = std::clamp<std::int64_t>(start, 0, size - 1);
  end = std::clamp<std::int64_t>(end, -1, size - 1);
  return {start, step, start > end ? ceil_div(start - end, -step) : 0};
}

Dim at_least_zero(const Dim& d) { return nonnegative(d) ? d : max(Dim(0), d); }

// Negative, meaning a distance from the end, or not - as far as that is certain.
enum class Side { kFromStart, kFromEnd, kUnknown };
Side side(const Dim& position) {
  if (const auto number = position.value()) return *number < 0 ? Side::kFromEnd : Side::kFromStart;
  return nonnegative(position) ? Side::kFromStart : Side::kUnknown;
}

// The size that is left of an axis; exact for whatever numbers the symbols stand for.
Dim sliced(const Dim& size, const Dim& start, const Dim& end, std::int64_t step) {
  const auto s = start.value(), e = end.value();
  if (size.value() && s && e) return Dim(resolve(*size.value(), *s, *e, step).count);
  constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();  // what exporters write for "to the end"
  if (step < 0) {
    const bool whole = s && e && (*s == -1 || *s >= kFar) && *e <= -kFar;
    return whole ? ceil_div(size, Dim(-step)) : Dim();
  }
  // No axis is that long: beyond it a position is as good as the end (or the start) itself, and sums stay in 64 bits.
  constexpr std::int64_t kBeyond = std::int64_t{1} << 62;
  if ((s && *s >= kBeyond) || (e && *e <= -kBeyond)) return Dim(0);
  if (s && *s <= -kBeyond) return sliced(size, Dim(0), end, step);
  const Side from = side(start), to = side(end);
  if (from == Side::kUnknown || to == Side::kUnknown) return {};
  const bool to_end = (e && *e >= kFar) || same(end, size);
  Dim length;
  if (from == Side::kFromStart && to == Side::kFromStart) {
    length = at_least_zero((to_end ? size : min(end, size)) - start);
  } else if (from == Side::kFromStart) {
    length = at_least_zero(size + end - start);
  } else if (to_end) {
    length = min(size, Dim(0) - start);
  } else if (to == Side::kFromEnd) {
    length = *s >= *e ? Dim(0) : min(Dim(*e - *s), at_least_zero(size + end));
  } else {
    length = at_least_zero(min(end, size) - at_least_zero(size + start));
  }
  return ceil_div(length, Dim(step));
}

// "x.shape[1] (10) from 0 to 3 by 2"; a position past every axis, as exporters write it, is the end.
std::string slice_formula(const NamedSize& size, const Dim& start, const Dim& end, std::int64_t step) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
  const auto word = [](const Dim& position, std::string_view far, std::string_view before) {
    const auto value = position.value().value_or(0);
    return value >= kFar ? std::string(far) : value <= -kFar ? std::string(before) : term(position);
  };
  std::string text = fmt::format("{} ({}) from {} to {}", size.name, size.size.to_string(), word(start, "its end", "its start"),
                                 word(end, "its end", "its start"));
  return step == 1 ? text : text + fmt::format(" by {}", step);
}

void check_count(std::size_t count, std::size_t expected, std::string_view what) {
  if (count != expected) fail(ErrorKind::kRuntime, "{} has {} values, expected {} as starts", what, count, expected);
}

std::vector<std::int64_t> leading_axes(std::size_t count) {
  std::vector<std::int64_t> axes(count);
  for (std::size_t i = 0; i < count; ++i) axes[i] = static_cast<std::int64_t>(i);
  return axes;
}

void infer_slice(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) return set_moved(ctx, std::nullopt);
  std::optional<std::vector<Dim>> starts, ends;
  std::optional<std::vector<std::int64_t>> axes, steps;
  if (ctx.since_version() < 10) {
    const auto list = [&](std::string_view name) {
      const auto values = ctx.attributes.ints(name);
      return std::vector<Dim>(values.begin(), values.end());
    };
    starts = list("starts");
    ends = list("ends");
    axes = ctx.attributes.has("axes") ? ctx.attributes.ints("axes") : leading_axes(starts->size());
  } else {
    starts = elements_or_unknown(ctx, 1);
    ends = elements_or_unknown(ctx, 2);
    if (ctx.has_input(3)) axes = known_ints(ctx, 3);
    else if (starts) axes = leading_axes(starts->size());
    if (ctx.has_input(4)) steps = known_ints(ctx, 4);
  }
  if (!axes) return set_moved(ctx, unknown_dims(shape->size()));
  if (starts) check_count(axes->size(), starts->size(), "axes");
  if (ends) check_count(ends->size(), axes->size(), "ends");
  if (steps) check_count(steps->size(), axes->size(), "steps");
  const auto places = normalize_axes(*axes, shape->size());
  const bool steps_known = ctx.since_version() < 10 || !ctx.has_input(4) || steps;
  std::vector<Dim> result = *shape;
  for (std::size_t i = 0; i < places.size(); ++i) {
    Dim& dim = result[places[i]];
    if (starts && ends && steps_known && ctx.explaining) {
      ctx.explain(0, places[i], slice_formula(named_size(ctx, 0, places[i]), (*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1));
    }
    dim = starts && ends && steps_known ? sliced(dim, (*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1) : Dim();
  }
  set_moved(ctx, std::move(result));
  const std::vector<Dim>* elements = ctx.elements(0);
  if (elements == nullptr || shape->size() != 1 || places.size() != 1 || !starts || !ends || !steps_known) return;
  const auto s = (*starts)[0].value(), e = (*ends)[0].value();
  if (!s || !e) return;
  const Range range = resolve(static_cast<std::int64_t>(elements->size()), *s, *e, steps ? (*steps)[0] : 1);
  std::vector<Dim> kept;
  for (std::int64_t i = 0; i < range.count; ++i) kept.push_back((*elements)[static_cast<std::size_t>(range.first + i * range.step)]);
  set_contents(ctx, std::move(kept));
}

void run_slice(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  std::vector<std::int64_t> starts, ends, axes, steps;
  if (ctx.since_version() < 10) {
    starts = ctx.attributes.ints("starts");
    ends = ctx.attributes.ints("ends");
    axes = ctx.attributes.has("axes") ? ctx.attributes.ints("axes") : leading_axes(starts.size());
  } else {
    starts = int_values(ctx.input(1), "starts");
    ends = int_values(ctx.input(2), "ends");
    axes = ctx.has_input(3) ? int_values(ctx.input(3), "axes") : leading_axes(starts.size());
    if (ctx.has_input(4)) steps = int_values(ctx.input(4), "steps");
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  check_count(axes.size(), starts.size(), "axes");
  check_count(ends.size(), starts.size(), "ends");
  check_count(steps.size(), starts.size(), "steps");
  const auto places = normalize_axes(axes, data.rank());
  Shape shape = data.shape();
  Box box;
  box.in_strides = data.shape().strides();
  bool whole = true;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t axis = places[i];
    const Range range = resolve(data.shape()[axis], starts[i], ends[i], steps[i]);
    shape[axis] = range.count;
    box.in_offset += range.count > 0 ? range.first * box.in_strides[axis] : 0;
    whole = whole && range.count == data.shape()[axis] && (range.step == 1 || range.count <= 1);
    box.in_strides[axis] *= range.count > 1 ? range.step : 1;
  }
  if (whole) return ctx.set_output(0, Value(data));
  box.sizes = shape.dims();
  box.out_strides = shape.strides();
  copy_box(data, ctx.output(0, data.dtype(), std::move(shape)), std::move(box), ctx.threads());
}

}  // namespace

extern const OpDef kSlice;
const OpDef kSlice = {
    .domain = "",
    .type = "Slice",
    .summary = "Keeps a range of positions along some axes, every step-th of them; negative positions count from the end.",
    .versions = kSliceVersions,
    .infer = infer_slice,
    .run = run_slice,
};

}  // namespace lppool
