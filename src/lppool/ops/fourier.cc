// DFT and STFT.
#include <algorithm>
#include <complex>

#include "lppool/base/checked.h"
#include "lppool/base/thread_pool.h"
#include "lppool/kernels/fft.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"
#include "lppool/tensor/memory.h"

namespace lppool {
namespace {

template <typename T>
using Complex = std::complex<T>;

constexpr OpVersion kDftVersions[] = {
    {17, "input:T1 dft_length?:T2", "output:T1", "axis:int=1 inverse:int=0 onesided:int=0",
     "T1=floats|bfloat16; T2=int32|int64"},
    {20, "input:T1 dft_length?:T2 axis?:int64", "output:T1", "inverse:int=0 onesided:int=0",
     "T1=floats|bfloat16; T2=int32|int64"},
};

constexpr OpVersion kStftVersions[] = {
    {17, "signal:T1 frame_step:T2 window?:T1 frame_length?:T2", "output:T1", "onesided:int=1",
     "T1=floats|bfloat16; T2=int32|int64"},
};

// The transform of length n: the one of the node's last run, if it fits. Plan is Fft or RealFft.
template <typename Plan>
std::shared_ptr<const Plan> plan_for(KernelContext& ctx, std::int64_t n) {
  using Kept = std::shared_ptr<const Plan>;
  if (const auto* kept = std::any_cast<Kept>(&ctx.state()); kept != nullptr && (*kept)->size() == n) return *kept;
  // Roots, chirp and kernel together stay below 16 complex numbers an element.
  const auto bytes = checked_mul(n, 16 * static_cast<std::int64_t>(sizeof(Complex<double>)));
  if (!bytes || static_cast<std::size_t>(*bytes) > memory::limit()) {
    fail(ErrorKind::kLimit, "a transform of length {} needs more memory than allowed", n);
  }
  auto plan = std::make_shared<const Plan>(n);
  ctx.state() = Kept(plan);
  return plan;
}

std::size_t dft_axis(std::int64_t axis, std::size_t rank) {
  if (rank < 2) fail(ErrorKind::kRuntime, "input has rank {}, expected 2 or more", rank);
  const std::size_t result = normalize_axis(axis, rank);
  if (result == rank - 1)
    fail(ErrorKind::kRuntime, "axis is {}, the last one, which holds real and imaginary parts", axis);
  return result;
}

void expect_components(std::int64_t components) {
  if (components != 1 && components != 2) {
    fail(ErrorKind::kRuntime, "the last dimension is {}, expected 1 (real) or 2 (complex)", components);
  }
}

// onesided = 1 asks for a real signal on one side of the transform.
void expect_onesided_input(bool inverse, std::int64_t components) {
  if (!inverse && components == 2) fail(ErrorKind::kRuntime, "onesided = 1 with a complex input, expected a real one");
  if (inverse && components == 1)
    fail(ErrorKind::kRuntime, "onesided = 1 and inverse = 1 with a real input, expected a complex one");
}

void infer_dft(InferContext& ctx) {
  const DataType dtype = ctx.input(0).dtype;
  const auto* shape = ctx.shape(0);
  if (shape == nullptr) return ctx.set_output(0, dtype, std::nullopt);
  const bool inverse = ctx.attributes.i("inverse") != 0, onesided = ctx.attributes.i("onesided") != 0;
  std::vector<Dim> out = *shape;
  if (out.size() < 2) fail(ErrorKind::kRuntime, "input has rank {}, expected 2 or more", out.size());
  if (const auto components = out.back().value()) {
    expect_components(*components);
    if (onesided) expect_onesided_input(inverse, *components);
  }
  out.back() = inverse && onesided ? 1 : 2;
  ctx.explain(0, out.size() - 1, inverse && onesided ? "1 (real numbers)" : "2 (real and imaginary parts)");
  std::int64_t axis = ctx.attributes.i("axis", -2);
  if (ctx.since_version() >= 20 && ctx.has_input(2)) {
    const Tensor* given = ctx.constant(2);
    if (given == nullptr) {
      std::fill(out.begin(), out.end() - 1, Dim());
      return ctx.set_output(0, dtype, out);
    }
    axis = read_integer(*given, "input axis");
  }
  const std::size_t at = dft_axis(axis, out.size());
  Dim length = out[at];
  if (ctx.has_input(1)) {
    const auto* given = ctx.elements(1);
    length = given != nullptr && given->size() == 1 ? given->front() : Dim();
  } else if (inverse && onesided) {
    length = 2 * (length - 1);
  }
  out[at] = onesided && !inverse ? floor_div(length, 2) + 1 : length;
  ctx.set_output(0, dtype, out);
  if (!ctx.explaining) return;
  if (onesided && !inverse) ctx.explain(0, at, fmt::format("floor({}/2) + 1", term(length)));
  else if (inverse && onesided && !ctx.has_input(1)) ctx.explain(0, at, fmt::format("2*({} - 1)", term((*shape)[at])));
}

struct Layout {
  std::int64_t outer, length, inner, components;
};

// Reads the signal at (o, i) into `line`: the first values, zeros after them.
template <typename T, typename C>
void read_line(const T* in, const Layout& l, std::int64_t o, std::int64_t i, std::span<Complex<C>> line) {
  const std::int64_t used = std::min<std::int64_t>(l.length, static_cast<std::int64_t>(line.size()));
  for (std::int64_t k = 0; k < used; ++k) {
    const T* at = in + ((o * l.length + k) * l.inner + i) * l.components;
    line[static_cast<std::size_t>(k)] = {static_cast<C>(at[0]), l.components == 2 ? static_cast<C>(at[1]) : C{0}};
  }
  std::fill(line.begin() + used, line.end(), Complex<C>{});
}

// The upper half of a real signal's spectrum is the conjugate of the lower one; imaginary parts that a real signal
// cannot have are dropped.
template <typename C>
void complete_spectrum(std::span<Complex<C>> line) {
  const std::size_t n = line.size();
  line[0] = line[0].real();
  if (n % 2 == 0) line[n / 2] = line[n / 2].real();
  for (std::size_t k = 1; k < (n + 1) / 2; ++k) line[n - k] = std::conj(line[k]);
}

struct DftRequest {
  std::size_t axis;
  std::int64_t n;
  bool inverse, onesided;
};

// T: of the tensors; C: of the arithmetic.
template <typename T, typename C>
void dft_as(KernelContext& ctx, const DftRequest& request) {
  const Tensor x = as_compute<T>(ctx.input(0));
  const Shape& shape = x.shape();
  const std::size_t rank = shape.rank(), axis = request.axis;
  const std::int64_t n = request.n;
  const bool to_real = request.inverse && request.onesided;
  const Layout in{shape.elements(0, axis), shape[axis], shape.elements(axis + 1, rank - 1), shape[rank - 1]};
  Shape result_shape = shape;
  result_shape[axis] = request.onesided && !request.inverse ? n / 2 + 1 : n;
  result_shape[rank - 1] = to_real ? 1 : 2;
  const Layout out{in.outer, result_shape[axis], in.inner, result_shape[rank - 1]};
  Tensor result = Tensor::allocate(type_of<T>(), result_shape);
  const auto plan = plan_for<Fft<C>>(ctx, n);
  const T* from = x.data<T>().data();
  T* to = result.mutable_data<T>().data();
  const std::int64_t inner = in.inner, grain = std::max<std::int64_t>(1, 8192 / n);
  ctx.threads().parallel_for(in.outer * inner, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Complex<C>> line(static_cast<std::size_t>(n)), scratch(static_cast<std::size_t>(plan->scratch_size()));
    const C scale = request.inverse ? 1 / static_cast<C>(n) : C{1};
    for (std::int64_t at = begin; at < end; ++at) {
      read_line<T, C>(from, in, at / inner, at % inner, line);
      if (to_real) complete_spectrum<C>(line);
      if (request.inverse)
        plan->inverse(line, scratch);
      else
        plan->forward(line, scratch);
      for (std::int64_t k = 0; k < out.length; ++k) {
        T* target = to + ((at / inner * out.length + k) * inner + at % inner) * out.components;
        target[0] = static_cast<T>(line[static_cast<std::size_t>(k)].real() * scale);
        if (out.components == 2) target[1] = static_cast<T>(line[static_cast<std::size_t>(k)].imag() * scale);
      }
    }
  });
  if (result.dtype() == ctx.input(0).dtype()) return ctx.set_output(0, std::move(result));
  store(std::span<const T>(result.data<T>()), ctx.output(0, ctx.input(0).dtype(), result_shape));
}

void run_dft(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  const bool inverse = ctx.attributes.i("inverse") != 0, onesided = ctx.attributes.i("onesided") != 0;
  std::int64_t wanted_axis = ctx.attributes.i("axis", -2);
  if (ctx.since_version() >= 20 && ctx.has_input(2)) wanted_axis = read_integer(ctx.input(2), "input axis");
  const std::size_t axis = dft_axis(wanted_axis, x.rank());
  expect_components(x.shape()[x.rank() - 1]);
  if (onesided) expect_onesided_input(inverse, x.shape()[x.rank() - 1]);
  const std::int64_t along = x.shape()[axis];
  std::int64_t n = inverse && onesided ? 2 * (along - 1) : along;
  if (const Tensor* length = ctx.optional_input(1)) n = read_integer(*length, "input dft_length");
  if (n < 1) fail(ErrorKind::kRuntime, "the transform's length is {}, expected 1 or more", n);
  const DftRequest request{axis, n, inverse, onesided};
  // Complex float32 stays float32, as in the tools that the published cases come from; what one side of a spectrum says
  // about a real signal is worth float64.
  const bool narrow = x.shape()[x.rank() - 1] == 2 && !onesided && Fft<float>::splits(n);
  if (x.dtype() == DataType::kFloat64) {
    dft_as<double, double>(ctx, request);
  } else if (narrow) {
    dft_as<float, float>(ctx, request);
  } else {
    dft_as<float, double>(ctx, request);
  }
}

// --- STFT ---

std::span<const double> numbers_of(const std::vector<Complex<double>>& values) {
  return {reinterpret_cast<const double*>(values.data()), 2 * values.size()};  // [complex.numbers.general] allows it
}

// Signals come as batch x length x components, and, from exporters, as batch x length where they are real.
std::int64_t signal_components(const Shape& shape) {
  if (shape.rank() != 2 && shape.rank() != 3)
    fail(ErrorKind::kRuntime, "input signal has rank {}, expected 3", shape.rank());
  const std::int64_t components = shape.rank() == 3 ? shape[2] : 1;
  expect_components(components);
  return components;
}

void infer_stft(InferContext& ctx) {
  const DataType dtype = ctx.input(0).dtype;
  const auto* shape = ctx.shape(0);
  std::vector<Dim> out(4);
  out[3] = 2;
  if (shape != nullptr) {
    if (shape->size() != 2 && shape->size() != 3) {
      fail(ErrorKind::kRuntime, "input signal has rank {}, expected 3", shape->size());
    }
    out[0] = (*shape)[0];
    Dim frame = (*shape)[1];
    if (ctx.has_input(3)) {
      const auto* given = ctx.elements(3);
      frame = given != nullptr && given->size() == 1 ? given->front() : Dim();
    } else if (ctx.has_input(2)) {
      frame = ctx.shape(2) != nullptr && ctx.shape(2)->size() == 1 ? ctx.shape(2)->front() : Dim();
    }
    const auto* step = ctx.elements(1);
    if (step != nullptr && step->size() == 1) {
      out[1] = floor_div((*shape)[1] - frame, step->front()) + 1;
      if (ctx.explaining) ctx.explain(0, 1, fmt::format("floor(({} - {})/{}) + 1", term((*shape)[1]), term(frame), term(step->front())));
    }
    out[2] = ctx.attributes.i("onesided") != 0 ? floor_div(frame, 2) + 1 : frame;
    if (ctx.explaining && ctx.attributes.i("onesided") != 0) ctx.explain(0, 2, fmt::format("floor({}/2) + 1", term(frame)));
  }
  ctx.explain(0, 3, "2 (real and imaginary parts)");
  ctx.set_output(0, dtype, out);
}

void run_stft(KernelContext& ctx) {
  const Tensor& signal = ctx.input(0);
  const std::int64_t components = signal_components(signal.shape());
  const bool onesided = ctx.attributes.i("onesided") != 0;
  if (onesided) expect_onesided_input(false, components);
  const std::int64_t batch = signal.shape()[0], length = signal.shape()[1];
  const std::int64_t step = read_integer(ctx.input(1), "input frame_step");
  if (step < 1) fail(ErrorKind::kRuntime, "input frame_step is {}, expected 1 or more", step);
  const Tensor* window = ctx.optional_input(2);
  if (window != nullptr && window->rank() != 1) {
    fail(ErrorKind::kRuntime, "input window has shape {}, expected rank 1", to_string(window->shape()));
  }
  std::int64_t frame = window != nullptr ? window->size() : length;
  if (const Tensor* given = ctx.optional_input(3)) frame = read_integer(*given, "input frame_length");
  if (frame < 1 || frame > length) {
    fail(ErrorKind::kRuntime, "frames of length {} from a signal of length {}, expected 1 to the signal's length",
         frame, length);
  }
  if (window != nullptr && window->size() != frame) {
    fail(ErrorKind::kUnsupported, "a window of length {} with frames of length {}: where to put it is not specified",
         window->size(), frame);
  }
  const std::int64_t frames = (length - frame) / step + 1, bins = onesided ? frame / 2 + 1 : frame;
  const Tensor x = as_float64(signal);
  const Tensor weights = window != nullptr ? as_float64(*window) : Tensor();
  Tensor& out = ctx.output(0, signal.dtype(), Shape{batch, frames, bins, 2});
  const double* from = x.data<double>().data();
  const double* w = weights.defined() ? weights.data<double>().data() : nullptr;
  const auto start = [&](std::int64_t at) { return from + (at / frames * length + at % frames * step) * components; };
  const std::int64_t grain = std::max<std::int64_t>(1, 8192 / frame);
  if (components == 2) {
    const auto plan = plan_for<Fft<double>>(ctx, frame);
    ctx.threads().parallel_for(batch * frames, grain, [&](std::int64_t begin, std::int64_t end) {
      std::vector<Complex<double>> line(static_cast<std::size_t>(frame)),
          scratch(static_cast<std::size_t>(plan->scratch_size()));
      for (std::int64_t at = begin; at < end; ++at) {
        const double* source = start(at);
        for (std::int64_t k = 0; k < frame; ++k) {
          line[static_cast<std::size_t>(k)] =
              Complex<double>(source[2 * k], source[2 * k + 1]) * (w == nullptr ? 1.0 : w[k]);
        }
        plan->forward(line, scratch);
        store(numbers_of(line), out, at * bins * 2);
      }
    });
    return;
  }
  const auto plan = plan_for<RealFft>(ctx, frame);
  ctx.threads().parallel_for(batch * frames, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> line(static_cast<std::size_t>(frame));
    std::vector<Complex<double>> spectrum(static_cast<std::size_t>(frame / 2 + 1)),
        whole(static_cast<std::size_t>(bins));
    std::vector<Complex<double>> scratch(static_cast<std::size_t>(plan->scratch_size()));
    for (std::int64_t at = begin; at < end; ++at) {
      const double* source = start(at);
      for (std::int64_t k = 0; k < frame; ++k)
        line[static_cast<std::size_t>(k)] = source[k] * (w == nullptr ? 1.0 : w[k]);
      plan->forward(line, spectrum, scratch);
      std::ranges::copy(spectrum, whole.begin());
      for (std::int64_t k = frame / 2 + 1; k < bins; ++k) {
        whole[static_cast<std::size_t>(k)] = std::conj(spectrum[static_cast<std::size_t>(frame - k)]);
      }
      store(numbers_of(whole), out, at * bins * 2);
    }
  });
}

}  // namespace

extern const OpDef kDFT;
const OpDef kDFT = {
    .domain = "",
    .type = "DFT",
    .summary = "Discrete Fourier transform along one axis, forward or inverse, of real or complex signals.",
    .versions = kDftVersions,
    .infer = infer_dft,
    .run = run_dft,
};

extern const OpDef kSTFT;
const OpDef kSTFT = {
    .domain = "",
    .type = "STFT",
    .summary = "Fourier transforms of overlapping frames of a signal, each weighed by a window.",
    .versions = kStftVersions,
    .infer = infer_stft,
    .run = run_stft,
};

}  // namespace lppool
