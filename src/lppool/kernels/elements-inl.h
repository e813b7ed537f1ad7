// Loading and storing vectors of the element types, compiled once for each instruction set.
#if defined(LPPOOL_KERNELS_ELEMENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LPPOOL_KERNELS_ELEMENTS_INL_H
#undef LPPOOL_KERNELS_ELEMENTS_INL_H
#else
#define LPPOOL_KERNELS_ELEMENTS_INL_H
#endif

#include <bit>
#include <cstring>

#include "lppool/kernels/element.h"
#include "lppool/kernels/narrow-inl.h"
#include "lppool/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels {
namespace HWY_NAMESPACE {

using F = hn::Rebind<float, D>;  // as many floats as there are doubles in a vector
using Vf = hn::Vec<F>;
using U32 = hn::Rebind<std::uint32_t, D>;
using U16 = hn::Rebind<std::uint16_t, D>;

// The first n elements (fewer than lanes), zeros after them, without a look beyond.
template <class Type, class T>
HWY_INLINE Vd load_copy(const T* x, std::int64_t n) {
  HWY_ALIGN T part[hn::MaxLanes(D())] = {};
  std::memcpy(part, x, static_cast<std::size_t>(n) * sizeof(T));
  return Type::load(part);
}

// What the kernels need to know about an element type: its storage, how it widens, and how a double that is known not
// to be near a midpoint is narrowed (to nearest; results in the normal range or zero).
struct Float32 {
  using Storage = float;
  using Acc = Single;
  static constexpr ElementType kType = ElementType::kFloat32;
  static constexpr int kDropped = 29;
  static HWY_INLINE Vd load(const float* x) { return hn::PromoteTo(D(), hn::LoadU(F(), x)); }
  // Half the work of taking the absolute value after widening.
  static HWY_INLINE Vd load_abs(const float* x) { return hn::PromoteTo(D(), hn::Abs(hn::LoadU(F(), x))); }
  static HWY_INLINE Vd load_part(const float* x, std::int64_t n) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    return hn::PromoteTo(D(), hn::MaskedLoad(hn::FirstN(F(), static_cast<std::size_t>(n)), F(), x));
#else
    return load_copy<Float32>(x, n);
#endif
  }
  // A float that rounds to the element as r does.
  static HWY_INLINE Vf to_float(Vd r) {
    return to_float32(D(), r);
  }
  static HWY_INLINE void store(Vd r, float* y) {
    hn::StoreU(to_float(r), F(), y);
  }
};

struct Float64 {
  using Storage = double;
  using Acc = Pair;
  static constexpr ElementType kType = ElementType::kFloat64;
  static constexpr int kDropped = 0;
  static HWY_INLINE Vd load(const double* x) { return hn::LoadU(D(), x); }
  static HWY_INLINE Vd load_part(const double* x, std::int64_t n) { return load_copy<Float64>(x, n); }
  static HWY_INLINE void store(Vd r, double* y) { hn::StoreU(r, D(), y); }
};

struct Float16 {
  using Storage = std::uint16_t;
  using Acc = Single;
  static constexpr ElementType kType = ElementType::kFloat16;
  static constexpr int kDropped = 42;
  static HWY_INLINE Vd load(const std::uint16_t* x) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::PromoteTo(D(), hn::PromoteTo(F(), hn::BitCast(half, hn::LoadU(U16(), x))));
#else
    // The exponent moves from bias 15 to bias 127 by a product, which also normalises subnormals.
    const auto bits = hn::PromoteTo(U32(), hn::LoadU(U16(), x));
    const auto magnitude = hn::And(bits, hn::Set(U32(), 0x7fff));
    const auto widened = hn::ShiftLeft<13>(magnitude);
    const auto finite = hn::Mul(hn::BitCast(F(), widened), hn::Set(F(), 0x1p112f));
    const auto special = hn::BitCast(F(), hn::Or(widened, hn::Set(U32(), 0x7f800000)));
    const auto is_special = hn::RebindMask(
        F(), hn::Gt(hn::BitCast(hn::RebindToSigned<U32>(), magnitude), hn::Set(hn::RebindToSigned<U32>(), 0x7bff)));
    return hn::PromoteTo(D(), hn::IfThenElse(is_special, special, finite));
#endif
  }
  static HWY_INLINE Vd load_part(const std::uint16_t* x, std::int64_t n) {
    return load_copy<Float16>(x, n);
  }
  static HWY_INLINE Vf to_float(Vd r) {
    return to_float32(D(), round_to_odd<23>(r));
  }
  static HWY_INLINE void store(Vd r, std::uint16_t* y) {
    // Normal halves: rebias and round the 13 bits below them. Smaller ones: 0.5f is where float's spacing is 2^-24.
    const hn::RebindToSigned<U32> i32;
    const auto f = to_float(r);
    const auto bits = hn::BitCast(i32, f);
    const auto even = hn::And(hn::ShiftRight<13>(bits), hn::Set(i32, 1));
    const auto normal = hn::ShiftRight<13>(hn::Add(bits, hn::Add(even, hn::Set(i32, 0xfff - (112 << 23)))));
    const auto small = hn::Sub(hn::BitCast(i32, hn::Add(f, hn::Set(F(), 0.5f))), hn::Set(i32, 0x3f000000));
    const auto is_small = hn::Lt(bits, hn::Set(i32, 113 << 23));
    const auto half = hn::Min(hn::IfThenElse(is_small, small, normal), hn::Set(i32, 0x7c00));
    hn::StoreU(hn::DemoteTo(U16(), half), U16(), y);
  }
};

struct BFloat16 {
  using Storage = std::uint16_t;
  using Acc = Single;
  static constexpr ElementType kType = ElementType::kBFloat16;
  static constexpr int kDropped = 45;
  static HWY_INLINE Vd load(const std::uint16_t* x) {
    const auto bits = hn::PromoteTo(U32(), hn::LoadU(U16(), x));
    return hn::PromoteTo(D(), hn::BitCast(F(), hn::ShiftLeft<16>(bits)));
  }
  static HWY_INLINE Vd load_part(const std::uint16_t* x, std::int64_t n) { return load_copy<BFloat16>(x, n); }
  static HWY_INLINE Vf to_float(Vd r) { return to_float32(D(), round_to_odd<23>(r)); }
  static HWY_INLINE void store(Vd r, std::uint16_t* y) {
    const hn::RebindToSigned<U32> i32;
    const auto bits = hn::BitCast(i32, to_float(r));
    const auto even = hn::And(hn::ShiftRight<16>(bits), hn::Set(i32, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(even, hn::Set(i32, 0x7fff))));
    hn::StoreU(hn::DemoteTo(U16(), rounded), U16(), y);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace lppool::kernels
HWY_AFTER_NAMESPACE();

#endif  // LPPOOL_KERNELS_ELEMENTS_INL_H
