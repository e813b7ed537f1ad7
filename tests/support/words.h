#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace lppool::test {

// Names separated by blanks; "-" is the empty name, which leaves an input or output out.
inline std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word == "-" ? std::string() : word);
  return result;
}

}  // namespace lppool::test
