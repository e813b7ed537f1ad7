#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/tensor/tensor.h"

// How far two tensors are apart. `b` is the one that counts as right: relative errors are relative to it.
namespace lppool {

struct ComparisonTolerance {
  // numpy.allclose: a matches b where |a - b| <= atol + rtol * |b|.
  double rtol = 1e-5, atol = 1e-8;
  // Instead: a matches b where no more than this many steps of their type lie between them (equal values: 0; +0 and -0
  // are equal).
  std::optional<std::uint64_t> ulp;
  // Different element types do not decide by themselves: values are compared as float64, ulp then being ruled out.
  bool any_dtype = false;
};

// NaN matches NaN, an infinity the same infinity; neither matches anything else under any tolerance ("incomparable").
// Complex numbers: distances in the plane, steps of the part that is farther off. Strings match where equal.
struct TensorComparison {
  bool match = false;
  std::string problem;  // why values decide nothing: "shape 1x3 against 3x1", "dtype float32 against float16"
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;    // elements outside the tolerance
  std::int64_t different = 0;     // elements that are not equal
  std::int64_t incomparable = 0;  // of these: NaN or infinity against something else
  double max_abs = 0;             // infinite where elements are incomparable
  double max_rel = 0;             // over elements where b is not 0; infinite where elements are incomparable
  std::optional<std::uint64_t> max_ulp;  // over comparable elements; none where the types differ
  // Elements by their distance in steps: [0] equal, [k] from 2^(k-1) to 2^k - 1. Trailing zeros are left out.
  std::vector<std::int64_t> ulp_histogram;
  // The least tolerance that would match all elements, the other one staying as given: infinite where none would.
  double needed_rtol = 0, needed_atol = 0;
  // The element farthest off (incomparable first, then by excess over the tolerance); none where all are equal.
  std::optional<std::int64_t> worst;
  std::optional<std::int64_t> first;  // the first element outside the tolerance
};

// Compares elements of any type. `threads` may be null. The result does not depend on the number of threads.
TensorComparison compare(const Tensor& a, const Tensor& b, const ComparisonTolerance& tolerance, ThreadPool* threads = nullptr);

// The index of element `offset` along each axis.
std::vector<std::int64_t> index_of(std::int64_t offset, const Shape& shape);

}  // namespace lppool
