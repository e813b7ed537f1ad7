#include <catch2/catch.hpp>
#include <limits>

#include "lppool/kernels/image.h"
#include "lppool/report/charts.h"
#include "lppool/report/png.h"
#include "support/graphs.h"
#include "support/model_builder.h"

using namespace lppool;
using namespace lppool::report;
using namespace lppool::test;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The picture of one LpPool node that runs on x.
WindowPicture window_of(const Tensor& x, const std::string& op, std::vector<Attribute> attributes) {
  GraphBuilder g;
  g.input("x", "float32").output("y").node(op, "x", "y", attributes);
  const BoundGraph bound = bind_model(make_model(g.graph));
  const Tensor y = run_graph(g.graph, 18, {{"x", Value(x)}})[0].tensor();
  return *picture_window(bound.nodes[0], x, y);
}

std::string kinds(const WindowPicture::Slice& slice) {
  std::string text;
  for (std::size_t i = 0; i < slice.cells.size(); ++i) {
    if (i > 0 && i % slice.columns == 0) text += '/';
    text += "ip.+"[static_cast<int>(slice.cells[i].kind)];
  }
  return text;
}

Tensor counted(Shape shape) {
  Tensor x = Tensor::allocate(DataType::kFloat32, std::move(shape));
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i);
  return x;
}

}  // namespace

TEST_CASE("A PNG that is written is read back by a decoder", "[report]") {
  const std::vector<Colour> palette = {{1, 2, 3}, {250, 0, 128}, {9, 9, 9}};
  const std::vector<std::uint8_t> pixels = {0, 1, 2, 2, 1, 0};
  const std::string png = encode_png(3, 2, pixels, palette);
  const image::Image image = image::decode({reinterpret_cast<const std::uint8_t*>(png.data()), png.size()}, 1000);
  CHECK(image.width == 3);
  CHECK(image.height == 2);
  REQUIRE(image.channels == 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) CHECK(image.pixels[i * 3 + c] == palette[pixels[i]][c]);
  }
}

TEST_CASE("base64 is that of RFC 4648", "[report]") {
  // Its test vectors, section 10.
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
  CHECK(base64("fooba") == "Zm9vYmE=");
  CHECK(base64("foobar") == "Zm9vYmFy");
}

TEST_CASE("A histogram counts every finite element once", "[report]") {
  const TensorPicture p = picture_of("x", Value(Tensor::of<float>({2, 4}, {0, 1, 2, 4, 4, kInf, kNan, -kInf})), {});
  REQUIRE(p.histogram);
  CHECK(p.histogram->low == 0);
  CHECK(p.histogram->high == 4);
  const auto& counts = p.histogram->counts;
  REQUIRE(counts.size() == 40);
  CHECK(counts[0] == 1);
  CHECK(counts[10] == 1);
  CHECK(counts[20] == 1);
  CHECK(counts[39] == 2);
  CHECK(p.statistics.nan == 1);
  CHECK(p.statistics.inf == 2);
}

TEST_CASE("Histograms of equal, huge and no numbers", "[report]") {
  CHECK(picture_of("x", Value(Tensor::of<float>({2}, {7, 7})), {}).histogram->counts == std::vector<std::int64_t>{2});
  const double huge = std::numeric_limits<double>::max();
  const Histogram wide = *picture_of("x", Value(Tensor::of<double>({3}, {-huge, 0, huge})), {}).histogram;
  CHECK(wide.counts[0] == 1);
  CHECK(wide.counts[20] == 1);
  CHECK(wide.counts[39] == 1);
  CHECK_FALSE(picture_of("x", Value(Tensor::of<float>({1}, {kNan})), {}).histogram);
  CHECK_FALSE(picture_of("x", Value(Tensor::zeros(DataType::kFloat32, {0, 3})), {}).histogram);
  CHECK_FALSE(picture_of("x", Value(Tensor::of<std::string>({1}, {"a"})), {}).histogram);
  CHECK(picture_of("x", Value(Tensor::of<bool>({3}, {true, false, true})), {}).histogram->counts[39] == 2);
}

