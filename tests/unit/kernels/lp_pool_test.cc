#include "lppool/kernels/lp_pool.h"

#include <catch2/catch.hpp>

#include <limits>
#include <vector>

namespace lppool::kernels {
namespace {

std::vector<float> pool_f32(const std::vector<float>& x, const PoolGeometry& geometry, const LpNorm& norm) {
  ThreadPool threads(2);
  std::size_t n = static_cast<std::size_t>(geometry.planes);
  for (const PoolAxis& axis : geometry.axes) n *= static_cast<std::size_t>(axis.out);
  std::vector<float> y(n, -1);
  lp_pool(ElementType::kFloat32, x.data(), y.data(), geometry, norm, threads);
  return y;
}

TEST_CASE("A window that hangs over the end counts only the elements inside", "[kernels][LpPool]") {
  CHECK(pool_f32({1, 2, 3, 4, 5, 6, 7, 8}, {1, {{.in = 8, .out = 3, .kernel = 4, .stride = 3}}}, LpNorm::of(std::int64_t{1})) ==
        std::vector<float>{10, 22, 15});
}

TEST_CASE("Without axes the result is the absolute value", "[kernels][LpPool]") {
  CHECK(pool_f32({-3, 0, 2}, {3, {}}, LpNorm::of(std::int64_t{7})) == std::vector<float>{3, 0, 2});
}

TEST_CASE("Windows wholly in padding give zero and cost nothing, however large they are", "[kernels][LpPool]") {
  constexpr std::int64_t kHuge = std::int64_t{1} << 61;
  CHECK(pool_f32({3, -4}, {1, {{.in = 2, .out = 3, .kernel = kHuge, .stride = 2, .pad_begin = 2}}}, {}) ==
        std::vector<float>{5, 5, 0});
  CHECK(pool_f32({3, -4}, {1, {{.in = 2, .out = 2, .kernel = 2, .dilation = kHuge}}}, {}) == std::vector<float>{3, 4});
  CHECK(pool_f32({}, {1, {{.in = 0, .out = 2, .kernel = 3, .pad_begin = 3}}}, {}) == std::vector<float>{0, 0});
}

}  // namespace
}  // namespace lppool::kernels
