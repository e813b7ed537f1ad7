// test: runs ONNX backend test folders, found recursively, several at a time.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "ci_formats.h"
#include "commands.h"
#include "lppool/base/glob.h"
#include "lppool/base/interrupt.h"
#include "lppool/conformance/backend_case.h"
#include "progress.h"
#include "report.h"

namespace lppool::app {
namespace {

struct Options {
  std::vector<std::string> paths, filters;
  std::optional<double> rtol, atol;
  std::optional<std::uint64_t> ulp;
  std::string shard, expect_fail;
  int jobs = 0;
};

// What one case means for the answer, once expectations are applied.
enum class Verdict { kPassed, kFailed, kSkipped, kExpectedFailure, kUnexpectedPass };

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed: return "passed";
    case Verdict::kFailed: return "failed";
    case Verdict::kSkipped: return "skipped";
    case Verdict::kExpectedFailure: return "expected_failure";
    case Verdict::kUnexpectedPass: return "unexpected_pass";
  }
  return "";
}

struct Outcome {
  CaseResult result;
  Verdict verdict = Verdict::kFailed;
};

// Names, one a line; # starts a comment. A name may be a glob.
std::vector<std::string> read_expected_failures(const std::string& path) {
  std::vector<std::string> names;
  if (path.empty()) return names;
  std::ifstream file(path);
  if (!file) fail(ErrorKind::kIo, "{}: cannot be read", path);
  for (std::string line; std::getline(file, line);) {
    line = line.substr(0, line.find('#'));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front()))) line.erase(0, 1);
    if (!line.empty()) names.push_back(line);
  }
  return names;
}

std::string name_of(const std::filesystem::path& path) { return (path.filename().empty() ? path.parent_path() : path).filename().string(); }

// A name that no case has is a typing error, or a case that is gone.
void warn_of_unknown(const std::vector<std::string>& expected, const std::vector<std::filesystem::path>& cases, const std::string& file) {
  for (const std::string& glob : expected) {
    if (std::ranges::none_of(cases, [&](const auto& path) { return glob_match(glob, name_of(path)); })) {
      spdlog::warn("{}: no case is called '{}'", file, glob);
    }
  }
}

// Throws kUsage where there is nothing to run; a shard may get nothing.
std::vector<std::filesystem::path> select(const Options& options, const std::vector<std::string>& expected) {
  std::vector<std::filesystem::path> cases;
  for (const std::string& path : options.paths) {
    for (auto& found : find_cases(path)) cases.push_back(std::move(found));
  }
  warn_of_unknown(expected, cases, options.expect_fail);
  std::erase_if(cases, [&](const std::filesystem::path& path) {
    const std::string name = name_of(path);
    return !options.filters.empty() &&
           std::ranges::none_of(options.filters, [&](const std::string& glob) { return glob_match(glob, name); });
  });
  if (cases.empty()) {
    fail(ErrorKind::kUsage, "no test folder (model.onnx beside test_data_set_0) found{}", options.filters.empty() ? "" : " that --filter lets through");
  }
  if (options.shard.empty()) return cases;
  std::size_t index = 0, count = 0;
  char rest = 0;
  if (std::sscanf(options.shard.c_str(), "%zu/%zu%c", &index, &count, &rest) != 2 || index < 1 || index > count) {
    fail(ErrorKind::kUsage, "--shard is '{}', expected I/N with 1 <= I <= N", options.shard);
  }
  std::vector<std::filesystem::path> mine;
  for (std::size_t i = index - 1; i < cases.size(); i += count) mine.push_back(cases[i]);
  return mine;
}

