// extract: nodes with their real inputs and outputs as a ready test folder; or the smallest part that still fails.
#include <fmt/format.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "inputs.h"
#include "lppool/base/interrupt.h"
#include "lppool/extract/extract.h"
#include "lppool/onnx/model_file.h"
#include "progress.h"
#include "report.h"

namespace lppool::app {
namespace {

struct Options {
  std::string model, output, reduce;
  std::vector<std::string> nodes, from, to;
  InputOptions inputs;
};

std::vector<std::size_t> chosen_nodes(const Model& model, const Options& options) {
  if (!options.nodes.empty() && (!options.from.empty() || !options.to.empty())) {
    fail(ErrorKind::kUsage, "--node and --from/--to exclude each other");
  }
  if (!options.to.empty()) return find_between(model, options.from, options.to);
  if (options.nodes.empty()) fail(ErrorKind::kUsage, "say what to cut out: --node NAME, or --to TENSOR with --from TENSOR, or --reduce COMMAND");
  std::vector<std::size_t> nodes;
  for (const std::string& name : options.nodes) {
    for (const std::size_t i : find_nodes(model, name)) nodes.push_back(i);
  }
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

std::vector<std::size_t> range(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> list;
  for (std::size_t i = begin; i < end; ++i) list.push_back(i);
  return list;
}

std::vector<std::size_t> reduced_nodes(const Globals& globals, const Model& model, const Options& options, const Recording& recording) {
  std::string pattern = (std::filesystem::temp_directory_path() / "lppool-reduce-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) fail(ErrorKind::kIo, "no temporary folder can be made");
  const std::filesystem::path scratch = pattern;
  struct Cleaner {
    std::filesystem::path path;
    ~Cleaner() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  } cleaner{scratch};
  Progress progress(globals.quiet);
  int tries = 0;
  const auto fails = [&](std::size_t begin, std::size_t end) {
    check_interrupt();
    const std::filesystem::path folder = scratch / std::to_string(tries++);
    progress.update("reduce", end - begin, model.graph->nodes.size(), "nodes left");
    try {
      write_case(folder, cut(model, range(begin, end), recording), recording);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kRuntime) return false;  // such a part cannot stand alone
      throw;
    }
    const std::string command = fmt::format("{} '{}' >/dev/null 2>&1", options.reduce, folder.string());
    const int status = std::system(command.c_str());
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    if (status == -1 || !WIFEXITED(status)) fail(ErrorKind::kInterrupted, "the command of --reduce was stopped");
    if (WEXITSTATUS(status) == 127) fail(ErrorKind::kUsage, "the command of --reduce cannot be run: {}", options.reduce);
    return WEXITSTATUS(status) == 0;
  };
  const std::size_t count = model.graph->nodes.size();
  if (!fails(0, count)) fail(ErrorKind::kUsage, "the whole model does not fail: the command of --reduce must exit with 0 on it");
  const Reduced reduced = reduce(count, fails);
  return range(reduced.begin, reduced.end);
}

int run(Globals& globals, const Options& options) {
  globals.model = options.model;
  const ModelFile file = ModelFile::read(options.model);
  const Model& model = file.model();
  if (!model.graph) fail(ErrorKind::kParse, "{}: the model has no graph", options.model);
  InputOptions inputs = options.inputs;
  if (inputs.files.empty() && inputs.folder.empty()) inputs.random = true;
  const BoundGraph graph = bind_model(model);
  const bool reducing = !options.reduce.empty();
  std::vector<std::size_t> nodes;
  if (!reducing) nodes = chosen_nodes(model, options);
  const Recording recording = record(model, inputs.read(model, graph), globals.threads);
  if (reducing) nodes = reduced_nodes(globals, model, options, recording);
  const Model part = cut(model, nodes, recording);
  write_case(options.output, part, recording);
  if (globals.format == "json") {
    Json list = Json::array();
    for (const std::size_t i : nodes) list.push_back({{"index", i}, {"name", model.graph->nodes[i].name}, {"op_type", model.graph->nodes[i].op_type}});
    print_json({{"schema_version", kSchemaVersion}, {"model", options.model}, {"folder", options.output}, {"nodes", list},
                {"inputs", part.graph->inputs.size()}, {"outputs", part.graph->outputs.size()}});
    return 0;
  }
  std::string text = fmt::format("{} of {} nodes in {}:\n", nodes.size(), model.graph->nodes.size(), options.output);
  for (const std::size_t i : nodes) text += fmt::format("  {}\n", describe(model.graph->nodes[i], static_cast<std::int64_t>(i)));
  print(text);
  return 0;
}

}  // namespace

void add_extract(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("extract", "Cut out nodes with their real inputs and outputs, as a ready test folder");
  verb->footer("\nThe folder holds model.onnx and test_data_set_0 and runs in 'lppool-cli test', ONNX's runner and ONNX Runtime.\n"
               "Inputs as for run; made up where none are given.\n"
               "--reduce COMMAND runs COMMAND FOLDER on ever smaller parts; exit 0 means: this part still fails.\n"
               "\nExamples:\n  lppool-cli extract model.onnx --node pool1 -o case\n"
               "  lppool-cli extract model.onnx --from x --to features --inputs test_data_set_0 -o case\n"
               "  lppool-cli extract model.onnx --reduce './still_fails.sh' -o smallest");
  verb->add_option("MODEL", options->model, "Model file; '-' reads stdin")->required();
  verb->add_option("--node", options->nodes, "Node to cut out, by its name or an output's (repeatable)")->type_name("NAME");
  verb->add_option("--from", options->from, "Cut begins behind this tensor (repeatable)")->type_name("TENSOR");
  verb->add_option("--to", options->to, "Cut ends with this tensor (repeatable)")->type_name("TENSOR");
  verb->add_option("--reduce", options->reduce, "Command that exits with 0 while a part still fails")->type_name("COMMAND");
  verb->add_option("-o,--output", options->output, "Folder to write; must be new or empty")->required()->type_name("DIR");
  options->inputs.declare(*verb);
  verb->add_option("--format", r.globals.format, "Form of the answer")->check(CLI::IsMember({"text", "json"}))->type_name("FORMAT");
  verb->callback([r, options] { r.action = [&globals = r.globals, options] { return run(globals, *options); }; });
}

}  // namespace lppool::app
