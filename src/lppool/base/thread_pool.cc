#include "lppool/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace lppool {
namespace {

// Long enough to bridge the gap between two nodes of a graph, short enough not to be felt by other processes.
constexpr int kSpins = 4000;

void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// True while this thread executes a task of some pool; inner calls then run in place.
thread_local bool running_task = false;

}  // namespace

// One job at a time. `generation` announces a job: workers watch it, first spinning, then asleep on `wake`. Ranges are
// claimed from `next`; `busy` counts workers that have not yet left the job, and the caller waits for it to reach 0, so
// no worker touches the job's data after parallel_for returns.
struct ThreadPool::Shared {
  using Task = FunctionRef<void(std::int64_t, std::int64_t)>;

  std::mutex callers;  // held for the length of a parallel_for
  std::mutex mutex;    // guards sleeping and `error`
  std::condition_variable wake;
  std::atomic<std::uint64_t> generation{0};
  std::atomic<bool> stop{false};

  const Task* task = nullptr;
  std::int64_t n = 0;
  std::int64_t grain = 1;
  alignas(64) std::atomic<std::int64_t> next{0};
  alignas(64) std::atomic<int> busy{0};
  std::exception_ptr error;

  std::vector<std::thread> workers;

  void work() {
    running_task = true;
    try {
      for (;;) {
        const std::int64_t begin = next.load(std::memory_order_relaxed);
        if (begin >= n) break;
        const std::int64_t end = begin + std::min(grain, n - begin);
        std::int64_t expected = begin;
        if (!next.compare_exchange_strong(expected, end, std::memory_order_relaxed)) continue;
        (*task)(begin, end);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      next.store(n, std::memory_order_relaxed);
    }
    running_task = false;
  }

  void worker() {
    std::uint64_t seen = 0;
    for (;;) {
      for (int i = 0; i < kSpins && generation.load(std::memory_order_acquire) == seen; ++i) pause_cpu();
      if (generation.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return generation.load(std::memory_order_acquire) != seen; });
      }
      seen = generation.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_relaxed)) return;
      work();
      busy.fetch_sub(1, std::memory_order_release);
    }
  }

  void announce() {
    {
      const std::lock_guard lock(mutex);
      generation.fetch_add(1, std::memory_order_release);
    }
    wake.notify_all();
  }
};

ThreadPool::ThreadPool(int threads) : threads_(std::max(threads, 1)), shared_(std::make_unique<Shared>()) {
  shared_->workers.reserve(static_cast<std::size_t>(threads_ - 1));
  try {
    for (int i = 1; i < threads_; ++i) shared_->workers.emplace_back([s = shared_.get()] { s->worker(); });
  } catch (const std::system_error&) {
    threads_ = static_cast<int>(shared_->workers.size()) + 1;  // the system grants fewer: work with those
  }
}

bool ThreadPool::in_task() { return running_task; }

ThreadPool::~ThreadPool() {
  shared_->stop.store(true, std::memory_order_relaxed);
  shared_->announce();
  for (std::thread& worker : shared_->workers) worker.join();
}

void ThreadPool::parallel_for(std::int64_t n, std::int64_t grain,
                              FunctionRef<void(std::int64_t begin, std::int64_t end)> task) {
  if (n <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  if (threads_ == 1 || running_task || n <= grain) {
    for (std::int64_t begin = 0; begin < n;) {
      const std::int64_t end = begin + std::min(grain, n - begin);
      task(begin, end);
      begin = end;
    }
    return;
  }
  Shared& s = *shared_;
  const std::lock_guard lock(s.callers);
  s.task = &task;
  s.n = n;
  s.grain = grain;
  s.error = nullptr;
  s.next.store(0, std::memory_order_relaxed);
  s.busy.store(threads_ - 1, std::memory_order_relaxed);
  s.announce();
  s.work();
  for (int i = 0; s.busy.load(std::memory_order_acquire) != 0; ++i) {
    if (i < kSpins) {
      pause_cpu();
    } else {
      std::this_thread::yield();
    }
  }
  if (s.error) std::rethrow_exception(std::exchange(s.error, nullptr));
}

void ThreadPool::parallel_for(std::int64_t n, FunctionRef<void(std::int64_t begin, std::int64_t end)> task) {
  const std::int64_t ranges = threads_ == 1 ? 1 : std::int64_t{threads_} * 4;
  parallel_for(n, n / ranges + (n % ranges != 0), task);
}

}  // namespace lppool
