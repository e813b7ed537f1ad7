#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lppool::npy {

// The dict in the header of a .npy file.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Parses a Python dict literal with the keys descr, fortran_order and shape, in any order, quoting and spacing. `shown` is for
// messages. Throws kParse, and kUnsupported where descr describes a structured type.
Header parse_header(std::string_view text, const std::string& shown);

}  // namespace lppool::npy
