// Large buffers come straight from the system, aligned to huge pages and marked for them: a first write to a 4 KiB page
// costs more than the arithmetic that produces its contents. A freed buffer of more than a few pages waits in a list ordered
// by size; a request takes the smallest that fits, unless it would waste more than half of it.
#include "lppool/tensor/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <new>

#include "lppool/base/error.h"

namespace lppool::memory {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHuge = std::size_t{2} << 20;  // from here on a buffer is a mapping of its own
constexpr std::size_t kKept = std::size_t{64} << 10;  // from here on a freed buffer is kept
constexpr std::size_t kMaxCached = std::size_t{256} << 20;

std::size_t default_limit() {
  std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
  std::ifstream cgroup("/sys/fs/cgroup/memory.max");
  std::size_t allowed = 0;
  if (cgroup >> allowed && allowed > 0) bytes = std::min(bytes, allowed);
  return bytes / 5 * 4;
}

void* map_huge(std::size_t bytes) {
  void* base = mmap(nullptr, bytes + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  // Cut the mapping so that it starts at a huge-page boundary.
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  const std::size_t head = (kHuge - address % kHuge) % kHuge;
  auto* start = static_cast<std::byte*>(base) + head;
  if (head > 0) munmap(base, head);
  if (kHuge - head > 0) munmap(start + bytes, kHuge - head);
  madvise(start, bytes, MADV_HUGEPAGE);
  return start;
}

class Pool {
 public:
  std::byte* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    check_room(bytes);
    void* result = nullptr;
    const auto found = bytes >= kKept ? free_.lower_bound(bytes) : free_.end();
    if (found != free_.end() && found->first <= bytes + bytes / 2) {
      result = found->second;
      cached_ -= found->first;
      bytes = found->first;
      free_.erase(found);
    } else {
      result = bytes >= kHuge ? map_huge(bytes) : std::aligned_alloc(kAlignment, bytes);
      if (result == nullptr) fail(ErrorKind::kLimit, "the system refuses {} bytes for a tensor", bytes);
    }
    if (bytes >= kKept) sizes_[result] = bytes;
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
    return static_cast<std::byte*>(result);
  }

  void give(std::byte* buffer, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes < kKept) {
      in_use_ -= bytes;
      std::free(buffer);
      return;
    }
    const auto entry = sizes_.find(buffer);
    const std::size_t actual = entry->second;
    sizes_.erase(entry);
    in_use_ -= actual;
    free_.emplace(actual, buffer);
    cached_ += actual;
    while (cached_ > kMaxCached) release(std::prev(free_.end()));
  }

  void charge(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    check_room(bytes);
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
  }

  void discharge(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    in_use_ -= bytes;
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    while (!free_.empty()) release(free_.begin());
  }

  std::mutex mutex_;
  std::size_t in_use_ = 0, peak_ = 0, limit_ = default_limit();

 private:
  void check_room(std::size_t bytes) const {
    if (bytes > limit_ || in_use_ > limit_ - bytes) {
      fail(ErrorKind::kLimit, "{} bytes needed for a tensor, {} of {} allowed bytes in use", bytes, in_use_, limit_);
    }
  }

  void release(std::multimap<std::size_t, void*>::iterator entry) {
    if (entry->first >= kHuge) munmap(entry->second, entry->first);
    else std::free(entry->second);
    cached_ -= entry->first;
    free_.erase(entry);
  }

  std::multimap<std::size_t, void*> free_;
  std::map<void*, std::size_t> sizes_;
  std::size_t cached_ = 0;
};

// Never destroyed: tensors with static storage may outlive any static pool.
Pool& pool() {
  static auto* instance = new Pool;
  return *instance;
}

}  // namespace

std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  const std::size_t grain = bytes >= kKept ? 4096 : kAlignment;
  if (bytes > limit()) {
    fail(ErrorKind::kLimit, "{} bytes needed for a tensor, {} allowed in all", bytes, limit());
  }
  const std::size_t rounded = std::max(grain, (bytes + grain - 1) / grain * grain);
  std::byte* buffer = pool().take(rounded);
  return {buffer, [rounded](std::byte* p) { pool().give(p, rounded); }};
}

Charge::~Charge() {
  if (bytes_ > 0) pool().discharge(bytes_);
}

void Charge::add(std::size_t bytes) {
  pool().charge(bytes);
  bytes_ += bytes;
}

std::size_t in_use() {
  const std::lock_guard lock(pool().mutex_);
  return pool().in_use_;
}
std::size_t peak() {
  const std::lock_guard lock(pool().mutex_);
  return pool().peak_;
}
void reset_peak() {
  const std::lock_guard lock(pool().mutex_);
  pool().peak_ = pool().in_use_;
}
std::size_t limit() {
  const std::lock_guard lock(pool().mutex_);
  return pool().limit_;
}
void set_limit(std::size_t bytes) {
  const std::lock_guard lock(pool().mutex_);
  pool().limit_ = bytes;
}
void trim() { pool().trim(); }

}  // namespace lppool::memory
