// GridSample and AffineGrid: sampling at places that a grid names.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kGridSampleVersions[] = {
    {16, "X:T1 grid:T2", "Y:T1", "align_corners:int=0 mode:string=bilinear padding_mode:string=zeros",
     "T1=all15; T2=floats"},
    {20, "X:T1 grid:T2", "Y:T1", "align_corners:int=0 mode:string=linear padding_mode:string=zeros",
     "T1=all15; T2=floats"},
    {22, "X:T1 grid:T2", "Y:T1", "align_corners:int=0 mode:string=linear padding_mode:string=zeros",
     "T1=all16; T2=floats|bfloat16"},
};

constexpr OpVersion kAffineGridVersions[] = {
    {20, "theta:T1 size:T2", "grid:T1", "align_corners:int=0", "T1=floats|bfloat16; T2=int64"},
};

enum class Mode { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

// Version 16 says bilinear and bicubic, later ones linear and cubic.
std::optional<Mode> find_mode(std::string_view text, int since) {
  if (text == "nearest") return Mode::kNearest;
  if (text == (since < 20 ? "bilinear" : "linear")) return Mode::kLinear;
  if (text == (since < 20 ? "bicubic" : "cubic")) return Mode::kCubic;
  return std::nullopt;
}

std::optional<Padding> find_padding(std::string_view text) {
  if (text == "zeros") return Padding::kZeros;
  if (text == "border") return Padding::kBorder;
  if (text == "reflection") return Padding::kReflection;
  return std::nullopt;
}

void check(CheckContext& ctx) {
  const std::string mode = ctx.attributes.s("mode"), padding = ctx.attributes.s("padding_mode");
  if (!find_mode(mode, ctx.since_version())) {
    ctx.error(kBadValue, "mode",
              fmt::format("attribute 'mode' is '{}', expected {}", mode,
                          ctx.since_version() < 20 ? "bilinear, nearest or bicubic" : "linear, nearest or cubic"));
  }
  if (!find_padding(padding)) {
    ctx.error(kBadValue, "padding_mode",
              fmt::format("attribute 'padding_mode' is '{}', expected zeros, border or reflection", padding));
  }
}

void infer(InferContext& ctx) {
  const auto *x = ctx.shape(0), *grid = ctx.shape(1);
  std::optional<std::vector<Dim>> out;
  const auto* ranked = x != nullptr ? x : grid;
  if (ranked != nullptr) {
    const std::size_t rank = ranked->size();
    if (rank < 3 || (ctx.since_version() < 20 && rank != 4)) {
      fail(ErrorKind::kRuntime, "inputs have rank {}, expected {}", rank, ctx.since_version() < 20 ? "4" : "3 or more");
    }
    if (x != nullptr && grid != nullptr && grid->size() != rank) {
      fail(ErrorKind::kRuntime, "input grid has rank {}, X {}, expected the same", grid->size(), rank);
    }
    out.emplace(rank);
    if (x != nullptr) {
      (*out)[0] = (*x)[0];
      (*out)[1] = (*x)[1];
    }
    if (grid != nullptr) {
      if (!(*out)[0].value()) (*out)[0] = (*grid)[0].value() || x == nullptr ? (*grid)[0] : (*out)[0];
      std::copy(grid->begin() + 1, grid->end() - 1, out->begin() + 2);
      if (grid->back().value() && !grid->back().is(static_cast<std::int64_t>(rank) - 2)) {
        fail(ErrorKind::kRuntime, "input grid has a last dimension of {}, expected {}", *grid->back().value(),
             rank - 2);
      }
    }
  }
  ctx.set_output(0, ctx.input(0).dtype, out);
}

// x folded back at low and high until it lies between them.
double reflect(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const double distance = std::fmod(std::abs(x - low), 2 * range);
  return low + (distance <= range ? distance : 2 * range - distance);
}

struct Sampler {
  Mode mode;
  Padding padding;
  bool align_corners;
  std::vector<std::int64_t> dims;  // spatial, outermost first

  static constexpr std::int64_t kMostTaps = 4;
  struct Taps {
    std::int64_t count = 0;
    std::int64_t places[kMostTaps];  // -1: outside, counts as 0
    double weights[kMostTaps];
  };

  // The element of an axis that stands for place i.
  std::int64_t place(std::int64_t i, std::int64_t length) const {
    if (i >= 0 && i < length) return i;
    if (padding == Padding::kZeros) return -1;
    if (padding == Padding::kBorder) return std::clamp<std::int64_t>(i, 0, length - 1);
    const double low = align_corners ? 0 : -0.5, high = static_cast<double>(length - 1) + (align_corners ? 0 : 0.5);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(reflect(static_cast<double>(i), low, high)), 0,
                                    length - 1);
  }

