#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

// What is said about a wrong command line: one line, with the nearest right word.
namespace lppool::app {

// The entry of `words` nearest to `word`, where it is near enough to be a slip of the finger.
std::optional<std::string> nearest(const std::string& word, const std::vector<std::string>& words);

// A message where the first word of the command line is no verb.
std::optional<std::string> unknown_verb(const CLI::App& root, int argc, char** argv);
std::string usage_message(const CLI::App& root, const CLI::ParseError& error);
bool asked_for_json(int argc, char** argv);
// Control characters (line breaks of hostile names among them) made visible.
std::string one_line(const std::string& text);

}  // namespace lppool::app
