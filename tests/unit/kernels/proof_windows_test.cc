// The kernels against the exact oracle, window by window. The cases tagged [.long] are the same proofs at full size;
// ctest runs them under the label "long" (tests/support/README.md).

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "support/proof.h"

namespace lppool::testing {
namespace {

constexpr unsigned kWholeExponents[] = {1, 2, 3, 4, 5, 7, 10};
constexpr double kHugeExponents[] = {11, 13, 16, 20, 31, 32, 64, 100, 127, 128, 1000, 1001, 65536, 1e6, 0x1p31, 0x1p53};
// Values float32 can hold, as the attribute p of LpPool 1 is a float32.
constexpr double kFractions[] = {0.5, 1.5, 2.5, 0.25, 0.75, 3.7f, 0.1f, 7.3f, 1.0000001f, 0.01f, 33.3f};

void random_windows(const TestedType& type, double p, std::size_t count, bool print, std::uint64_t stream) {
  Random random(stream);
  Tally tally(type, p, "random windows");
  constexpr std::size_t kSizes[] = {9, 4, 9, 25, 9, 3, 9, 2, 9, 16, 9, 5, 9, 27, 9, 49};
  std::vector<std::uint64_t> bits;
  std::size_t batch = 0;
  for (std::size_t done = 0; done < count; ++batch) {
    const std::size_t size = kSizes[batch % std::size(kSizes)];
    const std::size_t windows = std::min<std::size_t>(2048, count - done);
    bits.resize(windows * size);
    for (std::size_t i = 0; i < windows; ++i)
      random_window(type.format, random, std::span(bits).subspan(i * size, size));
    prove_windows(tally, bits, size, proof_threads());
    done += windows;
  }
  tally.finish(print);
}

void near_midpoints(const TestedType& type, unsigned p, std::size_t count, bool print, std::uint64_t stream) {
  Random random(stream);
  Tally tally(type, p, "near midpoints");
  constexpr int kSizes[] = {2, 3, 4, 9, 5, 6, 16, 3};
  std::vector<std::uint64_t> bits;
  std::size_t batch = 0;
  for (std::size_t done = 0; done < count; ++batch) {
    const int size = kSizes[batch % std::size(kSizes)];
    const std::size_t windows = std::min<std::size_t>(512, count - done);
    bits.clear();
    for (std::size_t i = 0; i < windows; ++i) {
      const auto window = near_midpoint_window(type.format, random, p, size, (i & 1) != 0);
      bits.insert(bits.end(), window.begin(), window.end());
    }
    prove_windows(tally, bits, static_cast<std::size_t>(size), proof_threads());
    done += windows;
  }
  tally.finish(print);
}

// Long windows: the error of a sum grows with their length, the oracle does not care.
void long_windows(const TestedType& type, double p, std::size_t rounds, bool print, std::uint64_t stream) {
  Random random(stream);
  Tally tally(type, p, "windows of 100 to 20000");
  std::vector<std::uint64_t> bits;
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto size =
        static_cast<std::size_t>(round % 8 == 7 ? random.between(5000, 20000) : random.between(100, 1500));
    bits.resize(8 * size);
    for (std::size_t i = 0; i < 8; ++i) random_window(type.format, random, std::span(bits).subspan(i * size, size));
    const LiteralAxis axes[] = {{.input = static_cast<std::int64_t>(bits.size()),
                                 .kernel = static_cast<std::int64_t>(size),
                                 .stride = static_cast<std::int64_t>(size) / 2 + 1,
                                 .output = 12}};
    const std::vector<double> values = decode_all(type.format, bits);
    const auto window = [&](std::size_t i) {
      const std::int64_t position[] = {static_cast<std::int64_t>(i)};
      return literal_window(values, axes, position);
    };
    const auto exact = literal_pool(type.format, values, axes, p);
    tally.judge(call_pool(kernels::lp_pool, type, bits, to_geometry(1, axes), p, proof_threads()), exact, window);

    const LiteralAxis whole[] = {{.input = static_cast<std::int64_t>(size), .kernel = static_cast<std::int64_t>(size)}};
    const auto exact_global = literal_pool(type.format, values, whole, p);
    tally.judge(call_global(type, bits, 8, p, proof_threads()), exact_global, [&](std::size_t i) {
      return std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(i * size),
                                 values.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
    });
  }
  tally.finish(print);
}

std::uint64_t stream_of(std::uint64_t family, const TestedType& type, double p) {
  return family * 1000000 + static_cast<std::uint64_t>(type.format.precision) * 10000 +
         static_cast<std::uint64_t>(std::fmod(p * 64, 9973));
}

}  // namespace

