// Pad: elements put around (or, with negative numbers, cut off) each axis. A constant border is a fill and one box to copy;
// the other modes read the input through a table of places for each axis.
#include <algorithm>

#include "lppool/base/checked.h"
#include "lppool/ops/contents.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr std::string_view kInputs11 = "data:T pads:int64 constant_value?:T";
constexpr std::string_view kInputs18 = "data:T pads:int64 constant_value?:T axes?:Tind";

constexpr OpVersion kPadVersions[] = {
    {1, "data:T", "output:T", "mode:string=constant paddings!:ints value:float=0.0", "T=floats"},
    {2, "data:T", "output:T", "mode:string=constant pads!:ints value:float=0.0", "T=floats"},
    {11, kInputs11, "output:T", "mode:string=constant", "T=num11"},
    {13, kInputs11, "output:T", "mode:string=constant", "T=all16"},
    {18, kInputs18, "output:T", "mode:string=constant", "T=all16; Tind=int32|int64"},
    {19, kInputs18, "output:T", "mode:string=constant", "T=all16; Tind=int32|int64"},
    {21, kInputs18, "output:T", "mode:string=constant", "T=all22; Tind=int32|int64"},
    {23, kInputs18, "output:T", "mode:string=constant", "T=all23; Tind=int32|int64"},
    {24, kInputs18, "output:T", "mode:string=constant", "T=all24; Tind=int32|int64"},
    {25, kInputs18, "output:T", "mode:string=constant", "T=all26; Tind=int32|int64"},
};

std::vector<std::int64_t> pads_attribute(const AttributeView& attributes) {
  return attributes.ints(attributes.schema().since_version == 1 ? "paddings" : "pads");
}

// Begin and end numbers of each of `rank` axes, from a list for `axes` (all of them where there is none).
template <typename Size>
std::vector<std::pair<Size, Size>> by_axis(const std::vector<Size>& pads, const std::optional<std::vector<std::int64_t>>& axes,
                                           std::size_t rank) {
  const std::size_t count = axes ? axes->size() : rank;
  if (pads.size() != 2 * count) {
    fail(ErrorKind::kRuntime, "pads has {} values, expected {} for {} axes", pads.size(), 2 * count, count);
  }
  std::vector<std::pair<Size, Size>> result(rank, {Size(0), Size(0)});
  if (!axes) {
    for (std::size_t k = 0; k < rank; ++k) result[k] = {pads[k], pads[rank + k]};
    return result;
  }
  const auto places = normalize_axes(*axes, rank);
  for (std::size_t i = 0; i < count; ++i) result[places[i]] = {pads[i], pads[count + i]};
  return result;
}

// A list padded with a constant, where all of it is known.
void follow_contents(InferContext& ctx, const std::vector<std::pair<Dim, Dim>>& around) {
  const std::vector<Dim>* elements = ctx.elements(0);
  if (elements == nullptr || around.size() != 1 || ctx.since_version() < 11 || ctx.attributes.s("mode") != "constant") return;
  const auto begin = around[0].first.value(), end = around[0].second.value();
  constexpr auto kMost = static_cast<std::int64_t>(kMaxFollowed);
  if (!begin || !end || *begin < 0 || *end < 0 || *begin > kMost || *end > kMost) return;
  Dim value(0);
  if (ctx.has_input(2)) {
    const std::vector<Dim>* given = ctx.elements(2);
    if (given == nullptr || given->size() != 1) return;
    value = (*given)[0];
  }
  std::vector<Dim> padded(static_cast<std::size_t>(*begin), value);
  padded.insert(padded.end(), elements->begin(), elements->end());
  padded.insert(padded.end(), static_cast<std::size_t>(*end), value);
  set_contents(ctx, std::move(padded));
}

void infer_pad(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) return set_moved(ctx, std::nullopt);
  std::optional<std::vector<Dim>> pads;
  std::optional<std::vector<std::int64_t>> axes;
  if (ctx.since_version() < 11) {
    const auto values = pads_attribute(ctx.attributes);
    pads.emplace(values.begin(), values.end());
  } else {
    pads = elements_or_unknown(ctx, 1);
  }
  if (ctx.since_version() >= 18 && ctx.has_input(3)) {
    axes = known_ints(ctx, 3);
    if (!axes) pads.reset();
  }
  if (!pads) return set_moved(ctx, unknown_dims(shape->size()));
  const auto around = by_axis(*pads, axes, shape->size());
  std::vector<Dim> result;
  for (std::size_t k = 0; k < shape->size(); ++k) {
    result.push_back((*shape)[k] + around[k].first + around[k].second);
    if (ctx.explaining) {
      const bool padded = !around[k].first.is(0) || !around[k].second.is(0);
      ctx.explain(0, k, padded ? terms(std::vector<Dim>{(*shape)[k], around[k].first, around[k].second}, " + ") : size_name(ctx, 0, k));
    }
    if (result[k].value().value_or(0) < 0) {
      fail(ErrorKind::kRuntime, "axis {} of size {} padded by {} and {} has a negative size", k, (*shape)[k].to_string(),
           around[k].first.to_string(), around[k].second.to_string());
    }
  }
  set_moved(ctx, std::move(result));
  follow_contents(ctx, around);
}

