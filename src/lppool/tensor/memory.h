#pragma once

#include <cstddef>
#include <memory>

namespace lppool {

// Memory of tensors. One pool for the process: buffers that are given back are kept and handed out again, so that a graph
// run pays for fresh pages once, and the bytes in use are counted. All functions are safe to call from any thread.
namespace memory {

// A buffer of at least `bytes` bytes, aligned to 64, contents unspecified. Throws kLimit where the bytes in use would
// pass the limit, before anything is allocated.
std::shared_ptr<std::byte> allocate(std::size_t bytes);

// Bytes that buffers in use hold now, and the most they ever held since reset_peak().
std::size_t in_use();
std::size_t peak();
void reset_peak();

// The most that buffers in use may hold together. Default: 80 % of the machine's memory (or of the cgroup's limit).
std::size_t limit();
void set_limit(std::size_t bytes);

// Memory that lives outside the pool (the characters of strings, long lists of values) but counts against its limit, so
// that no kind of value can outgrow the machine. Gives its bytes back when it goes.
class Charge {
 public:
  Charge() = default;
  ~Charge();
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  // Counts `bytes` more. Throws kLimit, and counts nothing, where the limit would be passed.
  void add(std::size_t bytes);

 private:
  std::size_t bytes_ = 0;
};

// Gives cached free buffers back to the system.
void trim();

}  // namespace memory
}  // namespace lppool
