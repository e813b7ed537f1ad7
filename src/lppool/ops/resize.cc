// Resize and Upsample: their attributes, versions and shapes. The arithmetic is in resample.cc.
#include <algorithm>
#include <cmath>

#include "lppool/base/checked.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"
#include "lppool/ops/resample.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

using resample::Axis;
using resample::Method;
using resample::Mode;
using resample::Nearest;
using resample::Transform;

constexpr OpVersion kResizeVersions[] = {
    {10, "X:T scales:float32", "Y:T", "mode:string=nearest", "T=all15"},
    {11, "X:T1 roi:T2 scales:float32 sizes?:int64", "Y:T1",
     "coordinate_transformation_mode:string=half_pixel cubic_coeff_a:float=-0.75 exclude_outside:int=0 "
     "extrapolation_value:float=0.0 mode:string=nearest nearest_mode:string=round_prefer_floor",
     "T1=all15; T2=floats"},
    {13, "X:T1 roi?:T2 scales?:float32 sizes?:int64", "Y:T1",
     "coordinate_transformation_mode:string=half_pixel cubic_coeff_a:float=-0.75 exclude_outside:int=0 "
     "extrapolation_value:float=0.0 mode:string=nearest nearest_mode:string=round_prefer_floor",
     "T1=all16; T2=floats"},
    {18, "X:T1 roi?:T2 scales?:float32 sizes?:int64", "Y:T1",
     "antialias:int=0 axes:ints coordinate_transformation_mode:string=half_pixel cubic_coeff_a:float=-0.75 "
     "exclude_outside:int=0 extrapolation_value:float=0.0 keep_aspect_ratio_policy:string=stretch mode:string=nearest "
     "nearest_mode:string=round_prefer_floor",
     "T1=all16; T2=floats"},
    {19, "X:T1 roi?:T2 scales?:float32 sizes?:int64", "Y:T1",
     "antialias:int=0 axes:ints coordinate_transformation_mode:string=half_pixel cubic_coeff_a:float=-0.75 "
     "exclude_outside:int=0 extrapolation_value:float=0.0 keep_aspect_ratio_policy:string=stretch mode:string=nearest "
     "nearest_mode:string=round_prefer_floor",
     "T1=all16; T2=floats"},
};

constexpr OpVersion kUpsampleVersions[] = {
    {1, "X:T", "Y:T", "height_scale!:float mode:string=nearest width_scale!:float", "T=floats|bool|int32|int64"},
    {7, "X:T", "Y:T", "mode:string=nearest scales!:floats", "T=all15"},
    {9, "X:T scales:float32", "Y:T", "mode:string=nearest", "T=all15"},
    {10, "", "", "", "", true},
};

template <typename T>
struct Word {
  std::string_view text;
  T value;
  int from = 0, before = 1000;  // the since-versions that know it
};
constexpr Word<Mode> kModes[] = {{"nearest", Mode::kNearest},
                                 {"linear", Mode::kLinear},
                                 {"cubic", Mode::kCubic, 11},
                                 {"bilinear", Mode::kLinear, 0, 10}};
constexpr Word<Nearest> kNearestModes[] = {{"round_prefer_floor", Nearest::kRoundPreferFloor},
                                           {"round_prefer_ceil", Nearest::kRoundPreferCeil},
                                           {"floor", Nearest::kFloor},
                                           {"ceil", Nearest::kCeil}};
constexpr Word<Transform> kTransforms[] = {{"half_pixel", Transform::kHalfPixel},
                                           {"half_pixel_symmetric", Transform::kHalfPixelSymmetric, 19},
                                           {"pytorch_half_pixel", Transform::kPytorchHalfPixel},
                                           {"align_corners", Transform::kAlignCorners},
                                           {"asymmetric", Transform::kAsymmetric},
                                           {"tf_half_pixel_for_nn", Transform::kTfHalfPixelForNn, 11, 13},
                                           {"tf_crop_and_resize", Transform::kTfCropAndResize}};
constexpr std::string_view kPolicies[] = {"stretch", "not_larger", "not_smaller"};