std::vector<Outcome> run_all(const Globals& globals, const Options& options, const std::vector<std::string>& expected,
                             const std::vector<std::filesystem::path>& cases) {
  CaseOptions case_options{options.rtol, options.atol, options.ulp, 1};
  const int jobs = std::max(1, options.jobs > 0 ? options.jobs : globals.threads);
  // Few cases: the threads go into the cases themselves.
  if (cases.size() < static_cast<std::size_t>(jobs)) case_options.threads = globals.threads;
  std::vector<Outcome> outcomes(cases.size());
  std::atomic<std::size_t> next{0}, done{0};
  std::mutex mutex;
  std::exception_ptr stopped;
  Progress progress(globals.quiet);
  const auto work = [&](bool shows) {
    try {
      for (std::size_t i = next++; i < cases.size(); i = next++) {
        check_interrupt();
        Outcome& outcome = outcomes[i];
        outcome.result = run_case(cases[i], case_options);
        const bool known = std::ranges::any_of(expected, [&](const std::string& glob) { return glob_match(glob, outcome.result.name); });
        switch (outcome.result.status) {
          case CaseStatus::kPassed:
            outcome.verdict = known ? Verdict::kUnexpectedPass : Verdict::kPassed;
            if (known) outcome.result.message = "passed, but is listed as failing";
            break;
          case CaseStatus::kFailed: outcome.verdict = known ? Verdict::kExpectedFailure : Verdict::kFailed; break;
          case CaseStatus::kSkipped: outcome.verdict = Verdict::kSkipped; break;
        }
        ++done;
        if (shows) progress.update("test", done, cases.size(), outcome.result.name);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      stopped = std::current_exception();
      next = cases.size();
    }
  };
  std::vector<std::jthread> workers;
  for (int j = 1; j < jobs && static_cast<std::size_t>(j) < cases.size(); ++j) workers.emplace_back(work, false);
  work(true);
  workers.clear();
  if (stopped) std::rethrow_exception(stopped);
  return outcomes;
}

std::string junit(const std::vector<Outcome>& outcomes) {
  std::vector<JunitCase> cases;
  for (const Outcome& o : outcomes) {
    JunitCase entry;
    entry.classname = o.result.path.parent_path().string();
    entry.name = o.result.name;
    entry.seconds = o.result.seconds;
    entry.message = o.result.message;
    switch (o.verdict) {
      case Verdict::kPassed: break;
      case Verdict::kFailed:
      case Verdict::kUnexpectedPass:
        entry.outcome = JunitCase::Outcome::kFailed;
        break;
      case Verdict::kSkipped: entry.outcome = JunitCase::Outcome::kSkipped; break;
      case Verdict::kExpectedFailure:
        entry.outcome = JunitCase::Outcome::kSkipped;
        entry.message = "fails as expected: " + entry.message;
        break;
    }
    cases.push_back(std::move(entry));
  }
  return junit_document("lppool-cli test", cases);
}

// What comes after # is a directive.
std::string tap_name(const std::string& name) {
  std::string text;
  for (const char c : name) text += c == '#' ? "\\#" : std::string(1, c);
  return text;
}

std::string tap(const std::vector<Outcome>& outcomes) {
  std::string text = fmt::format("TAP version 13\n1..{}\n", outcomes.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& o = outcomes[i];
    const bool good = o.verdict == Verdict::kPassed || o.verdict == Verdict::kSkipped;
    text += fmt::format("{} {} - {}", good ? "ok" : "not ok", i + 1, tap_name(o.result.name));
    if (o.verdict == Verdict::kSkipped) text += fmt::format(" # SKIP {}", o.result.message);
    if (o.verdict == Verdict::kExpectedFailure) text += fmt::format(" # TODO {}", o.result.message);
    if (o.verdict == Verdict::kFailed || o.verdict == Verdict::kUnexpectedPass) text += fmt::format("\n# {}", o.result.message);
    text += "\n";
  }
  return text;
}

int run(const Globals& globals, const Options& options) {
  const std::vector<std::string> expected_failures = read_expected_failures(options.expect_fail);
  const auto cases = select(options, expected_failures);
  const std::vector<Outcome> outcomes = run_all(globals, options, expected_failures, cases);
  const auto count = [&](Verdict v) { return static_cast<std::size_t>(std::ranges::count(outcomes, v, &Outcome::verdict)); };
  const std::size_t passed = count(Verdict::kPassed), failed = count(Verdict::kFailed) + count(Verdict::kUnexpectedPass);
  const std::size_t skipped = count(Verdict::kSkipped), expected = count(Verdict::kExpectedFailure);
  if (globals.format == "json") {
    Json list = Json::array();
    for (const Outcome& o : outcomes) {
      list.push_back({{"name", o.result.name}, {"status", verdict_name(o.verdict)}, {"seconds", o.result.seconds}, {"message", o.result.message}});
    }
    print_json({{"schema_version", kSchemaVersion}, {"passed", passed}, {"failed", failed}, {"skipped", skipped}, {"expected_failures", expected}, {"cases", list}});
  } else if (globals.format == "junit") {
    print(junit(outcomes));
  } else if (globals.format == "tap") {
    print(tap(outcomes));
  } else {
    std::string text;
    for (const Outcome& o : outcomes) {
      if (o.verdict == Verdict::kPassed) continue;
      const std::string_view sgr = o.verdict == Verdict::kSkipped || o.verdict == Verdict::kExpectedFailure ? "33" : "31;1";
      text += fmt::format("{} {}: {}\n", paint(verdict_name(o.verdict), sgr, globals.color), o.result.name, o.result.message);
    }
    text += fmt::format("{} passed, {} failed, {} skipped", passed, failed, skipped);
    if (expected > 0) text += fmt::format(", {} failed as expected", expected);
    print(text + "\n");
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace

void add_test(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("test", "Run ONNX test folders (model.onnx beside test_data_set_N/), found recursively");
  verb->footer("\nA case that needs an unsupported operator is skipped and counted apart. A file tolerance.json in a case's folder\n"
               "({\"rtol\": 1e-5, \"atol\": 0, \"ulp\": 1}) replaces the default tolerance of ONNX's runner.\n"
               "\nExamples:\n  lppool-cli test backend/node --filter 'test_lppool*'\n"
               "  lppool-cli test suite --jobs 4 --format junit > report.xml\n"
               "  lppool-cli test suite --shard 1/3 --expect-fail known.txt");
  verb->add_option("PATH", options->paths, "Test folders, or folders that hold them")->required();
  verb->add_option("--filter", options->filters, "Only cases whose name matches (repeatable)")->type_name("GLOB");
  verb->add_option("--rtol", options->rtol, "Relative tolerance (default 1e-3)")->check(CLI::NonNegativeNumber)->type_name("X");
  verb->add_option("--atol", options->atol, "Absolute tolerance (default 1e-7)")->check(CLI::NonNegativeNumber)->type_name("X");
  verb->add_option("--ulp", options->ulp, "Floats may be this many representable values apart, instead")->check(CLI::NonNegativeNumber)->type_name("N");
  verb->add_option("--shard", options->shard, "Only every Nth case, beginning with the Ith")->type_name("I/N");
  verb->add_option("--expect-fail", options->expect_fail, "File with names of cases known to fail, one a line; globs, and # for comments")->type_name("FILE");
  verb->add_option("--jobs", options->jobs, "Cases run at a time (default: --threads)")->check(CLI::Range(1, 1024))->type_name("N");
  verb->add_option("--format", r.globals.format, "Form of the answer")->check(CLI::IsMember({"text", "json", "junit", "tap"}))->type_name("FORMAT");
  verb->callback([r, options] { r.action = [&globals = r.globals, options] { return run(globals, *options); }; });
}

}  // namespace lppool::app
