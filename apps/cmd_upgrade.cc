// upgrade: moves LpPool and GlobalLpPool nodes to another opset, or says why that is impossible.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "lppool/upgrade/upgrade.h"
#include "model_files.h"
#include "report.h"

namespace lppool::app {
namespace {

struct Options {
  std::string model, output;
  std::int64_t opset = 0;
};

int run(Globals& globals, const Options& options) {
  if (globals.format == "json" && options.output == "-") fail(ErrorKind::kUsage, "--format json needs -o FILE for the model, because both would go to stdout");
  globals.model = options.model;
  ModelFile file = ModelFile::read(options.model);
  const UpgradePlan plan = plan_upgrade(file.model(), options.opset);
  if (plan.possible() && !options.output.empty()) {
    apply_upgrade(file, plan);
    file.write(options.output);
    warn_of_external_data(file.model(), options.model, options.output);
  }
  if (globals.format == "json") {
    Json notes = Json::array();
    for (const UpgradeNote& note : plan.notes) {
      notes.push_back({{"node", note.node.empty() ? Json(nullptr) : Json(note.node)}, {"blocking", note.blocking}, {"message", note.message}});
    }
    print_json({{"schema_version", kSchemaVersion}, {"model", options.model}, {"old", plan.old_opset}, {"new", plan.new_opset},
                {"possible", plan.possible()}, {"notes", notes}});
  } else if (options.output != "-") {
    std::string text;
    for (const UpgradeNote& note : plan.notes) {
      text += fmt::format("{} {}: {}\n", note.blocking ? paint("impossible", "31;1", globals.color) : "ok", note.node, note.message);
    }
    const std::string answer = !plan.possible()                   ? "not possible"
                               : !options.output.empty()          ? "written to " + options.output
                               : plan.old_opset == plan.new_opset ? "the model is there already"
                                                                  : "possible; write it with -o FILE";
    text += fmt::format("opset {} -> {}: {}\n", plan.old_opset, plan.new_opset, answer);
    print(text);
  }
  return plan.possible() ? 0 : 1;
}

}  // namespace

void add_upgrade(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("upgrade", "Move LpPool and GlobalLpPool nodes to another opset, or say why not");
  verb->footer("\nBoth directions. Other operators are compared by their schemas: one that would change meaning stands in the way.\n"
               "Without -o nothing is written: the answer is whether it is possible (exit 0) or not (exit 1), and why.\n"
               "\nExamples:\n  lppool-cli upgrade old.onnx --opset 22 -o new.onnx\n"
               "  lppool-cli upgrade model.onnx --opset 11");
  verb->add_option("MODEL", options->model, "Model file; '-' reads stdin")->required();
  verb->add_option("--opset", options->opset, "Opset to move to")->required()->type_name("N");
  verb->add_option("-o,--output", options->output, "Write the moved model")->type_name("FILE");
  verb->add_option("--format", r.globals.format, "Form of the answer")->check(CLI::IsMember({"text", "json"}))->type_name("FORMAT");
  verb->callback([r, options] { r.action = [&globals = r.globals, options] { return run(globals, *options); }; });
}

}  // namespace lppool::app
