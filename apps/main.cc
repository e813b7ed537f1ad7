// lppool-cli: builds the command tree, runs one verb, maps what it throws to an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <new>
#include <sstream>

#include "commands.h"
#include "lppool/base/error.h"
#include "lppool/base/interrupt.h"
#include "report.h"
#include "suggest.h"

namespace {

using namespace lppool;
using namespace lppool::app;

constexpr const char* kDescription =
    "Loads ONNX models, checks them against the schemas of their opset, infers shapes, runs them on the CPU and writes\n"
    "tensors - with LpPool and GlobalLpPool right to the last bit.";
constexpr const char* kFooter =
    "\nExamples:\n"
    "  lppool-cli check model.onnx                       all findings at once\n"
    "  lppool-cli infer model.onnx --dim N=1             shapes of every tensor\n"
    "  lppool-cli run model.onnx -i x=x.npy -o out       run, write out/<tensor>.npy\n"
    "  lppool-cli run model.onnx --random --dump inner   every intermediate tensor, too\n"
    "\nExit codes: 0 yes; 1 no (findings, differences, failed tests); 2 wrong command line; 3 a file cannot be read or\n"
    "written; 4 a file is not what it should be; 5 valid but not supported here; 6 a limit was hit; 7 the model cannot be\n"
    "executed as given; 70 a defect in lppool-cli; 130 interrupted.";

void on_interrupt(int) { request_interrupt(); }

// A stream that the caller closed would give its number to the next file opened, and messages would end up in an output file.
void keep_streams_open() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    // Writing to a closed stdout stays an error.
    const int opened = open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (opened >= 0 && opened != number) close(opened);
  }
}

bool coloured(const std::string& mode, int stream) {
  if (mode != "auto") return mode == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && isatty(stream) != 0;
}

void set_up(Globals& globals) {
  if (globals.threads <= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    globals.threads = sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
  }
  globals.color = coloured(globals.color_mode, STDOUT_FILENO);
  globals.color_error = coloured(globals.color_mode, STDERR_FILENO);
  auto logger = spdlog::stderr_color_mt("lppool", globals.color_error ? spdlog::color_mode::always : spdlog::color_mode::never);
  logger->set_error_handler([](const std::string&) {});  // stderr is full or gone
  logger->set_pattern("%^%l%$: %v");
  spdlog::set_default_logger(logger);
  spdlog::set_level(globals.quiet ? spdlog::level::err : spdlog::level::from_str(globals.log_level));
}

int report_error(const Globals& globals, int code, std::string message) {
  // Deeper layers know the node but not always the file.
  const bool named = globals.model.empty() || globals.model == "-" || message.find(globals.model) != std::string::npos;
  if (!named) message = fmt::format("{}: {}", globals.model, message);
  if (globals.format == "json") {
    Json document = {{"schema_version", kSchemaVersion}};
    if (!globals.model.empty()) document["model"] = globals.model;
    document["error"] = message;
    try {
      print_json(document);
    } catch (const Error&) {  // stdout is gone; stderr still says it
    }
  }
  print_error(fmt::format("{}: {}\n", paint("error", "31;1", globals.color_error), one_line(message)));
  return code;
}

int run_action(const Globals& globals, const std::function<int()>& action) {
  try {
    return action();
  } catch (const Error& error) {
    return report_error(globals, exit_code(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return report_error(globals, exit_code(ErrorKind::kLimit), "out of memory");
  } catch (const std::exception& error) {
    return report_error(globals, exit_code(ErrorKind::kDefect), fmt::format("a defect in lppool-cli: {}", error.what()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  keep_streams_open();
  CLI::App root(kDescription, "lppool-cli");
  root.footer(kFooter);
  root.set_version_flag("--version", "lppool-cli " LPPOOL_VERSION);
  root.require_subcommand(0, 1);
  root.fallthrough();
  Globals globals;
  std::function<int()> action;
  root.add_option("--threads", globals.threads, "Threads to use (default: the cores this process may use)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  root.add_flag("--quiet", globals.quiet, "Errors only on stderr: no warnings, no progress");
  root.add_option("--log-level", globals.log_level, "Least level of log lines on stderr")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "critical", "off"}))
      ->type_name("LEVEL");
  root.add_option("--color", globals.color_mode, "When to colour (NO_COLOR is honoured)")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  const Registration registration{root, globals, action};
#define VERB(name) add_##name(registration);
#include "verbs.def"
#undef VERB

  // A repeatable option takes one value each time, or it would swallow the file names that follow it.
  for (CLI::App* verb : root.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : verb->get_options()) {
      if (!option->get_positional() && option->get_items_expected_max() > 1) option->allow_extra_args(false);
    }
  }

  // A wrong verb is best named before anything else is made of the command line.
  if (const auto problem = unknown_verb(root, argc, argv)) {
    print_error(fmt::format("error: {}\n", *problem));
    return exit_code(ErrorKind::kUsage);
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      root.exit(error, text, text);
      return run_action(globals, [&] { return print(text.str()), 0; });
    }
    globals.format = asked_for_json(argc, argv) ? "json" : "text";
    return report_error(globals, exit_code(ErrorKind::kUsage), usage_message(root, error));
  }
  if (!action) {
    return run_action(globals, [&] { return print(root.help()), argc > 1 ? exit_code(ErrorKind::kUsage) : 0; });
  }

  struct sigaction handler = {};
  handler.sa_handler = on_interrupt;
  handler.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Ctrl-C ends the process at once
  sigaction(SIGINT, &handler, nullptr);
  sigaction(SIGTERM, &handler, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a closed pipe becomes a write error

  set_up(globals);
  return run_action(globals, action);
}
