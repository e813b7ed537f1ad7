#include "lppool/dump/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

// The smallest normal value of a type; anything smaller that is not zero is subnormal.
double smallest_normal(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16: return 0x1p-14;
    case DataType::kBFloat16:
    case DataType::kFloat32: return 0x1p-126;
    case DataType::kFloat64: return 0x1p-1022;
    default: return 0;
  }
}

class Collector {
 public:
  explicit Collector(double normal) : normal_(normal) {}
  void add(double v) {
    if (std::isnan(v)) {
      ++result_.nan;
    } else if (std::isinf(v)) {
      ++result_.inf;
    } else {
      min_ = std::min(min_, v);
      max_ = std::max(max_, v);
      if (v == 0) ++result_.zero;
      else if (std::abs(v) < normal_) ++result_.subnormal;
      block_ += v;
      ++finite_;
      if (++in_block_ == kBlock) flush();
    }
  }
  // Many at once. A block of finite numbers costs no branch an element: loops of constant length over integers, which order
  // floats as their values do, become vector code.
  template <typename F, typename I>
  void add_all(std::span<const F> values, std::span<const I> bits) {
    std::size_t i = 0;
    for (; i + kBlock <= values.size(); i += kBlock) {
      if (add_block(values.data() + i, bits.data() + i)) continue;
      for (std::size_t k = 0; k < kBlock; ++k) add(static_cast<double>(values[i + k]));
    }
    for (; i < values.size(); ++i) add(static_cast<double>(values[i]));
  }

  Statistics finish() {
    flush();
    if (finite_ > 0) {
      result_.min = min_;
      result_.max = max_;
      const double mean = total_ / static_cast<double>(finite_);
      // A sum of huge values may leave the range where the mean does not.
      result_.mean = std::isfinite(mean) ? mean : std::clamp(mean, min_, max_);
    }
    return result_;
  }

 private:
  static constexpr std::size_t kBlock = 4096;

  // False, and nothing done, where a number is not finite.
  template <typename F, typename I>
  bool add_block(const F* values, const I* bits) {
    constexpr I kMagnitude = std::numeric_limits<I>::max();
    const I infinity = std::bit_cast<I>(std::numeric_limits<F>::infinity());
    const I normal = std::bit_cast<I>(std::numeric_limits<F>::min());
    I least = std::numeric_limits<I>::max(), most = std::numeric_limits<I>::min(), largest = 0, zeros = 0, small = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const I magnitude = bits[i] & kMagnitude;
      const I key = bits[i] ^ ((bits[i] >> (sizeof(I) * 8 - 1)) & kMagnitude);
      least = key < least ? key : least;
      most = key > most ? key : most;
      largest = magnitude > largest ? magnitude : largest;
      zeros += magnitude == 0 ? 1 : 0;
      small += magnitude < normal ? 1 : 0;  // zeros, too
    }
    if (largest >= infinity) return false;
    flush();
    double sums[8] = {};
    for (std::size_t i = 0; i < kBlock; i += 8) {
      for (std::size_t k = 0; k < 8; ++k) sums[k] += static_cast<double>(values[i + k]);
    }
    total_ += ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    const auto value = [](I key) { return static_cast<double>(std::bit_cast<F>(static_cast<I>(key ^ ((key >> (sizeof(I) * 8 - 1)) & kMagnitude)))); };
    min_ = std::min(min_, value(least));
    max_ = std::max(max_, value(most));
    result_.zero += zeros;
    result_.subnormal += small - zeros;
    finite_ += static_cast<std::int64_t>(kBlock);
    return true;
  }

  void flush() {
    total_ += block_;
    block_ = 0;
    in_block_ = 0;
  }
  double normal_;
  double min_ = std::numeric_limits<double>::infinity(), max_ = -std::numeric_limits<double>::infinity();
  double block_ = 0, total_ = 0;
  std::int64_t finite_ = 0;
  std::size_t in_block_ = 0;
  Statistics result_;
};

}  // namespace

Statistics statistics_of(const Tensor& tensor) {
  Collector collector(smallest_normal(tensor.dtype()));
  switch (tensor.dtype()) {
    case DataType::kUndefined:
    case DataType::kString:
    case DataType::kComplex64:
    case DataType::kComplex128: return {};
    case DataType::kFloat32:
      collector.add_all(tensor.data<float>(), tensor.data<std::int32_t>());
      break;
    case DataType::kFloat64:
      collector.add_all(tensor.data<double>(), tensor.data<std::int64_t>());
      break;
    default:
      for (std::int64_t i = 0; i < tensor.size(); ++i) collector.add(element_as_double(tensor, i));
  }
  return collector.finish();
}

}  // namespace lppool
