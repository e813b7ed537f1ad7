#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lppool/bind/bound_graph.h"
#include "lppool/tensor/tensor.h"

namespace lppool::report {

// What one output of an LpPool or GlobalLpPool is made of: its window on the input, element by element.
struct WindowPicture {
  struct Cell {
    enum class Kind { kInput, kPadding, kSkipped, kMore };  // skipped: between the elements of a dilated window
    Kind kind = Kind::kInput;
    double value = 0;
    std::string at;  // "0, 3, 1, 2"
  };
  struct Slice {
    std::string caption;  // where the window has more than two axes
    std::size_t columns = 0;
    std::vector<Cell> cells;  // row by row
  };
  std::string input, output;
  std::string output_at;
  double result = 0;
  std::string p;
  DataType dtype = DataType::kFloat32;
  std::int64_t inputs = 0, padding = 0;  // elements of the window
  std::vector<Slice> slices;
  std::vector<double> values;  // of the window's inputs, the first kMostTerms
  static constexpr std::size_t kMostTerms = 12;
};

// For one output of the node, chosen so that the window lies partly in the padding where there is such a one. Empty for other
// operators and for empty outputs. x and y are the node's input and output.
std::optional<WindowPicture> picture_window(const BoundNode& node, const Tensor& x, const Tensor& y);

}  // namespace lppool::report