template <typename T, std::size_t n>
const Word<T>* find_word(const Word<T> (&words)[n], std::string_view text, int since) {
  for (const Word<T>& word : words) {
    if (word.text == text && since >= word.from && since < word.before) return &word;
  }
  return nullptr;
}

template <typename T, std::size_t n>
T read_word(const AttributeView& attributes, const Word<T> (&words)[n], std::string_view name) {
  const std::string text = attributes.s(name);
  const auto* word = find_word(words, text, attributes.schema().since_version);
  if (word == nullptr)
    fail(ErrorKind::kRuntime, "attribute '{}' is '{}', which this version does not know", name, text);
  return word->value;
}

Method read_method(const AttributeView& attributes, bool resize_11) {
  Method method;
  method.mode = read_word(attributes, kModes, "mode");
  if (!resize_11) {
    method.transform = Transform::kAsymmetric;
    method.nearest = Nearest::kSimple;
    return method;
  }
  method.transform = read_word(attributes, kTransforms, "coordinate_transformation_mode");
  method.nearest = read_word(attributes, kNearestModes, "nearest_mode");
  method.cubic_a = attributes.f("cubic_coeff_a");
  method.exclude_outside = attributes.i("exclude_outside") != 0;
  method.extrapolation = attributes.f("extrapolation_value");
  method.antialias = attributes.i("antialias", 0) != 0;
  return method;
}

template <typename T, std::size_t n>
void check_word(CheckContext& ctx, const Word<T> (&words)[n], std::string_view name) {
  const std::string text = ctx.attributes.s(name);
  if (find_word(words, text, ctx.since_version()) != nullptr) return;
  std::string known;
  for (const auto& word : words) {
    if (ctx.since_version() < word.from || ctx.since_version() >= word.before) continue;
    known += known.empty() ? "" : ", ";
    known += word.text;
  }
  ctx.error(kBadValue, std::string(name), fmt::format("attribute '{}' is '{}', expected one of {}", name, text, known));
}

void check(CheckContext& ctx) {
  if (ctx.attributes.schema().deprecated) return;
  check_word(ctx, kModes, "mode");
  if (ctx.attributes.schema().find_attribute("nearest_mode") == nullptr) return;
  check_word(ctx, kNearestModes, "nearest_mode");
  check_word(ctx, kTransforms, "coordinate_transformation_mode");
  const std::string policy = ctx.attributes.s("keep_aspect_ratio_policy", "stretch");
  if (std::ranges::find(kPolicies, policy) == std::end(kPolicies)) {
    ctx.error(kBadValue, "keep_aspect_ratio_policy",
              fmt::format("attribute 'keep_aspect_ratio_policy' is '{}', expected stretch, not_larger or not_smaller",
                          policy));
  }
}

// The axes that scales, sizes and roi speak of, in their order.
std::vector<std::size_t> listed_axes(const AttributeView& attributes, std::size_t rank) {
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : attributes.ints("axes")) {
    axes.push_back(normalize_axis(axis, rank));
    if (std::ranges::count(axes, axes.back()) > 1)
      fail(ErrorKind::kRuntime, "attribute 'axes' names axis {} twice", axis);
  }
  for (std::size_t i = 0; i < rank && !attributes.has("axes"); ++i) axes.push_back(i);
  return axes;
}

void expect_count(std::string_view what, std::size_t count, std::size_t expected) {
  if (count != expected) fail(ErrorKind::kRuntime, "{} has {} elements, expected {}", what, count, expected);
}

// floor(length * scale) in float32, as the shape rule of ONNX has it: a scale such as 4/3 is not exact, and its rounded
// product with 3 must be 4. Products that float32 cannot hold exactly are left to float64.
std::int64_t scaled_length(std::int64_t length, float scale) {
  const double product = static_cast<double>(length) * static_cast<double>(scale);
  if (product < 1 << 24) return static_cast<std::int64_t>(std::floor(static_cast<float>(length) * scale));
  if (product >= 9e18) fail(ErrorKind::kLimit, "length {} times scale {} does not fit 63 bits", length, scale);
  return static_cast<std::int64_t>(std::floor(product));
}

