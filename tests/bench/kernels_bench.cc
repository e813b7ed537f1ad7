// Google Benchmark over the pooling kernels: the shapes of the peer comparison (README.md), every element type, and how
// the cost grows with the window. Data are random, the same in every run. --benchmark_filter picks; LPPOOL_MAX_ISA
// limits the instruction set.
#include <benchmark/benchmark.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "lppool/kernels/lp_pool.h"

namespace {

using lppool::ThreadPool;
using namespace lppool::kernels;

// `n` numbers between 1/8 and 8 of either sign as elements of `type`; the range is one all types hold.
std::vector<char> random_elements(ElementType type, std::int64_t n) {
  std::mt19937_64 random(42);
  std::vector<char> bytes(static_cast<std::size_t>(n * element_size(type)));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t bits = random();
    const double value = std::ldexp(1 + static_cast<double>(bits >> 12) * 0x1p-52, static_cast<int>(bits % 6) - 3) *
                         ((bits & 64) != 0 ? -1 : 1);
    char* const at = bytes.data() + i * element_size(type);
    if (type == ElementType::kFloat64) {
      std::memcpy(at, &value, sizeof value);
    } else if (type == ElementType::kFloat32) {
      const auto single = static_cast<float>(value);
      std::memcpy(at, &single, sizeof single);
    } else if (type == ElementType::kBFloat16) {
      const auto half = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
      std::memcpy(at, &half, sizeof half);
    } else {
      const std::uint32_t single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      const auto half =
          static_cast<std::uint16_t>((single >> 16 & 0x8000) | ((single & 0x7fffffff) - (112u << 23)) >> 13);
      std::memcpy(at, &half, sizeof half);
    }
  }
  return bytes;
}

PoolAxis axis(std::int64_t in, std::int64_t kernel, std::int64_t stride = 1, std::int64_t pad = 0,
              std::int64_t dilation = 1) {
  return {in, (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1, kernel, stride, dilation, pad};
}

void pool(benchmark::State& state, ElementType type, const PoolGeometry& geometry, std::int64_t p) {
  std::int64_t in = geometry.planes, out = geometry.planes;
  for (const PoolAxis& a : geometry.axes) {
    in *= a.in;
    out *= a.out;
  }
  const std::vector<char> x = random_elements(type, in);
  std::vector<char> y(static_cast<std::size_t>(out * element_size(type)));
  ThreadPool threads(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    lp_pool(type, x.data(), y.data(), geometry, LpNorm::of(p), threads);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * out);
  state.SetBytesProcessed(state.iterations() * (in + out) * element_size(type));
}

void global(benchmark::State& state, ElementType type, std::int64_t planes, std::int64_t size, std::int64_t p) {
  const std::vector<char> x = random_elements(type, planes * size);
  std::vector<char> y(static_cast<std::size_t>(planes * element_size(type)));
  ThreadPool threads(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    global_lp_pool(type, x.data(), y.data(), planes, size, LpNorm::of(p), threads);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * planes);
  state.SetBytesProcessed(state.iterations() * planes * (size + 1) * element_size(type));
}

void add(const std::string& name, ElementType type, const PoolGeometry& geometry, std::int64_t p) {
  benchmark::RegisterBenchmark(name.c_str(), pool, type, geometry, p)->Arg(1)->Arg(2)->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr struct {
    const char* name;
    ElementType type;
  } kTypes[] = {{"float32", ElementType::kFloat32},
                {"float64", ElementType::kFloat64},
                {"float16", ElementType::kFloat16},
                {"bfloat16", ElementType::kBFloat16}};
  for (const auto& [name, type] : kTypes) {
    for (const std::int64_t p : {1, 2, 3, 4, 5, 6, 10}) {
      add(std::string("3x3/") + name + "/p" + std::to_string(p), type, {64, {axis(112, 3, 1, 1), axis(112, 3, 1, 1)}},
          p);
    }
    benchmark::RegisterBenchmark((std::string("global7x7/") + name).c_str(), global, type, 65536, 49, 2)
        ->Arg(1)
        ->Arg(2)
        ->UseRealTime();
    benchmark::RegisterBenchmark((std::string("global512x512/") + name).c_str(), global, type, 16, 512 * 512, 3)
        ->Arg(1)
        ->Arg(2)
        ->UseRealTime();
  }
  const ElementType type = ElementType::kFloat32;
  for (const std::int64_t k : {1, 2, 3, 5, 7, 9, 15, 31, 63}) {
    add("window/" + std::to_string(k), type, {8, {axis(512, k, 1, k / 2), axis(512, k, 1, k / 2)}}, 2);
  }
  for (const std::int64_t s : {2, 3, 4}) {
    add("stride/" + std::to_string(s), type, {64, {axis(112, 3, s, 1), axis(112, 3, s, 1)}}, 2);
  }
  add("dilation/2", type, {64, {axis(112, 3, 1, 2, 2), axis(112, 3, 1, 2, 2)}}, 2);
  add("1d/9", type, {1024, {axis(16000, 9, 1, 4)}}, 2);
  add("3d/3", type, {16, {axis(32, 3, 1, 1), axis(64, 3, 1, 1), axis(64, 3, 1, 1)}}, 2);
  add("one_plane/3x3", type, {1, {axis(896, 3, 1, 1), axis(896, 3, 1, 1)}}, 2);
  add("tiny/3x3", type, {3, {axis(32, 3, 1, 1), axis(32, 3, 1, 1)}}, 2);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
