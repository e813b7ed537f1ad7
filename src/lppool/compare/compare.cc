#include "lppool/compare/compare.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <mutex>

#include "lppool/base/error.h"
#include "lppool/tensor/convert.h"
#include "lppool/tensor/float8.h"

namespace lppool {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Two elements that are not equal.
struct Distance {
  double abs = 0;        // |a - b|
  double magnitude = 0;  // |b|
  std::uint64_t ulp = 0;
  bool comparable = true;
};
constexpr Distance kIncomparable{kInfinity, kInfinity, 0, false};

// What one stretch of elements adds to the result.
class Tally {
 public:
  explicit Tally(const ComparisonTolerance& tolerance) : tolerance_(tolerance) {}

  void equal(std::int64_t n) { histogram_[0] += n; }

  void add(std::int64_t index, const Distance& d) {
    ++different_;
    max_abs_ = std::max(max_abs_, d.abs);
    double excess = kInfinity;
    bool ok = false;
    if (!d.comparable) {
      ++incomparable_;
      max_rel_ = needed_rtol_ = needed_atol_ = kInfinity;
    } else {
      max_ulp_ = std::max(max_ulp_, d.ulp);
      ++histogram_[static_cast<std::size_t>(std::bit_width(d.ulp))];
      if (d.magnitude != 0) max_rel_ = std::max(max_rel_, d.abs / d.magnitude);
      need(d);
      const double allowed = tolerance_.atol + tolerance_.rtol * d.magnitude;
      ok = tolerance_.ulp ? d.ulp <= *tolerance_.ulp : d.abs <= allowed;
      // An infinite excess is for incomparable elements.
      excess = tolerance_.ulp ? static_cast<double>(d.ulp)
                              : std::min(allowed > 0 ? d.abs / allowed : d.abs, std::numeric_limits<double>::max());
    }
    mismatches_ += !ok;
    if (!ok && (first_ < 0 || index < first_)) first_ = index;
    if (worst_ < 0 || excess > worst_excess_ || (excess == worst_excess_ && index < worst_)) {
      worst_ = index;
      worst_excess_ = excess;
    }
  }

  void merge(const Tally& other) {
    for (std::size_t i = 0; i < histogram_.size(); ++i) histogram_[i] += other.histogram_[i];
    different_ += other.different_;
    incomparable_ += other.incomparable_;
    mismatches_ += other.mismatches_;
    max_abs_ = std::max(max_abs_, other.max_abs_);
    max_rel_ = std::max(max_rel_, other.max_rel_);
    max_ulp_ = std::max(max_ulp_, other.max_ulp_);
    needed_rtol_ = std::max(needed_rtol_, other.needed_rtol_);
    needed_atol_ = std::max(needed_atol_, other.needed_atol_);
    if (other.first_ >= 0 && (first_ < 0 || other.first_ < first_)) first_ = other.first_;
    if (other.worst_ < 0) return;
    if (worst_ < 0 || other.worst_excess_ > worst_excess_ || (other.worst_excess_ == worst_excess_ && other.worst_ < worst_)) {
      worst_ = other.worst_;
      worst_excess_ = other.worst_excess_;
    }
  }

  void store(TensorComparison& result, bool has_ulp) const {
    result.mismatches = mismatches_;
    result.different = different_;
    result.incomparable = incomparable_;
    result.max_abs = max_abs_;
    result.max_rel = max_rel_;
    result.needed_rtol = needed_rtol_;
    result.needed_atol = needed_atol_;
    if (worst_ >= 0) result.worst = worst_;
    if (first_ >= 0) result.first = first_;
    if (!has_ulp) return;
    result.max_ulp = max_ulp_;
    result.ulp_histogram.assign(histogram_.begin(), histogram_.end());
    while (!result.ulp_histogram.empty() && result.ulp_histogram.back() == 0) result.ulp_histogram.pop_back();
  }

 private:
  // Raises the needed tolerances to what this element needs. The division rounds: the last bit is settled by trying.
  void need(const Distance& d) {
    const auto passes = [&](double rtol, double atol) { return d.abs <= atol + rtol * d.magnitude; };
    if (!passes(needed_rtol_, tolerance_.atol)) {
      needed_rtol_ = d.magnitude == 0 ? kInfinity : (d.abs - tolerance_.atol) / d.magnitude;
      while (std::isfinite(needed_rtol_) && !passes(needed_rtol_, tolerance_.atol)) {
        needed_rtol_ = std::nextafter(needed_rtol_, kInfinity);
      }
    }
    if (!passes(tolerance_.rtol, needed_atol_)) {
      needed_atol_ = d.abs - tolerance_.rtol * d.magnitude;
      while (std::isfinite(needed_atol_) && !passes(tolerance_.rtol, needed_atol_)) {
        needed_atol_ = std::nextafter(needed_atol_, kInfinity);
      }
    }
  }

