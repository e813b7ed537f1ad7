#include "support/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "support/exact_lp.h"

namespace lppool::testing {
namespace {

constexpr std::size_t kGuard = 64;  // bytes watched behind the output
constexpr std::byte kGuardByte{0xA5};

// Elements in memory, starting one element behind the strictest alignment.
class Elements {
 public:
  Elements(const FloatFormat& format, std::size_t count)
      : width_(static_cast<std::size_t>(format.storage_bits) / 8),
        count_(count),
        memory_(new std::byte[64 + (count + 1) * width_ + kGuard]) {
    void* place = memory_.get();
    std::size_t space = 64 + width_;
    start_ = static_cast<std::byte*>(std::align(64, width_, place, space)) + width_;
    std::fill_n(start_, count * width_ + kGuard, kGuardByte);
  }

  void set(std::span<const std::uint64_t> bits) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (width_ == 2) store(i, static_cast<std::uint16_t>(bits[i]));
      if (width_ == 4) store(i, static_cast<std::uint32_t>(bits[i]));
      if (width_ == 8) store(i, bits[i]);
    }
  }
  std::vector<std::uint64_t> get() const {
    std::vector<std::uint64_t> bits(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      bits[i] = width_ == 2 ? load<std::uint16_t>(i) : width_ == 4 ? load<std::uint32_t>(i) : load<std::uint64_t>(i);
    }
    return bits;
  }
  bool guard_is_intact() const {
    const std::byte* end = start_ + count_ * width_;
    return std::all_of(end, end + kGuard, [](std::byte b) { return b == kGuardByte; });
  }
  void* data() { return start_; }

 private:
  template <typename T>
  void store(std::size_t i, T value) {
    std::memcpy(start_ + i * sizeof(T), &value, sizeof(T));
  }
  template <typename T>
  T load(std::size_t i) const {
    T value;
    std::memcpy(&value, start_ + i * sizeof(T), sizeof(T));
    return value;
  }

  std::size_t width_;
  std::size_t count_;
  std::unique_ptr<std::byte[]> memory_;
  std::byte* start_;
};

std::int64_t output_size(const kernels::PoolGeometry& geometry) {
  std::int64_t size = geometry.planes;
  for (const kernels::PoolAxis& axis : geometry.axes) size *= axis.out;
  return size;
}

// The oracle on windows of `size` values that start `step` apart.
std::vector<std::uint64_t> exact_windows(const Tally& tally, std::span<const double> values, std::size_t size,
                                         std::size_t step, ThreadPool& pool) {
  std::vector<std::uint64_t> exact((values.size() - size) / step + 1);
  const auto judge_range = [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      exact[i] = exact_lp(tally.type().format, values.subspan(i * step, size), tally.p());
    }
  };
  pool.parallel_for(static_cast<std::int64_t>(exact.size()), 256, judge_range);
  return exact;
}

}  // namespace

std::vector<std::uint64_t> call_pool(PoolFunction function, const TestedType& type,
                                     std::span<const std::uint64_t> input, const kernels::PoolGeometry& geometry,
                                     double p, ThreadPool& pool) {
  Elements x(type.format, input.size());
  x.set(input);
  Elements y(type.format, static_cast<std::size_t>(output_size(geometry)));
  function(type.type, x.data(), y.data(), geometry, kernels::LpNorm::of(p), pool);
  if (!y.guard_is_intact()) FAIL("the kernel wrote behind its output");
  return y.get();
}

std::vector<std::uint64_t> call_global(const TestedType& type, std::span<const std::uint64_t> input,
                                       std::int64_t planes, double p, ThreadPool& pool) {
  Elements x(type.format, input.size());
  x.set(input);
  Elements y(type.format, static_cast<std::size_t>(planes));
  const std::int64_t plane_size = planes == 0 ? 0 : static_cast<std::int64_t>(input.size()) / planes;
  kernels::global_lp_pool(type.type, x.data(), y.data(), planes, plane_size, kernels::LpNorm::of(p), pool);
  if (!y.guard_is_intact()) FAIL("the kernel wrote behind its output");
  return y.get();
}

kernels::PoolGeometry to_geometry(std::int64_t planes, std::span<const LiteralAxis> axes) {
  kernels::PoolGeometry geometry;
  geometry.planes = planes;
  for (const LiteralAxis& axis : axes) {
    geometry.axes.push_back({.in = axis.input,
                             .out = axis.output,
                             .kernel = axis.kernel,
                             .stride = axis.stride,
                             .dilation = axis.dilation,
                             .pad_begin = axis.pad_begin});
  }
  return geometry;
}

