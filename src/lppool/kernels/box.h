#pragma once

#include <cstdint>
#include <vector>

#include "lppool/kernels/lp_pool.h"

namespace lppool::kernels {

// One axis of a box: output o covers inputs start + o*stride + i*dilation, i in [0, kernel), as far as they lie in
// [0, in). Unlike a pad, `start` may have either sign. Steps are in elements of the arrays the box was cut from.
struct BoxAxis {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t start = 0;
  std::int64_t x_step = 1;
  std::int64_t y_step = 1;

  // How many elements of the input one window can hold at most.
  std::int64_t max_taps() const;
};

// A range of outputs of one plane and the inputs they depend on: the unit of work of the fast implementations.
struct Box {
  const void* x = nullptr;
  void* y = nullptr;
  std::vector<BoxAxis> axes;
};

// A pooling cut into boxes, planes and bands of each plane, so that every thread has work and what a thread touches
// fits its cache.
class BoxPlan {
 public:
  // element: bytes of one element; row_doubles: doubles of scratch one input element takes (1 or 2).
  BoxPlan(const PoolGeometry& geometry, std::int64_t element, std::int64_t row_doubles, int threads);

  std::int64_t boxes() const { return planes_ * bands_ * tiles_; }
  // How many boxes make one unit of work worth handing to a thread.
  std::int64_t grain() const { return grain_; }
  Box box(std::int64_t index, const void* x, void* y) const;
  // One plane, uncut.
  const std::vector<BoxAxis>& axes() const { return axes_; }
  // No window holds more than one element.
  bool trivial() const { return trivial_; }

 private:
  std::vector<BoxAxis> axes_;
  std::int64_t planes_ = 0;
  std::int64_t plane_in_ = 1;
  std::int64_t plane_out_ = 1;
  std::int64_t element_ = 1;
  std::size_t band_axis_ = 0;
  std::int64_t bands_ = 1;
  std::int64_t tiles_ = 1;
  std::int64_t grain_ = 1;
  bool trivial_ = false;
};

// The part of `box` with outputs [begin, end) along `axis`; element: bytes of one element.
Box cut(Box box, std::size_t axis, std::int64_t begin, std::int64_t end, std::int64_t element);

}  // namespace lppool::kernels
