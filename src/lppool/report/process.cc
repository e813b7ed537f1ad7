#include "lppool/report/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "lppool/base/interrupt.h"

extern char** environ;

namespace lppool::report {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// Ends the child however the call is left.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (!waited_) {
      kill(pid_, SIGKILL);
      wait();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  bool succeeded() { return wait() && WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }

 private:
  bool wait() {
    waited_ = true;
    pid_t got;
    do {
      got = waitpid(pid_, &status_, 0);
    } while (got < 0 && errno == EINTR);
    return got == pid_;
  }
  pid_t pid_;
  int status_ = 0;
  bool waited_ = false;
};

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return lseek(fd, 0, SEEK_SET) == 0;
}

}  // namespace

std::optional<std::string> run_program(const std::vector<std::string>& command, std::string_view input,
                                       std::chrono::milliseconds limit, std::size_t most) {
  using Clock = std::chrono::steady_clock;
  // The input lies in memory as a file: nothing to feed while the program runs, and no broken pipe where it ends early.
  const Descriptor in(memfd_create("input", MFD_CLOEXEC));
  if (in.get() < 0 || !write_all(in.get(), input)) return std::nullopt;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const Descriptor out(ends[0]);
  Descriptor child_out(ends[1]);

  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, child_out.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return std::nullopt;
  Child child(pid);
  child_out.close();

  const auto end = Clock::now() + limit;
  std::string printed;
  char buffer[1 << 16];
  while (true) {
    check_interrupt();
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd wait = {out.get(), POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::min<long long>(left, 200)));
    if (ready < 0 && errno != EINTR) return std::nullopt;
    if (ready <= 0) continue;
    const ssize_t n = read(out.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    if (printed.size() + static_cast<std::size_t>(n) > most) return std::nullopt;
    printed.append(buffer, static_cast<std::size_t>(n));
  }
  return child.succeeded() ? std::optional(std::move(printed)) : std::nullopt;
}

}  // namespace lppool::report
