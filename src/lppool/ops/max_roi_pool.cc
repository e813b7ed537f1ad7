// MaxRoiPool: the largest element in each cell of a grid laid over regions of interest, as Fast R-CNN pools them (Girshick
// 2015, and Caffe's layer): corners are rounded to whole positions, both ends belong to the region, cells overlap where the
// grid does not divide it, and a cell outside the input gives 0. The cells' bounds are computed exactly.
#include <algorithm>
#include <cmath>

#include "lppool/base/checked.h"
#include "lppool/base/thread_pool.h"
#include "lppool/ops/compute_type.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X:T rois:T", "Y:T", "pooled_shape!:ints spatial_scale:float=1.0", "T=floats"},
    {22, "X:T rois:T", "Y:T", "pooled_shape!:ints spatial_scale:float=1.0", "T=floats|bfloat16"},
};

std::vector<std::int64_t> pooled_shape(const AttributeView& attributes) {
  std::vector<std::int64_t> sizes = attributes.ints("pooled_shape");
  if (sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1) {
    fail(ErrorKind::kRuntime, "pooled_shape is [{}], expected two sizes of 1 or more", fmt::join(sizes, ", "));
  }
  return sizes;
}

void check(CheckContext& context) {
  const auto sizes = context.attributes.ints("pooled_shape");
  if (sizes.size() == 2 && sizes[0] >= 1 && sizes[1] >= 1) return;
  context.error(kBadValue, "pooled_shape",
                fmt::format("attribute 'pooled_shape' is [{}], expected two sizes of 1 or more", fmt::join(sizes, ", ")));
}

void infer(InferContext& context) {
  const DataType dtype = context.input(0).dtype;
  const std::vector<std::int64_t> pooled = pooled_shape(context.attributes);
  const std::vector<Dim>* x = context.shape(0);
  const std::vector<Dim>* rois = context.shape(1);
  if (x != nullptr && x->size() != 4) fail(ErrorKind::kRuntime, "X has rank {}, expected 4", x->size());
  if (rois != nullptr && (rois->size() != 2 || ((*rois)[1].value() && !(*rois)[1].is(5)))) {
    fail(ErrorKind::kRuntime, "rois has shape {}, expected num_rois x 5", to_string(*rois));
  }
  context.set_output(0, dtype, std::vector<Dim>{rois != nullptr ? (*rois)[0] : Dim(), x != nullptr ? (*x)[1] : Dim(),
                                                Dim(pooled[0]), Dim(pooled[1])});
  for (const std::size_t i : {0, 1}) context.explain(0, i + 2, i == 0 ? "attribute pooled_shape[0]" : "attribute pooled_shape[1]");
}

// First and last position of a region along an axis, rounded; far outside it does not matter where exactly.
struct Extent {
  std::int64_t first, size;
};
Extent extent(double begin, double end) {
  if (std::isnan(begin) || std::isnan(end)) fail(ErrorKind::kRuntime, "a region has a coordinate that is not a number");
  const auto position = [](double v) { return static_cast<std::int64_t>(std::clamp(std::round(v), -1e9, 1e9)); };
  return {position(begin), std::max<std::int64_t>(position(end) - position(begin) + 1, 1)};
}

// Input positions [begin, end) of cell `cell` of `cells`.
struct Range {
  std::int64_t begin, end;
};
Range cell_range(const Extent& region, std::int64_t cell, std::int64_t cells, std::int64_t limit) {
  const std::int64_t begin = region.first + floor_div(cell * region.size, cells);
  const std::int64_t end = region.first + ceil_div((cell + 1) * region.size, cells);
  return {std::clamp<std::int64_t>(begin, 0, limit), std::clamp<std::int64_t>(end, 0, limit)};
}

template <typename T>
T largest(const T* plane, std::int64_t width, const Range& rows, const Range& columns) {
  if (rows.begin >= rows.end || columns.begin >= columns.end) return T{0};
  T best = plane[rows.begin * width + columns.begin];
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    for (std::int64_t c = columns.begin; c < columns.end; ++c) {
      const T value = plane[r * width + c];
      if (value > best || value != value) best = value;
    }
  }
  return best;
}

template <typename T>
void pool(KernelContext& context, const std::vector<std::int64_t>& pooled) {
  const Tensor x = as_compute<T>(context.input(0));
  const Tensor rois = as_float64(context.input(1));
  const Shape& shape = x.shape();
  const std::int64_t regions = rois.shape()[0], channels = shape[1], height = shape[2], width = shape[3];
  const auto scale = static_cast<double>(context.attributes.f("spatial_scale"));
  ComputedOutput<T> y(context, 0, context.input(0).dtype(), Shape{regions, channels, pooled[0], pooled[1]});
  const T* from = x.data<T>().data();
  T* to = y.data();
  context.threads().parallel_for(regions, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t region = begin; region < end; ++region) {
      const double* roi = rois.data<double>().data() + region * 5;
      if (!(roi[0] >= 0 && roi[0] < static_cast<double>(shape[0])) || roi[0] != std::floor(roi[0])) {
        fail(ErrorKind::kRuntime, "region {} is of image {}, expected 0 to {}", region, roi[0], shape[0] - 1);
      }
      const T* image = from + static_cast<std::int64_t>(roi[0]) * channels * height * width;
      const Extent across = extent(roi[1] * scale, roi[3] * scale), down = extent(roi[2] * scale, roi[4] * scale);
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        T* out = to + (region * channels + channel) * pooled[0] * pooled[1];
        for (std::int64_t i = 0; i < pooled[0] * pooled[1]; ++i) {
          out[i] = largest(image + channel * height * width, width, cell_range(down, i / pooled[1], pooled[0], height),
                           cell_range(across, i % pooled[1], pooled[1], width));
        }
      }
    }
  });
  y.finish();
}

void run(KernelContext& context) {
  const Shape& x = context.input(0).shape();
  const Shape& rois = context.input(1).shape();
  if (x.rank() != 4) fail(ErrorKind::kRuntime, "X has shape {}, expected N x C x H x W", to_string(x));
  if (rois.rank() != 2 || rois[1] != 5) fail(ErrorKind::kRuntime, "rois has shape {}, expected num_rois x 5", to_string(rois));
  const std::vector<std::int64_t> pooled = pooled_shape(context.attributes);
  if (std::max(pooled[0], pooled[1]) > 1'000'000'000) {
    fail(ErrorKind::kLimit, "pooled_shape is {}x{}, expected at most 10^9", pooled[0], pooled[1]);
  }
  with_compute_type(context.input(0).dtype(), [&](auto zero) { pool<decltype(zero)>(context, pooled); });
}

}  // namespace

extern const OpDef kMaxRoiPool;
const OpDef kMaxRoiPool = {
    .domain = "",
    .type = "MaxRoiPool",
    .summary = "Lays a grid over each region of interest of an image and gives the largest element of each cell. A region is "
               "(image, x1, y1, x2, y2), scaled by spatial_scale.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check,
};

}  // namespace lppool