  const ComparisonTolerance& tolerance_;
  std::array<std::int64_t, 65> histogram_{};
  std::int64_t different_ = 0, incomparable_ = 0, mismatches_ = 0;
  double max_abs_ = 0, max_rel_ = 0, needed_rtol_ = 0, needed_atol_ = 0;
  std::uint64_t max_ulp_ = 0;
  std::int64_t worst_ = -1, first_ = -1;
  double worst_excess_ = 0;
};

// Steps between two floats, given their bits: sign and magnitude.
template <typename Bits>
std::uint64_t steps(Bits a, Bits b) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const std::uint64_t ma = static_cast<Bits>(a & ~kSign), mb = static_cast<Bits>(b & ~kSign);
  if ((a & kSign) != (b & kSign)) return ma + mb;
  return ma > mb ? ma - mb : mb - ma;
}

// Each kind of element: is it equal, and how far is it apart where it is not.
template <typename T, typename Bits>
struct FloatElement {
  static bool equal(T a, T b) {
    const double x = static_cast<double>(a), y = static_cast<double>(b);
    return x == y || (std::isnan(x) && std::isnan(y));
  }
  static Distance distance(T a, T b) {
    const double x = static_cast<double>(a), y = static_cast<double>(b);
    if (!std::isfinite(x) || !std::isfinite(y)) return kIncomparable;
    // The difference of two finite float64 numbers may pass the largest; infinite is for incomparable ones.
    const double abs = std::fabs(x - y);
    return {std::isinf(abs) ? std::numeric_limits<double>::max() : abs, std::fabs(y),
            steps(std::bit_cast<Bits>(a), std::bit_cast<Bits>(b)), true};
  }
};

template <typename T>
struct IntegerElement {
  static bool equal(T a, T b) { return a == b; }
  static Distance distance(T a, T b) {
    const std::uint64_t apart =
        a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b) : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
    return {static_cast<double>(apart), std::fabs(static_cast<double>(b)), apart, true};
  }
};

template <typename T, typename Bits>
struct ComplexElement {
  using Part = FloatElement<T, Bits>;
  static bool equal(std::complex<T> a, std::complex<T> b) {
    return Part::equal(a.real(), b.real()) && Part::equal(a.imag(), b.imag());
  }
  static Distance distance(std::complex<T> a, std::complex<T> b) {
    const auto part = [](T x, T y) { return Part::equal(x, y) ? Distance{0, 0, 0, true} : Part::distance(x, y); };
    const Distance re = part(a.real(), b.real()), im = part(a.imag(), b.imag());
    if (!re.comparable || !im.comparable) return kIncomparable;
    return {std::hypot(re.abs, im.abs), std::hypot(static_cast<double>(b.real()), static_cast<double>(b.imag())),
            std::max(re.ulp, im.ulp), true};
  }
};

template <typename Element, typename T>
void tally_range(const T* a, const T* b, std::int64_t begin, std::int64_t end, Tally& tally) {
  std::int64_t equal = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    if (Element::equal(a[i], b[i])) ++equal;
    else tally.add(i, Element::distance(a[i], b[i]));
  }
  tally.equal(equal);
}

void tally_small_floats(const Tensor& a, const Tensor& b, std::int64_t begin, std::int64_t end, Tally& tally) {
  const auto x = a.data<std::uint8_t>(), y = b.data<std::uint8_t>();
  const DataType dtype = a.dtype();
  const bool has_sign = dtype != DataType::kFloat8E8M0;
  const int bits = storage_bits(dtype);
  const std::uint8_t sign = static_cast<std::uint8_t>(has_sign ? 1u << (bits - 1) : 0);
  for (std::int64_t i = begin; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double va = small_float_value(dtype, x[at]), vb = small_float_value(dtype, y[at]);
    if (FloatElement<double, std::uint64_t>::equal(va, vb)) {
      tally.equal(1);
      continue;
    }
    Distance d = FloatElement<double, std::uint64_t>::distance(va, vb);
    const unsigned ma = x[at] & ~sign & 0xffu, mb = y[at] & ~sign & 0xffu;
    d.ulp = (x[at] & sign) != (y[at] & sign) ? ma + mb : ma > mb ? ma - mb : mb - ma;
    tally.add(i, d);
  }
}

void tally_strings(const Tensor& a, const Tensor& b, std::int64_t begin, std::int64_t end, Tally& tally) {
  for (std::int64_t i = begin; i < end; ++i) {
    if (a.strings()[static_cast<std::size_t>(i)] == b.strings()[static_cast<std::size_t>(i)]) tally.equal(1);
    else tally.add(i, kIncomparable);
  }
}

