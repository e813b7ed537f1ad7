#include "lppool/kernels/job.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "lppool/kernels/element.h"
#include "lppool/kernels/window.h"
#include "lppool/kernels/window_norm.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace lppool::kernels {
namespace {

constexpr std::align_val_t kAlignment{128};

void gather(ElementType type, const Box& box, const std::int64_t* position, std::size_t axis, std::int64_t offset,
            std::vector<double>& values) {
  if (axis == box.axes.size()) {
    values.push_back(std::fabs(load_element(type, box.x, offset)));
    return;
  }
  const BoxAxis& a = box.axes[axis];
  const Taps taps = clip_window(a.start + position[axis] * a.stride, a.in, a.kernel, a.dilation);
  for (std::int64_t i = 0; i < taps.count; ++i) {
    gather(type, box, position, axis + 1, offset + (taps.first + i * taps.step) * a.x_step, values);
  }
}

}  // namespace

void Workspace::Free::operator()(double* p) const {
  ::operator delete[](p, kAlignment);
}

double* Workspace::doubles(std::int64_t n) {
  if (n > size_) {
    data_.reset();
    size_ = 0;
    const auto bytes = static_cast<std::size_t>(n) * sizeof(double);
    data_.reset(static_cast<double*>(::operator new[](bytes, kAlignment)));
    size_ = n;
  }
  return data_.get();
}

#if defined(__x86_64__)
FloatMode::FloatMode() : saved_(_mm_getcsr()) {
  constexpr unsigned kDefault = 0x1f80;
  if ((saved_ & ~0x3fu) != kDefault) _mm_setcsr(kDefault);
}
FloatMode::~FloatMode() {
  _mm_setcsr(static_cast<unsigned>(saved_));
}
#elif defined(__aarch64__)
FloatMode::FloatMode() {
  asm volatile("mrs %0, fpcr" : "=r"(saved_));
  asm volatile("msr fpcr, %0" ::"r"(std::uint64_t{0}));
}
FloatMode::~FloatMode() {
  asm volatile("msr fpcr, %0" ::"r"(saved_));
}
#else
FloatMode::FloatMode() = default;
FloatMode::~FloatMode() = default;
#endif

std::uint64_t settle(ElementType type, const Box& box, const std::int64_t* position, const LpNorm& norm) {
  thread_local std::vector<double> values;
  values.clear();
  gather(type, box, position, 0, 0, values);
  return window_norm(type, values, norm);
}

FastKernels fast_kernels(ElementType type) {
  switch (type) {
    case ElementType::kFloat16:
      return kernels_f16();
    case ElementType::kBFloat16:
      return kernels_bf16();
    case ElementType::kFloat32:
      return kernels_f32();
    case ElementType::kFloat64:
      return kernels_f64();
  }
  return kernels_f64();
}

}  // namespace lppool::kernels
