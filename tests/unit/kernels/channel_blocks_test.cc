#include "lppool/kernels/channel_blocks.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "lppool/kernels/pool.h"
#include "lppool/kernels/window.h"
#include "support/random.h"

using namespace lppool;
using namespace lppool::kernels;

namespace {

// Two images of 2 * block channels, plain and in blocks.
struct Arrays {
  std::vector<float> plain, blocks;
};

std::vector<float> to_blocks(const std::vector<float>& plain, std::int64_t groups, std::int64_t block, std::int64_t size) {
  std::vector<float> result(plain.size());
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t c = 0; c < block; ++c) {
      for (std::int64_t i = 0; i < size; ++i) {
        result[static_cast<std::size_t>((g * size + i) * block + c)] = plain[static_cast<std::size_t>((g * block + c) * size + i)];
      }
    }
  }
  return result;
}

Arrays make_arrays(std::int64_t groups, std::int64_t block, std::int64_t size) {
  testing::Random random(static_cast<std::uint64_t>(size));
  Arrays arrays;
  for (std::int64_t i = 0; i < groups * block * size; ++i) {
    const float value = static_cast<float>(random.between(-1000000, 1000000)) / 4096;
    arrays.plain.push_back(random.one_in(50) ? std::numeric_limits<float>::quiet_NaN() : random.one_in(20) ? -0.0f : value);
  }
  arrays.blocks = to_blocks(arrays.plain, groups, block, size);
  return arrays;
}

std::int64_t product(const std::vector<PoolAxis>& axes, std::int64_t PoolAxis::*size) {
  std::int64_t result = 1;
  for (const PoolAxis& axis : axes) result *= axis.*size;
  return result;
}

// in, out, kernel, stride, dilation, pad_begin
const std::vector<std::vector<PoolAxis>> kGeometries = {
    {{9, 4, 3, 2, 1, 0}},
    {{7, 7, 3, 1, 1, 1}, {6, 6, 3, 1, 1, 1}},
    {{8, 4, 3, 2, 1, 1}, {5, 2, 2, 2, 2, 0}},
    {{4, 3, 2, 1, 1, 0}, {5, 3, 3, 1, 1, 0}, {6, 3, 2, 2, 1, 0}},
};

}  // namespace

TEST_CASE("Pooling blocks of channels gives the bits of pooling each channel, on every instruction set", "[kernels][pool]") {
  ThreadPool pool(2);
  CAPTURE(testing::test_seed());
  for (const std::vector<PoolAxis>& axes : kGeometries) {
    for (const std::int64_t block : {8, 16}) {
      const std::int64_t groups = 4, in = product(axes, &PoolAxis::in), out = product(axes, &PoolAxis::out);
      const Arrays x = make_arrays(groups, block, in);
      std::vector<std::vector<std::int64_t>> counts;
      for (const PoolAxis& axis : axes) {
        counts.emplace_back();
        for (std::int64_t o = 0; o < axis.out; ++o) counts.back().push_back(clip_window(axis, o).count);
      }
      const auto count = static_cast<std::size_t>(groups * block * out);
      std::vector<float> largest(count), mean(count), y(count);
      max_pool<float>(x.plain.data(), largest.data(), {groups * block, axes}, pool);
      average_pool<float>(x.plain.data(), mean.data(), {groups * block, axes}, counts, pool);
      for (const char* isa : {"", "avx2", "sse4", "sse2", "generic"}) {
        if (!limit_isa(isa)) continue;
        CAPTURE(isa, block, axes.size());
        max_pool_blocks(x.blocks.data(), y.data(), {groups, block, axes}, pool);
        CHECK(std::memcmp(y.data(), to_blocks(largest, groups, block, out).data(), count * sizeof(float)) == 0);
        average_pool_blocks(x.blocks.data(), y.data(), {groups, block, axes}, counts, pool);
        const std::vector<float> expected = to_blocks(mean, groups, block, out);
        std::size_t differences = 0;
        for (std::size_t i = 0; i < count; ++i) differences += std::isnan(expected[i]) ? !std::isnan(y[i]) : y[i] != expected[i];
        CHECK(differences == 0);
      }
      limit_isa("");
    }
  }
}

TEST_CASE("Scaling blocks of channels rounds each step", "[kernels]") {
  ThreadPool pool(2);
  const std::int64_t block = 8, places = 5;
  std::vector<float> x = make_arrays(4, block, places).blocks, mean, factor, term;
  for (int c = 0; c < 16; ++c) {
    mean.push_back(static_cast<float>(c) / 3);
    factor.push_back(static_cast<float>(c - 5) / 7);
    term.push_back(static_cast<float>(c) / 11);
  }
  std::vector<float> y(x.size());
  scale_blocks(x.data(), y.data(), 4, places, block, mean, factor, term, pool);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t channel = i / static_cast<std::size_t>(block * places) % 2 * 8 + i % 8;
    const float difference = x[i] - mean[channel], product_of = difference * factor[channel], expected = product_of + term[channel];
    CHECK((std::isnan(expected) ? std::isnan(y[i]) : y[i] == expected));
  }
}
