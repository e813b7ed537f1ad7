#include "lppool/base/interrupt.h"

#include <atomic>

#include "lppool/base/error.h"

namespace lppool {
namespace {
std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler may set it
}  // namespace

void request_interrupt() { requested.store(true, std::memory_order_relaxed); }
void clear_interrupt() { requested.store(false, std::memory_order_relaxed); }
void check_interrupt() {
  if (requested.load(std::memory_order_relaxed)) fail(ErrorKind::kInterrupted, "interrupted");
}

}  // namespace lppool
