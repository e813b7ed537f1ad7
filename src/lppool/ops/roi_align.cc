// RoiAlign (He et al. 2017): averages (or takes the largest) of bilinear samples on a regular grid in each cell of a region.
// Version 10 works in the coordinates that 16 calls output_half_pixel: nothing is shifted, and regions are at least 1 wide.
// mode max takes the largest of the four weighted neighbours of all samples, as the ONNX reference and its test data do.
#include <algorithm>
#include <cmath>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/compute_type.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {10, "X:T1 rois:T1 batch_indices:T2", "Y:T1",
     "mode:string=avg output_height:int=1 output_width:int=1 sampling_ratio:int=0 spatial_scale:float=1.0",
     "T1=floats; T2=int64"},
    {16, "X:T1 rois:T1 batch_indices:T2", "Y:T1",
     "coordinate_transformation_mode:string=half_pixel mode:string=avg output_height:int=1 output_width:int=1 "
     "sampling_ratio:int=0 spatial_scale:float=1.0",
     "T1=floats; T2=int64"},
    {22, "X:T1 rois:T1 batch_indices:T2", "Y:T1",
     "coordinate_transformation_mode:string=half_pixel mode:string=avg output_height:int=1 output_width:int=1 "
     "sampling_ratio:int=0 spatial_scale:float=1.0",
     "T1=floats|bfloat16; T2=int64"},
};

// More samples a cell and axis than anyone means; keeps run time bounded by the output.
constexpr std::int64_t kMostSamples = 1024;

void check_word(CheckContext& context, const char* name, std::string_view a, std::string_view b) {
  const std::string word = context.attributes.s(name, a);
  if (word == a || word == b) return;
  context.error(kBadValue, name, fmt::format("attribute '{}' is '{}', expected {} or {}", name, word, a, b));
}

void check(CheckContext& context) {
  check_word(context, "mode", "avg", "max");
  check_word(context, "coordinate_transformation_mode", "half_pixel", "output_half_pixel");
  for (const char* name : {"output_height", "output_width"}) {
    if (const std::int64_t size = context.attributes.i(name); size < 1) {
      context.error(kBadValue, name, fmt::format("attribute '{}' is {}, expected 1 or more", name, size));
    }
  }
  if (const std::int64_t ratio = context.attributes.i("sampling_ratio"); ratio < 0) {
    context.error(kBadValue, "sampling_ratio", fmt::format("attribute 'sampling_ratio' is {}, expected 0 or more", ratio));
  }
}

void infer(InferContext& context) {
  const std::vector<Dim>* x = context.shape(0);
  const std::vector<Dim>* rois = context.shape(1);
  const std::vector<Dim>* images = context.shape(2);
  if (x != nullptr && x->size() != 4) fail(ErrorKind::kRuntime, "X has rank {}, expected 4", x->size());
  if (rois != nullptr && (rois->size() != 2 || ((*rois)[1].value() && !(*rois)[1].is(4)))) {
    fail(ErrorKind::kRuntime, "rois has shape {}, expected num_rois x 4", to_string(*rois));
  }
  if (images != nullptr && images->size() != 1) {
    fail(ErrorKind::kRuntime, "batch_indices has rank {}, expected 1", images->size());
  }
  Dim count = rois != nullptr ? (*rois)[0] : Dim();
  if (!count.known() && images != nullptr) count = (*images)[0];
  context.set_output(0, context.input(0).dtype,
                     std::vector<Dim>{count, x != nullptr ? (*x)[1] : Dim(), Dim(context.attributes.i("output_height")),
                                      Dim(context.attributes.i("output_width"))});
  context.explain(0, 2, "attribute output_height");
  context.explain(0, 3, "attribute output_width");
}

// A sampling position along one axis: two neighbours and their weights.
struct Sample {
  std::int64_t low, high;
  double low_weight, high_weight;
};

// The samples of one cell along one axis that are not outside the input, where they count as 0; `count` includes those.
struct Samples {
  std::vector<Sample> inside;
  double count = 0;
};