void expect_scale(float scale, bool upsample) {
  if (!(scale > 0) || std::isinf(scale)) fail(ErrorKind::kRuntime, "a scale is {}, expected a number above 0", scale);
  if (upsample && scale < 1) fail(ErrorKind::kRuntime, "a scale is {}, expected 1 or more", scale);
}

// Where the sizes bound the output rather than give it: the ratio of the axis that decides, and each output length.
struct Ratio {
  std::int64_t numerator = 1, denominator = 1;
};
Ratio deciding_ratio(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& lengths,
                     bool not_larger) {
  Ratio best;
  double best_value = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (lengths[i] == 0)
      fail(ErrorKind::kRuntime, "an axis to resize has length 0, so its aspect ratio cannot be kept");
    const double value = static_cast<double>(sizes[i]) / static_cast<double>(lengths[i]);
    if (i > 0 && (not_larger ? value >= best_value : value <= best_value)) continue;
    best = {sizes[i], lengths[i]};
    best_value = value;
  }
  return best;
}
std::int64_t rounded_length(std::int64_t length, const Ratio& ratio) {
  const auto product = checked_mul(length, ratio.numerator);
  const auto doubled = product ? checked_mul(*product, 2) : std::nullopt;
  const auto sum = doubled ? checked_add(*doubled, ratio.denominator) : std::nullopt;
  if (!sum || ratio.denominator > INT64_MAX / 2) fail(ErrorKind::kLimit, "sizes too large to keep an aspect ratio");
  return floor_div(*sum, 2 * ratio.denominator);
}

// The scales of opset 1 to 10, in whichever form the version has them; nullopt where not known yet.
std::optional<std::vector<float>> old_scales(const AttributeView& attributes, const Tensor* scales_input,
                                             std::size_t rank) {
  if (attributes.schema().find_attribute("height_scale") != nullptr) {
    if (rank != 4) fail(ErrorKind::kRuntime, "input X has rank {}, expected 4", rank);
    return std::vector<float>{1, 1, attributes.f("height_scale"), attributes.f("width_scale")};
  }
  if (attributes.schema().find_attribute("scales") != nullptr) return attributes.floats("scales");
  if (scales_input == nullptr) return std::nullopt;
  const auto values = scales_input->data<float>();
  return std::vector<float>(values.begin(), values.end());
}

bool is_upsample(const AttributeView& attributes) {
  return attributes.schema().name == "Upsample";
}
bool is_resize_11(const AttributeView& attributes) {
  return attributes.schema().find_attribute("nearest_mode") != nullptr;
}

// --- shape rule ---

// dim * scale rounded down; for a symbol, known only where the scale is a small dyadic fraction.
Dim scaled_dim(const Dim& dim, float scale) {
  if (dim.value()) return scaled_length(*dim.value(), scale);
  for (std::int64_t denominator = 1; denominator <= 256; denominator *= 2) {
    const double numerator = static_cast<double>(scale) * static_cast<double>(denominator);
    if (numerator == std::floor(numerator) && numerator < 1 << 20) {
      return floor_div(dim * Dim(static_cast<std::int64_t>(numerator)), Dim(denominator));
    }
  }
  return Dim();
}

void infer_scales(InferContext& ctx, const std::vector<float>& scales, const std::vector<std::size_t>& axes,
                  std::vector<Dim>& out) {
  expect_count("scales", scales.size(), axes.size());
  // With a region of interest, text and published shape rule differ (see run): nothing is said.
  const bool cropped = ctx.attributes.s("coordinate_transformation_mode", "") == "tf_crop_and_resize";
  for (std::size_t i = 0; i < axes.size(); ++i) {
    expect_scale(scales[i], is_upsample(ctx.attributes));
    if (ctx.explaining && !cropped) ctx.explain(0, axes[i], fmt::format("floor({}*{})", term(out[axes[i]]), scales[i]));
    out[axes[i]] = cropped ? Dim() : scaled_dim(out[axes[i]], scales[i]);
  }
}

