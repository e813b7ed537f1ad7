#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

// The verbs, listed in verbs.def. Each has one file, cmd_<verb>.cc, that declares its options on a subcommand and sets `action` to what is to
// be done; main.cc runs the action and maps what it throws to an exit code. An action returns 0 (the answer is yes) or 1.
namespace lppool::app {

// Options that every verb has.
struct Globals {
  int threads = 0;  // resolved to >= 1 before an action runs
  bool quiet = false;
  bool color = false;        // resolved: stdout may be coloured
  bool color_error = false;  // and stderr
  std::string log_level = "info";
  std::string color_mode = "auto";
  std::string format = "text";  // of the verb being run; main reports errors as JSON where it is "json"
  std::string model;            // the file being worked on, for errors in JSON
};

struct Registration {
  CLI::App& root;
  Globals& globals;
  std::function<int()>& action;
};

#define VERB(name) void add_##name(const Registration& r);
#include "verbs.def"
#undef VERB

}  // namespace lppool::app