template <typename T>
Samples sample_cell(T start, T bin, std::int64_t cell, std::int64_t grid, std::int64_t size) {
  Samples samples;
  samples.count = static_cast<double>(std::max<std::int64_t>(grid, 0));
  if (grid <= 0 || size == 0) return samples;
  const T step = bin / static_cast<T>(grid);
  const T origin = start + static_cast<T>(cell) * bin;
  // Only samples in [-1, size] count: the range of indices that can be there, with a margin for rounding.
  const double reach = std::abs(static_cast<double>(step));
  std::int64_t first = 0, last = grid - 1;
  if (reach > 0) {
    const auto index = [&](double position) { return (position - static_cast<double>(origin)) / static_cast<double>(step) - 0.5; };
    const double a = index(-1.0), b = index(static_cast<double>(size));
    const double most = static_cast<double>(grid);
    first = static_cast<std::int64_t>(std::clamp(std::floor(std::min(a, b)) - 1, 0.0, most));
    last = static_cast<std::int64_t>(std::clamp(std::ceil(std::max(a, b)) + 1, -1.0, most - 1));
  }
  for (std::int64_t i = first; i <= last; ++i) {
    T position = origin + (static_cast<T>(i) + T(0.5)) * step;
    if (!(position >= T(-1) && position <= static_cast<T>(size))) continue;
    position = std::max(position, T(0));
    const std::int64_t low = std::min(static_cast<std::int64_t>(position), size - 1);
    const std::int64_t high = std::min(low + 1, size - 1);
    const double part = low >= size - 1 ? 0.0 : static_cast<double>(position - static_cast<T>(low));
    samples.inside.push_back({low, high, 1.0 - part, part});
  }
  return samples;
}

template <typename T>
double average(const T* plane, std::int64_t width, const Samples& rows, const Samples& columns) {
  double sum = 0;
  for (const Sample& r : rows.inside) {
    const T* low = plane + r.low * width;
    const T* high = plane + r.high * width;
    for (const Sample& c : columns.inside) {
      sum += r.low_weight * (c.low_weight * static_cast<double>(low[c.low]) + c.high_weight * static_cast<double>(low[c.high])) +
             r.high_weight * (c.low_weight * static_cast<double>(high[c.low]) + c.high_weight * static_cast<double>(high[c.high]));
    }
  }
  return sum / std::max(rows.count * columns.count, 1.0);
}

template <typename T>
double largest(const T* plane, std::int64_t width, const Samples& rows, const Samples& columns) {
  // Samples outside the input are zeros and take part.
  const auto all = [](const Samples& s) { return static_cast<double>(s.inside.size()) == s.count; };
  bool any = !(all(rows) && all(columns));
  double best = 0;
  const auto take = [&](double value) {
    if (!any || value > best || std::isnan(value)) best = value;
    any = true;
  };
  for (const Sample& r : rows.inside) {
    for (const Sample& c : columns.inside) {
      take(r.low_weight * c.low_weight * static_cast<double>(plane[r.low * width + c.low]));
      take(r.low_weight * c.high_weight * static_cast<double>(plane[r.low * width + c.high]));
      take(r.high_weight * c.low_weight * static_cast<double>(plane[r.high * width + c.low]));
      take(r.high_weight * c.high_weight * static_cast<double>(plane[r.high * width + c.high]));
    }
  }
  return best;
}

// A region along one axis: where it starts, the size of a cell, samples in each.
template <typename T>
struct Region {
  T start, bin;
  std::int64_t grid;
};

template <typename T>
Region<T> region_of(T begin, T end, T scale, bool half_pixel, std::int64_t cells, std::int64_t ratio) {
  const T shift = half_pixel ? T(0.5) : T(0);
  const T start = begin * scale - shift;
  T size = end * scale - shift - start;
  if (!half_pixel) size = std::max(size, T(1));
  if (!std::isfinite(size) || !std::isfinite(start)) fail(ErrorKind::kRuntime, "a region has a coordinate that is not finite");
  const T bin = size / static_cast<T>(cells);
  const auto automatic = static_cast<std::int64_t>(std::clamp(std::ceil(static_cast<double>(bin)), 0.0, 1e15));
  return {start, bin, ratio > 0 ? ratio : automatic};
}

