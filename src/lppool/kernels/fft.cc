#include "lppool/kernels/fft.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace lppool {
namespace {

template <typename T>
using Complex = std::complex<T>;

// Plain products: std::complex's own look for infinities on the way and are several times slower.
template <typename T>
inline Complex<T> times(Complex<T> a, Complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <typename T>
inline Complex<T> times_i(Complex<T> a) {
  return {-a.imag(), a.real()};
}

// exp(-2 pi i k / n) for 0 <= k < n, from an angle reduced to the first octant so that sine and cosine are exact there.
Complex<double> root(std::int64_t k, std::int64_t n) {
  const std::int64_t eighth = 8 * k;
  const auto angle = [n](std::int64_t eighths) {
    return std::numbers::pi / 4 * static_cast<double>(eighths) / static_cast<double>(n);
  };
  double cosine, sine;  // of 2 pi k / n
  switch (eighth / n) {
    case 0:
      cosine = std::cos(angle(eighth)), sine = std::sin(angle(eighth));
      break;
    case 1:
      cosine = std::sin(angle(2 * n - eighth)), sine = std::cos(angle(2 * n - eighth));
      break;
    case 2:
      cosine = -std::sin(angle(eighth - 2 * n)), sine = std::cos(angle(eighth - 2 * n));
      break;
    case 3:
      cosine = -std::cos(angle(4 * n - eighth)), sine = std::sin(angle(4 * n - eighth));
      break;
    case 4:
      cosine = -std::cos(angle(eighth - 4 * n)), sine = -std::sin(angle(eighth - 4 * n));
      break;
    case 5:
      cosine = -std::sin(angle(6 * n - eighth)), sine = -std::cos(angle(6 * n - eighth));
      break;
    case 6:
      cosine = std::sin(angle(eighth - 6 * n)), sine = -std::cos(angle(eighth - 6 * n));
      break;
    default:
      cosine = std::cos(angle(8 * n - eighth)), sine = -std::sin(angle(8 * n - eighth));
      break;
  }
  return {cosine, -sine};
}

// Small transforms of the values v[0 .. radix), in place.
template <typename T>
inline void butterfly2(Complex<T>* v) {
  const Complex<T> a = v[0];
  v[0] = a + v[1];
  v[1] = a - v[1];
}

template <typename T>
inline void butterfly3(Complex<T>* v) {
  constexpr T kSine = static_cast<T>(0.86602540378443864676);
  const Complex<T> sum = v[1] + v[2], difference = times_i(v[2] - v[1]) * kSine;
  const Complex<T> middle = v[0] - T{0.5} * sum;
  v[0] += sum;
  v[1] = middle + difference;
  v[2] = middle - difference;
}

template <typename T>
inline void butterfly4(Complex<T>* v) {
  const Complex<T> a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = times_i(v[3] - v[1]);
  v[0] = a + c;
  v[1] = b + d;
  v[2] = a - c;
  v[3] = b - d;
}

template <typename T>
inline void butterfly5(Complex<T>* v) {
  constexpr T kC1 = static_cast<T>(0.30901699437494742410), kC2 = static_cast<T>(-0.80901699437494742410);
  constexpr T kS1 = static_cast<T>(0.95105651629515357212), kS2 = static_cast<T>(0.58778525229247312917);
  const Complex<T> a = v[1] + v[4], b = v[2] + v[3], c = times_i(v[4] - v[1]), d = times_i(v[3] - v[2]);
  const Complex<T> p = v[0] + kC1 * a + kC2 * b, q = v[0] + kC2 * a + kC1 * b;
  const Complex<T> r = kS1 * c + kS2 * d, s = kS2 * c - kS1 * d;
  v[0] = v[0] + a + b;
  v[1] = p + r;
  v[2] = q + s;
  v[3] = q - s;
  v[4] = p - r;
}

std::int64_t power_of_two_above(std::int64_t n) {
  std::int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

}  // namespace

// The chirp exp(-pi i k^2 / n), and the transform of its conjugate, wrapped around to the length of `inner`.
template <typename T>
struct Fft<T>::Bluestein {
  explicit Bluestein(std::int64_t n) : inner(power_of_two_above(2 * n - 1)), chirp(static_cast<std::size_t>(n)) {
    kernel.resize(static_cast<std::size_t>(inner.size()));
    // k^2 mod 2n by steps, without overflow.
    std::int64_t square = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      chirp[static_cast<std::size_t>(k)] = Complex<T>(root(square, 2 * n));
      square = (square + 2 * k + 1) % (2 * n);
    }
    kernel[0] = std::conj(chirp[0]);
    for (std::int64_t k = 1; k < n; ++k) {
      kernel[static_cast<std::size_t>(k)] = kernel[static_cast<std::size_t>(inner.size() - k)] =
          std::conj(chirp[static_cast<std::size_t>(k)]);
    }
    std::vector<Complex<T>> scratch(static_cast<std::size_t>(inner.scratch_size()));
    inner.forward(kernel, scratch);
  }
  Fft<T> inner;
  std::vector<Complex<T>> chirp, kernel;
};

template <typename T>
bool Fft<T>::splits(std::int64_t n) {
  for (std::int64_t factor = 2; factor <= kLargestFactor; ++factor) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

template <typename T>
Fft<T>::Fft(std::int64_t n) : n_(n) {
  assert(n >= 1);
  std::int64_t rest = n;
  for (std::int64_t factor : {4, 2, 3, 5}) {
    for (; rest % factor == 0; rest /= factor) factors_.push_back(factor);
  }
  for (std::int64_t factor = 7; factor <= kLargestFactor; factor += 2) {
    for (; rest % factor == 0; rest /= factor) factors_.push_back(factor);
  }
  if (rest != 1) {
    factors_.clear();
    bluestein_ = std::make_unique<const Bluestein>(n);
    return;
  }
  roots_.resize(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) roots_[static_cast<std::size_t>(k)] = Complex<T>(root(k, n));
}

template <typename T>
Fft<T>::~Fft() = default;
template <typename T>
Fft<T>::Fft(Fft&&) noexcept = default;
template <typename T>
Fft<T>& Fft<T>::operator=(Fft&&) noexcept = default;

template <typename T>
std::int64_t Fft<T>::scratch_size() const {
  return bluestein_ ? 2 * bluestein_->inner.size() : n_;
}

namespace {

// One pass: of `stride` interleaved transforms of length radix * m, element j + m * i of each is input i of a small
// transform, whose output k, times exp(-2 pi i j k / (radix * m)), is element j of a transform of length m (Stockham:
// the small outputs land side by side, so the next pass finds radix * stride interleaved transforms of length m).
template <int kRadix, typename T>
void pass(const Complex<T>* from, Complex<T>* to, std::int64_t m, std::int64_t stride,
          const std::vector<Complex<T>>& roots) {
  for (std::int64_t j = 0; j < m; ++j) {
    Complex<T> twiddles[kRadix];
    for (std::int64_t k = 1; k < kRadix; ++k) twiddles[k] = roots[static_cast<std::size_t>(j * k * stride)];
    for (std::int64_t q = 0; q < stride; ++q) {
      Complex<T> v[kRadix];
      for (std::int64_t i = 0; i < kRadix; ++i) v[i] = from[q + stride * (j + m * i)];
      if constexpr (kRadix == 2)
        butterfly2(v);
      else if constexpr (kRadix == 3)
        butterfly3(v);
      else if constexpr (kRadix == 4)
        butterfly4(v);
      else
        butterfly5(v);
      Complex<T>* out = to + q + stride * kRadix * j;
      out[0] = v[0];
      for (std::int64_t k = 1; k < kRadix; ++k) out[stride * k] = times(v[k], twiddles[k]);
    }
  }
}

// The same for any radix, by the definition of the small transform.
template <typename T>
void pass_any(std::int64_t radix, const Complex<T>* from, Complex<T>* to, std::int64_t m, std::int64_t stride,
              const std::vector<Complex<T>>& roots) {
  const std::int64_t small_step = static_cast<std::int64_t>(roots.size()) / radix;
  for (std::int64_t j = 0; j < m; ++j) {
    for (std::int64_t q = 0; q < stride; ++q) {
      for (std::int64_t k = 0; k < radix; ++k) {
        Complex<T> sum = from[q + stride * j];
        for (std::int64_t i = 1; i < radix; ++i) {
          sum += times(from[q + stride * (j + m * i)], roots[static_cast<std::size_t>(i * k % radix * small_step)]);
        }
        to[q + stride * (radix * j + k)] = times(sum, roots[static_cast<std::size_t>(j * k * stride)]);
      }
    }
  }
}

}  // namespace

template <typename T>
void Fft<T>::split_transform(Complex<T>* data, Complex<T>* scratch) const {
  Complex<T>*from = data, *to = scratch;
  std::int64_t length = n_, stride = 1;
  for (const std::int64_t radix : factors_) {
    length /= radix;
    switch (radix) {
      case 2:
        pass<2>(from, to, length, stride, roots_);
        break;
      case 3:
        pass<3>(from, to, length, stride, roots_);
        break;
      case 4:
        pass<4>(from, to, length, stride, roots_);
        break;
      case 5:
        pass<5>(from, to, length, stride, roots_);
        break;
      default:
        pass_any(radix, from, to, length, stride, roots_);
        break;
    }
    std::swap(from, to);
    stride *= radix;
  }
  if (from != data) std::copy_n(from, n_, data);
}

template <typename T>
void Fft<T>::forward(std::span<Complex<T>> data, std::span<Complex<T>> scratch) const {
  assert(static_cast<std::int64_t>(data.size()) == n_ && static_cast<std::int64_t>(scratch.size()) >= scratch_size());
  if (!bluestein_) return split_transform(data.data(), scratch.data());
  // j k = (j^2 + k^2 - (k - j)^2) / 2 turns the sum into a convolution with the chirp.
  const Bluestein& b = *bluestein_;
  const std::span<Complex<T>> work = scratch.first(static_cast<std::size_t>(b.inner.size()));
  const std::span<Complex<T>> inner_scratch = scratch.subspan(static_cast<std::size_t>(b.inner.size()));
  for (std::size_t k = 0; k < data.size(); ++k) work[k] = times(data[k], b.chirp[k]);
  std::fill(work.begin() + static_cast<std::ptrdiff_t>(data.size()), work.end(), Complex<T>{});
  b.inner.forward(work, inner_scratch);
  for (std::size_t k = 0; k < work.size(); ++k) work[k] = times(work[k], b.kernel[k]);
  b.inner.inverse(work, inner_scratch);
  const T scale = 1 / static_cast<T>(b.inner.size());
  for (std::size_t k = 0; k < data.size(); ++k) data[k] = times(work[k], b.chirp[k]) * scale;
}

template <typename T>
void Fft<T>::inverse(std::span<Complex<T>> data, std::span<Complex<T>> scratch) const {
  for (Complex<T>& value : data) value = std::conj(value);
  forward(data, scratch);
  for (Complex<T>& value : data) value = std::conj(value);
}

template class Fft<float>;
template class Fft<double>;

RealFft::RealFft(std::int64_t n) : n_(n), complex_(n % 2 == 0 ? n / 2 : n) {
  assert(n >= 1);
  for (std::int64_t k = 0; k <= n / 2 && n % 2 == 0; ++k) roots_.push_back(root(k, n));
}

std::int64_t RealFft::scratch_size() const {
  return complex_.size() + complex_.scratch_size();
}

void RealFft::forward(std::span<const double> data, std::span<Complex<double>> spectrum,
                      std::span<Complex<double>> scratch) const {
  assert(static_cast<std::int64_t>(data.size()) == n_ && static_cast<std::int64_t>(spectrum.size()) == n_ / 2 + 1);
  const auto m = static_cast<std::size_t>(complex_.size());
  const std::span<Complex<double>> work = scratch.first(m), rest = scratch.subspan(m);
  if (n_ % 2 != 0) {
    for (std::size_t k = 0; k < m; ++k) work[k] = data[k];
    complex_.forward(work, rest);
    std::copy_n(work.begin(), spectrum.size(), spectrum.begin());
    return;
  }
  // Even places as real and odd ones as imaginary parts: the two spectra come apart by symmetry.
  for (std::size_t k = 0; k < m; ++k) work[k] = {data[2 * k], data[2 * k + 1]};
  complex_.forward(work, rest);
  for (std::size_t k = 0; k <= m; ++k) {
    const Complex<double> a = work[k % m], b = std::conj(work[(m - k) % m]);
    const Complex<double> even = 0.5 * (a + b), odd = 0.5 * (a - b);
    spectrum[k] = even - times_i(times(odd, roots_[k]));
  }
}

}  // namespace lppool
