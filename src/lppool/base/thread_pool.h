#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace lppool {

// A borrowed callable: two words, no allocation. The callable must outlive every call made through the reference.
template <typename Signature>
class FunctionRef;

template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F, typename = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>>>
  FunctionRef(F&& f)  // NOLINT(google-explicit-constructor): a lambda is passed as it stands
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

// A fixed set of threads that lives as long as the object. The caller of parallel_for works too, so a pool of one
// thread starts none and runs everything in place. Workers spin briefly before they sleep: back-to-back calls wake them
// at once.
//
// parallel_for may be called from several threads (the calls then run one after the other) and from inside a running
// task (the inner call runs in place, on the thread that made it).
class ThreadPool {
 public:
  // threads >= 1; smaller numbers are taken as 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }
  // True on a thread that is executing a task of some pool: more threads would be too many there.
  static bool in_task();

  // Calls task(begin, end) for disjoint ranges that together cover [0, n), each at most `grain` long (grain >= 1), on
  // whichever thread is free. Returns when all are done. The first exception a task throws is rethrown here; ranges
  // nobody has started by then are skipped.
  void parallel_for(std::int64_t n, std::int64_t grain, FunctionRef<void(std::int64_t begin, std::int64_t end)> task);

  // The same with a grain that gives each thread a few ranges.
  void parallel_for(std::int64_t n, FunctionRef<void(std::int64_t begin, std::int64_t end)> task);

 private:
  struct Shared;
  int threads_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace lppool
