#include "lppool/ops/heads.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace lppool::heads {

Sizes sizes(const Tensor& tensor) {
  const Shape& s = tensor.shape();
  return {s[0], s[1], s[2], s[3]};
}

Tensor unpack(const Tensor& packed, std::int64_t heads, std::string_view name) {
  const Shape& s = packed.shape();
  if (s.rank() != 3) fail(ErrorKind::kRuntime, "input {} has shape {}, expected rank 3", name, to_string(s));
  if (heads < 1 || s[2] % heads != 0) {
    fail(ErrorKind::kRuntime, "input {} has a last dimension of {}, expected a multiple of {} heads", name, s[2],
         heads);
  }
  const std::int64_t size = s[2] / heads, batch = s[0], length = s[1];
  Tensor result = Tensor::allocate(packed.dtype(), Shape{batch, heads, length, size});
  const std::size_t bytes = static_cast<std::size_t>(size) * element_size(packed.dtype());
  const std::byte* from = packed.raw();
  for (std::int64_t row = 0; row < batch * length; ++row) {
    for (std::int64_t h = 0; h < heads; ++h, from += bytes) {
      const std::int64_t to = ((row / length * heads + h) * length + row % length);
      std::copy_n(from, bytes, result.mutable_raw() + static_cast<std::size_t>(to) * bytes);
    }
  }
  return result;
}

Tensor unpack(KernelContext& ctx, std::size_t i, std::string_view name, std::string_view heads_name) {
  const Tensor& tensor = ctx.input(i);
  const bool given = ctx.attributes.has(heads_name);
  if (tensor.rank() == 4) {
    if (given && ctx.attributes.i(heads_name) != tensor.shape()[1]) {
      fail(ErrorKind::kRuntime, "attribute '{}' is {}, input {} of shape {} has {} heads", heads_name,
           ctx.attributes.i(heads_name), name, to_string(tensor.shape()), tensor.shape()[1]);
    }
    return tensor;
  }
  if (tensor.rank() != 3)
    fail(ErrorKind::kRuntime, "input {} has shape {}, expected rank 3 or 4", name, to_string(tensor.shape()));
  if (!given) fail(ErrorKind::kRuntime, "attribute '{}' is missing, input {} of rank 3 needs it", heads_name, name);
  return unpack(tensor, ctx.attributes.i(heads_name), name);
}

Tensor append(const Tensor& past, const Tensor& tensor, std::string_view past_name) {
  const Shape& s = tensor.shape();
  if (past.rank() != 4 || past.shape()[0] != s[0] || past.shape()[1] != s[1] || past.shape()[3] != s[3] ||
      past.dtype() != tensor.dtype()) {
    fail(ErrorKind::kRuntime, "input {} is {} of shape {}, expected {} like {} up to its length", past_name,
         name(past.dtype()), to_string(past.shape()), name(tensor.dtype()), to_string(s));
  }
  const std::int64_t before = past.shape()[2], after = s[2];
  Tensor result = Tensor::allocate(tensor.dtype(), Shape{s[0], s[1], before + after, s[3]});
  const std::size_t row = static_cast<std::size_t>(s[3]) * element_size(tensor.dtype());
  const std::size_t old_bytes = static_cast<std::size_t>(before) * row,
                    new_bytes = static_cast<std::size_t>(after) * row;
  std::byte* to = result.mutable_raw();
  for (std::size_t i = 0; i < static_cast<std::size_t>(s[0] * s[1]); ++i) {
    to = std::copy_n(past.raw() + i * old_bytes, old_bytes, to);
    to = std::copy_n(tensor.raw() + i * new_bytes, new_bytes, to);
  }
  return result;
}

void expect_fit(const Sizes& q, const Sizes& k, const Sizes& v) {
  if (q.batch != k.batch || q.batch != v.batch) {
    fail(ErrorKind::kRuntime, "Q, K and V have batches of {}, {} and {}, expected the same", q.batch, k.batch, v.batch);
  }
  if (k.heads != v.heads || k.length != v.length) {
    fail(ErrorKind::kRuntime, "K has {} heads of length {}, V {} of length {}, expected the same", k.heads, k.length,
         v.heads, v.length);
  }
  if (q.size != k.size)
    fail(ErrorKind::kRuntime, "heads of Q have size {}, of K {}, expected the same", q.size, k.size);
  if (k.heads < 1 || q.heads % k.heads != 0) {
    fail(ErrorKind::kRuntime, "Q has {} heads, expected a multiple of K's {}", q.heads, k.heads);
  }
}

template <typename T>
void softmax(T* values, std::int64_t count) {
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  T largest = kLowest;
  for (std::int64_t i = 0; i < count; ++i) {
    if (values[i] > largest || std::isnan(values[i])) largest = values[i];
    if (std::isnan(largest)) break;
  }
  if (largest == kLowest) {
    std::fill_n(values, count, T{0});
    return;
  }
  T sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += values[i] = std::exp(values[i] - largest);
  for (std::int64_t i = 0; i < count; ++i) values[i] /= sum;
}
template void softmax(float*, std::int64_t);
template void softmax(double*, std::int64_t);

Dims dims(const InferContext& ctx, std::size_t i, std::string_view name, std::string_view heads_name) {
  Dims result;
  const auto* shape = ctx.shape(i);
  if (shape == nullptr) return result;
  if (shape->size() != 3 && shape->size() != 4) {
    fail(ErrorKind::kRuntime, "input {} has rank {}, expected 3 or 4", name, shape->size());
  }
  result.known = true;
  result.packed = shape->size() == 3;
  result.batch = (*shape)[0];
  if (!result.packed) {
    result.heads = (*shape)[1];
    result.length = (*shape)[2];
    result.size = (*shape)[3];
    return result;
  }
  result.length = (*shape)[1];
  if (!ctx.attributes.has(heads_name)) {
    fail(ErrorKind::kRuntime, "attribute '{}' is missing, input {} of rank 3 needs it", heads_name, name);
  }
  result.heads = ctx.attributes.i(heads_name);
  result.size = floor_div((*shape)[2], result.heads);
  return result;
}

}  // namespace lppool::heads
