#include "lppool/trap/shadow.h"

#include <algorithm>
#include <cmath>

#include "lppool/ops/node_context.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

bool narrow_float(DataType dtype) {
  return dtype == DataType::kFloat32 || dtype == DataType::kFloat16 || dtype == DataType::kBFloat16;
}

ShadowRow compare(const Tensor& got, const Tensor& wide) {
  ShadowRow row;
  row.elements = got.size();
  const auto truth = wide.data<double>();
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double a = element_as_double(got, i), b = truth[static_cast<std::size_t>(i)];
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (!(std::isnan(a) && std::isnan(b)) && a != b) ++row.special;
      continue;
    }
    const double difference = std::abs(a - b);
    row.max_abs = std::max(row.max_abs, difference);
    if (b != 0) row.max_rel = std::max(row.max_rel, difference / std::abs(b));
  }
  return row;
}

}  // namespace

void Shadow::on_node(const NodeEvent& event) {
  if (next_ != nullptr) next_->on_node(event);
  if (!event.path.empty() || event.folded) return;
  const bool any_float = std::ranges::any_of(event.inputs, [](const Value& v) { return v.is_tensor() && narrow_float(v.tensor().dtype()); });
  const bool subgraph = std::ranges::any_of(event.node.node.attributes, [](const Attribute& a) { return a.g || !a.graphs.empty(); });
  if (!any_float || subgraph) {
    ++skipped_;
    return;
  }
  NodeContext context(event.node.node, *event.node.schema, event.node.opset, pool_);
  for (const Value& value : event.inputs) {
    const bool narrow = value.is_tensor() && narrow_float(value.tensor().dtype());
    context.inputs.push_back(narrow ? Value(convert(value.tensor(), DataType::kFloat64)) : value);
  }
  try {
    event.node.op->run(context);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted) throw;
    ++skipped_;
    return;
  }
  for (std::size_t k = 0; k < event.outputs.size() && k < context.outputs.size(); ++k) {
    if (!event.outputs[k].is_tensor() || !context.outputs[k].is_tensor()) continue;
    const Tensor& got = event.outputs[k].tensor();
    const Tensor& wide = context.outputs[k].tensor();
    if (!narrow_float(got.dtype()) || wide.dtype() != DataType::kFloat64 || wide.shape() != got.shape()) continue;
    ShadowRow row = compare(got, wide);
    row.tensor = event.node.node.outputs[k];
    row.label = event.node.label;
    row.op_type = event.node.node.op_type;
    rows_.push_back(std::move(row));
  }
}

}  // namespace lppool