TEST_CASE("random windows of every type and whole p are rounded as the oracle says", "[kernels][LpPool]") {
  for (const TestedType& type : kTestedTypes) {
    for (const unsigned p : kWholeExponents) random_windows(type, p, 6000, false, stream_of(1, type, p));
  }
}

TEST_CASE("a million random windows per type and whole p", "[.long][random]") {
  for (const TestedType& type : kTestedTypes) {
    for (const unsigned p : kWholeExponents) {
      DYNAMIC_SECTION(type.name << ", p = " << p) {
        random_windows(type, p, 1000000, true, stream_of(2, type, p));
      }
    }
  }
}

TEST_CASE("windows built to lie at midpoints are rounded to the right side", "[kernels][LpPool]") {
  for (const TestedType& type : kTestedTypes) {
    for (const unsigned p : kWholeExponents) near_midpoints(type, p, 1000, false, stream_of(3, type, p));
  }
}

TEST_CASE("a hundred thousand windows at midpoints per type and whole p", "[.long][midpoints]") {
  for (const TestedType& type : kTestedTypes) {
    for (const unsigned p : kWholeExponents) {
      DYNAMIC_SECTION(type.name << ", p = " << p) {
        near_midpoints(type, p, 100000, true, stream_of(4, type, p));
      }
    }
    for (const unsigned p : {6u, 8u, 9u, 11u, 12u, 16u, 17u, 24u, 32u}) {
      DYNAMIC_SECTION(type.name << ", p = " << p) {
        near_midpoints(type, p, 10000, true, stream_of(4, type, p));
      }
    }
  }
}

TEST_CASE("long windows keep the contract", "[kernels][LpPool][GlobalLpPool]") {
  for (const TestedType& type : kTestedTypes) {
    for (const unsigned p : kWholeExponents) long_windows(type, p, 8, false, stream_of(5, type, p));
  }
}

TEST_CASE("thousands of long windows keep the contract", "[.long][random]") {
  for (const TestedType& type : kTestedTypes) {
    for (const unsigned p : kWholeExponents) {
      DYNAMIC_SECTION(type.name << ", p = " << p) {
        long_windows(type, p, 400, true, stream_of(6, type, p));
      }
    }
  }
}

TEST_CASE("the norm of a large plane is exact, whether pooled globally or by one window", "[kernels][GlobalLpPool]") {
  constexpr std::int64_t kHeight = 233;
  constexpr std::int64_t kWidth = 301;
  for (const TestedType& type : kTestedTypes) {
    for (const unsigned p : kWholeExponents) {
      Random random(stream_of(12, type, p));
      Tally tally(type, p, "large planes");
      std::vector<std::uint64_t> bits(kHeight * kWidth);
      random_window(type.format, random, bits);
      const std::vector<double> values = decode_all(type.format, bits);
      const LiteralAxis axes[] = {{.input = kHeight, .kernel = kHeight}, {.input = kWidth, .kernel = kWidth}};
      const auto exact = literal_pool(type.format, values, axes, p);
      const auto window = [&](std::size_t) { return values; };
      const auto geometry = to_geometry(1, axes);
      tally.judge(call_pool(kernels::lp_pool, type, bits, geometry, p, proof_threads()), exact, window);
      tally.judge(call_global(type, bits, 1, p, proof_threads()), exact, window);
      tally.finish(false);
    }
  }
}

TEST_CASE("huge whole p is as exact as small p", "[kernels][LpPool]") {
  for (const TestedType& type : kTestedTypes) {
    for (const double p : kHugeExponents) random_windows(type, p, p > 20 ? 60 : 300, false, stream_of(7, type, p));
  }
}

