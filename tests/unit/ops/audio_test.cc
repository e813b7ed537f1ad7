#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <numbers>

#include "lppool/kernels/fft.h"
#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;
using Complex = std::complex<double>;

namespace {

// The sum that defines the transform, in long double.
std::vector<Complex> naive_dft(const std::vector<Complex>& x, std::size_t n, int sign) {
  std::vector<Complex> result(n);
  for (std::size_t k = 0; k < n; ++k) {
    std::complex<long double> sum = 0;
    for (std::size_t j = 0; j < std::min(n, x.size()); ++j) {
      const long double angle = sign * 2 * std::numbers::pi_v<long double> * static_cast<long double>(j * k % n) /
                                static_cast<long double>(n);
      sum += std::complex<long double>(x[j]) * std::complex<long double>(std::cos(angle), std::sin(angle));
    }
    result[k] = Complex(sum);
  }
  return result;
}

std::vector<Complex> signal(std::size_t n) {
  std::vector<Complex> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = {std::sin(static_cast<double>(i * i + 3)), std::cos(static_cast<double>(3 * i))};
  return x;
}

double norm(const std::vector<Complex>& x) {
  double sum = 0;
  for (const Complex& v : x) sum += std::norm(v);
  return std::sqrt(sum);
}

double distance(std::vector<Complex> a, const std::vector<Complex>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return norm(a);
}

std::vector<Complex> to_complex(const Tensor& tensor) {
  const auto values = to_doubles(tensor);
  std::vector<Complex> result(values.size() / 2);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = {values[2 * i], values[2 * i + 1]};
  return result;
}

void check_values(const Tensor& got, const std::vector<double>& expected) {
  const auto values = to_doubles(got);
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(i);
    CHECK(values[i] == Approx(expected[i]).epsilon(1e-6).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("Fft agrees with the defining sum for every small length and some large ones", "[kernels][Fft]") {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 1; n <= 130; ++n) lengths.push_back(n);
  for (const std::int64_t n : {400, 512, 997, 1009, 2 * 37 * 41, 31 * 31}) lengths.push_back(n);
  for (const std::int64_t n : lengths) {
    CAPTURE(n);
    const Fft<double> fft(n);
    const auto x = signal(static_cast<std::size_t>(n));
    auto data = x;
    std::vector<Complex> scratch(static_cast<std::size_t>(fft.scratch_size()));
    fft.forward(data, scratch);
    const auto expected = naive_dft(x, x.size(), -1);
    CHECK(distance(data, expected) <= 4e-15 * norm(expected));
    data = x;
    fft.inverse(data, scratch);
    CHECK(distance(data, naive_dft(x, x.size(), 1)) <= 4e-15 * norm(expected));

    const Fft<float> narrow(n);
    std::vector<std::complex<float>> data32(x.begin(), x.end()),
        scratch32(static_cast<std::size_t>(narrow.scratch_size()));
    narrow.forward(data32, scratch32);
    CHECK(distance({data32.begin(), data32.end()}, expected) <= 2e-6 * norm(expected));

    const RealFft real(n);
    std::vector<double> parts(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) parts[i] = x[i].real();
    std::vector<Complex> half(x.size() / 2 + 1), real_scratch(static_cast<std::size_t>(real.scratch_size()));
    real.forward(parts, half, real_scratch);
    auto expected_half = naive_dft(std::vector<Complex>(parts.begin(), parts.end()), x.size(), -1);
    expected_half.resize(half.size());
    CHECK(distance(half, expected_half) <= 4e-15 * norm(expected_half));
  }
}

TEST_CASE("DFT pads, cuts, and works along any axis in both versions", "[ops][DFT]") {
  const std::int64_t length = GENERATE(3, 4, 7);
  const bool inverse = GENERATE(false, true), as_input = GENERATE(false, true);
  std::vector<float> x(2 * 5 * 3 * 2);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 29) % 17) - 8;
  OpCall call{.op_type = "DFT", .opset = as_input ? 20 : 17};
  call.inputs = {Tensor::of<float>({2, 5, 3, 2}, x), Tensor::scalar<std::int64_t>(length)};
  call.attributes = {attr_i("inverse", inverse)};
  if (as_input)
    call.inputs.push_back(Tensor::scalar<std::int64_t>(-3));
  else
    call.attributes.push_back(attr_i("axis", 1));
  const Tensor y = run_op1(call);
  REQUIRE(y.shape() == Shape{2, length, 3, 2});
  const auto got = to_complex(y);
  for (std::size_t o = 0; o < 2; ++o) {
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<Complex> line(5), result(static_cast<std::size_t>(length));
      for (std::size_t k = 0; k < 5; ++k) line[k] = {x[((o * 5 + k) * 3 + i) * 2], x[((o * 5 + k) * 3 + i) * 2 + 1]};
      auto expected = naive_dft(line, result.size(), inverse ? 1 : -1);
      for (std::size_t k = 0; k < result.size(); ++k) {
        result[k] = got[(o * result.size() + k) * 3 + i];
        if (inverse) expected[k] /= static_cast<double>(length);
      }
      CHECK(distance(result, expected) < 1e-6 * norm(expected));
    }
  }
}

