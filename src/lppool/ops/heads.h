#pragma once

#include <cstdint>
#include <string_view>

#include "lppool/ops/op.h"

// Tensors of attention heads: batch x heads x length x size, or packed as batch x length x (heads * size).
namespace lppool::heads {

struct Sizes {
  std::int64_t batch = 0, heads = 0, length = 0, size = 0;
  bool packed = false;
};
// Of a tensor of rank 4.
Sizes sizes(const Tensor& tensor);

// Input i with its heads apart, contiguous. Rank 3 takes the number of heads from attribute `heads_name`; rank 4 must
// agree with it where it is given.
Tensor unpack(KernelContext& ctx, std::size_t i, std::string_view name, std::string_view heads_name);
// The same of any tensor of rank 3 and number of heads.
Tensor unpack(const Tensor& packed, std::int64_t heads, std::string_view name);

// past and tensor joined along the length. Both of rank 4 and alike otherwise.
Tensor append(const Tensor& past, const Tensor& tensor, std::string_view past_name);

// Throws kRuntime where batches differ, keys and values differ in heads or length, queries and keys in size, or the
// queries' heads are no multiple of the keys'.
void expect_fit(const Sizes& q, const Sizes& k, const Sizes& v);

// Softmax in place; zeros where all are -infinity.
template <typename T>
void softmax(T* values, std::int64_t count);

// What a shape rule knows of input i.
struct Dims {
  bool known = false, packed = false;  // known: the rank is
  Dim batch, heads, length, size;
};
Dims dims(const InferContext& ctx, std::size_t i, std::string_view name, std::string_view heads_name);

}  // namespace lppool::heads
