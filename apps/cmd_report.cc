// report: one HTML page about a model and a run of it.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <chrono>
#include <memory>

#include "commands.h"
#include "inputs.h"
#include "lppool/base/atomic_file.h"
#include "lppool/check/check.h"
#include "lppool/onnx/model_file.h"
#include "lppool/report/page.h"
#include "lppool/run/session.h"
#include "lppool/tensor/memory.h"
#include "progress.h"
#include "report.h"
#include "suggest.h"

namespace lppool::app {
namespace {

using Clock = std::chrono::steady_clock;

// Timing ends after this long even where more runs were asked for by default.
constexpr std::chrono::seconds kPatience{10};

struct Options {
  std::string model, output = "-";
  InputOptions inputs;
  int runs = 5;
  bool runs_given = false, no_run = false;
  std::int64_t time_limit = 0, memory_limit = 0;
};

// What came of the attempt to run the model: a record, or the error that left none.
struct Attempt {
  std::optional<report::RunRecord> record;
  std::optional<Error> error;
};

std::string source_of(const InputOptions& inputs) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!inputs.folder.empty()) add(inputs.folder);
  for (const std::string& file : inputs.files) add(file);
  for (const std::string& feed : inputs.feeds) add("fed " + feed);
  if (inputs.random) add(fmt::format("random, seed {}", inputs.seed.value_or(0)));
  return text;
}

void run_and_record(const Globals& globals, const Options& options, Session& session, const std::map<std::string, Value>& inputs, report::RunRecord& record) {
  Progress progress(globals.quiet);
  report::Recorder recorder(session.graph(), record);
  recorder.add_inputs(inputs);
  progress.update("report", 0, static_cast<std::size_t>(options.runs) + 1, "tensors");
  const auto begin = Clock::now();
  session.run(inputs, &recorder);
  recorder.time_only();
  for (int i = 0; i < options.runs; ++i) {
    if (i > 0 && !options.runs_given && Clock::now() - begin > kPatience) break;
    progress.update("report", static_cast<std::size_t>(i) + 1, static_cast<std::size_t>(options.runs) + 1, "times");
    const auto start = Clock::now();
    session.run(inputs);
    record.totals.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    session.run(inputs, &recorder);
  }
}

Attempt attempt_run(const Globals& globals, Options& options, const Model& model, const BoundGraph& shown) {
  Attempt attempt;
  const bool asked = options.inputs.given();
  if (!asked) options.inputs.random = true;
  std::optional<Session> session;
  std::map<std::string, Value> inputs;
  bool reading = false;
  try {
    ExecutorOptions executor_options;
    executor_options.threads = globals.threads;
    executor_options.time_limit = std::chrono::milliseconds(options.time_limit * 1000);
    executor_options.request.keep_all = true;
    for (const std::string& name : options.inputs.fed_names()) executor_options.request.fed.insert(name);
    session.emplace(model, executor_options);
    reading = true;
    inputs = options.inputs.read(model, session->graph());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted || (reading && asked)) throw;
    attempt.error = error;
    return attempt;
  }
  report::RunRecord& record = attempt.record.emplace();
  record.source = source_of(options.inputs);
  record.threads = globals.threads;
  try {
    run_and_record(globals, options, *session, inputs, record);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted) throw;
    attempt.error = error;
    record.failure = error.what();
  }
  // The session has bound the model anew: the same nodes in the same order.
  if (session->graph().nodes.size() != shown.nodes.size()) fail(ErrorKind::kDefect, "two bindings of one model differ");
  return attempt;
}

