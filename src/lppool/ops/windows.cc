// What audio front ends compute from sizes alone: window functions and the mel filter bank.
#include <cmath>
#include <numbers>

#include "lppool/base/checked.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kWindowVersions[] = {
    {17, "size:T1", "output:T2", "output_datatype:int=1 periodic:int=1", "T1=int32|int64; T2=num12"},
};

constexpr OpVersion kMelVersions[] = {
    {17, "num_mel_bins:T1 dft_length:T1 sample_rate:T1 lower_edge_hertz:T2 upper_edge_hertz:T2", "output:T3",
     "output_datatype:int=1", "T1=int32|int64; T2=floats|bfloat16; T3=num12"},
};

std::optional<DataType> output_type(std::int64_t number) {
  if (number < 1 || number > kLastDataType) return std::nullopt;
  const auto type = static_cast<DataType>(number);
  const bool wide = is_float(type) && storage_bits(type) >= 16;
  const bool integer = is_integer(type) && storage_bits(type) >= 8;
  return wide || integer ? std::optional(type) : std::nullopt;
}

DataType read_output_type(const AttributeView& attributes) {
  const std::int64_t number = attributes.i("output_datatype");
  const auto type = output_type(number);
  if (!type)
    fail(ErrorKind::kRuntime, "attribute 'output_datatype' is {}, expected the number of an integer or float type",
         number);
  return *type;
}

void check(CheckContext& ctx) {
  const std::int64_t number = ctx.attributes.i("output_datatype");
  if (output_type(number)) return;
  ctx.error(kBadValue, "output_datatype",
            fmt::format("attribute 'output_datatype' is {}, expected the number of an integer or float type", number));
}

void infer_window(InferContext& ctx) {
  const auto* size = ctx.elements(0);
  ctx.set_output(0, read_output_type(ctx.attributes), {{size != nullptr && size->size() == 1 ? size->front() : Dim()}});
}

// a0 - a1 cos(x) + a2 cos(2x), x from 0 to 2 pi over the window (Harris 1978,
// doi 10.1109/PROC.1978.10837).
void run_window(KernelContext& ctx, double a0, double a1, double a2) {
  const std::int64_t size = read_integer(ctx.input(0), "input size");
  if (size < 0) fail(ErrorKind::kRuntime, "input size is {}, expected 0 or more", size);
  Tensor& out = ctx.output(0, read_output_type(ctx.attributes), Shape{size});
  const std::int64_t period = ctx.attributes.i("periodic") != 0 ? size : size - 1;
  for (std::int64_t i = 0; i < size; ++i) {
    // A symmetric window of one element is its own peak, as scipy and PyTorch have it; the formula is 0 / 0 there.
    const double x =
        period == 0 ? std::numbers::pi : 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(period);
    // In powers of sin^2 and cos, the ends of Hann's window are exactly 0.
    const double s = std::sin(x / 2);
    const double value = a2 == 0 ? (a0 - a1) + 2 * a1 * s * s : a0 - a1 * std::cos(x) + a2 * std::cos(2 * x);
    store(std::span(&value, 1), out, i);
  }
}

void infer_mel(InferContext& ctx) {
  std::vector<Dim> shape(2);
  const auto *bins = ctx.elements(0), *length = ctx.elements(1);
  if (length != nullptr && length->size() == 1) {
    shape[0] = floor_div(length->front(), 2) + 1;
    if (ctx.explaining) ctx.explain(0, 0, fmt::format("floor({}/2) + 1", term(length->front())));
  }
  if (bins != nullptr && bins->size() == 1) shape[1] = bins->front();
  ctx.set_output(0, read_output_type(ctx.attributes), shape);
}

