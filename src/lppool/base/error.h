#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace lppool {

// Why a call could not deliver. Each kind is one exit code of the program (README, "Exit codes").
enum class ErrorKind {
  kUsage,         // 2: the request itself makes no sense
  kIo,            // 3: a file cannot be read or written
  kParse,         // 4: a file is not what it should be
  kUnsupported,   // 5: valid, but not implemented here
  kLimit,         // 6: a limit was hit before anything was allocated for it
  kRuntime,       // 7: the model cannot be executed as given
  kDefect,        // 70: a fault in lppool itself
  kInterrupted,   // 130
};

int exit_code(ErrorKind kind);

// The one exception class of the library. `what()` is one line for people: it names the thing, the value seen and the
// value expected. Operators describe the problem only; the stage that called them adds the node (see with_context).
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

  // The same error with "context: " put before its message.
  Error with_context(std::string_view context) const { return Error(kind_, fmt::format("{}: {}", context, what())); }

 private:
  ErrorKind kind_;
};

// Throws Error(kind, formatted message).
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace lppool