int run(Globals& globals, Options& options) {
  if (globals.format == "json" && options.output == "-") fail(ErrorKind::kUsage, "--format json needs -o FILE for the page, because both would go to stdout");
  globals.model = options.model;
  std::error_code none;
  if (std::filesystem::equivalent(options.model, options.output, none)) fail(ErrorKind::kUsage, "-o {} is the model, which the page would replace", options.output);
  if (options.memory_limit > 0) memory::set_limit(static_cast<std::size_t>(options.memory_limit));
  const ModelFile file = ModelFile::read(options.model);
  const Model& model = file.model();
  if (!model.graph) fail(ErrorKind::kParse, "{}: the model has no graph", options.model);
  const Diagnostics findings = check_model(model);
  const BoundGraph graph = bind_model(model);
  InferOptions infer_options = options.inputs.shapes.resolve();
  infer_options.explain = true;
  const InferResult types = infer_shapes(graph, infer_options);
  const bool asked = options.inputs.given();
  Attempt attempt;
  if (!options.no_run) attempt = attempt_run(globals, options, model, graph);

  report::PageContents page;
  page.file = options.model == "-" ? "standard input" : options.model;
  page.program = "lppool-cli " LPPOOL_VERSION;
  page.model = &model;
  page.graph = &graph;
  page.types = &types;
  page.findings = &findings;
  if (attempt.record) page.run = &*attempt.record;
  else if (attempt.error) page.not_run = attempt.error->what();
  const std::string html = report::html_page(page);
  if (options.output == "-") print(html);
  else write_file(options.output, html);

  const auto errors = static_cast<std::size_t>(std::ranges::count(findings, Severity::kError, &Diagnostic::severity));
  // Without inputs nobody asked for a run: the page says what became of it, and that is no failure.
  const bool failed = attempt.error && (asked || attempt.error->kind() == ErrorKind::kLimit);
  if (globals.format == "json") {
    Json document = {{"schema_version", kSchemaVersion}, {"model", options.model}, {"file", options.output}, {"bytes", html.size()},
                     {"nodes", graph.nodes.size()}, {"errors", errors}, {"findings", findings.size()}, {"ran", attempt.record && !attempt.error}};
    if (attempt.error) document[failed ? "error" : "not_run"] = fmt::format("{}: {}", options.model, attempt.error->what());
    print_json(document);
  }
  if (failed) spdlog::error("{}: {}", options.model, one_line(attempt.error->what()));
  else if (attempt.error) spdlog::warn("{}: not run{}: {}", options.model, attempt.record ? " to its end" : "", one_line(attempt.error->what()));
  if (options.output != "-") spdlog::info("{} bytes written to {}", html.size(), options.output);
  if (failed) return exit_code(attempt.error->kind());
  return errors > 0 ? 1 : 0;
}

}  // namespace

void add_report(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("report", "Write one self-contained HTML page: graph, shapes, timings, tensors");
  verb->footer(
      "\nThe page shows what the model is, the checker's findings, the graph with shapes on its edges (laid out by Graphviz' dot\n"
      "where it is installed), where the time goes, and for each node attributes, statistics, a histogram and a heat map of its\n"
      "outputs; for LpPool and GlobalLpPool the window of one output. It needs no network and no script.\n"
      "\nThe model is run on the inputs given, else on made-up ones; where shapes are not known for that, or an operator cannot\n"
      "be run, the page says so and shows the rest. Exit code: 0, or 1 where the checker finds errors, or the code of a run that\n"
      "failed on inputs given or for a limit. The page is written in all these cases.\n"
      "\nExamples:\n"
      "  lppool-cli report model.onnx -o model.html\n"
      "  lppool-cli report model.onnx --dim N=1 -o model.html           binds a symbolic dimension\n"
      "  lppool-cli report model.onnx -i x=x.npy --runs 20 -o model.html\n"
      "  lppool-cli report model.onnx --no-run > model.html             the model alone");
  verb->add_option("MODEL", options->model, "Model file; '-' reads stdin")->required();
  options->inputs.declare(*verb);
  verb->add_option("-o,--output", options->output, "File for the page; '-' is stdout")->type_name("FILE")->capture_default_str();
  CLI::Option* runs = verb->add_option("--runs", options->runs, "Runs whose times are taken, after the one that shows tensors")
                          ->check(CLI::Range(0, 1000000))->type_name("N")->capture_default_str();
  verb->add_flag("--no-run", options->no_run, "Do not run the model");
  verb->add_option("--time-limit", options->time_limit, "End a run after so many seconds")->check(CLI::PositiveNumber)->type_name("S");
  verb->add_option("--memory-limit", options->memory_limit, "End a run before tensors hold more bytes than this")
      ->transform(CLI::AsSizeValue(false))->type_name("BYTES");
  verb->add_option("--format", r.globals.format, "json: what was written, on stdout")->check(CLI::IsMember({"text", "json"}))->type_name("FORMAT");
  verb->callback([r, options, runs] {
    options->runs_given = runs->count() > 0;
    r.action = [&globals = r.globals, options] { return run(globals, *options); };
  });
}

}  // namespace lppool::app
