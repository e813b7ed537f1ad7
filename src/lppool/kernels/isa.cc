#include "lppool/kernels/isa.h"

#define HWY_DISABLED_TARGETS HWY_SSSE3  // as in pool_<type>.cc
#include <hwy/highway.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "lppool/kernels/lp_pool.h"

namespace lppool::kernels {
namespace {

struct Level {
  std::string_view name;
  std::int64_t target;
};

// What Highway calls code without vector instructions of its own.
constexpr std::int64_t kBaseline = HWY_SCALAR | HWY_EMU128;

// Best first. The last is what the compiler may assume everywhere.
constexpr Level kLevels[] = {
#if HWY_ARCH_X86
    {"avx512", HWY_AVX3},
    {"avx2", HWY_AVX2},
    {"sse4", HWY_SSE4},
    {"sse2", kBaseline},
#elif HWY_ARCH_ARM
    {"neon", HWY_NEON},
    {"generic", kBaseline},
#else
    {"generic", kBaseline},
#endif
};

constexpr std::int64_t kUnlimited = -1;

// All targets from `level` down; -2 for an unknown name.
std::int64_t targets_up_to(std::string_view level) {
  std::int64_t targets = 0;
  bool found = false;
  for (const Level& l : kLevels) {
    found |= l.name == level;
    if (found) targets |= l.target;
  }
  return found ? targets : -2;
}

std::int64_t machine_targets() {
  static const std::int64_t targets = (hwy::SupportedTargets() | kBaseline) & HWY_TARGETS;
  return targets;
}

std::atomic<std::int64_t>& limit() {
  static std::atomic<std::int64_t> targets = [] {
    const char* const name = std::getenv("LPPOOL_MAX_ISA");
    const std::int64_t wanted = name != nullptr ? targets_up_to(name) : kUnlimited;
    return wanted == -2 ? kUnlimited : wanted;
  }();
  return targets;
}

}  // namespace

std::int64_t allowed_targets() {
  return machine_targets() & limit().load(std::memory_order_relaxed);
}

std::string_view selected_isa() {
  const std::int64_t targets = allowed_targets();
  for (const Level& level : kLevels) {
    if ((targets & level.target) != 0) return level.name;
  }
  return kLevels[std::size(kLevels) - 1].name;
}

bool limit_isa(std::string_view name) {
  if (name.empty()) {
    limit().store(kUnlimited, std::memory_order_relaxed);
    return true;
  }
  for (const Level& level : kLevels) {
    if (level.name == name && (machine_targets() & level.target) != 0) {
      limit().store(targets_up_to(name), std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

}  // namespace lppool::kernels
