#pragma once

#include <cstdint>
#include <memory>

#include "lppool/kernels/box.h"
#include "lppool/kernels/double_double.h"
#include "lppool/kernels/lp_pool.h"

namespace lppool::kernels {

// Scratch memory of one thread: grows, is reused, never shrinks below what the last call asked for.
class Workspace {
 public:
  // At least n doubles, aligned for any vector; contents undefined.
  double* doubles(std::int64_t n);

 private:
  struct Free {
    void operator()(double* p) const;
  };
  std::unique_ptr<double[], Free> data_;
  std::int64_t size_ = 0;
};

// Gives the floating-point unit its default mode (round to nearest, subnormals kept) for the life of the object.
class FloatMode {
 public:
  FloatMode();
  ~FloatMode();
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;

 private:
  std::uint64_t saved_ = 0;
};

// The norm of output `position` (one index per axis) of `box`, by window_norm.
std::uint64_t settle(ElementType type, const Box& box, const std::int64_t* position, const LpNorm& norm);

// Largest p the fast implementations take; beyond it the literal one is used.
constexpr std::int64_t kMaxFastPower = 1024;

// The fast implementations for one element type and the instruction set in use. norm.whole is in [1, kMaxFastPower].
struct FastKernels {
  // All outputs of a box.
  void (*box)(const Box& box, const LpNorm& norm, Workspace& workspace);
  // The norms of `planes` planes of `size` elements; or that of one plane whose sum of powers (see segment) is given.
  void (*global)(const void* x, void* y, std::int64_t planes, std::int64_t size, const LpNorm& norm,
                 const DoubleDouble* sum);
  // The sum of |x|^p over n elements.
  DoubleDouble (*segment)(const void* x, std::int64_t n, const LpNorm& norm);
};

FastKernels kernels_f32();
FastKernels kernels_f64();
FastKernels kernels_f16();
FastKernels kernels_bf16();
FastKernels fast_kernels(ElementType type);

}  // namespace lppool::kernels
