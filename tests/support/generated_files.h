#pragma once

#include <map>
#include <string>

namespace lppool::test {

// Every generated file of the repository: path from its root, and contents.
std::map<std::string, std::string> generated_files();

}  // namespace lppool::test
