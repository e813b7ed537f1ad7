#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lppool/base/thread_pool.h"
#include "lppool/kernels/lp_pool.h"
#include "support/float_format.h"
#include "support/literal_pool.h"
#include "support/random.h"

// What the proof tests of the kernels share: calls with bit patterns in and out, and the verdict on the results.
namespace lppool::testing {

struct TestedType {
  kernels::ElementType type;
  FloatFormat format;
  const char* name;
};

inline const TestedType kTestedTypes[] = {{kernels::ElementType::kFloat16, kFloat16, "float16"},
                                          {kernels::ElementType::kBFloat16, kBFloat16, "bfloat16"},
                                          {kernels::ElementType::kFloat32, kFloat32, "float32"},
                                          {kernels::ElementType::kFloat64, kFloat64, "float64"}};

using PoolFunction = void (*)(kernels::ElementType, const void*, void*, const kernels::PoolGeometry&,
                              const kernels::LpNorm&, ThreadPool&);

// One call of a kernel. The input sits at an address that is a multiple of the element size only, and places beyond the
// output are watched: writing there fails the running test.
std::vector<std::uint64_t> call_pool(PoolFunction function, const TestedType& type,
                                     std::span<const std::uint64_t> input, const kernels::PoolGeometry& geometry,
                                     double p, ThreadPool& pool);
std::vector<std::uint64_t> call_global(const TestedType& type, std::span<const std::uint64_t> input,
                                       std::int64_t planes, double p, ThreadPool& pool);

kernels::PoolGeometry to_geometry(std::int64_t planes, std::span<const LiteralAxis> axes);

// The count of one proof, for one type and p, and the contract of lp_pool.h it is judged by.
class Tally {
 public:
  Tally(const TestedType& type, double p, std::string what);

  // Compares results with the oracle's; `window(i)` gives the values behind result i and is called for differences
  // only.
  void judge(std::span<const std::uint64_t> got, std::span<const std::uint64_t> exact,
             const std::function<std::vector<double>(std::size_t)>& window);

  // Fails the running test if there was a result outside the contract, with the first few as reproducers. With
  // `print`, also writes a line of figures to standard output.
  void finish(bool print) const;

  const TestedType& type() const { return type_; }
  double p() const { return p_; }

 private:
  const TestedType& type_;
  double p_;
  std::string what_;
  double bound_;  // in units in the last place; 0 demands the exactly rounded result
  std::uint64_t results_ = 0;
  std::uint64_t not_nearest_ = 0;
  std::uint64_t failures_ = 0;
  double max_ulp_ = 0;
  std::vector<std::string> examples_;
};

std::vector<double> decode_all(const FloatFormat& format, std::span<const std::uint64_t> bits);

// Sends windows of `size` numbers each, one after the other in `bits`, through every way a kernel can be given them: as
// tiles of a line, as rectangles, as whole planes, as the one window of GlobalLpPool, sliding by one (the first
// eighth), and through the reference. Everything is judged by the oracle.
void prove_windows(Tally& tally, std::span<const std::uint64_t> bits, std::size_t size, ThreadPool& pool);

// The threads proofs may use: all there are.
ThreadPool& proof_threads();

}  // namespace lppool::testing
