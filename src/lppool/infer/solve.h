#pragma once

#include <map>
#include <string>
#include <vector>

#include "lppool/graph/dim.h"

namespace lppool {

// Which values of the symbols give a shape. Found by trying: every symbol runs from 0 to `limit`, so the answer is
// complete up to there and never wrong.
struct DimSolution {
  bool possible = false;
  // Per symbol the values that occur in a solution, as closed ranges, ascending. With several symbols in one dimension
  // the ranges are of each symbol alone: not every combination need be a solution, `example` is one.
  std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> values;
  std::map<std::string, std::int64_t> example;
  std::vector<std::string> reasons;  // why it is not possible, one line per dimension at fault
};

// `shape` as inferred, `target` of the same rank; a target of -1 asks nothing of that dimension. An unknown dimension
// makes it impossible to tell, which counts as not possible. Throws kUsage where the ranks differ.
DimSolution solve_shape(const std::vector<Dim>& shape, const std::vector<std::int64_t>& target,
                        std::int64_t limit = 65536);

}  // namespace lppool
