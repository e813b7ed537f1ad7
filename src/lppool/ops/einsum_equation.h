#pragma once

#include <string>
#include <string_view>
#include <vector>

// The equation of Einsum, read.
namespace lppool {

// One letter for each dimension, in order. Broadcast dimensions ("...") are the letters '0', '1', ... counted from the
// last one, so that operands with fewer of them line up at their ends.
struct EinsumTerms {
  std::vector<std::string> inputs;
  std::string output;
};

// `ranks`: of the operands. Throws kRuntime where the equation is malformed or does not fit the ranks.
EinsumTerms parse_einsum(std::string_view equation, const std::vector<std::size_t>& ranks);

}  // namespace lppool
