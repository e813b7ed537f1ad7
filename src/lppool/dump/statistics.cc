#include "lppool/dump/statistics.h"

#include <algorithm>
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
      if (++in_block_ == 4096) flush();
    }
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
  void flush() {
    total_ += block_;
    block_ = 0;
    in_block_ = 0;
  }
  double normal_;
  double min_ = std::numeric_limits<double>::infinity(), max_ = -std::numeric_limits<double>::infinity();
  double block_ = 0, total_ = 0;
  std::int64_t finite_ = 0;
  int in_block_ = 0;
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
      for (const float v : tensor.data<float>()) collector.add(static_cast<double>(v));
      break;
    case DataType::kFloat64:
      for (const double v : tensor.data<double>()) collector.add(v);
      break;
    default:
      for (std::int64_t i = 0; i < tensor.size(); ++i) collector.add(element_as_double(tensor, i));
  }
  return collector.finish();
}

}  // namespace lppool
