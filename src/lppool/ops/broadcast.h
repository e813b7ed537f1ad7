#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/element_types.h"
#include "lppool/ops/op.h"
#include "lppool/tensor/shape.h"

// The strided loop that all elementwise operators share. Shapes are brought to a loop nest with as few axes as
// possible; its innermost axis is contiguous in the output and, in each operand, either contiguous too or one repeated
// element. Kernels see rows of that axis and nothing of the rest, so their loops vectorise.
namespace lppool {

// Asserts that iterations of the next loop do not depend on each other: in-place kernels read element k before they
// write it.
#if defined(__clang__)
#define LPPOOL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define LPPOOL_INDEPENDENT _Pragma("GCC ivdep")
#else
#define LPPOOL_INDEPENDENT
#endif

// The numpy-style (multidirectional) broadcast of the shapes. Throws kRuntime where two sizes differ and neither is 1.
Shape broadcast_shape(std::span<const Shape> shapes);
Shape broadcast_shape(const Shape& a, const Shape& b);

class BroadcastLoop {
 public:
  // Rows handed to one thread at a time cover about this many elements of a cheap operation.
  static constexpr std::int64_t kGrain = 32768;

  // Each operand must broadcast to `out`. Throws kRuntime where one does not.
  BroadcastLoop(const Shape& out, std::span<const Shape> operands);

  // True where operand k repeats one element along a row, false where it is contiguous.
  bool repeats(std::size_t k) const { return repeats_[k]; }
  std::int64_t size() const { return size_; }

  // Calls row(out, offsets, n) for runs that together cover the output: n elements from index `out` of the output, and
  // from offsets[k] of operand k. Runs are disjoint and may be called from several threads at once.
  using Row = FunctionRef<void(std::int64_t out, const std::int64_t* offsets, std::int64_t n)>;
  void run(ThreadPool& threads, Row row, std::int64_t grain = kGrain) const;

 private:
  void run_range(std::int64_t begin, std::int64_t end, Row row) const;

  std::int64_t size_ = 0;
  std::int64_t row_ = 1;                            // length of the innermost axis
  std::vector<std::int64_t> outer_;                 // sizes of the other axes, outermost first
  std::vector<std::vector<std::int64_t>> strides_;  // of each operand, along outer_
  std::vector<bool> repeats_;
};

// y[i] = f(x[i]) over n elements; x and y may be the same storage. f takes and returns A, the type of its arithmetic.
template <typename A, typename In, typename Out, typename F>
void map_row(const In* x, Out* y, std::int64_t n, F f) {
  LPPOOL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(f(static_cast<A>(x[i])));
}

// z[i] = f(x[i], y[i]) over n elements, where an operand may be one repeated element.
template <typename A, typename B, typename X, typename Y, typename Out, typename F>
void map_row(const X* x, bool x_repeats, const Y* y, bool y_repeats, Out* z, std::int64_t n, F f) {
  if (x_repeats) {
    const A a = static_cast<A>(*x);
    LPPOOL_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) z[i] = static_cast<Out>(f(a, static_cast<B>(y[i])));
  } else if (y_repeats) {
    const B b = static_cast<B>(*y);
    LPPOOL_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) z[i] = static_cast<Out>(f(static_cast<A>(x[i]), b));
  } else {
    LPPOOL_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) z[i] = static_cast<Out>(f(static_cast<A>(x[i]), static_cast<B>(y[i])));
  }
}

// The shapes of the operands of a binary node as one loop sees them: equal to the inputs' own from opset 7 on, and
// under the `broadcast` and `axis` attributes of opset 1 to 6 the second one placed along the axes it spans of the
// first.
struct BinaryShapes {
  Shape out, a, b;
};
// Throws kRuntime where the shapes do not fit.
BinaryShapes binary_shapes(const KernelContext& ctx);

}  // namespace lppool