TEST_CASE("DFT takes one side of a real signal's spectrum and gives the signal back", "[ops][DFT]") {
  const std::int64_t n = GENERATE(6, 7);
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 5) % 7) - 2;
  OpCall call{.op_type = "DFT", .opset = 20};
  call.inputs = {Tensor::of<float>({1, n, 1}, x)};
  call.attributes = {attr_i("onesided", 1)};
  const Tensor spectrum = run_op1(call);
  CHECK(spectrum.shape() == Shape{1, n / 2 + 1, 2});
  auto expected = naive_dft(std::vector<Complex>(x.begin(), x.end()), x.size(), -1);
  expected.resize(x.size() / 2 + 1);
  CHECK(distance(to_complex(spectrum), expected) < 1e-6 * norm(expected));
  call.inputs = {spectrum, Tensor::scalar<std::int64_t>(n)};
  call.attributes.push_back(attr_i("inverse", 1));
  const Tensor back = run_op1(call);
  CHECK(back.shape() == Shape{1, n, 1});
  check_values(back, {x.begin(), x.end()});
}

TEST_CASE("STFT weighs frames by the window and transforms each", "[ops][STFT]") {
  const bool onesided = GENERATE(false, true), three = GENERATE(false, true);
  const std::int64_t frame = GENERATE(5, 6);
  std::vector<float> x(2 * 17), window(static_cast<std::size_t>(frame));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 31) % 13) - 6;
  for (std::size_t i = 0; i < window.size(); ++i) window[i] = 0.25f * static_cast<float>(i + 1);
  OpCall call{.op_type = "STFT", .opset = 17};
  call.inputs = {Tensor::of<float>(three ? Shape{2, 17, 1} : Shape{2, 17}, x), Tensor::scalar<std::int64_t>(3),
                 Tensor::of<float>({frame}, window)};
  call.attributes = {attr_i("onesided", onesided)};
  const Tensor y = run_op1(call);
  const std::int64_t frames = (17 - frame) / 3 + 1, bins = onesided ? frame / 2 + 1 : frame;
  REQUIRE(y.shape() == Shape{2, frames, bins, 2});
  std::vector<Complex> expected;
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t f = 0; f < frames; ++f) {
      std::vector<Complex> line;
      for (std::int64_t k = 0; k < frame; ++k) line.push_back(double(x[b * 17 + f * 3 + k]) * double(window[k]));
      auto one = naive_dft(line, line.size(), -1);
      one.resize(static_cast<std::size_t>(bins));
      expected.insert(expected.end(), one.begin(), one.end());
    }
  }
  CHECK(distance(to_complex(y), expected) < 1e-6 * norm(expected));
  const auto types =
      infer_op(call,
               {ValueType::tensor(DataType::kFloat32, {{Dim::symbol("N"), 17}}),
                ValueType::tensor(DataType::kInt64, {{}}), ValueType::tensor(DataType::kFloat32, {{frame}})},
               {{}, Tensor::scalar<std::int64_t>(3), {}});
  CHECK(to_string(types[0]) == fmt::format("float32 Nx{}x{}x2", frames, bins));
}

TEST_CASE("Windows follow their formulas, periodic and symmetric", "[ops][HannWindow]") {
  OpCall call{.op_type = "HannWindow", .opset = 17};
  call.inputs = {Tensor::scalar<std::int64_t>(4)};
  check_values(run_op1(call), {0, 0.5, 1, 0.5});
  call.op_type = "HammingWindow";
  check_values(run_op1(call), {4.0 / 46, 25.0 / 46, 1, 25.0 / 46});
  call.op_type = "BlackmanWindow";
  check_values(run_op1(call), {0, 0.34, 1, 0.34});
  call.inputs = {Tensor::scalar<std::int32_t>(5)};
  call.attributes = {attr_i("periodic", 0), attr_i("output_datatype", 11)};
  const Tensor blackman = run_op1(call);
  CHECK(blackman.dtype() == DataType::kFloat64);
  check_values(blackman, {0, 0.34, 1, 0.34, 0});
  call.op_type = "HannWindow";
  check_values(run_op1(call), {0, 0.5, 1, 0.5, 0});
}

TEST_CASE("MelWeightMatrix gives the filters of the published case", "[ops][MelWeightMatrix]") {
  // 8 mel bins of a transform of length 16 at 8192 Hz, 0 to 4096 Hz.
  OpCall call{.op_type = "MelWeightMatrix", .opset = 17};
  call.inputs = {Tensor::scalar<std::int32_t>(8), Tensor::scalar<std::int32_t>(16), Tensor::scalar<std::int32_t>(8192),
                 Tensor::scalar<float>(0), Tensor::scalar<float>(4096)};
  check_values(run_op1(call), {1, 1, 0, 0, 0, 0, 0, 0,  //
                               0, 0, 1, 1, 0, 0, 0, 0,  //
                               0, 0, 0, 0, 1, 0, 0, 0,  //
                               0, 0, 0, 0, 0, 1, 0, 0,  //
                               0, 0, 0, 0, 0, 0, 1, 0,  //
                               0, 0, 0, 0, 0, 0, 0, 1,  //
                               0, 0, 0, 0, 0, 0, 0, 0,  //
                               0, 0, 0, 0, 0, 0, 0, 0,  //
                               0, 0, 0, 0, 0, 0, 0, 0});
  call.inputs[4] = Tensor::scalar<float>(40000);
  CHECK_THROWS_WITH(run_op1(call), Catch::Contains("expected at most half the sample rate"));
}