Tally::Tally(const TestedType& type, double p, std::string what) : type_(type), p_(p), what_(std::move(what)) {
  const bool whole = p == std::floor(p);
  bound_ = type.format.precision < 53 ? (whole ? 0 : 0.51) : (whole ? 0.51 : 1);
}

void Tally::judge(std::span<const std::uint64_t> got, std::span<const std::uint64_t> exact,
                  const std::function<std::vector<double>(std::size_t)>& window) {
  REQUIRE(got.size() == exact.size());
  const FloatFormat& format = type_.format;
  results_ += got.size();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == exact[i]) continue;
    ++not_nearest_;
    const std::vector<double> values = window(i);
    const double error = ulp_error(format, got[i], values, p_);
    max_ulp_ = std::max(max_ulp_, error);
    const bool may_differ = !format.is_nan(exact[i]) && got[i] != 0 && !format.is_infinity(got[i]);
    if (may_differ && error <= bound_) continue;
    ++failures_;
    if (examples_.size() < 3) {
      std::string text = fmt::format("p = {}, got {:#x}, exactly rounded {:#x}, error {} ULP, window of {}:", p_,
                                     got[i], exact[i], error, values.size());
      for (std::size_t k = 0; k < std::min<std::size_t>(values.size(), 64); ++k)
        text += fmt::format(" {:a}", values[k]);
      examples_.push_back(text);
    }
  }
}

void Tally::finish(bool print) const {
  if (print) {
    std::printf(
        "%-24s %-8s p = %-12.9g %11llu results, %llu not nearest, %llu outside the contract, largest error %.4f ULP\n",
        what_.c_str(), type_.name, p_, static_cast<unsigned long long>(results_),
        static_cast<unsigned long long>(not_nearest_), static_cast<unsigned long long>(failures_),
        std::max(not_nearest_ == 0 ? 0.5 : max_ulp_, 0.5));
    std::fflush(stdout);
  }
  INFO(what_ << ", " << type_.name << ", p = " << p_ << ", seed " << test_seed() << ", " << results_ << " results");
  for (const std::string& example : examples_) UNSCOPED_INFO(example);
  CHECK(failures_ == 0);
}

std::vector<double> decode_all(const FloatFormat& format, std::span<const std::uint64_t> bits) {
  std::vector<double> values;
  values.reserve(bits.size());
  for (const std::uint64_t pattern : bits) values.push_back(decode(format, pattern));
  return values;
}

void prove_windows(Tally& tally, std::span<const std::uint64_t> bits, std::size_t size, ThreadPool& pool) {
  const TestedType& type = tally.type();
  const double p = tally.p();
  const std::vector<double> values = decode_all(type.format, bits);
  const std::vector<std::uint64_t> exact = exact_windows(tally, values, size, size, pool);
  const auto tile = [&](std::size_t i) {
    return std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(i * size),
                               values.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
  };
  const auto count = static_cast<std::int64_t>(exact.size());
  const auto length = static_cast<std::int64_t>(size);

  const LiteralAxis tiles[] = {{.input = count * length, .kernel = length, .stride = length, .output = count}};
  const kernels::PoolGeometry line = to_geometry(1, tiles);
  tally.judge(call_pool(kernels::lp_pool, type, bits, line, p, pool), exact, tile);
  tally.judge(call_pool(kernels::lp_pool_reference, type, bits, line, p, pool), exact, tile);
  tally.judge(call_global(type, bits, count, p, pool), exact, tile);
  for (std::int64_t height = 2; height * height <= length; ++height) {
    if (length % height != 0) continue;
    const LiteralAxis rectangle[] = {{.input = height, .kernel = height},
                                     {.input = length / height, .kernel = length / height}};
    tally.judge(call_pool(kernels::lp_pool, type, bits, to_geometry(count, rectangle), p, pool), exact, tile);
  }

  const std::size_t start = std::max(bits.size() / 8, size);
  const std::span<const double> head = std::span(values).first(start);
  const std::vector<std::uint64_t> exact_sliding = exact_windows(tally, head, size, 1, pool);
  const LiteralAxis sliding[] = {{.input = static_cast<std::int64_t>(start),
                                  .kernel = length,
                                  .output = static_cast<std::int64_t>(start) - length + 1}};
  tally.judge(call_pool(kernels::lp_pool, type, bits.first(start), to_geometry(1, sliding), p, pool), exact_sliding,
              [&](std::size_t i) {
                return std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(i),
                                           values.begin() + static_cast<std::ptrdiff_t>(i + size));
              });
}

ThreadPool& proof_threads() {
  static ThreadPool pool(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  return pool;
}

}  // namespace lppool::testing
