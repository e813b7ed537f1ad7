#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/tensor/tensor.h"

// Resampling of tensors axis by axis: the arithmetic of Resize and Upsample, free of their attributes' spelling.
namespace lppool::resample {

enum class Mode { kNearest, kLinear, kCubic };
enum class Nearest {
  kRoundPreferFloor,
  kRoundPreferCeil,
  kFloor,
  kCeil,
  kSimple,  // Resize 10 and Upsample: floor where the axis grows, ceil where it shrinks
};
enum class Transform {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize
};

struct Method {
  Mode mode = Mode::kNearest;
  Nearest nearest = Nearest::kRoundPreferFloor;
  Transform transform = Transform::kHalfPixel;
  bool antialias = false;
  bool exclude_outside = false;
  double cubic_a = -0.75;
  double extrapolation = 0;
};

// One axis to resample. scale = numerator / denominator: kept apart so that sizes give exact coordinates.
struct Axis {
  std::size_t axis = 0;
  std::int64_t input = 0, output = 0;
  double numerator = 1, denominator = 1;
  double roi_start = 0, roi_end = 1;
};

// The input coordinate of output place x.
double coordinate(const Axis& axis, Transform transform, std::int64_t x);

// For each output place, `taps` input places (already inside the axis) and their weights; outside[o] is set where the
// place takes the extrapolation value. taps is 1 and weights are empty for nearest.
struct Table {
  std::int64_t taps = 1;
  std::vector<std::int64_t> places;
  std::vector<double> weights;
  std::vector<bool> outside;
};
Table make_table(const Axis& axis, const Method& method);

// `axes` are distinct; all other axes stay. Nearest moves elements of any type; linear and cubic are for the types of
// as_float32 (numbers.h), computed in float32 or, for float64 and integers, in float64 and rounded half to even.
Tensor resample(const Tensor& input, const std::vector<Axis>& axes, const Method& method, ThreadPool& threads);

}  // namespace lppool::resample
