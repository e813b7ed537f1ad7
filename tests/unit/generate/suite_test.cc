// Every output of the conformance suite against the exact oracle: the suite is what others are to be judged by, so nothing in
// it may rest on the kernels alone. Attributes, window geometry and arithmetic are all read and done anew here.
#include "lppool/generate/suite.h"

#include <catch2/catch.hpp>
#include <set>

#include "lppool/run/session.h"
#include "support/exact_lp.h"
#include "support/literal_pool.h"

using namespace lppool;
using namespace lppool::testing;

namespace {

// What the README promises, in units in the last place; 0.5 means correctly rounded.
double promised(DataType dtype, double p) {
  const bool whole = p == static_cast<double>(static_cast<std::int64_t>(p));
  if (dtype == DataType::kFloat64) return whole ? 0.51 : 1;
  return whole ? 0.5 : 0.51;
}

const FloatFormat& format_of(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16: return testing::kFloat16;
    case DataType::kBFloat16: return testing::kBFloat16;
    case DataType::kFloat32: return testing::kFloat32;
    default: REQUIRE(dtype == DataType::kFloat64); return testing::kFloat64;
  }
}

std::vector<std::uint64_t> bits_of(const Tensor& tensor) {
  std::vector<std::uint64_t> bits;
  const auto add = [&](auto values) { bits.assign(values.begin(), values.end()); };
  switch (element_size(tensor.dtype())) {
    case 2: add(tensor.data<std::uint16_t>()); break;
    case 4: add(tensor.data<std::uint32_t>()); break;
    default: add(tensor.data<std::uint64_t>()); break;
  }
  return bits;
}

struct Pooling {
  std::vector<std::int64_t> output;
  std::vector<LiteralAxis> axes;
  double p = 2;
};

std::vector<std::int64_t> ints(const Node& node, const char* name, std::size_t count, std::int64_t fallback) {
  const Attribute* attribute = node.find_attribute(name);
  return attribute != nullptr ? attribute->ints : std::vector<std::int64_t>(count, fallback);
}

Pooling read(const SuiteCase& entry) {
  const Node& node = entry.model.graph->nodes.at(0);
  const std::int64_t opset = entry.model.opset_imports.at(0).version;
  const std::vector<std::int64_t>& shape = entry.input.shape().dims();
  Pooling pooling;
  if (const Attribute* p = node.find_attribute("p")) pooling.p = opset == 1 ? static_cast<double>(p->f) : static_cast<double>(p->i);
  pooling.output = {shape[0], shape[1]};
  const std::size_t axes = shape.size() - 2;
  if (node.op_type == "GlobalLpPool") {
    for (std::size_t i = 0; i < axes; ++i) {
      pooling.axes.push_back({shape[i + 2], shape[i + 2], 1, 1, 0, 0, 1});
      pooling.output.push_back(1);
    }
    return pooling;
  }
  const auto kernel = ints(node, "kernel_shape", axes, 1), strides = ints(node, "strides", axes, 1), dilations = ints(node, "dilations", axes, 1),
             pads = ints(node, "pads", 2 * axes, 0);
  const Attribute* auto_pad = node.find_attribute("auto_pad");
  const Attribute* ceil_mode = node.find_attribute("ceil_mode");
  for (std::size_t i = 0; i < axes; ++i) {
    LiteralAxis axis{shape[i + 2], kernel[i], strides[i], dilations[i], pads[i], pads[i + axes], 0};
    if (auto_pad != nullptr && auto_pad->s.starts_with("SAME")) {
      axis.output = (axis.input + axis.stride - 1) / axis.stride;
      const std::int64_t total = std::max<std::int64_t>(0, (axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1 - axis.input);
      axis.pad_begin = auto_pad->s == "SAME_LOWER" ? total - total / 2 : total / 2;
      axis.pad_end = total - axis.pad_begin;
    } else {
      axis.output = literal_output_size(axis, ceil_mode != nullptr && ceil_mode->i == 1, opset >= 22);
    }
    pooling.axes.push_back(axis);
    pooling.output.push_back(axis.output);
  }
  return pooling;
}

// All windows of the output, in its order.
std::vector<std::vector<double>> windows(const std::vector<double>& input, const Pooling& pooling) {
  std::vector<std::vector<double>> list;
  std::size_t plane = 1;
  for (const LiteralAxis& axis : pooling.axes) plane *= static_cast<std::size_t>(axis.input);
  const std::int64_t planes = pooling.output[0] * pooling.output[1];
  for (std::int64_t k = 0; k < planes; ++k) {
    const std::span<const double> values(input.data() + static_cast<std::size_t>(k) * plane, plane);
    std::vector<std::int64_t> at(pooling.axes.size(), 0);
    while (true) {
      list.push_back(literal_window(values, pooling.axes, at));
      std::size_t i = at.size();
      while (i-- > 0) {
        if (++at[i] < pooling.axes[i].output) break;
        at[i] = 0;
      }
      if (i == static_cast<std::size_t>(-1)) break;
    }
  }
  return list;
}

}  // namespace

TEST_CASE("Every output of the conformance suite is the exact norm, rounded as promised", "[generate][LpPool][GlobalLpPool]") {
  std::size_t outputs = 0, inexact = 0;
  for (const SuiteCase& entry : conformance_suite()) {
    CAPTURE(entry.name);
    const Pooling pooling = read(entry);
    const FloatFormat& format = format_of(entry.input.dtype());
    Session session(entry.model);
    const Tensor y = session.run({{"x", Value(entry.input)}}).at(0).tensor();
    REQUIRE(y.dtype() == entry.input.dtype());
    REQUIRE(y.shape().dims() == pooling.output);
    std::vector<double> input;
    for (const std::uint64_t bits : bits_of(entry.input)) input.push_back(decode(format, bits));
    const std::vector<std::uint64_t> got = bits_of(y);
    if (got.empty()) continue;
    const auto expected = windows(input, pooling);
    REQUIRE(expected.size() == got.size());
    const double bound = promised(entry.input.dtype(), pooling.p);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::uint64_t exact = exact_lp(format, expected[i], pooling.p);
      const bool right = format.is_nan(exact) ? format.is_nan(got[i]) : exact == got[i];
      CAPTURE(i, exact, got[i]);
      if (bound == 0.5) CHECK(right);
      else if (!right) CHECK(ulp_error(format, got[i], expected[i], pooling.p) <= bound);
      ++outputs;
      inexact += right ? 0 : 1;
    }
  }
  CHECK(outputs > 4'000);
  CHECK(inexact <= outputs / 100);  // of float64 and fractional p
}

TEST_CASE("Cases of the conformance suite have names of their own and say what they are about", "[generate]") {
  std::set<std::string> names;
  for (const SuiteCase& entry : conformance_suite()) {
    CAPTURE(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK(entry.explanation.ends_with('.'));
  }
  CHECK(names.size() == 478);
}