void tally_as_doubles(const Tensor& a, const Tensor& b, std::int64_t begin, std::int64_t end, Tally& tally) {
  using Element = FloatElement<double, std::uint64_t>;
  for (std::int64_t i = begin; i < end; ++i) {
    const double x = element_as_double(a, i), y = element_as_double(b, i);
    if (Element::equal(x, y)) tally.equal(1);
    else tally.add(i, Element::distance(x, y));
  }
}

template <typename Element, typename T>
void tally_typed(const Tensor& a, const Tensor& b, std::int64_t begin, std::int64_t end, Tally& tally) {
  tally_range<Element>(a.data<T>().data(), b.data<T>().data(), begin, end, tally);
}

void tally_same_type(const Tensor& a, const Tensor& b, std::int64_t begin, std::int64_t end, Tally& tally) {
  const auto run = [&](auto function) { function(a, b, begin, end, tally); };
  using std::uint16_t;
  using std::uint32_t;
  using std::uint64_t;
  switch (a.dtype()) {
    case DataType::kFloat32: run(tally_typed<FloatElement<float, uint32_t>, float>); break;
    case DataType::kFloat64: run(tally_typed<FloatElement<double, uint64_t>, double>); break;
    case DataType::kFloat16: run(tally_typed<FloatElement<Float16, uint16_t>, Float16>); break;
    case DataType::kBFloat16: run(tally_typed<FloatElement<BFloat16, uint16_t>, BFloat16>); break;
    case DataType::kComplex64: run(tally_typed<ComplexElement<float, uint32_t>, std::complex<float>>); break;
    case DataType::kComplex128: run(tally_typed<ComplexElement<double, uint64_t>, std::complex<double>>); break;
    case DataType::kInt64: run(tally_typed<IntegerElement<std::int64_t>, std::int64_t>); break;
    case DataType::kUInt64: run(tally_typed<IntegerElement<uint64_t>, uint64_t>); break;
    case DataType::kInt32: run(tally_typed<IntegerElement<std::int32_t>, std::int32_t>); break;
    case DataType::kUInt32: run(tally_typed<IntegerElement<uint32_t>, uint32_t>); break;
    case DataType::kInt16: run(tally_typed<IntegerElement<std::int16_t>, std::int16_t>); break;
    case DataType::kUInt16: run(tally_typed<IntegerElement<uint16_t>, uint16_t>); break;
    case DataType::kInt8:
    case DataType::kInt4:
    case DataType::kInt2: run(tally_typed<IntegerElement<std::int8_t>, std::int8_t>); break;
    case DataType::kUInt8:
    case DataType::kUInt4:
    case DataType::kUInt2:
    case DataType::kBool: run(tally_typed<IntegerElement<std::uint8_t>, std::uint8_t>); break;
    case DataType::kString: run(tally_strings); break;
    default: run(tally_small_floats); break;
  }
}

bool is_number(DataType dtype) { return is_float(dtype) || is_integer(dtype) || dtype == DataType::kBool; }

}  // namespace

TensorComparison compare(const Tensor& a, const Tensor& b, const ComparisonTolerance& tolerance, ThreadPool* threads) {
  TensorComparison result;
  result.elements = b.size();
  if (a.shape() != b.shape()) {
    result.problem = fmt::format("shape {} against {}", to_string(a.shape()), to_string(b.shape()));
    return result;
  }
  const bool same_type = a.dtype() == b.dtype();
  if (!same_type) {
    result.problem = fmt::format("dtype {} against {}", name(a.dtype()), name(b.dtype()));
    // The values are worth knowing all the same where they are numbers.
    if (!is_number(a.dtype()) || !is_number(b.dtype())) return result;
  }

  Tally total(tolerance);
  std::mutex mutex;
  const auto stretch = [&](std::int64_t begin, std::int64_t end) {
    Tally part(tolerance);
    if (same_type) tally_same_type(a, b, begin, end, part);
    else tally_as_doubles(a, b, begin, end, part);
    const std::lock_guard lock(mutex);
    total.merge(part);
  };
  constexpr std::int64_t kGrain = 1 << 16;
  if (threads != nullptr) threads->parallel_for(a.size(), kGrain, stretch);
  else stretch(0, a.size());
  total.store(result, same_type && a.dtype() != DataType::kString);

  const bool ruled_out = !same_type && (!tolerance.any_dtype || tolerance.ulp);
  result.match = result.mismatches == 0 && !ruled_out;
  if (!same_type && tolerance.any_dtype && !ruled_out) result.problem.clear();
  return result;
}

std::vector<std::int64_t> index_of(std::int64_t offset, const Shape& shape) {
  std::vector<std::int64_t> index(shape.rank());
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    index[axis] = offset % shape[axis];
    offset /= shape[axis];
  }
  return index;
}

}  // namespace lppool
