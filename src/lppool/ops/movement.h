#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lppool/base/error.h"
#include "lppool/base/thread_pool.h"
#include "lppool/tensor/tensor.h"

// Moving elements, whatever their type: all that Transpose, Slice, Concat, Expand, Tile and their like do is to copy a box
// of elements from one set of strides to another. Tests: tests/unit/ops/movement_test.cc.
namespace lppool {

// How an element is stored, when only its size matters: uint8_t to uint64_t, 16 bytes, or a string.
using Bytes16 = std::array<std::uint64_t, 2>;

// Calls f(std::type_identity<T>{}) with the storage type T of `dtype`.
template <typename F>
decltype(auto) visit_storage(DataType dtype, F&& f) {
  switch (element_size(dtype)) {
    case 1: return f(std::type_identity<std::uint8_t>{});
    case 2: return f(std::type_identity<std::uint16_t>{});
    case 4: return f(std::type_identity<std::uint32_t>{});
    case 8: return f(std::type_identity<std::uint64_t>{});
    case 16: return f(std::type_identity<Bytes16>{});
    default: break;
  }
  if (dtype != DataType::kString) fail(ErrorKind::kUnsupported, "element type {} cannot be moved", name(dtype));
  return f(std::type_identity<std::string>{});
}

// The elements as their storage type.
template <typename T>
std::span<const T> stored(const Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>) return tensor.strings();
  else return tensor.data<T>();
}
template <typename T>
std::span<T> mutable_stored(Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>) return tensor.mutable_strings();
  else return tensor.mutable_data<T>();
}

// For every index vector k below `sizes`: out[out_offset + sum k*out_strides] = in[in_offset + sum k*in_strides], all in
// elements. Strides may be zero or negative on the in side; the elements written must be distinct.
struct Box {
  std::vector<std::int64_t> sizes, in_strides, out_strides;
  std::int64_t in_offset = 0, out_offset = 0;
};

// The box that covers all of a row-major tensor of shape `sizes`, on both sides.
Box whole_box(const Shape& sizes);

// Copies the box. Both tensors have the same element type, and every element that the box addresses lies inside them.
// Counts the characters of copied strings against the memory limit (throws kLimit).
void copy_box(const Tensor& in, Tensor& out, Box box, ThreadPool& threads);

// Copies `count` elements that lie next to each other in both tensors, on the calling thread. Strings are not charged:
// see charge_runs, where one may be copied many times.
void copy_run(const Tensor& in, std::int64_t in_begin, Tensor& out, std::int64_t out_begin, std::int64_t count);

// Counts the characters of in's elements [k, k + count) for each k in `begins` against the memory limit, as out's; nothing
// unless they are strings. For kernels that copy_run() elements more than once.
void charge_runs(const Tensor& in, Tensor& out, std::span<const std::int64_t> begins, std::int64_t count);

// Sets every element of `out` to element `index` of `value` (same element type).
void fill(Tensor& out, const Tensor& value, std::int64_t index, ThreadPool& threads);

// A new tensor with the same contents.
Tensor clone(const Tensor& tensor, ThreadPool& threads);

// Element by element, out = in at mapped places: axis k of `in` is read at maps[k][index along axis k of out]. Pad's
// reflect, edge and wrap, in any number of axes. maps[k].size() is out.shape()[k]; entries are inside in.shape()[k].
void copy_mapped(const Tensor& in, Tensor& out, std::span<const std::vector<std::int64_t>> maps, ThreadPool& threads);

// The values of an int32 or int64 tensor (of any rank, in order). Throws kRuntime for another type; `what` names it.
std::vector<std::int64_t> int_values(const Tensor& tensor, std::string_view what);
// The value of an int32 or int64 tensor with one element.
std::int64_t int_value(const Tensor& tensor, std::string_view what);

// The values of a float tensor that has to hold whole numbers (opset 1 gives lists of lengths and repeats as T). Throws
// kRuntime where one is no whole number below 2^53.
std::vector<std::int64_t> whole_values(const Tensor& tensor, std::string_view what);

// Axes counted from the front, in the order given. Throws kRuntime where one is out of range or given twice.
std::vector<std::size_t> normalize_axes(std::span<const std::int64_t> axes, std::size_t rank);

}  // namespace lppool
