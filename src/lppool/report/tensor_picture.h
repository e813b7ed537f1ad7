#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lppool/dump/statistics.h"
#include "lppool/tensor/value.h"

// What remains of a tensor for the page once the run has let it go.
namespace lppool::report {

// Counts of the finite elements in bins of equal width; one bin where all are equal.
struct Histogram {
  double low = 0, high = 0;
  std::vector<std::int64_t> counts;
};

// The last two axes as pictures side by side, one for each place on the axes before them, of the first sample.
struct HeatMap {
  static constexpr std::uint8_t kColours = 60;  // 0 to 59: from low to high
  static constexpr std::uint8_t kNan = 60, kInfinite = 61, kGap = 62;
  std::size_t width = 0, height = 0;  // of all pictures with the gaps between them
  std::vector<std::uint8_t> pixels;
  double low = 0, high = 0;
  bool signed_values = false;  // low is -high, and 0 is the middle
  std::string about;           // "8 of 64 maps, 56x56 shown as 24x24"
};

// How much room pictures may take.
struct PictureSize {
  std::size_t maps = 8;   // 0: no pictures
  std::size_t side = 24;  // pixels
};

struct TensorPicture {
  std::string name;
  std::string type;   // "float32", "sequence of 3"
  std::string shape;  // as the program prints shapes; "" where it is no tensor
  std::size_t bytes = 0;
  std::int64_t elements = 0;
  bool numbers = false;  // statistics mean something
  Statistics statistics;
  std::optional<Histogram> histogram;
  std::optional<HeatMap> heat_map;
};

TensorPicture picture_of(const std::string& name, const Value& value, const PictureSize& size);

std::optional<Histogram> histogram_of(const Tensor& tensor, const Statistics& statistics);
// Empty for tensors with fewer than two axes longer than one, and for those without numbers.
std::optional<HeatMap> heat_map_of(const Tensor& tensor, const PictureSize& size);

}  // namespace lppool::report
