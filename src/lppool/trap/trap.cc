#include "lppool/trap/trap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "lppool/ops/lp_window.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

constexpr double kFloat16Overflow = 65520;  // from here on float16 rounds to infinity
constexpr std::size_t kMaxElements = 8;

double smallest_normal(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16: return 0x1p-14;
    case DataType::kFloat64: return 0x1p-1022;
    default: return 0x1p-126;  // float32, bfloat16
  }
}

bool watched(DataType dtype) {
  return dtype == DataType::kFloat16 || dtype == DataType::kBFloat16 || dtype == DataType::kFloat32 || dtype == DataType::kFloat64;
}

using Test = bool (*)(double value, double normal);
struct Kind {
  std::string_view name;
  bool TrapKinds::*wanted;
  Test test;
};
constexpr Kind kKinds[] = {
    {"nan", &TrapKinds::nan, [](double v, double) { return std::isnan(v); }},
    {"inf", &TrapKinds::inf, [](double v, double) { return std::isinf(v); }},
    {"subnormal", &TrapKinds::subnormal, [](double v, double normal) { return v != 0 && std::abs(v) < normal; }},
    {"overflow16", &TrapKinds::overflow16, [](double v, double) { return std::isfinite(v) && std::abs(v) >= kFloat16Overflow; }},
};

// Position of the first element that `kind` is about, and how many there are.
std::pair<std::int64_t, std::int64_t> find(const Tensor& tensor, const Kind& kind) {
  const double normal = smallest_normal(tensor.dtype());
  std::int64_t first = -1, count = 0;
  const auto scan = [&](auto values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!kind.test(static_cast<double>(values[i]), normal)) continue;
      if (count++ == 0) first = static_cast<std::int64_t>(i);
    }
  };
  switch (tensor.dtype()) {
    case DataType::kFloat32: scan(tensor.data<float>()); break;
    case DataType::kFloat64: scan(tensor.data<double>()); break;
    case DataType::kFloat16: scan(tensor.data<Float16>()); break;
    default: scan(tensor.data<BFloat16>()); break;
  }
  return {first, count};
}

std::vector<std::int64_t> coordinates(const Shape& shape, std::int64_t at) {
  std::vector<std::int64_t> index(shape.rank());
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    index[axis] = at % shape[axis];
    at /= shape[axis];
  }
  return index;
}

void keep_largest(std::vector<TrapElement>& elements) {
  // NaN and infinity are the most telling, then magnitude.
  const auto weight = [](const TrapElement& e) { return std::isnan(e.value) ? std::numeric_limits<double>::infinity() : std::abs(e.value); };
  std::ranges::stable_sort(elements, [&](const TrapElement& a, const TrapElement& b) { return weight(a) > weight(b); });
  if (elements.size() > kMaxElements) elements.resize(kMaxElements);
}

// Walks a box of the input: per axis a list of coordinates.
void collect_box(const Tensor& x, const std::string& name, const std::vector<std::vector<std::int64_t>>& box, TrapReport& report) {
  const auto strides = x.shape().strides();
  std::vector<std::size_t> at(box.size(), 0);
  if (std::ranges::any_of(box, [](const auto& axis) { return axis.empty(); })) return;
  while (true) {
    std::int64_t offset = 0;
    std::vector<std::int64_t> index(box.size());
    for (std::size_t axis = 0; axis < box.size(); ++axis) {
      index[axis] = box[axis][at[axis]];
      offset += index[axis] * strides[axis];
    }
    report.inputs.push_back({name, index, element_as_double(x, offset)});
    if (report.inputs.size() > 4096) keep_largest(report.inputs);
    std::size_t axis = box.size();
    while (axis-- > 0) {
      if (++at[axis] < box[axis].size()) break;
      at[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1)) break;
  }
  keep_largest(report.inputs);
}

std::vector<std::int64_t> all(std::int64_t n) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::int64_t>(i);
  return list;
}

