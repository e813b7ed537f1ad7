// Every path of the fast implementations (sums kept, shared by parts, by doubling, by queue, from the ends; scaled and
// not; cut into bands and tiles) against the literal one, whose own results the proof tests check against the oracle.
#include <catch2/catch.hpp>
#include <cstring>
#include <string_view>
#include <vector>

#include "lppool/kernels/lp_pool.h"
#include "support/random.h"

namespace lppool::kernels {
namespace {

using testing::FloatFormat;
using testing::Random;

const FloatFormat& format_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat16:
      return testing::kFloat16;
    case ElementType::kBFloat16:
      return testing::kBFloat16;
    case ElementType::kFloat32:
      return testing::kFloat32;
    case ElementType::kFloat64:
      return testing::kFloat64;
  }
  return testing::kFloat64;
}

constexpr ElementType kTypes[] = {ElementType::kFloat16, ElementType::kBFloat16, ElementType::kFloat32,
                                  ElementType::kFloat64};

enum class Data {
  kOrdinary,  // around 1
  kSparse,    // the same, half of it zeros
  kAny,       // any finite bit pattern, in runs of one family
  kSpecial,   // ordinary with some NaNs and infinities
};

std::vector<char> random_input(ElementType type, std::int64_t n, Data data, Random& random) {
  const FloatFormat& format = format_of(type);
  std::vector<std::uint64_t> bits(static_cast<std::size_t>(n));
  if (data == Data::kAny) {
    for (std::size_t i = 0; i < bits.size();) {
      const std::size_t run = std::min(bits.size() - i, static_cast<std::size_t>(random.between(1, 50)));
      testing::random_window(format, random, std::span(bits).subspan(i, run));
      i += run;
    }
  } else {
    const std::uint64_t one = (format.infinity() >> 1) & ~(format.least_normal() - 1);  // exponent of 1 or just below
    for (std::uint64_t& b : bits) {
      b = one + random.below(4 * format.least_normal());
      if (data == Data::kSparse && random.one_in(2)) b = 0;
      if (data == Data::kSpecial && random.one_in(60)) b = random.one_in(2) ? format.infinity() : format.quiet_nan();
      if (random.one_in(2)) b |= format.sign_bit();
    }
  }
  std::vector<char> bytes(static_cast<std::size_t>(n * element_size(type)));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    std::memcpy(bytes.data() + i * static_cast<std::size_t>(element_size(type)), &bits[i],
                static_cast<std::size_t>(element_size(type)));
  }
  return bytes;
}

std::int64_t product(const PoolGeometry& geometry, std::int64_t PoolAxis::*size) {
  std::int64_t n = geometry.planes;
  for (const PoolAxis& axis : geometry.axes) n *= axis.*size;
  return n;
}

struct Threads {
  ThreadPool one{1}, two{2};
};

void check_against_literal(const PoolGeometry& geometry, std::int64_t p, ElementType type, Data data, Random& random,
                           Threads& threads) {
  const std::vector<char> x = random_input(type, product(geometry, &PoolAxis::in), data, random);
  std::vector<char> expected(static_cast<std::size_t>(product(geometry, &PoolAxis::out) * element_size(type)), 1);
  std::vector<char> y(expected.size(), 2);
  lp_pool_reference(type, x.data(), expected.data(), geometry, LpNorm::of(p), threads.one);
  for (const std::string_view isa : {"", "avx512", "avx2", "sse4", "ssse3", "sse2", "neon"}) {
    if (!limit_isa(isa)) continue;
    for (ThreadPool* pool : {&threads.one, &threads.two}) {
      std::fill(y.begin(), y.end(), 2);
      lp_pool(type, x.data(), y.data(), geometry, LpNorm::of(p), *pool);
      CAPTURE(std::string(isa), pool->threads(), p, static_cast<int>(type), static_cast<int>(data), geometry.planes,
              geometry.axes.size(), testing::test_seed());
      for (const PoolAxis& a : geometry.axes) {
        UNSCOPED_INFO("in " << a.in << " out " << a.out << " kernel " << a.kernel << " stride " << a.stride
                            << " dilation " << a.dilation << " pad " << a.pad_begin);
      }
      REQUIRE(y == expected);
    }
  }
  limit_isa("");
}