template <typename T>
void align(KernelContext& context) {
  const AttributeView& attributes = context.attributes;
  const Tensor x = as_compute<T>(context.input(0)), rois = as_compute<T>(context.input(1));
  const auto images = context.input(2).data<std::int64_t>();
  const std::int64_t regions = rois.shape()[0], channels = x.shape()[1], height = x.shape()[2], width = x.shape()[3];
  const std::int64_t rows = attributes.i("output_height"), columns = attributes.i("output_width");
  const std::int64_t ratio = attributes.i("sampling_ratio");
  if (ratio > kMostSamples) {
    fail(ErrorKind::kUnsupported, "sampling_ratio is {}, supported are up to {}", ratio, kMostSamples);
  }
  const auto scale = static_cast<T>(attributes.f("spatial_scale"));
  const bool half_pixel = attributes.s("coordinate_transformation_mode", "output_half_pixel") == "half_pixel";
  const bool take_average = attributes.s("mode") == "avg";
  ComputedOutput<T> y(context, 0, context.input(0).dtype(), Shape{regions, channels, rows, columns});
  const T* from = x.data<T>().data();
  T* to = y.data();
  context.threads().parallel_for(regions, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t image = images[static_cast<std::size_t>(i)];
      if (image < 0 || image >= x.shape()[0]) {
        fail(ErrorKind::kRuntime, "region {} is of image {}, expected 0 to {}", i, image, x.shape()[0] - 1);
      }
      const T* roi = rois.data<T>().data() + i * 4;
      const Region<T> across = region_of(roi[0], roi[2], scale, half_pixel, columns, ratio);
      const Region<T> down = region_of(roi[1], roi[3], scale, half_pixel, rows, ratio);
      std::vector<Samples> row_samples, column_samples;
      for (std::int64_t r = 0; r < rows; ++r) row_samples.push_back(sample_cell(down.start, down.bin, r, down.grid, height));
      for (std::int64_t c = 0; c < columns; ++c) {
        column_samples.push_back(sample_cell(across.start, across.bin, c, across.grid, width));
      }
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const T* plane = from + (image * channels + channel) * height * width;
        T* out = to + (i * channels + channel) * rows * columns;
        for (const Samples& r : row_samples) {
          for (const Samples& c : column_samples) {
            *out++ = static_cast<T>(take_average ? average(plane, width, r, c) : largest(plane, width, r, c));
          }
        }
      }
    }
  });
  y.finish();
}

void run(KernelContext& context) {
  CheckContext findings(context.attributes.node(), context.attributes.schema());
  check(findings);
  if (!findings.findings.empty()) fail(ErrorKind::kRuntime, "{}", findings.findings.front().message);
  const Shape& x = context.input(0).shape();
  const Shape& rois = context.input(1).shape();
  const Shape& images = context.input(2).shape();
  if (x.rank() != 4) fail(ErrorKind::kRuntime, "X has shape {}, expected N x C x H x W", to_string(x));
  if (rois.rank() != 2 || rois[1] != 4) fail(ErrorKind::kRuntime, "rois has shape {}, expected num_rois x 4", to_string(rois));
  if (images.rank() != 1 || images[0] != rois[0]) {
    fail(ErrorKind::kRuntime, "batch_indices has shape {}, expected {}", to_string(images), rois[0]);
  }
  with_compute_type(context.input(0).dtype(), [&](auto zero) { align<decltype(zero)>(context); });
}

}  // namespace

extern const OpDef kRoiAlign;
const OpDef kRoiAlign = {
    .domain = "",
    .type = "RoiAlign",
    .summary = "Lays a grid over each region of interest of an image and gives the mean (or the largest) of bilinear samples in "
               "each cell. A region is (x1, y1, x2, y2), scaled by spatial_scale.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check,
};

}  // namespace lppool
