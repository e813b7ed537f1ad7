// check: whether models follow the ONNX specification, with every finding of each in one pass.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "check_report.h"
#include "commands.h"
#include "lppool/base/interrupt.h"
#include "lppool/base/text.h"
#include "lppool/check/check.h"
#include "lppool/check/codes.h"
#include "lppool/onnx/model_file.h"
#include "model_files.h"
#include "report.h"
#include "suggest.h"

namespace lppool::app {
namespace {

struct Options {
  std::vector<std::string> models;
  std::string fail_on = "error", explain;
  bool list_codes = false, portability = false;
};

int list_codes(const Globals& globals) {
  if (globals.format == "json") {
    Json codes = Json::array();
    for (const CodeInfo& info : all_codes()) {
      codes.push_back({{"code", info.code}, {"severity", name(info.severity)}, {"title", info.title}});
    }
    print_json({{"schema_version", kSchemaVersion}, {"codes", codes}});
    return 0;
  }
  std::string text;
  for (const CodeInfo& info : all_codes()) text += fmt::format("{}  {:<8} {}\n", info.code, name(info.severity), info.title);
  print(text);
  return 0;
}

int explain(const Globals& globals, const std::string& code) {
  const CodeInfo* info = find_code(code);
  if (info == nullptr) {
    std::vector<std::string_view> codes;
    for (const CodeInfo& each : all_codes()) codes.push_back(each.code);
    const auto near = lppool::nearest(code, codes);
    fail(ErrorKind::kUsage, "no code '{}'{}", code,
         near ? fmt::format(", did you mean '{}'?", *near) : "; 'lppool-cli check --list-codes' lists all");
  }
  if (globals.format == "json") {
    print_json({{"schema_version", kSchemaVersion},
                {"code", info->code},
                {"severity", name(info->severity)},
                {"title", info->title},
                {"explanation", info->explanation},
                {"bad", info->bad},
                {"good", info->good}});
  } else {
    print(explain_code(*info));
  }
  return 0;
}

CheckedModel check_one(const std::string& file, const CheckOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  CheckedModel result;
  result.file = file;
  try {
    // The model goes before the next one comes: memory holds one for each thread, and the findings of all.
    result.findings = check_model(ModelFile::read(file).model(), options);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted) throw;
    result.error = error;
  } catch (const std::bad_alloc&) {
    result.error = Error(ErrorKind::kLimit, fmt::format("{}: out of memory", file));
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

std::vector<CheckedModel> check_all(const Globals& globals, const std::vector<std::string>& files, const CheckOptions& options) {
  std::vector<CheckedModel> results(files.size());
  each_model(globals, "check", files, [&](std::size_t i) { results[i] = check_one(files[i], options); });
  return results;
}

void report(const Globals& globals, const std::vector<CheckedModel>& results, const CheckVerdict& verdict, bool several) {
  if (globals.format == "sarif") return print_json(check_sarif(results));
  if (globals.format == "github") return print(check_github(results));
  if (globals.format == "junit") return print(check_junit(results, verdict));
  if (globals.format == "json") {
    Json document = {{"schema_version", kSchemaVersion}};
    if (several) document["models"] = Json::array();
    for (const CheckedModel& model : results) {
      if (several) document["models"].push_back(check_json(model));
      else document.update(check_json(model));
    }
    return print_json(document);
  }
  std::string text;
  for (const CheckedModel& model : results) text += check_text(model, globals.color);
  if (several) text += check_summary(results);
  print(text);
}

int run(Globals& globals, const Options& options) {
  if (options.list_codes) return list_codes(globals);
  if (!options.explain.empty()) return explain(globals, options.explain);
  if (options.models.empty()) fail(ErrorKind::kUsage, "check: a model or directory is missing");
  const auto files = find_models(options.models);
  const bool several = files.size() > 1 || options.models.size() > 1 || files[0] != options.models[0];
  if (!several) globals.model = files[0];

  CheckOptions check_options;
  check_options.portability = options.portability;
  CheckVerdict verdict;
  if (options.fail_on == "warning") verdict.fail_on = Severity::kWarning;
  const auto results = check_all(globals, files, check_options);
  // One model that cannot be read is an error of the call; among several it is one result of many.
  const bool as_error = globals.format == "text" || globals.format == "json";
  if (!several && results[0].error && as_error) throw *results[0].error;
  // Text has the lines of what cannot be read among its own.
  for (const CheckedModel& model : results) {
    if (model.error && globals.format != "text") print_error(fmt::format("error: {}\n", one_line(model.error->what())));
  }
  report(globals, results, verdict, several);
  for (const CheckedModel& model : results) {
    if (model.error) return exit_code(model.error->kind());
  }
  return std::ranges::any_of(results, [&](const CheckedModel& model) { return verdict.fails(model); }) ? 1 : 0;
}

}  // namespace

void add_check(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("check", "Validate models against the ONNX specification: all findings at once");
  verb->footer("\nExamples:\n  lppool-cli check model.onnx                     findings as text; exit code 1 if there is an error\n"
               "  lppool-cli check models/ --format sarif         every .onnx file below models/, for a code-scanning page\n"
               "  lppool-cli check --explain LP003                what a code means, with a bad and a good example");
  verb->add_option("MODEL", options->models, "Model files, - for standard input, or directories to search for .onnx files");
  verb->add_option("--format", r.globals.format, "Form of the answer")
      ->check(CLI::IsMember({"text", "json", "sarif", "github", "junit"}))
      ->type_name("FORMAT");
  verb->add_option("--fail-on", options->fail_on, "Least severity that makes the exit code 1 (default: error)")
      ->check(CLI::IsMember({"error", "warning"}))
      ->type_name("SEVERITY");
  verb->add_flag("--portability", options->portability, "Notes on engines that compute a node differently or not at all");
  verb->add_option("--explain", options->explain, "Explain a code and do nothing else")->type_name("CODE");
  verb->add_flag("--list-codes", options->list_codes, "List all codes and do nothing else");
  verb->callback([r, options] { r.action = [&globals = r.globals, options] { return run(globals, *options); }; });
}

}  // namespace lppool::app