TEST_CASE("Every way of sharing sums agrees with the literal pooling", "[kernels][LpPool]") {
  const PoolGeometry cases[] = {
      {3, {{.in = 50, .out = 50, .kernel = 3, .pad_begin = 1}}},                      // direct
      {3, {{.in = 50, .out = 46, .kernel = 5}}},                                      // direct
      {2, {{.in = 90, .out = 90, .kernel = 9, .pad_begin = 4}}},                      // by parts
      {2, {{.in = 90, .out = 90, .kernel = 31, .pad_begin = 15}}},                    // by parts
      {1, {{.in = 300, .out = 300, .kernel = 77, .pad_begin = 40}}},                  // by doubling
      {1, {{.in = 300, .out = 120, .kernel = 77, .stride = 2, .pad_begin = 10}}},     // dense, picked
      {1, {{.in = 100, .out = 50, .kernel = 2, .stride = 2}}},                        // every other
      {1, {{.in = 100, .out = 50, .kernel = 3, .stride = 2, .pad_begin = 1}}},        // every other
      {1, {{.in = 100, .out = 25, .kernel = 4, .stride = 4}}},                        // strided
      {1, {{.in = 5000, .out = 3, .kernel = 2, .stride = 2000}}},                     // strided
      {1, {{.in = 100, .out = 90, .kernel = 6, .dilation = 3, .pad_begin = 6}}},      // dilated
      {1, {{.in = 20, .out = 30, .kernel = 5000, .pad_begin = 4990}}},                // from the ends
      {1, {{.in = 20, .out = 30, .kernel = 900, .dilation = 3, .pad_begin = 2690}}},  // from the ends
      {2, {{.in = 30, .out = 30, .kernel = 3, .pad_begin = 1}, {.in = 21, .out = 21, .kernel = 3, .pad_begin = 1}}},
      {2, {{.in = 30, .out = 28, .kernel = 3, .dilation = 1}, {.in = 21, .out = 17, .kernel = 3, .dilation = 2}}},
      {2,
       {{.in = 30, .out = 15, .kernel = 3, .stride = 2, .pad_begin = 1},
        {.in = 21, .out = 11, .kernel = 3, .stride = 2, .pad_begin = 1}}},
      {1, {{.in = 40, .out = 34, .kernel = 7}, {.in = 21, .out = 15, .kernel = 7}}},  // ring
      {1, {{.in = 40, .out = 12, .kernel = 7, .stride = 3}, {.in = 9, .out = 9}}},    // ring
      {1, {{.in = 40, .out = 20, .kernel = 4, .stride = 4, .dilation = 2, .pad_begin = 20}, {.in = 9, .out = 9}}},
      {1,
       {{.in = 60, .out = 60, .kernel = 25, .pad_begin = 12},
        {.in = 17, .out = 17, .kernel = 2, .pad_begin = 1}}},                                             // queue
      {1, {{.in = 60, .out = 60, .kernel = 11, .dilation = 4, .pad_begin = 20}, {.in = 17, .out = 17}}},  // queue
      {1,
       {{.in = 7, .out = 7, .kernel = 3, .pad_begin = 1},
        {.in = 8, .out = 8, .kernel = 3, .pad_begin = 1},
        {.in = 9, .out = 9, .kernel = 3, .pad_begin = 1}}},
      {1,
       {{.in = 12, .out = 12, .kernel = 11, .pad_begin = 5},
        {.in = 12, .out = 12, .kernel = 10, .pad_begin = 5},
        {.in = 5, .out = 5}}},
      {1, {{.in = 2, .out = 2}, {.in = 3, .out = 2, .kernel = 2}, {.in = 4, .out = 4}, {.in = 5, .out = 5}}},  // merged
                                                                                                               // axes
      {1,
       {{.in = 300, .out = 300, .kernel = 3, .pad_begin = 1},
        {.in = 200, .out = 200, .kernel = 3, .pad_begin = 1}}},  // bands
      {1,
       {{.in = 30, .out = 27, .kernel = 4, .dilation = 3, .pad_begin = 4},
        {.in = 700, .out = 700, .kernel = 3, .pad_begin = 1}}},  // bands whose last window is cut
      {1,
       {{.in = 4, .out = 4, .kernel = 3, .pad_begin = 1},
        {.in = 5000, .out = 5000, .kernel = 3, .pad_begin = 1}}},       // tiles
      {1, {{.in = 40000, .out = 40000, .kernel = 3, .pad_begin = 1}}},  // tiles
  };
  Random random(1);
  Threads threads;
  constexpr std::int64_t kPowers[] = {1, 2, 3, 4, 5, 6, 7, 10, 100};
  constexpr Data kData[] = {Data::kOrdinary, Data::kSparse, Data::kAny, Data::kSpecial};
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    const bool large = product(cases[i], &PoolAxis::out) > 10000;
    for (const ElementType type : kTypes) {
      // The literal pooling is slow: large cases meet one kind of data each.
      const std::size_t turn = i + static_cast<std::size_t>(type);
      if (large) {
        check_against_literal(cases[i], kPowers[turn % 3], type, kData[turn % 2], random, threads);
        continue;
      }
      for (const Data data : kData) {
        check_against_literal(cases[i], kPowers[random.below(std::size(kPowers))], type, data, random, threads);
      }
    }
  }
}

