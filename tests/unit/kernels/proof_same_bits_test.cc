// The same bits on every instruction set with one thread, and with more threads on the largest, also where the contract
// leaves a choice (float64 and fractional p).

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "support/proof.h"

namespace lppool::testing {
namespace {

constexpr double kExponents[] = {1, 2, 3, 4, 5, 6, 7, 10, 100, 0.5, 2.5};

// The instruction sets this machine and build have, largest first; the limit is lifted again.
std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const char* name : {"avx512", "avx2", "sse4", "ssse3", "sse2", "neon"}) {
    if (kernels::limit_isa(name)) names.emplace_back(name);
  }
  kernels::limit_isa("");
  return names;
}

struct Workload {
  const char* name;
  std::int64_t planes;
  std::vector<LiteralAxis> axes;
};

// Shapes that take different ways through the kernels: wide and narrow lines, overlap and none, one large plane, many
// small.
const Workload kWorkloads[] = {
    {"small", 3, {{.input = 5, .kernel = 3, .pad_begin = 1, .output = 4}, {.input = 21, .kernel = 3, .output = 19}}},
    {"many 3x3",
     7,
     {{.input = 13, .kernel = 3, .pad_begin = 1, .output = 13}, {.input = 70, .kernel = 3, .output = 68}}},
    {"one plane 3x3", 1, {{.input = 90, .kernel = 3, .output = 88}, {.input = 131, .kernel = 3, .output = 129}}},
    {"9x9", 2, {{.input = 40, .kernel = 9, .pad_begin = 4, .output = 40}, {.input = 67, .kernel = 9, .output = 59}}},
    {"2x2 tiles",
     3,
     {{.input = 20, .kernel = 2, .stride = 2, .output = 10}, {.input = 99, .kernel = 2, .stride = 2, .output = 49}}},
    {"strided and dilated",
     2,
     {{.input = 30, .kernel = 3, .stride = 2, .dilation = 3, .pad_begin = 3, .output = 14},
      {.input = 90, .kernel = 5, .stride = 3, .dilation = 2, .pad_begin = 2, .output = 29}}},
    {"line", 1, {{.input = 2000, .kernel = 31, .output = 1970}}},
    {"cube",
     2,
     {{.input = 9, .kernel = 3, .output = 7},
      {.input = 10, .kernel = 2, .output = 9},
      {.input = 37, .kernel = 4, .pad_begin = 1, .output = 35}}},
};

}  // namespace

TEST_CASE("every instruction set and number of threads gives the same bits", "[kernels][LpPool][GlobalLpPool]") {
  const std::vector<std::string> sets = instruction_sets();
  ThreadPool one(1), two(2), five(5);
  Random random(40);
  int turn = 0;
  for (const TestedType& type : kTestedTypes) {
    for (const double p : kExponents) {
      for (const Workload& workload : kWorkloads) {
        // Fractional p is slow and has one small workload; whole p takes the others in turn, all of them over three
        // types.
        const bool fractional = p != std::floor(p);
        if (fractional != (&workload == kWorkloads) || (!fractional && ++turn % 3 != 0)) continue;
        std::int64_t size = workload.planes;
        for (const LiteralAxis& axis : workload.axes) size *= axis.input;
        std::vector<std::uint64_t> bits(static_cast<std::size_t>(size));
        for (std::size_t start = 0; start < bits.size(); start += 100) {
          random_window(type.format, random,
                        std::span(bits).subspan(start, std::min<std::size_t>(100, bits.size() - start)));
        }
        const auto geometry = to_geometry(workload.planes, workload.axes);
        std::vector<std::uint64_t> expected;
        std::vector<std::uint64_t> expected_global;
        for (const std::string& set : sets) {
          kernels::limit_isa(set);
          for (ThreadPool* pool : {&one, &two, &five}) {
            if (pool != &one && set != sets.front()) continue;
            const auto got = call_pool(kernels::lp_pool, type, bits, geometry, p, *pool);
            const auto got_global = call_global(type, bits, workload.planes, p, *pool);
            if (expected.empty()) {
              expected = got;
              expected_global = got_global;
            } else if (got != expected || got_global != expected_global) {
              CAPTURE(test_seed(), type.name, p, workload.name, set, pool->threads());
              CHECK(got == expected);
              CHECK(got_global == expected_global);
            }
          }
        }
        kernels::limit_isa("");
      }
    }
  }
  SUCCEED();
}

}  // namespace lppool::testing
