#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lppool::report {

// Runs a program found on the PATH, without a shell, with `input` as its standard input and its stderr thrown away. Returns
// what it printed; empty where it cannot be started, does not end with 0, takes longer than `limit` or prints more than `most`
// bytes (it is then ended). Throws kInterrupted where the user asks to stop.
std::optional<std::string> run_program(const std::vector<std::string>& command, std::string_view input,
                                       std::chrono::milliseconds limit, std::size_t most);

}  // namespace lppool::report
