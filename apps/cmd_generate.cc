// generate: writes the conformance suite for LpPool and GlobalLpPool.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "lppool/base/atomic_file.h"
#include "lppool/base/glob.h"
#include "lppool/base/interrupt.h"
#include "lppool/extract/extract.h"
#include "lppool/generate/suite.h"
#include "lppool/run/session.h"
#include "progress.h"
#include "report.h"

namespace lppool::app {
namespace {

struct Options {
  std::string folder;
  std::vector<std::string> filters;
};

int run(const Globals& globals, const Options& options) {
  const std::filesystem::path root = options.folder;
  std::error_code error;
  if (std::filesystem::exists(root, error) && !std::filesystem::is_empty(root, error)) {
    fail(ErrorKind::kUsage, "{}: the folder exists and is not empty", options.folder);
  }
  Progress progress(globals.quiet);
  Json list = Json::array();
  std::string lines;
  const auto suite = conformance_suite();
  for (std::size_t i = 0; i < suite.size(); ++i) {
    const SuiteCase& entry = suite[i];
    check_interrupt();
    progress.update("generate", i, suite.size(), entry.name);
    const bool wanted = options.filters.empty() || std::ranges::any_of(options.filters, [&](const std::string& glob) { return glob_match(glob, entry.name); });
    if (!wanted) continue;
    ExecutorOptions executor_options;
    executor_options.threads = globals.threads;
    Session session(entry.model, executor_options);
    Model model = entry.model;
    Recording recording = {{"x", Value(entry.input)}, {"y", session.run({{"x", Value(entry.input)}})[0]}};
    model.graph->outputs[0].type.shape.emplace();
    for (const std::int64_t dim : recording["y"].tensor().shape()) model.graph->outputs[0].type.shape->push_back({dim, ""});
    write_case(root / entry.name, model, recording);
    list.push_back({{"name", entry.name}, {"explanation", entry.explanation}});
    lines += fmt::format("| {} | {} |\n", entry.name, entry.explanation);
  }
  progress.clear();
  if (list.empty()) fail(ErrorKind::kUsage, "--filter lets no case through");
  const Json index = {{"schema_version", kSchemaVersion}, {"cases", list}};
  write_file(root / "index.json", index.dump(1) + "\n");
  write_file(root / "README.md", "# Conformance suite for LpPool and GlobalLpPool\n\nOutputs are the exact norms rounded once (float64: within 0.51 ULP).\n\n"
                                 "| case | what it is about |\n|---|---|\n" + lines);
  if (globals.format == "json") print_json(index);
  else print(fmt::format("{} cases in {}\n", list.size(), options.folder));
  return 0;
}

}  // namespace

void add_generate(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("generate", "Write the conformance suite for LpPool and GlobalLpPool");
  verb->footer("\nONNX test folders for every version and type: ranks, padding, SAME, dilations, ceil_mode, NaN, infinity, range.\n"
               "Outputs are correctly rounded; README.md and index.json say what each case is about.\n"
               "\nExamples:\n  lppool-cli generate suite\n  lppool-cli generate suite --filter 'test_globallppool_22_*'");
  verb->add_option("DIR", options->folder, "Folder to write; must be new or empty")->required();
  verb->add_option("--filter", options->filters, "Only cases whose name matches (repeatable)")->type_name("GLOB");
  verb->add_option("--format", r.globals.format, "Form of the answer")->check(CLI::IsMember({"text", "json"}))->type_name("FORMAT");
  verb->callback([r, options] { r.action = [&globals = r.globals, options] { return run(globals, *options); }; });
}

}  // namespace lppool::app