// Small windows are pooled several rows at a time, with shortcuts for odd and even starts, rows in the padding, and
// lines that end within a vector.
TEST_CASE("Runs of rows agree with the literal pooling", "[kernels][LpPool]") {
  Random random(4);
  Threads threads;
  constexpr std::int64_t kKernels[] = {2, 3, 5, 7};
  for (int i = 0; i < 400; ++i) {
    PoolGeometry geometry{random.between(1, 2), {}};
    const bool square = random.one_in(2);
    const std::int64_t kernel = kKernels[random.below(4)];
    const std::int64_t stride = random.one_in(2) ? 2 : 1;
    for (int a = 0; a < 2; ++a) {
      PoolAxis axis{.in = random.between(8, 45), .kernel = square ? kernel : kKernels[random.below(4)]};
      axis.stride = square ? stride : random.between(1, 2);
      axis.dilation = random.one_in(5) ? 2 : 1;
      axis.pad_begin = random.between(0, static_cast<int>(axis.kernel));
      const std::int64_t reach = (axis.kernel - 1) * axis.dilation;
      const std::int64_t pad_end = random.between(0, static_cast<int>(axis.kernel));
      axis.out = std::max<std::int64_t>(axis.in + axis.pad_begin + pad_end - reach - 1, 0) / axis.stride + 1;
      geometry.axes.push_back(axis);
    }
    constexpr Data kData[] = {Data::kOrdinary, Data::kOrdinary, Data::kSparse, Data::kAny, Data::kSpecial};
    check_against_literal(geometry, random.between(1, 2), kTypes[random.below(3)], kData[random.below(5)], random,
                          threads);
  }
}

// Such windows are pooled in registers, several rows at a time, as long as they lie within the input.
TEST_CASE("Windows of 2 x 2 side by side agree with the literal pooling", "[kernels][LpPool]") {
  Random random(5);
  Threads threads;
  for (int i = 0; i < 150; ++i) {
    PoolGeometry geometry{random.between(1, 3), {}};
    for (int a = 0; a < 2; ++a) {
      PoolAxis axis{.in = random.between(14, 120), .kernel = 2, .stride = 2};
      axis.pad_begin = a == 0 && random.one_in(3) ? random.between(1, 2) : 0;
      const std::int64_t pad_end = random.one_in(3) ? random.between(1, 2) : 0;
      axis.out = (axis.in + axis.pad_begin + pad_end - 2) / 2 + 1;
      geometry.axes.push_back(axis);
    }
    constexpr Data kData[] = {Data::kOrdinary, Data::kOrdinary, Data::kSparse, Data::kAny, Data::kSpecial};
    check_against_literal(geometry, random.between(1, 3), kTypes[random.below(4)], kData[random.below(5)], random,
                          threads);
  }
}

TEST_CASE("Magnitudes that would overflow or vanish as powers do not", "[kernels][LpPool]") {
  Threads threads;
  // 3^p + 4^p below is by far the largest power's for p = 100: the root is the larger value to the last bit.
  for (const double scale : {0x1p-1000, 0x1p-300, 1.0, 0x1p300, 0x1p1000}) {
    const std::vector<double> x = {3 * scale, -4 * scale, 0, 0, 1e-300 * scale, 4 * scale};
    std::vector<double> y(3);
    const PoolGeometry pairs{1, {{.in = 6, .out = 3, .kernel = 2, .stride = 2}}};
    lp_pool(ElementType::kFloat64, x.data(), y.data(), pairs, LpNorm::of(std::int64_t{2}), threads.one);
    CHECK(y == std::vector<double>{5 * scale, 0, 4 * scale});
    lp_pool(ElementType::kFloat64, x.data(), y.data(), pairs, LpNorm::of(std::int64_t{1000}), threads.one);
    CHECK(y == std::vector<double>{4 * scale, 0, 4 * scale});
  }
  const std::vector<float> x = {3e30f, 4e30f, 3e-40f, 0, 1e38f, 1e-38f};
  std::vector<float> y(3);
  const PoolGeometry pairs{1, {{.in = 6, .out = 3, .kernel = 2, .stride = 2}}};
  lp_pool(ElementType::kFloat32, x.data(), y.data(), pairs, LpNorm::of(std::int64_t{10}), threads.one);
  CHECK(y[1] == 3e-40f);
  CHECK(y[2] == 1e38f);
}

