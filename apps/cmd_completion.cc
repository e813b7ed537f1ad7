// completion: scripts for bash, zsh and fish, made from the option table itself.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "report.h"

namespace lppool::app {
namespace {

std::vector<std::string> long_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string escape(std::string text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') result += "'\\''";
    else if (c == '\n') result += ' ';
    else result += c;
  }
  return result;
}

std::string bash(const CLI::App& root) {
  std::string verbs, cases;
  for (const CLI::App* verb : root.get_subcommands([](const CLI::App*) { return true; })) {
    verbs += verb->get_name() + " ";
    cases += fmt::format("    {}) words=\"{} {}\" ;;\n", verb->get_name(), fmt::join(long_options(*verb), " "), fmt::join(long_options(root), " "));
  }
  return fmt::format(
      "_lppool_cli() {{\n  local cur=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}} words\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return; fi\n"
      "  case $verb in\n{}  esac\n"
      "  case $cur in\n    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
      "    *) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n  esac\n}}\ncomplete -F _lppool_cli lppool-cli\n",
      verbs, cases);
}

std::string zsh(const CLI::App& root) {
  std::string verbs, cases;
  for (const CLI::App* verb : root.get_subcommands([](const CLI::App*) { return true; })) {
    verbs += fmt::format("    '{}:{}'\n", verb->get_name(), escape(verb->get_description()));
    cases += fmt::format("    {}) compadd -- {} {}; _files ;;\n", verb->get_name(), fmt::join(long_options(*verb), " "), fmt::join(long_options(root), " "));
  }
  return fmt::format(
      "#compdef lppool-cli\n_lppool_cli() {{\n  local -a verbs=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then _describe verb verbs; return; fi\n  case $words[2] in\n{}  esac\n}}\n_lppool_cli \"$@\"\n",
      verbs, cases);
}

std::string fish(const CLI::App& root) {
  std::string text = "complete -c lppool-cli -f -n __fish_use_subcommand\n";
  for (const CLI::App* verb : root.get_subcommands([](const CLI::App*) { return true; })) {
    text += fmt::format("complete -c lppool-cli -n __fish_use_subcommand -a {} -d '{}'\n", verb->get_name(), escape(verb->get_description()));
    for (const CLI::Option* option : verb->get_options()) {
      for (const auto& name : option->get_lnames()) {
        text += fmt::format("complete -c lppool-cli -n '__fish_seen_subcommand_from {}' -l {} -d '{}'\n", verb->get_name(), name,
                            escape(option->get_description()));
      }
    }
  }
  return text;
}

}  // namespace

void add_completion(const Registration& r) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = r.root.add_subcommand("completion", "Completion script for bash, zsh or fish");
  verb->footer("\nExamples:\n  lppool-cli completion bash > ~/.local/share/bash-completion/completions/lppool-cli\n"
               "  lppool-cli completion fish > ~/.config/fish/completions/lppool-cli.fish");
  verb->add_option("SHELL", *shell, "Which shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->callback([r, shell] {
    r.action = [&root = r.root, shell] {
      print(*shell == "bash" ? bash(root) : *shell == "zsh" ? zsh(root) : fish(root));
      return 0;
    };
  });
}

}  // namespace lppool::app
