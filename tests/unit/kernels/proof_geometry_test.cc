// Every small geometry, and random larger ones, against the literal pooling of the tests.

#include <catch2/catch.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "support/proof.h"

namespace lppool::testing {
namespace {

constexpr double kExponents[] = {2, 1, 3, 2, 4, 5, 2, 1.5, 7, 2, 10, 6};

// Draws a plane that shows mistakes: mostly distinct numbers of one band, at times the wild families of random_window,
// zeros, infinities and NaN.
std::vector<std::uint64_t> random_planes(const FloatFormat& format, Random& random, std::size_t size) {
  std::vector<std::uint64_t> bits(size);
  random_window(format, random, bits);
  if (random.one_in(8)) {
    for (std::uint64_t& pattern : bits) {
      if (random.one_in(16)) pattern = format.infinity() - 1 + random.below(3);
    }
  }
  return bits;
}

// Judges lp_pool and the reference on one geometry.
void prove_geometry(Tally& tally, std::int64_t planes, std::span<const LiteralAxis> axes, Random& random,
                    ThreadPool& pool) {
  const FloatFormat& format = tally.type().format;
  std::int64_t plane_size = 1;
  std::int64_t outputs = 1;
  for (const LiteralAxis& axis : axes) {
    plane_size *= axis.input;
    outputs *= axis.output;
  }
  const auto bits = random_planes(format, random, static_cast<std::size_t>(planes * plane_size));
  const std::vector<double> values = decode_all(format, bits);
  const auto exact = literal_pool(format, values, axes, tally.p());
  const auto window = [&](std::size_t i) {
    std::vector<std::int64_t> position(axes.size());
    auto rest = static_cast<std::int64_t>(i) % outputs;
    for (std::size_t k = axes.size(); k > 0; --k) {
      position[k - 1] = rest % axes[k - 1].output;
      rest /= axes[k - 1].output;
    }
    const auto plane = static_cast<std::size_t>(static_cast<std::int64_t>(i) / outputs * plane_size);
    return literal_window(std::span(values).subspan(plane, static_cast<std::size_t>(plane_size)), axes, position);
  };
  const auto geometry = to_geometry(planes, axes);
  tally.judge(call_pool(kernels::lp_pool, tally.type(), bits, geometry, tally.p(), pool), exact, window);
  if (outputs < 500) {
    tally.judge(call_pool(kernels::lp_pool_reference, tally.type(), bits, geometry, tally.p(), pool), exact, window);
  }
}

std::string describe(std::span<const LiteralAxis> axes) {
  std::string text = "geometry";
  for (const LiteralAxis& axis : axes) {
    text += " [in " + std::to_string(axis.input) + " k " + std::to_string(axis.kernel) + " s " +
            std::to_string(axis.stride) + " d " + std::to_string(axis.dilation) + " b " +
            std::to_string(axis.pad_begin) + " e " + std::to_string(axis.pad_end) + " out " +
            std::to_string(axis.output) + "]";
  }
  return text;
}

struct Limits {
  std::int64_t input, kernel, stride, dilation, pad;
};

// All axes within the limits, in floor mode and, where it differs, ceil mode.
std::vector<LiteralAxis> all_axes(const Limits& limits) {
  std::vector<LiteralAxis> result;
  LiteralAxis axis;
  for (axis.input = 1; axis.input <= limits.input; ++axis.input)
    for (axis.kernel = 1; axis.kernel <= limits.kernel; ++axis.kernel)
      for (axis.stride = 1; axis.stride <= limits.stride; ++axis.stride)
        for (axis.dilation = 1; axis.dilation <= (axis.kernel == 1 ? 1 : limits.dilation); ++axis.dilation)
          for (axis.pad_begin = 0; axis.pad_begin <= limits.pad; ++axis.pad_begin)
            for (axis.pad_end = 0; axis.pad_end <= limits.pad; ++axis.pad_end) {
              const std::int64_t floor = literal_output_size(axis, false, true);
              const std::int64_t kept = literal_output_size(axis, true, false);
              const std::int64_t dropped = literal_output_size(axis, true, true);
              axis.output = floor;
              if (floor > 0) result.push_back(axis);
              axis.output = kept;
              if (kept != floor && kept > 0) result.push_back(axis);
              axis.output = dropped;
              if (dropped != floor && dropped != kept && dropped > 0) result.push_back(axis);
            }
  return result;
}

// Runs the geometries that `pick` makes of consecutive numbers, p and the type changing from one to the next.
template <typename Pick>
void prove_geometries(std::size_t count, std::uint64_t stream, bool all_types, const Pick& pick) {
  Random random(stream);
  std::vector<LiteralAxis> axes;
  for (std::size_t i = 0; i < count; ++i) {
    pick(i, random, axes);
    const std::int64_t planes = random.one_in(3) ? 2 : 1;
    for (std::size_t t = 0; t < (all_types ? 4u : 1u); ++t) {
      const double p = kExponents[(i + t) % std::size(kExponents)];
      Tally tally(kTestedTypes[all_types ? t : random.below(4)], p, describe(axes));
      prove_geometry(tally, planes, axes, random, proof_threads());
      tally.finish(false);
    }
  }
}

LiteralAxis random_axis(Random& random, int input, int kernel) {
  LiteralAxis axis;
  axis.input = random.between(1, input);
  axis.kernel = random.between(1, kernel);
  axis.stride = random.one_in(2) ? 1 : random.between(1, 4);
  axis.dilation = random.one_in(2) ? 1 : random.between(1, 3);
  const int pad = random.one_in(3) ? 0 : static_cast<int>(axis.kernel);
  axis.pad_begin = random.between(0, pad);
  axis.pad_end = random.between(0, pad);
  axis.output = literal_output_size(axis, random.one_in(2), random.one_in(2));
  if (axis.output == 0) {
    axis.pad_end += (axis.kernel - 1) * axis.dilation + 1;
    axis.output = literal_output_size(axis, false, true);
  }
  return axis;
}

void random_geometry(Random& random, std::vector<LiteralAxis>& axes, bool large) {
  axes.clear();
  const int rank = large ? random.between(1, 3) : random.between(1, 5);
  const int input = rank == 1 ? 300 : rank == 2 ? 40 : rank == 3 ? 12 : 5;
  const int kernel = rank == 1 ? 40 : rank == 2 ? 9 : rank == 3 ? 5 : 3;
  for (int i = 0; i < rank; ++i) {
    axes.push_back(random_axis(random, large ? 3 * input : input, large ? 2 * kernel : kernel));
  }
}

}  // namespace

TEST_CASE("all small windows on one axis agree with the literal pooling", "[kernels][LpPool]") {
  const auto axes = all_axes({7, 4, 3, 3, 3});
  prove_geometries(axes.size(), 30, false,
                   [&](std::size_t i, Random&, std::vector<LiteralAxis>& result) { result.assign({axes[i]}); });
}

TEST_CASE("a sample of small windows on two and three axes agrees with the literal pooling", "[kernels][LpPool]") {
  const auto axes = all_axes({5, 3, 3, 2, 2});
  prove_geometries(4000, 31, false, [&](std::size_t i, Random& random, std::vector<LiteralAxis>& result) {
    result.assign({axes[random.below(axes.size())], axes[random.below(axes.size())]});
    if (i % 2 == 1) result.push_back(axes[random.below(axes.size())]);
  });
}

TEST_CASE("all small windows on one to three axes agree with the literal pooling, for every type",
          "[.long][geometry]") {
  const auto one = all_axes({10, 5, 4, 3, 4});
  prove_geometries(one.size(), 32, true,
                   [&](std::size_t i, Random&, std::vector<LiteralAxis>& axes) { axes.assign({one[i]}); });
  const auto two = all_axes({4, 3, 2, 2, 1});
  prove_geometries(two.size() * two.size(), 33, true, [&](std::size_t i, Random&, std::vector<LiteralAxis>& axes) {
    axes.assign({two[i / two.size()], two[i % two.size()]});
  });
  const auto three = all_axes({3, 2, 2, 1, 1});
  const std::size_t n = three.size();
  prove_geometries(n * n * n, 34, false, [&](std::size_t i, Random&, std::vector<LiteralAxis>& axes) {
    axes.assign({three[i / n / n], three[i / n % n], three[i % n]});
  });
  std::printf("small geometries: %zu on one axis, %zu on two, %zu on three\n", one.size(), two.size() * two.size(),
              n * n * n);
}

TEST_CASE("random larger geometries agree with the literal pooling", "[kernels][LpPool]") {
  prove_geometries(400, 35, false, [](std::size_t, Random& random, std::vector<LiteralAxis>& axes) {
    random_geometry(random, axes, false);
  });
}

TEST_CASE("thousands of random larger geometries agree with the literal pooling, for every type", "[.long][geometry]") {
  prove_geometries(6000, 36, true, [](std::size_t, Random& random, std::vector<LiteralAxis>& axes) {
    random_geometry(random, axes, false);
  });
  prove_geometries(400, 37, true, [](std::size_t, Random& random, std::vector<LiteralAxis>& axes) {
    random_geometry(random, axes, true);
  });
}

}  // namespace lppool::testing