void infer_sizes(InferContext& ctx, const std::vector<Dim>* sizes, const std::vector<std::size_t>& axes,
                 std::vector<Dim>& out) {
  if (sizes == nullptr) {
    for (const std::size_t axis : axes) out[axis] = Dim();
    return;
  }
  expect_count("sizes", sizes->size(), axes.size());
  const std::string policy = ctx.attributes.s("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") {
    for (std::size_t i = 0; i < axes.size(); ++i) out[axes[i]] = (*sizes)[i];
    return;
  }
  std::vector<std::int64_t> numbers, lengths;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if ((*sizes)[i].value()) numbers.push_back(*(*sizes)[i].value());
    if (out[axes[i]].value()) lengths.push_back(*out[axes[i]].value());
  }
  const bool known = numbers.size() == axes.size() && lengths.size() == axes.size();
  const Ratio ratio = known ? deciding_ratio(numbers, lengths, policy == "not_larger") : Ratio{};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    out[axes[i]] = known ? Dim(rounded_length(lengths[i], ratio)) : Dim();
    if (known && ctx.explaining) {
      ctx.explain(0, axes[i], fmt::format("{} scaled as all axes by what makes the sizes {} ({})", lengths[i], fmt::join(numbers, ", "), policy));
    }
  }
}

void infer(InferContext& ctx) {
  const DataType dtype = ctx.input(0).dtype;
  const auto* shape = ctx.shape(0);
  if (shape == nullptr) return ctx.set_output(0, dtype, std::nullopt);
  std::vector<Dim> out = *shape;
  const auto axes = listed_axes(ctx.attributes, out.size());
  const std::vector<Dim> unknown(out.size());
  if (!is_resize_11(ctx.attributes)) {
    const auto scales = old_scales(ctx.attributes, ctx.constant(1), out.size());
    if (!scales) return ctx.set_output(0, dtype, unknown);
    infer_scales(ctx, *scales, axes, out);
    return ctx.set_output(0, dtype, out);
  }
  const Tensor* scales = ctx.constant(2);
  const auto* sizes = ctx.elements(3);
  if (ctx.has_input(3) && (sizes == nullptr || !sizes->empty())) {
    if (scales != nullptr && scales->size() > 0)
      fail(ErrorKind::kRuntime, "both scales and sizes are given, expected one of them");
    infer_sizes(ctx, sizes, axes, out);
    return ctx.set_output(0, dtype, out);
  }
  if (!ctx.has_input(2)) fail(ErrorKind::kRuntime, "neither scales nor sizes are given, expected one of them");
  if (scales == nullptr) {
    for (const std::size_t axis : axes) out[axis] = Dim();
    return ctx.set_output(0, dtype, out);
  }
  const auto values = scales->data<float>();
  infer_scales(ctx, {values.begin(), values.end()}, axes, out);
  ctx.set_output(0, dtype, out);
}

// --- execution ---

void set_scales(std::vector<Axis>& axes, const std::vector<float>& scales, bool upsample) {
  expect_count("scales", scales.size(), axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    expect_scale(scales[i], upsample);
    axes[i].output = scaled_length(axes[i].input, scales[i]);
    axes[i].numerator = static_cast<double>(scales[i]);
    axes[i].denominator = 1;
  }
}

void set_sizes(std::vector<Axis>& axes, const std::vector<std::int64_t>& sizes, std::string_view policy) {
  expect_count("sizes", sizes.size(), axes.size());
  std::vector<std::int64_t> lengths;
  for (const Axis& axis : axes) lengths.push_back(axis.input);
  for (const std::int64_t size : sizes) {
    if (size < 0) fail(ErrorKind::kRuntime, "a size is {}, expected 0 or more", size);
  }
  const Ratio ratio = policy == "stretch" ? Ratio{} : deciding_ratio(sizes, lengths, policy == "not_larger");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].output = policy == "stretch" ? sizes[i] : rounded_length(axes[i].input, ratio);
    axes[i].numerator = static_cast<double>(policy == "stretch" ? sizes[i] : ratio.numerator);
    axes[i].denominator = static_cast<double>(policy == "stretch" ? axes[i].input : ratio.denominator);
  }
}