TEST_CASE("A heat map shows means of blocks, and NaN and infinity before all", "[report]") {
  // Two maps of 4x4, shown as 2x2.
  Tensor x = counted({1, 2, 4, 4});
  x.mutable_data<float>()[0] = kNan;
  x.mutable_data<float>()[31] = kInf;
  const HeatMap map = *heat_map_of(x, {2, 2});
  REQUIRE(map.width == 5);  // with one column between
  REQUIRE(map.height == 2);
  CHECK(map.low == 4.5);    // elements 2 3 6 7
  CHECK(map.high == 26.5);  // elements 24 25 28 29
  CHECK_FALSE(map.signed_values);
  CHECK(map.pixels[0] == HeatMap::kNan);
  CHECK(map.pixels[1] == 0);
  CHECK(map.pixels[2] == HeatMap::kGap);
  CHECK(map.pixels[8] == HeatMap::kColours - 1);
  CHECK(map.pixels[9] == HeatMap::kInfinite);
}

TEST_CASE("A heat map of signed values has zero in the middle", "[report]") {
  const HeatMap map = *heat_map_of(Tensor::of<float>({2, 2}, {-1, 0, 1, 4}), {1, 8});
  CHECK(map.signed_values);
  CHECK(map.low == -4);
  CHECK(map.high == 4);
  CHECK(map.pixels[1] == HeatMap::kColours / 2);
}

TEST_CASE("Tensors without two axes have no heat map", "[report]") {
  CHECK_FALSE(heat_map_of(counted({1, 8, 1, 1}), {8, 8}));
  CHECK_FALSE(heat_map_of(counted({0, 8}), {8, 8}));
  CHECK_FALSE(heat_map_of(counted({4, 4}), {0, 0}));
  CHECK(heat_map_of(counted({2, 100000}), {8, 8})->width <= 64);
  CHECK(heat_map_of(counted({100000, 2}), {8, 8})->height <= 64);
}

TEST_CASE("The picture of a window shows inputs and padding", "[report][LpPool]") {
  const WindowPicture p = window_of(counted({1, 1, 4, 4}), "LpPool", {attr_ints("kernel_shape", {3, 3}), attr_ints("pads", {1, 1, 1, 1}), attr_i("p", 1)});
  CHECK(p.output_at == "0, 0, 0, 0");
  CHECK(p.result == 0 + 1 + 4 + 5);
  CHECK(p.p == "1");
  CHECK(p.inputs == 4);
  CHECK(p.padding == 5);
  REQUIRE(p.slices.size() == 1);
  CHECK(kinds(p.slices[0]) == "ppp/pii/pii");
  CHECK(p.slices[0].cells[8].value == 5);
  CHECK(p.slices[0].cells[8].at == "0, 0, 1, 1");
  CHECK(p.values == std::vector<double>{0, 1, 4, 5});
}

TEST_CASE("The picture of a dilated window shows what is skipped", "[report][LpPool]") {
  const WindowPicture p = window_of(counted({1, 1, 5}), "LpPool", {attr_ints("kernel_shape", {3}), attr_ints("dilations", {2}), attr_i("p", 1)});
  CHECK(kinds(p.slices[0]) == "i.i.i");
  CHECK(p.result == 0 + 2 + 4);
}

TEST_CASE("The picture of a global pooling shows the plane of the largest norm, cut where it is large", "[report][GlobalLpPool]") {
  const WindowPicture p = window_of(counted({1, 2, 2, 20}), "GlobalLpPool", {attr_i("p", 1)});
  CHECK(p.output_at == "0, 1, 0, 0");
  CHECK(p.inputs == 40);
  CHECK(kinds(p.slices[0]) == "iiiiiiiiiii+/iiiiiiiiiii+");
  CHECK(p.values.size() == WindowPicture::kMostTerms);
}

TEST_CASE("The picture of a window of three axes has one slice for each place on the first", "[report][LpPool]") {
  const WindowPicture p = window_of(counted({1, 1, 3, 3, 3}), "LpPool", {attr_ints("kernel_shape", {2, 2, 2}), attr_ints("pads", {1, 0, 0, 0, 0, 0})});
  REQUIRE(p.slices.size() == 2);
  CHECK(p.slices[0].caption == "axis 2: -1");
  CHECK(kinds(p.slices[0]) == "pp/pp");
  CHECK(kinds(p.slices[1]) == "ii/ii");
}
