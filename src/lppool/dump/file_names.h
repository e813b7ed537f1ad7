#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace lppool {

// Gives tensor names file names: letters, digits, '.', '-' and '_' stay, everything else becomes '_'; no name is empty,
// hidden, longer than kMaxLength bytes, or equal to another in the same folder, upper and lower case taken as the same
// (some file systems do). The same sequence of names always gives the same files. Not thread safe.
class FileNames {
 public:
  static constexpr std::size_t kMaxLength = 120;

  // `extension` with its dot.
  std::string unique(std::string_view tensor_name, std::string_view extension);
  // Takes a name out of use, for files that are not tensors (index.json).
  void reserve(std::string_view file);

 private:
  std::set<std::string> taken_;  // in lower case
};

}  // namespace lppool