// Reads the region of interest into the axes; used by tf_crop_and_resize only.
void set_roi(KernelContext& ctx, std::vector<Axis>& axes, bool by_scales) {
  const Tensor* roi = ctx.optional_input(1);
  if (roi == nullptr) fail(ErrorKind::kRuntime, "input roi is absent, tf_crop_and_resize needs it");
  const Tensor values = as_float64(*roi);
  expect_count("roi", static_cast<std::size_t>(values.size()), 2 * axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].roi_start = values.data<double>()[i];
    axes[i].roi_end = values.data<double>()[axes.size() + i];
    if (by_scales && axes[i].roi_end - axes[i].roi_start != 1) {
      fail(ErrorKind::kUnsupported,
           "tf_crop_and_resize with scales and a region from {} to {}: the output size is disputed "
           "(text: the region's length counts; shape rule: it does not); give sizes instead",
           axes[i].roi_start, axes[i].roi_end);
    }
  }
}

void run(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  const bool resize_11 = is_resize_11(ctx.attributes);
  const Method method = read_method(ctx.attributes, resize_11);
  const DataType dtype = x.dtype();
  if (method.mode != Mode::kNearest && (dtype == DataType::kBool || !(is_float(dtype) || is_integer(dtype)))) {
    fail(ErrorKind::kUnsupported, "interpolation of {} elements; mode nearest takes every type", name(dtype));
  }
  std::vector<Axis> axes;
  for (const std::size_t axis : listed_axes(ctx.attributes, x.rank())) {
    axes.push_back({.axis = axis, .input = x.shape()[axis], .output = x.shape()[axis]});
  }
  if (!resize_11) {
    const auto scales = old_scales(ctx.attributes, ctx.optional_input(1), x.rank());
    set_scales(axes, scales.value_or(std::vector<float>{}), is_upsample(ctx.attributes));
  } else {
    const Tensor *scales = ctx.optional_input(2), *sizes = ctx.optional_input(3);
    if (scales != nullptr && scales->size() == 0 && !axes.empty()) scales = nullptr;
    if (sizes != nullptr && sizes->size() == 0 && !axes.empty()) sizes = nullptr;
    if ((scales != nullptr) == (sizes != nullptr)) {
      fail(ErrorKind::kRuntime, "{} scales and sizes are given, expected one of them",
           scales != nullptr ? "both" : "neither");
    }
    const std::string policy = ctx.attributes.s("keep_aspect_ratio_policy", "stretch");
    if (sizes != nullptr) {
      set_sizes(axes, read_integers(*sizes, "input sizes"), policy);
    } else {
      const auto values = scales->data<float>();
      set_scales(axes, {values.begin(), values.end()}, false);
    }
    if (method.transform == Transform::kTfCropAndResize) set_roi(ctx, axes, scales != nullptr);
  }
  std::erase_if(axes, [](const Axis& a) {
    return a.output == a.input && a.numerator == a.denominator && a.roi_start == 0 && a.roi_end == 1;
  });
  ctx.set_output(0, resample::resample(x, axes, method, ctx.threads()));
}

void run_upsample(KernelContext& ctx) {
  if (ctx.attributes.schema().deprecated)
    fail(ErrorKind::kUnsupported, "Upsample was withdrawn in opset 10; Resize took its place");
  run(ctx);
}

void infer_upsample(InferContext& ctx) {
  if (!ctx.attributes.schema().deprecated) infer(ctx);
}

}  // namespace

extern const OpDef kResize;
const OpDef kResize = {
    .domain = "",
    .type = "Resize",
    .summary = "Resamples a tensor to another size along its axes, by nearest element, linear or cubic interpolation.",
    .versions = kResizeVersions,
    .infer = infer,
    .run = run,
    .check = check,
};

extern const OpDef kUpsample;
const OpDef kUpsample = {
    .domain = "",
    .type = "Upsample",
    .summary =
        "Enlarges a tensor along its axes, by nearest element or linear interpolation. Resize took its place in opset "
        "10.",
    .versions = kUpsampleVersions,
    .infer = infer_upsample,
    .run = run_upsample,
    .check = check,
};

}  // namespace lppool
