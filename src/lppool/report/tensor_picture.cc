#include "lppool/report/tensor_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lppool/tensor/convert.h"
#include "lppool/tensor/value_bytes.h"

namespace lppool::report {
namespace {

constexpr std::size_t kBins = 40;
constexpr std::size_t kGapWidth = 1;

bool holds_numbers(DataType dtype) {
  return dtype != DataType::kUndefined && dtype != DataType::kString && dtype != DataType::kComplex64 && dtype != DataType::kComplex128;
}

template <typename Use>
void each_element(const Tensor& tensor, const Use& use) {
  switch (tensor.dtype()) {
    case DataType::kFloat32:
      for (const float v : tensor.data<float>()) use(static_cast<double>(v));
      break;
    case DataType::kFloat64:
      for (const double v : tensor.data<double>()) use(v);
      break;
    default:
      for (std::int64_t i = 0; i < tensor.size(); ++i) use(element_as_double(tensor, i));
  }
}

// One pixel: the mean of the elements under it; NaN and infinity show through.
struct Cell {
  double mean = 0;
  std::uint8_t special = 0;
};

Cell mean_of(const Tensor& tensor, std::int64_t base, std::int64_t columns, std::int64_t y0, std::int64_t y1, std::int64_t x0, std::int64_t x1) {
  double sum = 0;
  bool infinite = false;
  for (std::int64_t y = y0; y < y1; ++y) {
    for (std::int64_t x = x0; x < x1; ++x) {
      const double v = element_as_double(tensor, base + y * columns + x);
      if (std::isnan(v)) return {0, HeatMap::kNan};
      infinite = infinite || std::isinf(v);
      sum += std::isinf(v) ? 0 : v / static_cast<double>((y1 - y0) * (x1 - x0));
    }
  }
  return {sum, infinite ? HeatMap::kInfinite : std::uint8_t{0}};
}

}  // namespace

std::optional<Histogram> histogram_of(const Tensor& tensor, const Statistics& statistics) {
  if (!statistics.min) return std::nullopt;
  Histogram histogram{*statistics.min, *statistics.max, {}};
  // Halves, so that the range of the largest numbers does not overflow.
  const double range = histogram.high / 2 - histogram.low / 2;
  histogram.counts.assign(range > 0 ? kBins : 1, 0);
  each_element(tensor, [&](double v) {
    if (!std::isfinite(v)) return;
    const double at = range > 0 ? (v / 2 - histogram.low / 2) / range * static_cast<double>(kBins) : 0;
    ++histogram.counts[std::min(static_cast<std::size_t>(std::max(at, 0.0)), histogram.counts.size() - 1)];
  });
  return histogram;
}

std::optional<HeatMap> heat_map_of(const Tensor& tensor, const PictureSize& size) {
  if (!holds_numbers(tensor.dtype()) || size.maps == 0 || size.side == 0 || tensor.size() == 0) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (const std::int64_t dim : tensor.shape()) {
    if (dim != 1) dims.push_back(dim);
  }
  if (dims.size() < 2) return std::nullopt;
  const std::int64_t rows = dims[dims.size() - 2], columns = dims.back();
  const std::int64_t all_maps = tensor.size() / (rows * columns);
  // Elongated maps keep their proportions, as far as that leaves some pixels both ways, and take no more room than square ones.
  const auto side = static_cast<std::int64_t>(size.side);
  const double stretch = std::sqrt(std::clamp(static_cast<double>(columns) / static_cast<double>(rows), 1.0 / 16, 16.0));
  const std::int64_t height = std::clamp<std::int64_t>(std::llround(static_cast<double>(side) / stretch), 1, rows);
  const std::int64_t width = std::clamp<std::int64_t>(std::max(side * side / height, std::int64_t{1}), 1, std::min(columns, 8 * side));
  const std::int64_t maps = std::min(all_maps, static_cast<std::int64_t>(size.maps));
  const std::int64_t across = std::min<std::int64_t>(maps, std::max<std::int64_t>(1, 4 * side / width));

  std::vector<Cell> cells;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (std::int64_t m = 0; m < maps; ++m) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        cells.push_back(mean_of(tensor, m * rows * columns, columns, y * rows / height, (y + 1) * rows / height, x * columns / width,
                                (x + 1) * columns / width));
        if (cells.back().special != 0) continue;
        least = std::min(least, cells.back().mean);
        most = std::max(most, cells.back().mean);
      }
    }
  }
  HeatMap map;
  map.signed_values = least < 0;
  if (least > most) least = most = 0;  // not one finite element
  map.high = map.signed_values ? std::max(-least, most) : most;
  map.low = map.signed_values ? -map.high : least;
  const std::int64_t down = (maps + across - 1) / across;
  map.width = static_cast<std::size_t>(across * (width + 1)) - kGapWidth;
  map.height = static_cast<std::size_t>(down * (height + 1)) - kGapWidth;
  map.pixels.assign(map.width * map.height, HeatMap::kGap);
  const double range = map.high / 2 - map.low / 2;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(cells.size()); ++i) {
    const std::int64_t m = i / (width * height), y = i / width % height, x = i % width;
    const Cell& cell = cells[static_cast<std::size_t>(i)];
    const double at = range > 0 ? (cell.mean / 2 - map.low / 2) / range : 0.5;
    const auto pixel = static_cast<std::size_t>((m / across * (height + 1) + y) * static_cast<std::int64_t>(map.width) + m % across * (width + 1) + x);
    map.pixels[pixel] = cell.special != 0 ? cell.special : static_cast<std::uint8_t>(std::clamp(at, 0.0, 1.0) * (HeatMap::kColours - 1) + 0.5);
  }
  map.about = all_maps == 1 ? fmt::format("{}x{}", rows, columns)
              : maps < all_maps ? fmt::format("first {} of {} maps of {}x{}", maps, all_maps, rows, columns)
                                : fmt::format("{} maps of {}x{}", maps, rows, columns);
  if (width < columns || height < rows) map.about += fmt::format(", means of blocks as {}x{}", height, width);
  return map;
}

TensorPicture picture_of(const std::string& name, const Value& value, const PictureSize& size) {
  TensorPicture picture;
  picture.name = name;
  picture.bytes = bytes_of(value);
  if (!value.is_tensor()) {
    picture.type = value.is_sequence() ? fmt::format("sequence of {}", value.sequence().elements.size()) : "nothing";
    return picture;
  }
  const Tensor& tensor = value.tensor();
  picture.type = lppool::name(tensor.dtype());
  picture.shape = to_string(tensor.shape());
  picture.elements = tensor.size();
  picture.numbers = holds_numbers(tensor.dtype());
  if (!picture.numbers) return picture;
  picture.statistics = statistics_of(tensor);
  picture.histogram = histogram_of(tensor, picture.statistics);
  picture.heat_map = heat_map_of(tensor, size);
  return picture;
}

}  // namespace lppool::report
