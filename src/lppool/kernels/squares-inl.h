// Windows of 2 x 2 elements that do not overlap, from the input to the output in registers; compiled once for each
// instruction set, and of use where LPPOOL_QUICK_ROOT is. Such windows share nothing, so that lines of sums in memory
// only cost; and as there are four new elements for each output, memory has to be asked early.
#if defined(LPPOOL_KERNELS_SQUARES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LPPOOL_KERNELS_SQUARES_INL_H
#undef LPPOOL_KERNELS_SQUARES_INL_H
#else
#define LPPOOL_KERNELS_SQUARES_INL_H
#endif

#include <hwy/cache_control.h>

#include "lppool/kernels/lines-inl.h"
#include "lppool/kernels/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {

// Outputs whose results are checked together: the more, the more there is to do again where one needs a closer look.
constexpr std::int64_t kCheckedOutputs = 512;

// Rows of 2 x 2 windows: output o of row r covers elements 2o and 2o + 1 of rows 2r and 2r + 1 of the input.
template <class T>
struct SquareRows {
  const T* x = nullptr;
  T* y = nullptr;
  std::int64_t x_step = 0, y_step = 0;  // from a row to the next
  std::int64_t rows = 0, out = 0;       // out >= lanes
};

#if LPPOOL_QUICK_ROOT
// False, and what is in the outputs means nothing, if any output needs a closer look.
template <class Type, int P>
bool pool_squares(const Powers<Type, P>& powers, const Rounding& rounding,
                  const SquareRows<typename Type::Storage>& s) {
  using T = typename Type::Storage;
  constexpr std::int64_t kAheadBytes = 2048;
  constexpr std::int64_t kAhead = kAheadBytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t n = lanes();
  RunCheck<Type, P> check(rounding);
  const bool certain = P == 1 && rounding.certain;
  const T* x = s.x;
  T* y = s.y;
  for (std::int64_t r = 0; r < s.rows; ++r, x += 2 * s.x_step, y += s.y_step) {
    const auto sum = [&](std::int64_t j) HWY_ATTR {
      const T *const top = x + 2 * j, *const bottom = top + s.x_step;
      hwy::Prefetch(top + kAhead);
      hwy::Prefetch(bottom + kAhead);
      const Single a = powers.add_to(powers.first(top), bottom);
      const Single b = powers.add_to(powers.first(top + n), bottom + n);
      return hn::Add(even_lanes(b, a).hi, odd_lanes(b, a).hi);
    };
    // One sum ahead of the roots, which wait for each other's steps.
    Vd next = sum(0);
    for (std::int64_t j = 0; j < s.out; j += n) {
      // The last vector laps over the one before it.
      const std::int64_t at = std::min(j, s.out - n);
      const Vd now = next;
      next = sum(std::min(j + n, s.out - n));
      if (certain) {
        Type::store(now, y + at);
      } else {
        store_quickly(now, y + at, check);
      }
    }
  }
  return certain || check.passed();
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#endif  // LPPOOL_KERNELS_SQUARES_INL_H
