#include "suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lppool::app {
namespace {

// Levenshtein distance with transpositions of neighbours counted as one.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

const CLI::App* chosen(const CLI::App& root) {
  const auto subcommands = root.get_subcommands();
  return subcommands.empty() ? nullptr : subcommands.front();
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    for (const auto& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

}  // namespace

std::optional<std::string> nearest(const std::string& word, const std::vector<std::string>& words) {
  std::optional<std::string> best;
  if (word.size() > 64) return best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : words) {
    const std::size_t d = candidate.starts_with(word) && word.size() >= 3 ? 1 : distance(word, candidate);
    if (d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

std::optional<std::string> unknown_verb(const CLI::App& root, int argc, char** argv) {
  const std::set<std::string> with_value = {"--threads", "--log-level", "--color"};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (with_value.contains(word)) {
      ++i;
      continue;
    }
    if (word.starts_with("-")) continue;
    std::vector<std::string> verbs;
    for (const CLI::App* verb : root.get_subcommands([](const CLI::App*) { return true; })) {
      if (verb->get_name() == word) return std::nullopt;
      verbs.push_back(verb->get_name());
    }
    const auto near = nearest(word, verbs);
    return fmt::format("no verb '{}'{}", one_line(word),
                       near ? fmt::format("; did you mean '{}'?", *near)
                            : fmt::format(", expected one of: {}", fmt::join(verbs, ", ")));
  }
  return std::nullopt;
}

std::string usage_message(const CLI::App& root, const CLI::ParseError& error) {
  std::string message = error.what();
  const CLI::App* verb = chosen(root);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    auto extras = verb != nullptr ? verb->remaining() : std::vector<std::string>{};
    for (const auto& word : root.remaining()) extras.push_back(word);
    std::vector<std::string> flags = flags_of(root);
    if (verb != nullptr) {
      for (auto& flag : flags_of(*verb)) flags.push_back(flag);
    }
    std::string list;
    for (std::size_t i = 0; i < extras.size(); ++i) {
      const std::string flag = extras[i].substr(0, extras[i].find('='));
      // What follows an unknown option is most likely its value.
      if (i > 0 && extras[i - 1].starts_with("-") && !flag.starts_with("-")) continue;
      if (!list.empty()) list += "; ";
      list += fmt::format("{} '{}'", flag.starts_with("-") ? "no option" : "unexpected argument", flag);
      const auto near = nearest(flag, flags);
      if (near && flag.starts_with("-")) list += fmt::format(", did you mean '{}'?", *near);
    }
    if (!list.empty()) message = list;
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  return fmt::format("{} (see lppool-cli {}--help)", message, verb != nullptr ? verb->get_name() + " " : "");
}

bool asked_for_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--format=json" || (word == "--format" && i + 1 < argc && std::string(argv[i + 1]) == "json")) return true;
  }
  return false;
}

std::string one_line(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) result += fmt::format("\\x{:02x}", byte);
    else result += c;
  }
  return result;
}

}  // namespace lppool::app
