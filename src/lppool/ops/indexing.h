#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lppool/ops/movement.h"

// Index tensors, checked once and turned into positions: what the Gather and Scatter families share.
namespace lppool {

// The index counted from the front. Throws kRuntime where it is outside [-size, size).
std::int64_t checked_index(std::int64_t index, std::int64_t size, std::size_t axis);

// Indices of GatherElements and ScatterElements: one for each element, replacing its own coordinate along `axis`.
class ElementIndex {
 public:
  // Throws kRuntime where the shapes do not fit (ranks equal; indices no larger than data, but along the axis) or an index
  // is out of range.
  ElementIndex(const Tensor& indices, const Shape& data, std::int64_t axis);
  // Where in data the index at position i (row-major) of the index tensor points to.
  std::int64_t position(std::int64_t i) const {
    std::int64_t result = values_[static_cast<std::size_t>(i)] * data_strides_[axis_];
    for (std::size_t k = sizes_.size(); k-- > 0;) {
      const std::int64_t coordinate = i % sizes_[k];
      i /= sizes_[k];
      if (k != axis_) result += coordinate * data_strides_[k];
    }
    return result;
  }

 private:
  std::size_t axis_;
  std::vector<std::int64_t> values_, sizes_, data_strides_;
};

// Indices of GatherND and ScatterND: tuples along the last axis, each the start of a run of data. The `batch` leading axes
// of both tensors go together.
class TupleIndex {
 public:
  // Throws kRuntime where the shapes do not fit or an index is out of range.
  TupleIndex(const Tensor& indices, const Shape& data, std::size_t batch = 0);
  std::size_t depth() const { return depth_; }               // axes a tuple names
  std::int64_t count() const { return count_; }              // tuples
  std::int64_t run() const { return run_; }                  // elements each stands for
  std::int64_t position(std::int64_t i) const {
    // A tuple of no indices stands for all of its batch; how many there are, no index tensor's size bounds.
    return depth_ == 0 ? i / per_batch_ * run_ : positions_[static_cast<std::size_t>(i)];
  }

 private:
  std::size_t depth_ = 0;
  std::int64_t count_ = 0, per_batch_ = 0, run_ = 1;
  std::vector<std::int64_t> positions_;
};

// out's runs 0, 1, 2... of `length` elements each are copies of in's runs that start at from(0), from(1), ... `from` is
// called from several threads. Counts characters of strings against the memory limit.
template <typename F>
void copy_runs(const Tensor& in, Tensor& out, std::int64_t count, std::int64_t length, const F& from, ThreadPool& threads) {
  if (in.dtype() == DataType::kString) {
    std::size_t characters = 0;
    for (std::int64_t i = 0; i < count && characters <= memory::limit(); ++i) {
      const auto run = in.strings().subspan(static_cast<std::size_t>(from(i)), static_cast<std::size_t>(length));
      for (const std::string& text : run) characters += text.size();
    }
    out.charge_characters(characters);
  }
  visit_storage(in.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* source = stored<T>(in).data();
    T* target = mutable_stored<T>(out).data();
    const auto work = [&](std::int64_t begin, std::int64_t end) {
      if (length == 1) {
        for (std::int64_t i = begin; i < end; ++i) target[i] = source[from(i)];
      } else {
        for (std::int64_t i = begin; i < end; ++i) std::copy_n(source + from(i), length, target + i * length);
      }
    };
    constexpr std::int64_t kSerial = 16 * 1024;
    if (length == 0 || count < kSerial / length) work(0, length == 0 ? 0 : count);
    else threads.parallel_for(count, std::max<std::int64_t>(1, kSerial / length), work);
  });
}

}  // namespace lppool
