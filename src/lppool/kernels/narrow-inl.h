// Narrowing doubles to floats, compiled once for each instruction set.
#if defined(LPPOOL_KERNELS_NARROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LPPOOL_KERNELS_NARROW_INL_H
#undef LPPOOL_KERNELS_NARROW_INL_H
#else
#define LPPOOL_KERNELS_NARROW_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {

// Rounded to nearest, to infinity beyond the largest float: Highway's DemoteTo for targets without vectors saturates.
template <class Doubles>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::Rebind<float, Doubles>> to_float32(
    Doubles d, hwy::HWY_NAMESPACE::Vec<Doubles> v) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<float, Doubles> floats;
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  HWY_ALIGN double lanes[hn::MaxLanes(d)];
  HWY_ALIGN float narrow[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  for (std::size_t i = 0; i < hn::MaxLanes(d); ++i) narrow[i] = static_cast<float>(lanes[i]);
  return hn::Load(floats, narrow);
#else
  (void)d;
  return hn::DemoteTo(floats, v);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#endif
