#include "lppool/base/thread_pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

namespace lppool {
namespace {

TEST_CASE("Every index is visited once, whatever the number of threads and the grain", "[base]") {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (const std::int64_t n : {0, 1, 2, 7, 1000}) {
      for (const std::int64_t grain : {1, 3, 2000}) {
        CAPTURE(threads, n, grain);
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
        std::atomic<bool> too_long{false};
        pool.parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
          if (end - begin > grain) too_long = true;
          for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        });
        bool once = true;
        for (const std::atomic<int>& count : visits) once = once && count == 1;
        CHECK(once);
        CHECK_FALSE(too_long);
      }
    }
  }
}

TEST_CASE("A pool can be used many times in a row, with and without a pause", "[base]") {
  ThreadPool pool(3);
  std::atomic<std::int64_t> sum{0};
  for (int round = 0; round < 500; ++round) {
    pool.parallel_for(10, 1, [&](std::int64_t begin, std::int64_t) { sum += begin; });
    if (round % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(sum == 500 * 45);
}

TEST_CASE("The first exception of a task reaches the caller, and the pool stays usable", "[base]") {
  for (const int threads : {1, 4}) {
    ThreadPool pool(threads);
    CHECK_THROWS_AS(pool.parallel_for(100, 1,
                                      [](std::int64_t begin, std::int64_t) {
                                        if (begin == 17) throw std::runtime_error("17");
                                      }),
                    std::runtime_error);
    std::atomic<int> calls{0};
    pool.parallel_for(8, 1, [&](std::int64_t, std::int64_t) { ++calls; });
    CHECK(calls == 8);
  }
}

TEST_CASE("A call from inside a task runs in place", "[base]") {
  ThreadPool pool(2);
  std::atomic<int> inner{0}, elsewhere{0};
  pool.parallel_for(4, 1, [&](std::int64_t, std::int64_t) {
    const std::thread::id self = std::this_thread::get_id();
    pool.parallel_for(5, 1, [&](std::int64_t, std::int64_t) {
      ++inner;
      if (std::this_thread::get_id() != self) ++elsewhere;
    });
  });
  CHECK(inner == 20);
  CHECK(elsewhere == 0);
}

TEST_CASE("Several threads may call the same pool", "[base]") {
  ThreadPool pool(2);
  std::atomic<int> calls{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) pool.parallel_for(6, 1, [&](std::int64_t, std::int64_t) { ++calls; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(calls == 3 * 50 * 6);
}

}  // namespace
}  // namespace lppool
