#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace lppool {

// A file that appears whole or not at all: bytes go to a temporary file beside the target, which takes the target's place
// in commit(); without commit() it vanishes. A link as the target stays a link, an existing file keeps its mode. "-" is
// standard output, and devices and pipes are written as they are: neither can be undone. Every failure (no such folder, no
// permission, disk full) throws kIo and names the target.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();
  // Takes back what was written past the first `size` bytes, which also makes room on a full disk. No effect on standard
  // output, devices and pipes.
  void rewind(std::uint64_t size);

  // For writers that take a descriptor; what they write counts as write().
  int fd() const { return fd_; }

 private:
  [[noreturn]] void fail_with_errno(int error) const;

  std::filesystem::path shown_;      // as the caller named it
  std::filesystem::path target_;     // links resolved
  std::filesystem::path temporary_;  // empty where the target is written directly
  int fd_ = -1;
};

// The whole of a small file at once.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace lppool