void explain_lp_pool(const NodeEvent& event, const Tensor& x, TrapReport& report) {
  const LpWindow window = read_lp_window(AttributeView(event.node.node, *event.node.schema), x.rank());
  std::vector<std::vector<std::int64_t>> box = {{report.index[0]}, {report.index[1]}};
  std::string text;
  for (std::size_t axis = 0; axis < window.axes.size(); ++axis) {
    const std::int64_t n = x.shape()[axis + 2];
    const LpWindow::Axis& a = window.axes[axis];
    const std::int64_t begin = report.index[axis + 2] * a.stride - plan_axis(window, axis, n).pad_begin;
    std::vector<std::int64_t> list;
    // Only positions inside the input, however large the kernel is.
    const std::int64_t first = begin < 0 ? (-begin + a.dilation - 1) / a.dilation : 0;
    for (std::int64_t k = first; k < a.kernel && begin + k * a.dilation < n; ++k) list.push_back(begin + k * a.dilation);
    text += fmt::format("{}{}:{}{}", text.empty() ? "" : ", ", begin, begin + a.extent, a.dilation > 1 ? fmt::format(":{}", a.dilation) : "");
    box.push_back(std::move(list));
  }
  report.window = fmt::format("[{}]", text);
  collect_box(x, event.node.node.inputs[0], box, report);
}

void explain_global(const NodeEvent& event, const Tensor& x, TrapReport& report) {
  std::vector<std::vector<std::int64_t>> box = {{report.index[0]}, {report.index[1]}};
  for (std::size_t axis = 2; axis < x.rank(); ++axis) box.push_back(all(x.shape()[axis]));
  report.window = "the whole channel";
  collect_box(x, event.node.node.inputs[0], box, report);
}

// Reductions with kept or dropped axes: an axis the output lacks, or has with size 1, was reduced.
void explain_reduction(const NodeEvent& event, const Tensor& x, const Tensor& y, TrapReport& report) {
  std::vector<std::vector<std::int64_t>> box;
  if (y.rank() == x.rank()) {
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
      box.push_back(y.shape()[axis] == x.shape()[axis] ? std::vector<std::int64_t>{report.index[axis]} : all(x.shape()[axis]));
    }
  } else if (y.size() == 1) {
    for (const std::int64_t n : x.shape()) box.push_back(all(n));
  } else {
    return;
  }
  collect_box(x, event.node.node.inputs[0], box, report);
}

// Elementwise: the element of each input that broadcasting puts at this place.
void explain_elementwise(const NodeEvent& event, const Tensor& y, TrapReport& report) {
  for (std::size_t i = 0; i < event.inputs.size() && i < event.node.node.inputs.size(); ++i) {
    if (!event.inputs[i].is_tensor()) continue;
    const Tensor& x = event.inputs[i].tensor();
    if (x.rank() > y.rank() || x.dtype() == DataType::kString || x.size() == 0) return;
    const auto strides = x.shape().strides();
    std::vector<std::int64_t> index(x.rank());
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
      const std::size_t out_axis = y.rank() - x.rank() + axis;
      if (x.shape()[axis] != 1 && x.shape()[axis] != y.shape()[out_axis]) return;
      index[axis] = x.shape()[axis] == 1 ? 0 : report.index[out_axis];
      offset += index[axis] * strides[axis];
    }
    report.inputs.push_back({event.node.node.inputs[i], index, element_as_double(x, offset)});
  }
}

const std::set<std::string_view>& elementwise_ops() {
  static const std::set<std::string_view> ops = {
      "Abs", "Add", "Sub", "Mul", "Div", "Pow", "Sqrt", "Exp", "Log", "Reciprocal", "Neg", "Relu", "LeakyRelu", "Sigmoid", "Tanh", "Erf", "Elu",
      "Selu", "Celu", "Softplus", "Softsign", "Clip", "Min", "Max", "Sum", "Mean", "Where", "Cast", "CastLike", "Identity", "Floor", "Ceil", "Round",
      "HardSigmoid", "HardSwish", "Mish", "Gelu", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "PRelu",
      "Mod", "Swish", "ThresholdedRelu", "Shrink"};
  return ops;
}

