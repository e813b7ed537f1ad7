#pragma once

#include <cstdint>

#include "lppool/tensor/tensor.h"

namespace lppool {

class ThreadPool;

// A float32 tensor of shape N x C x spatial axes in blocks of channels, the layout in which convolutions are fast:
// memory is a row-major tensor of shape N x C/block x spatial axes x block. C is a multiple of block, so there is no
// padding; the elements are those of the plain tensor in another order.
struct PackedTensor {
  Shape shape;  // of the tensor it stands for; rank 3 or more
  Tensor blocks;

  // Contents unspecified. Throws kLimit as Tensor::allocate() does.
  static PackedTensor allocate(Shape shape, std::int64_t block);
  // `blocks` as the tensor it holds: the last axis goes into the second.
  static PackedTensor wrap(Tensor blocks);

  std::int64_t block() const { return blocks.shape()[blocks.rank() - 1]; }
  std::int64_t images() const { return shape[0]; }
  std::int64_t groups() const { return blocks.shape()[1]; }              // of `block` channels, in each image
  std::int64_t size() const { return shape.elements(2, shape.rank()); }  // elements of one channel
};

// The same elements as a plain tensor. Throws kLimit.
Tensor unpack(const PackedTensor& packed, ThreadPool& pool);

}  // namespace lppool