TEST_CASE("thousands of windows for each huge whole p", "[.long][random]") {
  for (const TestedType& type : kTestedTypes) {
    for (const double p : kHugeExponents) {
      DYNAMIC_SECTION(type.name << ", p = " << p) {
        random_windows(type, p, 20000, true, stream_of(8, type, p));
      }
    }
    for (const double p : {6.0, 8.0, 9.0, 12.0}) {
      DYNAMIC_SECTION(type.name << ", p = " << p) {
        random_windows(type, p, 100000, true, stream_of(8, type, p));
      }
    }
  }
}

TEST_CASE("fractional p stays within its bound", "[kernels][LpPool]") {
  for (const TestedType& type : kTestedTypes) {
    for (const double p : kFractions) random_windows(type, p, 100, false, stream_of(9, type, p));
  }
}

TEST_CASE("twenty thousand windows per type and fractional p", "[.long][fractions]") {
  for (const TestedType& type : kTestedTypes) {
    for (const double p : kFractions) {
      DYNAMIC_SECTION(type.name << ", p = " << p) {
        random_windows(type, p, 20000, true, stream_of(10, type, p));
      }
    }
  }
}

TEST_CASE("NaN and infinity reach their own windows and no others", "[kernels][LpPool][GlobalLpPool]") {
  constexpr std::int64_t kLine = 24;
  for (const TestedType& type : kTestedTypes) {
    const FloatFormat& format = type.format;
    const std::uint64_t specials[] = {format.quiet_nan(),    format.quiet_nan() | format.sign_bit(),
                                      format.infinity() + 1, format.sign_bit() * 2 - 1,
                                      format.infinity(),     format.infinity() | format.sign_bit()};
    for (const double p : {1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 100.0, 2.5}) {
      Random random(stream_of(11, type, p));
      Tally tally(type, p, "NaN and infinity");
      for (const std::int64_t kernel : {1, 2, 3, 4, 7}) {
        for (std::int64_t place = 0; place < kLine; place += p == 2.5 ? 5 : 1) {  // fractional p is slow
          std::vector<std::uint64_t> bits(static_cast<std::size_t>(kLine));
          random_window(format, random, bits);
          bits[static_cast<std::size_t>(place)] = specials[random.below(std::size(specials))];
          if (random.one_in(3)) bits[random.below(kLine)] = specials[random.below(std::size(specials))];
          const std::vector<double> values = decode_all(format, bits);
          LiteralAxis line{.input = kLine,
                           .kernel = kernel,
                           .stride = random.between(1, 3),
                           .dilation = random.between(1, 2),
                           .pad_begin = random.between(0, 2),
                           .pad_end = random.between(0, 2)};
          line.output = literal_output_size(line, true, true);
          const LiteralAxis plane[] = {{.input = 4, .kernel = 2, .pad_begin = 1, .output = 4},
                                       {.input = kLine / 4, .kernel = 3, .pad_begin = 1, .output = 6}};
          const LiteralAxis whole[] = {{.input = kLine, .kernel = kLine}};
          for (const std::span<const LiteralAxis> axes :
               {std::span<const LiteralAxis>(&line, 1), std::span<const LiteralAxis>(plane),
                std::span<const LiteralAxis>(whole)}) {
            const auto window = [&](std::size_t i) {
              const auto width = axes.back().output;
              const auto at = static_cast<std::int64_t>(i);
              const std::vector<std::int64_t> position =
                  axes.size() == 1 ? std::vector<std::int64_t>{at} : std::vector<std::int64_t>{at / width, at % width};
              return literal_window(values, axes, position);
            };
            const auto exact = literal_pool(format, values, axes, p);
            const auto geometry = to_geometry(1, axes);
            tally.judge(call_pool(kernels::lp_pool, type, bits, geometry, p, proof_threads()), exact, window);
            tally.judge(call_pool(kernels::lp_pool_reference, type, bits, geometry, p, proof_threads()), exact, window);
            if (axes.data() == whole) tally.judge(call_global(type, bits, 1, p, proof_threads()), exact, window);
          }
        }
      }
      tally.finish(false);
    }
  }
}

}  // namespace lppool::testing