// In the node's outputs, but in none of its inputs.
bool in_inputs(const NodeEvent& event, const Kind& kind) {
  return std::ranges::any_of(event.inputs, [&](const Value& v) {
    return v.is_tensor() && watched(v.tensor().dtype()) && find(v.tensor(), kind).second > 0;
  });
}

std::vector<std::string> chain_of(const BoundGraph& graph, const BoundNode& node) {
  std::unordered_map<std::string, const BoundNode*> producers;
  for (const BoundNode& n : graph.nodes) {
    for (const std::string& output : n.node.outputs) producers[output] = &n;
  }
  std::vector<std::string> chain;
  const BoundNode* at = &node;
  while (at != nullptr && chain.size() < 1000) {
    chain.push_back(at->label);
    if (at->node.inputs.empty()) break;
    const auto found = producers.find(at->node.inputs[0]);
    if (found == producers.end()) chain.push_back(at->node.inputs[0]);
    at = found == producers.end() ? nullptr : found->second;
  }
  return chain;
}

}  // namespace

std::optional<TrapKinds> parse_trap_kinds(std::string_view text) {
  TrapKinds kinds;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const auto* kind = std::ranges::find(kKinds, word, &Kind::name);
    if (kind == std::end(kKinds)) return std::nullopt;
    kinds.*(kind->wanted) = true;
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return kinds.any() ? std::optional(kinds) : std::nullopt;
}

void Trap::on_node(const NodeEvent& event) {
  if (next_ != nullptr) next_->on_node(event);
  for (const Kind& kind : kKinds) {
    if (!(kinds_.*(kind.wanted))) continue;
    for (std::size_t k = 0; k < event.outputs.size(); ++k) {
      if (!event.outputs[k].is_tensor() || !watched(event.outputs[k].tensor().dtype())) continue;
      const Tensor& y = event.outputs[k].tensor();
      const auto [first, count] = find(y, kind);
      if (count == 0 || in_inputs(event, kind)) continue;
      TrapReport report;
      report.kind = kind.name;
      report.node = event.node.where;
      report.op_type = event.node.node.op_type;
      report.label = event.path + event.node.label;
      report.tensor = event.path + event.node.node.outputs[k];
      report.index = coordinates(y.shape(), first);
      report.value = element_as_double(y, first);
      report.count = count;
      const Tensor* x = !event.inputs.empty() && event.inputs[0].is_tensor() ? &event.inputs[0].tensor() : nullptr;
      const std::string_view op = event.node.node.op_type;
      if (x != nullptr && op == "LpPool") explain_lp_pool(event, *x, report);
      else if (x != nullptr && op == "GlobalLpPool") explain_global(event, *x, report);
      else if (x != nullptr && op.starts_with("Reduce")) explain_reduction(event, *x, y, report);
      else if (elementwise_ops().contains(op)) explain_elementwise(event, y, report);
      report.chain = chain_of(graph_, event.node);
      throw TrapFired{std::move(report)};
    }
  }
}

std::string to_string(const TrapReport& report) {
  std::string text = fmt::format("trap {}: {} made {} at {}[{}] from inputs without any ({} such element{})\n", report.kind, report.node, report.value,
                                 report.tensor, fmt::join(report.index, ", "), report.count, report.count == 1 ? "" : "s");
  if (!report.window.empty()) text += fmt::format("  window: {}\n", report.window);
  for (const TrapElement& e : report.inputs) text += fmt::format("  {}[{}] = {}\n", e.tensor, fmt::join(e.index, ", "), e.value);
  if (!report.chain.empty()) text += fmt::format("  chain: {}\n", fmt::join(report.chain, " <- "));
  return text;
}

}  // namespace lppool
