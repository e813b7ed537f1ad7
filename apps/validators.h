#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "lppool/tensor/dtype.h"

namespace lppool::app {

// Accepts the names of element types, with a hint at the nearest for others.
CLI::Validator dtype_check();

// Numbers from 0 on.
CLI::Validator non_negative_check();

// kUndefined for "" (the option was not given).
inline DataType dtype_option(const std::string& word) {
  return word.empty() ? DataType::kUndefined : parse_dtype(word).value_or(DataType::kUndefined);
}

}  // namespace lppool::app
