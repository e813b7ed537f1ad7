#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lppool/base/thread_pool.h"

// Lp pooling of dense arrays: y = (sum over the window of |x|^p)^(1/p).
//
// Contract (u is one unit in the last place of the element type):
//   - whole p, every element type: the result is correctly rounded (to nearest, ties to even), always;
//   - fractional p: at most 0.51 u for float16, bfloat16 and float32, at most 1 u for float64;
//   - infinity or zero only where the exact norm rounds to it, whatever p and the magnitudes are;
//   - a NaN in the window gives NaN (the quiet one with an empty payload), else an infinity gives +infinity;
//   - elements outside the input count as zero, so a window that lies wholly outside gives +0;
//   - the same bits on every instruction set, for every number of threads and from every compiler.
// Sources: the formula is ONNX LpPool (since 1, 2, 11, 18, 22) and GlobalLpPool (since 1, 2, 22); the choice of
// techniques is explained in src/lppool/kernels/README.md.
namespace lppool::kernels {

enum class ElementType { kFloat16, kBFloat16, kFloat32, kFloat64 };

// Bytes of one element.
constexpr std::int64_t element_size(ElementType type) {
  return type == ElementType::kFloat64 ? 8 : type == ElementType::kFloat32 ? 4 : 2;
}

// One axis of the window. Element i (0 <= i < kernel) of output o (0 <= o < out) is input o*stride - pad_begin +
// i*dilation; where that is outside [0, in) it contributes nothing.
// in, out, pad_begin >= 0; kernel, stride, dilation >= 1; |o*stride - pad_begin + i*dilation| must stay below 2^63 for
// every o and i that the loops above name. Cost never depends on positions outside the input.
struct PoolAxis {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
};

// `planes` independent arrays. The input is planes x axes[0].in x axes[1].in x ..., the output planes x axes[0].out x
// ..., both contiguous, last axis fastest. Without axes each plane is one element and y = |x|.
struct PoolGeometry {
  std::int64_t planes = 0;
  std::vector<PoolAxis> axes;
};

// The exponent: finite and greater than 0. A whole p up to INT64_MAX is held exactly, apart from a fractional one,
// because the two have different contracts.
struct LpNorm {
  std::int64_t whole = 2;  // >= 1, or 0 where `fraction` is the exponent
  double fraction = 0;     // used only where whole == 0; not a whole number below 2^63

  static LpNorm of(std::int64_t p) { return {p, 0}; }
  // A whole number within int64 becomes the whole form.
  static LpNorm of(double p);
};

// Reads x, writes every element of y; x and y must not overlap and need the alignment of their element only. Memory
// beyond that: a few rows of double per thread, or some planes' worth for deep windows of three or more axes, below 64
// MiB. Throws std::bad_alloc only.
void lp_pool(ElementType type, const void* x, void* y, const PoolGeometry& geometry, const LpNorm& norm,
             ThreadPool& pool);

// The same result by the literal definition: every output on its own, every element of its window in turn. Slow; kept
// as the yardstick and as the last resort of the list of implementations.
void lp_pool_reference(ElementType type, const void* x, void* y, const PoolGeometry& geometry, const LpNorm& norm,
                       ThreadPool& pool);

// One norm for each plane of plane_size elements (>= 0; a plane without elements gives +0). y has `planes` elements.
void global_lp_pool(ElementType type, const void* x, void* y, std::int64_t planes, std::int64_t plane_size,
                    const LpNorm& norm, ThreadPool& pool);

// Name of the instruction set in use: "avx512", "avx2", "sse4", "sse2" or, elsewhere, "neon" and the like.
// The environment variable LPPOOL_MAX_ISA, read at the first call into this module, sets an upper limit.
std::string_view selected_isa();

// Limits the instruction set from now on, for tests; an empty name lifts the limit (also the environment's). False, and
// no change, if the name is unknown or this machine or build lacks it. Not to be called while a kernel runs.
bool limit_isa(std::string_view name);

}  // namespace lppool::kernels