// The constant to pad with, as a tensor of data's type; zero (false, the empty string) by default.
Tensor pad_value(KernelContext& ctx, DataType dtype) {
  if (ctx.since_version() < 11) {
    const float value = ctx.attributes.f("value");
    switch (dtype) {
      case DataType::kFloat16: return Tensor::scalar(Float16(value));
      case DataType::kFloat64: return Tensor::scalar<double>(value);
      default: return Tensor::scalar(value);
    }
  }
  const Tensor* value = ctx.optional_input(2);
  if (value == nullptr) return Tensor::zeros(dtype, Shape{});
  if (value->size() != 1 || value->dtype() != dtype) {
    fail(ErrorKind::kRuntime, "constant_value is {} {}, expected one {}", name(value->dtype()), to_string(value->shape()),
         name(dtype));
  }
  return *value;
}

enum class Mode { kConstant, kReflect, kEdge, kWrap };

Mode mode_of(const AttributeView& attributes) {
  const std::string word = attributes.s("mode");
  if (word == "constant") return Mode::kConstant;
  if (word == "reflect") return Mode::kReflect;
  if (word == "edge") return Mode::kEdge;
  const bool wraps = attributes.schema().since_version >= 19;
  if (wraps && word == "wrap") return Mode::kWrap;
  fail(ErrorKind::kRuntime, "mode is '{}', expected constant, reflect{}", word, wraps ? ", edge or wrap" : " or edge");
}

// For each place of a padded axis the place of the input it repeats. What a negative pad cuts off is gone before the rest
// is mirrored or repeated.
std::vector<std::int64_t> places(std::int64_t size, std::int64_t begin, std::int64_t end, std::int64_t result, Mode mode) {
  const std::int64_t first = std::max<std::int64_t>(0, -begin), kept = size - first - std::max<std::int64_t>(0, -end);
  if (kept <= 0 && result > 0) {
    fail(ErrorKind::kRuntime, "an axis of size {} padded by {} and {} has nothing left to repeat", size, begin, end);
  }
  std::vector<std::int64_t> table(static_cast<std::size_t>(result));
  const std::int64_t before = std::max<std::int64_t>(0, begin);
  for (std::int64_t i = 0; i < result; ++i) {
    std::int64_t place = i - before;
    if (mode == Mode::kEdge) {
      place = std::clamp<std::int64_t>(place, 0, kept - 1);
    } else if (mode == Mode::kWrap) {
      place -= floor_div(place, kept) * kept;
    } else if (kept == 1) {
      place = 0;
    } else {  // there and back again: the period of a reflection leaves both ends single
      const std::int64_t period = 2 * (kept - 1);
      place -= floor_div(place, period) * period;
      place = std::min(place, period - place);
    }
    table[static_cast<std::size_t>(i)] = first + place;
  }
  return table;
}

void run_pad(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Mode mode = mode_of(ctx.attributes);
  std::optional<std::vector<std::int64_t>> axes;
  if (ctx.since_version() >= 18 && ctx.has_input(3)) axes = int_values(ctx.input(3), "axes");
  const auto pads = ctx.since_version() < 11 ? pads_attribute(ctx.attributes) : int_values(ctx.input(1), "pads");
  const auto around = by_axis(pads, axes, data.rank());
  Shape shape;
  bool unchanged = true;
  for (std::size_t k = 0; k < data.rank(); ++k) {
    const auto longer = checked_add(data.shape()[k], around[k].first);
    const auto size = longer ? checked_add(*longer, around[k].second) : std::nullopt;
    // Each side may cut off only what is there: their sum alone could hide that.
    if (!size || *size < 0 || *longer < 0 || around[k].second < -data.shape()[k]) {
      fail(size ? ErrorKind::kRuntime : ErrorKind::kLimit, "axis {} of size {} cannot be padded by {} and {}", k,
           data.shape()[k], around[k].first, around[k].second);
    }
    shape.push_back(*size);
    unchanged = unchanged && around[k].first == 0 && around[k].second == 0;
  }
  if (unchanged) return ctx.set_output(0, Value(data));
  const Tensor value = mode == Mode::kConstant ? pad_value(ctx, data.dtype()) : Tensor();
  Tensor& out = ctx.output(0, data.dtype(), shape);
  if (out.size() == 0) return;
  if (mode != Mode::kConstant) {
    std::vector<std::vector<std::int64_t>> tables;
    for (std::size_t k = 0; k < data.rank(); ++k) {
      tables.push_back(places(data.shape()[k], around[k].first, around[k].second, shape[k], mode));
    }
    return copy_mapped(data, out, tables, ctx.threads());
  }
  Box box;
  box.in_strides = data.shape().strides();
  box.out_strides = shape.strides();
  for (std::size_t k = 0; k < data.rank(); ++k) {
    const auto [begin, end] = around[k];
    const std::int64_t cut = std::max<std::int64_t>(0, -begin);
    box.sizes.push_back(std::max<std::int64_t>(0, data.shape()[k] - cut - std::max<std::int64_t>(0, -end)));
    box.in_offset += cut * box.in_strides[k];
    box.out_offset += std::max<std::int64_t>(0, begin) * box.out_strides[k];
  }
  fill(out, value, 0, ctx.threads());
  copy_box(data, out, std::move(box), ctx.threads());
}

}  // namespace

extern const OpDef kPad;
const OpDef kPad = {
    .domain = "",
    .type = "Pad",
    .summary = "Puts elements around each axis - a constant, or the input reflected, its edge, or wrapped; negative numbers cut.",
    .versions = kPadVersions,
    .infer = infer_pad,
    .run = run_pad,
};

}  // namespace lppool
