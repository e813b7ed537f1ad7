#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "lppool/base/text.h"
#include "report.h"

namespace lppool::app {

Progress::Progress(bool quiet)
    : enabled_(!quiet && isatty(STDERR_FILENO) != 0 && std::getenv("CI") == nullptr), begin_(Clock::now()), last_(begin_) {}

Progress::~Progress() { clear(); }

void Progress::update(std::string_view what, std::size_t done, std::size_t total, std::string_view detail) {
  if (!enabled_) return;
  const auto now = Clock::now();
  if (now - begin_ < std::chrono::seconds(1) || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  shown_ = true;
  print_error(fmt::format("\r\033[K{}: {}/{} {}", what, done, total, printable(detail, 60)));
  std::fflush(stderr);
}

void Progress::clear() {
  if (!shown_) return;
  print_error("\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace lppool::app
