#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lppool {

// Discrete Fourier transforms of one length: y[k] = sum over j of x[j] exp(-+2 pi i j k / n), unscaled. T is float or
// double.
//
// Lengths whose prime factors are small are split by them (Cooley and Tukey 1965, in Stockham's self-sorting order,
// which needs no bit reversal); a length with a prime factor above kLargestFactor goes through a convolution of a
// length that is a power of two (Bluestein 1970). Both take O(n log n). Relative error, in the 2-norm, stays near 1e-15
// for any length: twiddles are computed from reduced angles, never by recurrence.
//
// Immutable after construction; safe from any thread.
template <typename T>
class Fft {
 public:
  static constexpr std::int64_t kLargestFactor = 31;

  explicit Fft(std::int64_t n);  // n >= 1
  ~Fft();
  Fft(Fft&&) noexcept;
  Fft& operator=(Fft&&) noexcept;

  // True where no prime factor of n is above kLargestFactor.
  static bool splits(std::int64_t n);

  std::int64_t size() const { return n_; }
  // Complex numbers that transform() needs besides the data.
  std::int64_t scratch_size() const;

  // In place. data: size() numbers; scratch: scratch_size() numbers, overwritten.
  void forward(std::span<std::complex<T>> data, std::span<std::complex<T>> scratch) const;
  void inverse(std::span<std::complex<T>> data, std::span<std::complex<T>> scratch) const;

 private:
  struct Bluestein;
  void split_transform(std::complex<T>* data, std::complex<T>* scratch) const;

  std::int64_t n_;
  std::vector<std::int64_t> factors_;
  std::vector<std::complex<T>> roots_;  // exp(-2 pi i k / n)
  std::unique_ptr<const Bluestein> bluestein_;
};

extern template class Fft<float>;
extern template class Fft<double>;

// The lower half (n / 2 + 1 numbers, rounded down) of the spectrum of a real signal, in half the time.
class RealFft {
 public:
  explicit RealFft(std::int64_t n);  // n >= 1

  std::int64_t size() const { return n_; }
  std::int64_t scratch_size() const;
  // data: size() numbers; spectrum: size() / 2 + 1; scratch: scratch_size(), overwritten.
  void forward(std::span<const double> data, std::span<std::complex<double>> spectrum,
               std::span<std::complex<double>> scratch) const;

 private:
  std::int64_t n_;
  Fft<double> complex_;
  std::vector<std::complex<double>> roots_;
};

}  // namespace lppool
