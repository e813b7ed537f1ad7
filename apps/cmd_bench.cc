// bench: times a model and each of its nodes, loading left out.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "commands.h"
#include "inputs.h"
#include "lppool/onnx/model_file.h"
#include "lppool/run/session.h"
#include "lppool/tensor/memory.h"
#include "lppool/tensor/value_bytes.h"
#include "progress.h"
#include "report.h"

namespace lppool::app {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string model;
  InputOptions inputs;
  int runs = 20, warmup = 3;
};

struct NodeTimes {
  std::string label, op_type;
  std::vector<double> seconds;
  std::size_t bytes = 0;  // of inputs and outputs
};

// Collects the time of each node of the main graph; a subgraph's time counts for the node that has it. Bytes are counted in
// one run of their own: holding on to inputs would keep kernels from working in place.
class Timer final : public RunObserver {
 public:
  explicit Timer(bool count_bytes) : count_bytes_(count_bytes) {}
  bool keep_inputs() const override { return count_bytes_; }
  void on_node(const NodeEvent& event) override {
    if (!event.path.empty() || event.folded) return;
    if (position_ == nodes.size()) nodes.push_back({event.node.label, event.node.node.op_type, {}, 0});
    NodeTimes& node = nodes[position_++];
    if (count_bytes_) {
      for (const Value& v : event.inputs) node.bytes += bytes_of(v);
      for (const Value& v : event.outputs) node.bytes += bytes_of(v);
    } else {
      node.seconds.push_back(event.seconds);
    }
  }
  void next_run() { position_ = 0; }
  void time(bool on) { count_bytes_ = !on; }

  std::vector<NodeTimes> nodes;

 private:
  bool count_bytes_;
  std::size_t position_ = 0;
};

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto at = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  return values[at];
}

int run(Globals& globals, Options& options) {
  globals.model = options.model;
  const ModelFile file = ModelFile::read(options.model);
  if (!file.model().graph) fail(ErrorKind::kParse, "{}: the model has no graph", options.model);
  if (options.inputs.files.empty() && options.inputs.folder.empty()) options.inputs.random = true;
  ExecutorOptions executor_options;
  executor_options.threads = globals.threads;
  for (const std::string& name : options.inputs.fed_names()) executor_options.request.fed.insert(name);
  Session session(file.model(), executor_options);
  const std::map<std::string, Value> inputs = options.inputs.read(file.model(), session.graph());

  Progress progress(globals.quiet);
  Timer timer(true);
  memory::reset_peak();
  session.run(inputs, &timer);
  timer.time(true);
  for (int i = 1; i < options.warmup; ++i) session.run(inputs);
  // Whole runs are timed without an observer; nodes in runs of their own, in turn.
  std::vector<double> totals;
  for (int i = 0; i < options.runs; ++i) {
    progress.update("bench", static_cast<std::size_t>(i), static_cast<std::size_t>(options.runs));
    const auto begin = Clock::now();
    session.run(inputs);
    totals.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    timer.next_run();
    session.run(inputs, &timer);
  }
  progress.clear();

  const double min = quantile(totals, 0), median = quantile(totals, 0.5), p95 = quantile(totals, 0.95);
  if (globals.format == "json") {
    Json nodes = Json::array();
    for (const NodeTimes& node : timer.nodes) {
      const double ms = quantile(node.seconds, 0.5) * 1e3;
      nodes.push_back({{"name", node.label}, {"op_type", node.op_type}, {"median_ms", ms}, {"p95_ms", quantile(node.seconds, 0.95) * 1e3},
                       {"bytes", node.bytes}, {"gb_per_s", ms > 0 ? static_cast<double>(node.bytes) / ms / 1e6 : 0}});
    }
    print_json({{"schema_version", kSchemaVersion}, {"model", options.model}, {"threads", globals.threads}, {"runs", options.runs},
                {"total_ms", {{"min", min}, {"median", median}, {"p95", p95}}}, {"peak_bytes", memory::peak()}, {"nodes", nodes}});
    return 0;
  }
  std::string text = fmt::format("{}: {} runs, {} thread{}: min {:.4g} ms, median {:.4g} ms, p95 {:.4g} ms\n\n", options.model, options.runs,
                                 globals.threads, globals.threads == 1 ? "" : "s", min, median, p95);
  double sum = 0;
  for (const NodeTimes& node : timer.nodes) sum += quantile(node.seconds, 0.5);
  std::vector<const NodeTimes*> slowest;
  for (const NodeTimes& node : timer.nodes) slowest.push_back(&node);
  std::ranges::stable_sort(slowest, std::greater<>(), [](const NodeTimes* n) { return quantile(n->seconds, 0.5); });
  text += fmt::format("{:<32} {:<20} {:>12} {:>12} {:>7} {:>8}\n", "node", "operator", "median ms", "p95 ms", "share", "GB/s");
  for (const NodeTimes* node : slowest) {
    const double seconds = quantile(node->seconds, 0.5);
    text += fmt::format("{:<32} {:<20} {:>12.4g} {:>12.4g} {:>6.1f}% {:>8.3g}\n", node->label.substr(0, 32), node->op_type, seconds * 1e3,
                        quantile(node->seconds, 0.95) * 1e3, sum > 0 ? seconds / sum * 100 : 0,
                        seconds > 0 ? static_cast<double>(node->bytes) / seconds / 1e9 : 0);
  }
  print(text);
  return 0;
}

}  // namespace

void add_bench(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("bench", "Time a model and each of its nodes");
  verb->footer("\nTimes leave out loading. GB/s counts the bytes of a node's inputs and outputs once.\n"
               "\nExamples:\n  lppool-cli bench model.onnx --dim N=1 --runs 50\n"
               "  lppool-cli bench model.onnx -i x=x.npy --threads 1 --format json");
  verb->add_option("MODEL", options->model, "Model file; '-' reads stdin")->required();
  options->inputs.declare(*verb);
  verb->add_option("--runs", options->runs, "Counted runs")->check(CLI::Range(1, 1000000))->type_name("N")->capture_default_str();
  verb->add_option("--warmup", options->warmup, "Runs before them")->check(CLI::Range(0, 1000000))->type_name("N")->capture_default_str();
  verb->add_option("--format", r.globals.format, "Form of the answer")->check(CLI::IsMember({"text", "json"}))->type_name("FORMAT");
  verb->callback([r, options] { r.action = [&globals = r.globals, options] { return run(globals, *options); }; });
}

}  // namespace lppool::app