TEST_CASE("GlobalLpPool equals LpPool with a window of the whole plane", "[kernels][GlobalLpPool]") {
  Random random(2);
  Threads threads;
  for (const ElementType type : kTypes) {
    for (const std::int64_t size : {0, 1, 2, 7, 8, 9, 10, 13, 25, 49, 55, 64, 100, 121, 1000, 10000}) {
      for (const std::int64_t p : {1, 2, 3, 5, 8, 200}) {
        for (const Data data : {Data::kOrdinary, Data::kSparse, Data::kAny, Data::kSpecial}) {
          const std::int64_t planes = size < 200 ? 61 : 3;
          const PoolGeometry geometry{planes, {{.in = size, .out = 1, .kernel = std::max<std::int64_t>(size, 1)}}};
          const std::vector<char> x = random_input(type, planes * size, data, random);
          std::vector<char> expected(static_cast<std::size_t>(planes * element_size(type)), 1), y(expected);
          lp_pool_reference(type, x.data(), expected.data(), geometry, LpNorm::of(p), threads.one);
          for (const std::string_view isa : {"", "avx2", "sse4", "sse2"}) {
            if (!limit_isa(isa)) continue;
            CAPTURE(static_cast<int>(type), size, p, static_cast<int>(data), std::string(isa));
            std::fill(y.begin(), y.end(), 2);
            global_lp_pool(type, x.data(), y.data(), planes, size, LpNorm::of(p), threads.two);
            REQUIRE(y == expected);
          }
          limit_isa("");
        }
      }
    }
  }
}

TEST_CASE("One large plane is summed by several threads to the same bits", "[kernels][GlobalLpPool]") {
  Random random(3);
  Threads threads;
  constexpr std::int64_t kSize = 300001;
  for (const ElementType type : kTypes) {
    const std::vector<char> x = random_input(type, kSize, Data::kOrdinary, random);
    std::uint64_t one = 0, two = 1;
    global_lp_pool(type, x.data(), &one, 1, kSize, LpNorm::of(std::int64_t{2}), threads.one);
    two = 0;
    global_lp_pool(type, x.data(), &two, 1, kSize, LpNorm::of(std::int64_t{2}), threads.two);
    CHECK(one == two);
    CHECK(one != 0);
  }
}

// Sums that 2^25 terms and more pass through one after the other leave the fast way nothing to be sure of. Norms of ones
// are roots of their number: squares, cubes, and for p = 1 ties and neighbours of ties.
TEST_CASE("Sums of more than 2^25 terms are exact", "[.long][random]") {
  struct Case {
    std::int64_t height, width, p;
    float norm;
  };
  constexpr Case kCases[] = {
      {2, (1 << 24) + 1, 1, 33554432.0f},  // 2^25 + 2, halfway between two numbers: the even one
      {2, (1 << 24) + 3, 1, 33554440.0f},  // 2^25 + 6, halfway again
      {3, 11184812, 1, 33554436.0f},       // 2^25 + 4
      {5793, 5793, 2, 5793.0f},
      {323, 323 * 323, 3, 323.0f},
  };
  Threads threads;
  for (const Case& c : kCases) {
    const std::int64_t n = c.height * c.width;
    CAPTURE(n, c.p);
    std::vector<float> x(static_cast<std::size_t>(n), 1.0f);
    for (std::size_t i = 0; i < x.size(); i += 3) x[i] = -1.0f;
    const PoolGeometry plane{1, {{.in = c.height, .out = 1, .kernel = c.height}, {.in = c.width, .out = 1, .kernel = c.width}}};
    const PoolGeometry line{1, {{.in = n, .out = 1, .kernel = n}}};
    for (const PoolGeometry& geometry : {plane, line}) {
      float y = 0;
      lp_pool(ElementType::kFloat32, x.data(), &y, geometry, LpNorm::of(c.p), threads.two);
      CHECK(y == c.norm);
    }
    float y = 0;
    global_lp_pool(ElementType::kFloat32, x.data(), &y, 1, n, LpNorm::of(c.p), threads.two);
    CHECK(y == c.norm);
  }
}

TEST_CASE("The instruction set can be limited, to what there is only", "[kernels]") {
  const std::string_view best = selected_isa();
  CHECK_FALSE(limit_isa("avx1024"));
  CHECK(selected_isa() == best);
  CHECK(limit_isa(best));
  CHECK(limit_isa(""));
  CHECK(selected_isa() == best);
}

}  // namespace
}  // namespace lppool::kernels