// Triangular filters whose edges are equally spaced in mel and rounded down to whole bins of the transform. The step is
// (upper - lower) / (bins + 2), as in ONNX's reference and cases, not the textbook's (bins + 1).
void run_mel(KernelContext& ctx) {
  const std::int64_t bins = read_integer(ctx.input(0), "input num_mel_bins");
  const std::int64_t length = read_integer(ctx.input(1), "input dft_length");
  const std::int64_t rate = read_integer(ctx.input(2), "input sample_rate");
  const double lower = read_number(ctx.input(3), "input lower_edge_hertz"),
               upper = read_number(ctx.input(4), "input upper_edge_hertz");
  if (bins < 0 || length < 0)
    fail(ErrorKind::kRuntime, "{} mel bins of a transform of length {}, expected 0 or more", bins, length);
  if (rate < 1) fail(ErrorKind::kRuntime, "input sample_rate is {}, expected 1 or more", rate);
  if (!(lower >= 0 && upper >= lower && upper < 1e30)) {
    fail(ErrorKind::kRuntime, "edges of {} and {} hertz, expected 0 <= lower <= upper", lower, upper);
  }
  const std::int64_t rows = length / 2 + 1;
  const DataType dtype = read_output_type(ctx.attributes);
  Tensor weights = Tensor::zeros(DataType::kFloat64, Shape{rows, bins});
  double* out = weights.mutable_data<double>().data();

  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(upper) - mel(lower)) / static_cast<double>(bins + 2);
  const auto edge = [&](std::int64_t i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + mel(lower)) / 2595) - 1);
    const double bin = std::floor((static_cast<double>(length) + 1) * hertz / static_cast<double>(rate));
    if (!(bin < 4e18)) fail(ErrorKind::kLimit, "a mel edge lies at bin {}", bin);
    return static_cast<std::int64_t>(bin);
  };
  const auto set = [&](std::int64_t row, std::int64_t column, double value) {
    if (row >= rows) {
      fail(ErrorKind::kRuntime,
           "filter {} reaches bin {} of {}: upper_edge_hertz is {}, expected at most half the sample rate", column, row,
           rows, upper);
    }
    out[row * bins + column] = value;
  };
  for (std::int64_t i = 0; i < bins; ++i) {
    const std::int64_t left = edge(i), centre = edge(i + 1), right = edge(i + 2);
    if (left == centre) set(centre, i, 1);
    for (std::int64_t j = left; j <= centre && left != centre; ++j) {
      set(j, i, static_cast<double>(j - left) / static_cast<double>(centre - left));
    }
    for (std::int64_t j = centre; j < right; ++j)
      set(j, i, static_cast<double>(right - j) / static_cast<double>(right - centre));
  }
  Tensor& result = ctx.output(0, dtype, Shape{rows, bins});
  store(std::span<const double>(weights.data<double>()), result);
}

}  // namespace

extern const OpDef kHannWindow;
const OpDef kHannWindow = {
    .domain = "",
    .type = "HannWindow",
    .summary = "Hann's window of a given size: a raised cosine that ends at 0.",
    .versions = kWindowVersions,
    .infer = infer_window,
    .run = [](KernelContext& ctx) { run_window(ctx, 0.5, 0.5, 0); },
    .check = check,
    .facts = {.function = true},
};

extern const OpDef kHammingWindow;
const OpDef kHammingWindow = {
    .domain = "",
    .type = "HammingWindow",
    .summary = "Hamming's window of a given size: a raised cosine of 25/46 and 21/46.",
    .versions = kWindowVersions,
    .infer = infer_window,
    .run = [](KernelContext& ctx) { run_window(ctx, 25.0 / 46, 21.0 / 46, 0); },
    .check = check,
    .facts = {.function = true},
};

extern const OpDef kBlackmanWindow;
const OpDef kBlackmanWindow = {
    .domain = "",
    .type = "BlackmanWindow",
    .summary = "Blackman's window of a given size: three cosine terms of 0.42, 0.5 and 0.08.",
    .versions = kWindowVersions,
    .infer = infer_window,
    .run = [](KernelContext& ctx) { run_window(ctx, 0.42, 0.5, 0.08); },
    .check = check,
    .facts = {.function = true},
};

extern const OpDef kMelWeightMatrix;
const OpDef kMelWeightMatrix = {
    .domain = "",
    .type = "MelWeightMatrix",
    .summary = "Triangular mel filters as a matrix that turns the bins of a one-sided spectrum into mel bins.",
    .versions = kMelVersions,
    .infer = infer_mel,
    .run = run_mel,
    .check = check,
};

}  // namespace lppool
