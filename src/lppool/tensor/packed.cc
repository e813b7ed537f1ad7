#include "lppool/tensor/packed.h"

#include <algorithm>

#include "lppool/base/thread_pool.h"

namespace lppool {

PackedTensor PackedTensor::allocate(Shape shape, std::int64_t block) {
  assert(shape.rank() >= 3 && shape[1] % block == 0);
  std::vector<std::int64_t> dims(shape.begin(), shape.end());
  dims[1] /= block;
  dims.push_back(block);
  return {std::move(shape), Tensor::allocate(DataType::kFloat32, Shape(std::move(dims)))};
}

PackedTensor PackedTensor::wrap(Tensor blocks) {
  assert(blocks.rank() >= 4 && blocks.dtype() == DataType::kFloat32);
  std::vector<std::int64_t> dims(blocks.shape().begin(), blocks.shape().end());
  dims[1] *= dims.back();
  dims.pop_back();
  return {Shape(std::move(dims)), std::move(blocks)};
}

Tensor unpack(const PackedTensor& packed, ThreadPool& pool) {
  Tensor plain = Tensor::allocate(DataType::kFloat32, packed.shape);
  const std::int64_t size = packed.size(), block = packed.block();
  if (plain.size() == 0) return plain;
  const float* from = packed.blocks.data<float>().data();
  float* to = plain.mutable_data<float>().data();
  // Tiles of 16 places, so that both sides stay in the first cache while the channels are taken apart.
  constexpr std::int64_t kTile = 16;
  const std::int64_t tiles = (size + kTile - 1) / kTile;
  const std::int64_t grain = std::max<std::int64_t>(1, 32768 / (kTile * block));
  pool.parallel_for(packed.images() * packed.groups() * tiles, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t first = at % tiles * kTile, count = std::min(kTile, size - first);
      const std::int64_t group = at / tiles * block * size;
      const float* source = from + group + first * block;
      for (std::int64_t channel = 0; channel < block; ++channel) {
        float* line = to + group + channel * size + first;
        for (std::int64_t i = 0; i < count; ++i) line[i] = source[i * block + channel];
      }
    }
  });
  return plain;
}

}  // namespace lppool
