#include "lppool/base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "lppool/base/error.h"

namespace lppool {
namespace {

// Beside the target, so that the rename stays on one file system. Short: the target's own name may be as long as names can be.
std::filesystem::path temporary_name(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter = 0;
  return target.parent_path() / fmt::format(".lppool-{}-{}.tmp", getpid(), counter++);
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path) : shown_(path), target_(path) {
  if (path == "-") {
    shown_ = "standard output";
    fd_ = STDOUT_FILENO;
    return;
  }
  std::error_code error;
  if (std::filesystem::is_symlink(path, error)) {
    target_ = std::filesystem::weakly_canonical(path, error);
    if (error) fail(ErrorKind::kIo, "{}: {}", path.string(), error.message());
  }
  struct stat existing {};
  const bool exists = stat(target_.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) fail(ErrorKind::kIo, "{}: is a directory, expected a file", shown_.string());
  if (exists && !S_ISREG(existing.st_mode)) {
    fd_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail_with_errno(errno);
    return;
  }
  if (exists && access(target_.c_str(), W_OK) != 0) fail_with_errno(errno);
  do {
    temporary_ = temporary_name(target_);
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) {
    const int reason = errno;
    temporary_.clear();
    fail_with_errno(reason);
  }
  if (exists) (void)!fchmod(fd_, existing.st_mode & 07777);  // a file system without modes is no reason to fail
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0 && fd_ != STDOUT_FILENO) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    // Linux writes at most 2 GiB at a time.
    const ssize_t n = ::write(fd_, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_with_errno(errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void AtomicFile::commit() {
  if (fd_ == STDOUT_FILENO) {
    fd_ = -1;
    return;
  }
  // Network file systems report a full disk only here.
  const int closed = close(std::exchange(fd_, -1));
  if (closed != 0) fail_with_errno(errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail_with_errno(errno);
  temporary_.clear();
}

void AtomicFile::rewind(std::uint64_t size) {
  if (temporary_.empty() || fd_ < 0) return;
  if (ftruncate(fd_, static_cast<off_t>(size)) != 0 || lseek(fd_, static_cast<off_t>(size), SEEK_SET) < 0) fail_with_errno(errno);
}

void AtomicFile::fail_with_errno(int error) const {
  fail(ErrorKind::kIo, "{}: cannot be written: {}", shown_.string(), std::strerror(error));
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace lppool
