#include "validators.h"

#include <fmt/format.h>

#include <vector>

#include "suggest.h"

namespace lppool::app {

CLI::Validator dtype_check() {
  return CLI::Validator(
      [](std::string& word) {
        if (parse_dtype(word)) return std::string();
        std::vector<std::string> names;
        for (std::int32_t i = 1; i <= kLastDataType; ++i) names.emplace_back(name(static_cast<DataType>(i)));
        const auto near = nearest(word, names);
        return fmt::format("'{}' is no element type, expected {}", word,
                           near ? fmt::format("'{}'?", *near) : fmt::format("one of {}", fmt::join(names, ", ")));
      },
      "");
}

CLI::Validator non_negative_check() {
  return CLI::Validator(
      [](std::string& word) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(word, value) && value >= 0;
        return good ? std::string() : fmt::format("'{}' is no number from 0 on", word);
      },
      "");
}

}  // namespace lppool::app
