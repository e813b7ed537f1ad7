#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace lppool::app {

// A line on stderr for work that lasts: shown after a second, only on a terminal, never under CI or --quiet, gone when the
// work ends. Not thread safe.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  // "run: 12/120 pool1": cheap to call often.
  void update(std::string_view what, std::size_t done, std::size_t total, std::string_view detail = "");
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point begin_, last_;
};

}  // namespace lppool::app
