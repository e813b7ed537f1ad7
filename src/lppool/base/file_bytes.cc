#include "lppool/base/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lppool/base/error.h"

namespace lppool {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd > STDIN_FILENO) close(fd);
  }
};

[[noreturn]] void fail_to_read(const std::string& shown, int error) {
  fail(ErrorKind::kIo, "{}: cannot be read: {}", shown, std::strerror(error));
}

void check_size(const std::string& shown, std::size_t size, std::size_t max_bytes) {
  if (size > max_bytes) fail(ErrorKind::kLimit, "{}: holds more than {} bytes, the most that is read", shown, max_bytes);
}

std::string read_all(int fd, const std::string& shown, std::size_t max_bytes) {
  std::string bytes;
  std::size_t filled = 0;
  for (;;) {
    if (filled == bytes.size()) bytes.resize(std::max<std::size_t>(std::size_t{1} << 16, filled + filled / 2));
    const ssize_t n = read(fd, bytes.data() + filled, bytes.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_to_read(shown, errno);
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
    check_size(shown, filled, max_bytes);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace

std::string shown_name(const std::filesystem::path& path) { return path == "-" ? "standard input" : path.string(); }

std::shared_ptr<const FileBytes> FileBytes::open(const std::filesystem::path& path, std::size_t max_bytes) {
  const std::string shown = shown_name(path);
  const Descriptor file{path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) fail_to_read(shown, errno);
  struct stat info {};
  if (fstat(file.fd, &info) != 0) fail_to_read(shown, errno);
  if (S_ISDIR(info.st_mode)) fail(ErrorKind::kIo, "{}: is a directory, expected a file", shown);

  std::shared_ptr<FileBytes> result(new FileBytes);
  if (S_ISREG(info.st_mode) && path != "-" && info.st_size > 0) {
    result->size_ = static_cast<std::size_t>(info.st_size);
    check_size(shown, result->size_, max_bytes);
    void* map = mmap(nullptr, result->size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (map != MAP_FAILED) {
      result->data_ = static_cast<const char*>(map);
      result->mapped_ = true;
      return result;
    }
  }
  // Also files under /proc, which claim a size of 0.
  return of(read_all(file.fd, shown, max_bytes));
}

std::shared_ptr<const FileBytes> FileBytes::of(std::string bytes) {
  std::shared_ptr<FileBytes> result(new FileBytes);
  result->read_ = std::move(bytes);
  result->data_ = result->read_.data();
  result->size_ = result->read_.size();
  return result;
}

FileBytes::~FileBytes() {
  if (mapped_) munmap(const_cast<char*>(data_), size_);
}

}  // namespace lppool