  // The elements of one axis that a normalised coordinate samples. False where it is no number.
  bool taps(double normalised, std::int64_t length, Taps& t) const {
    const auto n = static_cast<double>(length);
    double x = align_corners ? (normalised + 1) / 2 * (n - 1) : ((normalised + 1) * n - 1) / 2;
    if (std::isnan(x)) return false;
    if (mode == Mode::kNearest) x = std::nearbyint(x);
    const double low = align_corners ? 0 : -0.5, high = n - 1 + (align_corners ? 0 : 0.5);
    if (x < low || x > high) {
      if (padding == Padding::kBorder)
        x = std::clamp(x, 0.0, n - 1);
      else if (padding == Padding::kReflection)
        x = std::isinf(x) ? low : reflect(x, low, high);
      else
        x = std::clamp(x, -4.0, n + 4);  // as far outside as makes no difference
    }
    const double base = std::floor(x), f = x - base;
    std::int64_t first = static_cast<std::int64_t>(base);
    switch (mode) {
      case Mode::kNearest:
        t.count = 1;
        t.weights[0] = 1;
        break;
      case Mode::kLinear:
        t.count = 2;
        t.weights[0] = 1 - f;
        t.weights[1] = f;
        break;
      case Mode::kCubic: {
        constexpr double kA = -0.75;
        const auto inner = [](double d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
        const auto outer = [](double d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
        t.count = 4;
        t.weights[0] = outer(f + 1);
        t.weights[1] = inner(f);
        t.weights[2] = inner(1 - f);
        t.weights[3] = outer(2 - f);
        --first;
        break;
      }
    }
    for (std::int64_t i = 0; i < t.count; ++i) t.places[i] = place(first + i, length);
    return true;
  }
};

// The elements one output place samples, all axes together: offsets into a channel and weights.
struct Samples {
  std::vector<std::int64_t> offsets;
  std::vector<double> weights;
  bool valid = true;
};

// Grid coordinates come innermost axis first.
void gather(const Sampler& sampler, const double* coordinates, Samples& out) {
  out.offsets.assign(1, 0);
  out.weights.assign(1, 1.0);
  out.valid = true;
  const std::size_t rank = sampler.dims.size();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    Sampler::Taps taps;
    if (!sampler.taps(coordinates[rank - 1 - axis], sampler.dims[axis], taps)) {
      out.valid = false;
      return;
    }
    std::vector<std::int64_t> offsets;
    std::vector<double> weights;
    for (std::size_t i = 0; i < out.offsets.size(); ++i) {
      for (std::int64_t t = 0; t < taps.count; ++t) {
        const bool outside = out.offsets[i] < 0 || taps.places[t] < 0;
        offsets.push_back(outside ? -1 : out.offsets[i] * sampler.dims[axis] + taps.places[t]);
        weights.push_back(out.weights[i] * taps.weights[t]);
      }
    }
    out.offsets.swap(offsets);
    out.weights.swap(weights);
  }
}

struct Geometry {
  std::int64_t batch, channels, in_size, out_size;
};

// Calls sample(n, place, samples) for every output place of every batch.
template <typename Sample>
void for_each_place(KernelContext& ctx, const Sampler& sampler, const Geometry& g, const Tensor& grid,
                    Sample&& sample) {
  const auto rank = static_cast<std::int64_t>(sampler.dims.size());
  const double* coordinates = grid.data<double>().data();
  ctx.threads().parallel_for(g.batch * g.out_size, 256, [&](std::int64_t begin, std::int64_t end) {
    Samples samples;
    for (std::int64_t at = begin; at < end; ++at) {
      gather(sampler, coordinates + at * rank, samples);
      sample(at / g.out_size, at % g.out_size, samples);
    }
  });
}

template <typename T>
void sample_as(KernelContext& ctx, const Sampler& sampler, const Geometry& g, const Tensor& grid, Tensor& y) {
  const DataType dtype = y.dtype();
  const Tensor x = as_compute<T>(ctx.input(0));
  Tensor result = Tensor::allocate(type_of<T>(), y.shape());
  const T* in = x.data<T>().data();
  T* out = result.mutable_data<T>().data();
  std::atomic<bool> invalid = false;
  for_each_place(ctx, sampler, g, grid, [&](std::int64_t n, std::int64_t place, const Samples& samples) {
    if (!samples.valid) invalid = true;
    for (std::int64_t c = 0; c < g.channels; ++c) {
      const T* channel = in + (n * g.channels + c) * g.in_size;
      T sum = samples.valid ? T{0} : std::numeric_limits<T>::quiet_NaN();
      for (std::size_t i = 0; i < samples.offsets.size() && samples.valid; ++i) {
        if (samples.offsets[i] >= 0) sum += static_cast<T>(samples.weights[i]) * channel[samples.offsets[i]];
      }
      out[(n * g.channels + c) * g.out_size + place] = sum;
    }
  });
  if (invalid && !is_float(dtype))
    fail(ErrorKind::kRuntime, "the grid holds NaN, which no element of type {} can stand for", name(dtype));
  store(std::span<const T>(result.data<T>()), y);
}

// Nearest moves elements of any type.
void move_nearest(KernelContext& ctx, const Sampler& sampler, const Geometry& g, const Tensor& grid, Tensor& y) {
  const Tensor& x = ctx.input(0);
  const std::size_t size = element_size(x.dtype());
  std::atomic<bool> invalid = false;
  for_each_place(ctx, sampler, g, grid, [&](std::int64_t n, std::int64_t place, const Samples& samples) {
    if (!samples.valid) {
      invalid = true;
      return;
    }
    for (std::int64_t c = 0; c < g.channels; ++c) {
      const auto to = static_cast<std::size_t>((n * g.channels + c) * g.out_size + place);
      const auto from =
          static_cast<std::size_t>((n * g.channels + c) * g.in_size + std::max<std::int64_t>(samples.offsets[0], 0));
      if (x.dtype() == DataType::kString) {
        if (samples.offsets[0] >= 0) y.mutable_strings()[to] = x.strings()[from];
      } else if (samples.offsets[0] < 0) {
        std::memset(y.mutable_raw() + to * size, 0, size);
      } else {
        std::memcpy(y.mutable_raw() + to * size, x.raw() + from * size, size);
      }
    }
  });
  if (invalid)
    fail(ErrorKind::kRuntime, "the grid holds NaN, which no element of type {} can stand for", name(x.dtype()));
}

void run(KernelContext& ctx) {
  const Tensor &x = ctx.input(0), &grid = ctx.input(1);
  const std::size_t rank = x.rank();
  if (rank < 3 || grid.rank() != rank || grid.shape()[0] != x.shape()[0] ||
      grid.shape()[rank - 1] != static_cast<std::int64_t>(rank) - 2) {
    fail(ErrorKind::kRuntime, "input grid has shape {}, which does not fit X of shape {}", to_string(grid.shape()),
         to_string(x.shape()));
  }
  const auto mode = find_mode(ctx.attributes.s("mode"), ctx.since_version());
  const auto padding = find_padding(ctx.attributes.s("padding_mode"));
  if (!mode)
    fail(ErrorKind::kRuntime, "attribute 'mode' is '{}', which this version does not know", ctx.attributes.s("mode"));
  if (!padding)
    fail(ErrorKind::kRuntime, "attribute 'padding_mode' is '{}', which is unknown", ctx.attributes.s("padding_mode"));
  Sampler sampler{*mode, *padding, ctx.attributes.i("align_corners") != 0, {}};
  Shape y_shape{x.shape()[0], x.shape()[1]};
  for (std::size_t i = 2; i < rank; ++i) {
    sampler.dims.push_back(x.shape()[i]);
    y_shape.push_back(grid.shape()[i - 1]);
  }
  const Geometry g{x.shape()[0], x.shape()[1], x.shape().elements(2, rank), y_shape.elements(2, rank)};
  Tensor& y = ctx.output(0, x.dtype(), y_shape);
  if (y.size() == 0) return;
  if (g.in_size == 0) fail(ErrorKind::kRuntime, "input X of shape {} has nothing to sample", to_string(x.shape()));
  // Every further axis multiplies the samples by 4.
  if (rank > 7) fail(ErrorKind::kUnsupported, "GridSample over {} spatial dimensions, supported are 1 to 5", rank - 2);

  const Tensor coordinates = as_float64(grid);
  const DataType dtype = x.dtype();
  const bool narrow = dtype == DataType::kFloat32 || dtype == DataType::kFloat16 || dtype == DataType::kBFloat16;
  const bool number = dtype != DataType::kBool && (is_float(dtype) || is_integer(dtype));
  if (narrow)
    sample_as<float>(ctx, sampler, g, coordinates, y);
  else if (dtype == DataType::kFloat64 || (number && *mode != Mode::kNearest))
    sample_as<double>(ctx, sampler, g, coordinates, y);
  else if (*mode == Mode::kNearest)
    move_nearest(ctx, sampler, g, coordinates, y);
  else
    fail(ErrorKind::kUnsupported, "interpolation of {} elements; mode nearest takes every type", name(dtype));
}

// --- AffineGrid ---

void infer_affine(InferContext& ctx) {
  const auto* size = ctx.elements(1);
  const auto* theta = ctx.shape(0);
  std::optional<std::vector<Dim>> out;
  if (size != nullptr) {
    if (size->size() != 4 && size->size() != 5)
      fail(ErrorKind::kRuntime, "input size has {} elements, expected 4 or 5", size->size());
    out = {size->front()};
    out->insert(out->end(), size->begin() + 2, size->end());
    out->push_back(static_cast<std::int64_t>(size->size()) - 2);
    ctx.explain(0, out->size() - 1, size->size() == 4 ? "2 (coordinates)" : "3 (coordinates)");
    if (theta != nullptr && theta->size() == 3 && !(*out)[0].known()) (*out)[0] = (*theta)[0];
  }
  ctx.set_output(0, ctx.input(0).dtype, out);
}

void run_affine(KernelContext& ctx) {
  const Tensor& theta = ctx.input(0);
  const auto size = read_integers(ctx.input(1), "input size");
  if (size.size() != 4 && size.size() != 5)
    fail(ErrorKind::kRuntime, "input size has {} elements, expected 4 or 5", size.size());
  const auto rank = static_cast<std::int64_t>(size.size()) - 2;
  for (const std::int64_t dim : size) {
    if (dim < 0) fail(ErrorKind::kRuntime, "input size has {}, expected 0 or more", dim);
  }
  const Shape expected{size[0], rank, rank + 1};
  if (theta.shape() != expected) {
    fail(ErrorKind::kRuntime, "input theta has shape {}, expected {}", to_string(theta.shape()), to_string(expected));
  }
  const bool align = ctx.attributes.i("align_corners") != 0;
  const std::vector<std::int64_t> dims(size.begin() + 2, size.end());
  for (const std::int64_t dim : dims) {
    if (align && dim == 1)
      fail(ErrorKind::kUnsupported, "align_corners = 1 on an axis of size 1, whose only place is not specified");
  }
  Shape shape{size[0]};
  for (const std::int64_t dim : dims) shape.push_back(dim);
  shape.push_back(rank);
  Tensor& out = ctx.output(0, theta.dtype(), shape);
  const Tensor matrices = as_float64(theta);
  const std::int64_t places = checked_elements(dims).value_or(0);
  for (std::int64_t n = 0; n < size[0]; ++n) {
    const double* m = matrices.data<double>().data() + n * rank * (rank + 1);
    for (std::int64_t place = 0; place < places; ++place) {
      // Innermost axis first: x, y, z.
      double position[3], moved[3];
      std::int64_t rest = place;
      for (std::int64_t axis = 0; axis < rank; ++axis) {
        const std::int64_t length = dims[static_cast<std::size_t>(rank - 1 - axis)], i = rest % length;
        rest /= length;
        position[axis] = align ? static_cast<double>(2 * i) / static_cast<double>(length - 1) - 1
                               : static_cast<double>(2 * i + 1) / static_cast<double>(length) - 1;
      }
      for (std::int64_t row = 0; row < rank; ++row) {
        moved[row] = m[row * (rank + 1) + rank];
        for (std::int64_t axis = 0; axis < rank; ++axis) moved[row] += m[row * (rank + 1) + axis] * position[axis];
      }
      store(std::span<const double>(moved, static_cast<std::size_t>(rank)), out, (n * places + place) * rank);
    }
  }
}

}  // namespace

extern const OpDef kGridSample;
const OpDef kGridSample = {
    .domain = "",
    .type = "GridSample",
    .summary =
        "Samples a tensor at the places that a grid of coordinates names, by nearest element, linear or cubic "
        "interpolation.",
    .versions = kGridSampleVersions,
    .infer = infer,
    .run = run,
    .check = check,
};

extern const OpDef kAffineGrid;
const OpDef kAffineGrid = {
    .domain = "",
    .type = "AffineGrid",
    .summary = "A grid of coordinates for GridSample: evenly spaced places, moved by an affine map.",
    .versions = kAffineGridVersions,
    .infer = infer_affine,
    .run = run_affine,
    .facts = {.function = true},
};

}  // namespace lppool
