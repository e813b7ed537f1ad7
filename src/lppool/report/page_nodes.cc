#include <fmt/format.h>

#include <map>

#include "lppool/report/charts.h"
#include "lppool/report/markup.h"
#include "lppool/report/page.h"

namespace lppool::report {
namespace {

constexpr std::size_t kMostValues = 32;  // of a list attribute

template <typename T>
std::string list_text(const std::vector<T>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(values.size(), kMostValues); ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", values[i]);
  if (values.size() > kMostValues) text += fmt::format(", … {} in all", values.size());
  return text + "]";
}

std::string stored_text(const StoredTensor& tensor) {
  if (!tensor.value.defined()) return "a faulty tensor";
  std::string text = fmt::format("{} {}", name(tensor.value.dtype()), to_string(tensor.value.shape()));
  const bool small = tensor.value.size() == 1 && tensor.value.dtype() == DataType::kFloat32;
  if (small) text += fmt::format(" = {}", tensor.value.data<float>()[0]);
  if (tensor.value.dtype() == DataType::kInt64 && tensor.value.size() > 0) {
    const auto values = tensor.value.data<std::int64_t>();
    text += " = " + list_text(std::vector<std::int64_t>(values.begin(), values.end()));
  }
  return text;
}

// Value name: the node that makes it.
using Makers = std::map<std::string, std::size_t>;

std::string value_link(const PageContents& page, const Makers& makers, const std::string& name) {
  const auto maker = makers.find(name);
  const std::string code = fmt::format("<code>{}</code>", escape(name));
  std::string text = maker == makers.end() || maker->second >= kMaxNodes ? code : fmt::format("<a href=\"#n{}\">{}</a>", maker->second, code);
  const TensorInfo* info = page.types->find(name);
  std::string type = info == nullptr ? "" : to_string(info->type);
  if (page.run != nullptr && maker != makers.end()) {  // what the run has seen says more than inference
    for (const TensorPicture& picture : page.run->nodes[maker->second].outputs) {
      if (picture.name == name && !picture.shape.empty()) type = picture.type + " " + picture.shape;
    }
  }
  if (!type.empty()) text += fmt::format(" <span class=\"sub\">{}{}</span>", escape(type), info != nullptr && info->kind == TensorKind::kInitializer ? ", weight" : "");
  return text;
}

std::string attributes_html(const Node& node) {
  if (node.attributes.empty()) return "";
  std::string text = "<h4>Attributes</h4>\n<div class=\"scroll\"><table class=\"list slim\">";
  for (const Attribute& attribute : node.attributes) {
    text += fmt::format("<tr><td><code>{}</code></td><td>{}</td></tr>\n", escape(attribute.name), escape(attribute_text(attribute)));
  }
  return text + "</table></div>\n";
}

std::string inputs_html(const PageContents& page, const Makers& makers, const Node& node) {
  if (node.inputs.empty()) return "";
  std::string text = "<h4>Inputs</h4>\n<ul>";
  for (const std::string& input : node.inputs) {
    text += fmt::format("<li>{}</li>\n", input.empty() ? "<span class=\"sub\">left out</span>" : value_link(page, makers, input));
  }
  return text + "</ul>\n";
}

// How sizes came about, where the rule says so and it is more than the size itself.
std::string formulas_html(const PageContents& page, const Node& node) {
  std::string text;
  for (const std::string& output : node.outputs) {
    const TensorInfo* info = output.empty() ? nullptr : page.types->find(output);
    if (info == nullptr || !info->type.shape) continue;
    for (std::size_t axis = 0; axis < std::min(info->formulas.size(), info->type.shape->size()); ++axis) {
      const std::string value = (*info->type.shape)[axis].to_string();
      if (info->formulas[axis].empty() || info->formulas[axis] == value) continue;
      text += fmt::format("<li>axis {} of <code>{}</code>: {}</li>\n", axis, escape(output), escape(explained_size(*info, axis)));
    }
  }
  return text.empty() ? "" : "<h4>Sizes</h4>\n<ul>" + text + "</ul>\n";
}

std::string outputs_html(const PageContents& page, const BoundNode& node, const NodeRecord* record) {
  std::string text = "<h4>Outputs</h4>\n";
  for (const std::string& output : node.node.outputs) {
    if (output.empty()) continue;
    const TensorPicture* picture = nullptr;
    if (record != nullptr) {
      for (const TensorPicture& p : record->outputs) picture = p.name == output ? &p : picture;
    }
    if (picture != nullptr) {
      text += tensor_html(*picture);
      continue;
    }
    const TensorInfo* info = page.types->find(output);
    text += fmt::format("<p><code>{}</code> <span class=\"sub\">{}</span></p>\n", escape(output), info == nullptr ? "?" : escape(to_string(info->type)));
  }
  return text;
}

std::string summary_html(const PageContents& page, const BoundNode& node, std::size_t index, const NodeRecord* record) {
  const bool lp = canonical_domain(node.node.domain).empty() && (node.node.op_type == "LpPool" || node.node.op_type == "GlobalLpPool");
  std::string shape;
  if (record != nullptr && !record->outputs.empty()) {
    shape = record->outputs[0].shape.empty() ? record->outputs[0].type : record->outputs[0].shape;
  } else if (!node.node.outputs.empty()) {
    const TensorInfo* info = page.types->find(node.node.outputs[0]);
    if (info != nullptr && info->type.shape) shape = to_string(*info->type.shape);
  }
  std::string flags;
  if (record != nullptr) {
    for (const TensorPicture& p : record->outputs) {
      if (p.statistics.nan > 0) flags = " <span class=\"badge error\">NaN</span>";
      else if (p.statistics.inf > 0 && flags.empty()) flags = " <span class=\"badge error\">Inf</span>";
    }
  }
  const std::string time = record == nullptr ? "" : record->folded ? "constant" : record->seconds.empty() ? "" : seconds_text(record->median());
  return fmt::format("<summary><span class=\"no\">{}</span> <b{}>{}</b> <span class=\"name\">{}</span> <span class=\"sub\">{}</span>{} <span class=\"time\">{}</span></summary>", index,
                     lp ? " class=\"lp\"" : "", escape(node.node.op_type), escape(node.label), escape(shape), flags, time);
}

std::string facts_html(const BoundNode& node, const NodeRecord* record) {
  std::string text = "<p class=\"sub\">";
  if (!node.node.domain.empty()) text += escape(node.node.domain) + ", ";
  text += node.schema != nullptr ? fmt::format("version {} (opset {})", node.schema->since_version, node.opset) : "no schema known";
  if (!node.origin.empty()) text += ", from " + escape(node.origin);
  if (record != nullptr && record->ran) {
    text += fmt::format("; inputs and outputs {}", bytes_text(static_cast<double>(record->bytes)));
    const double seconds = record->median();
    if (seconds > 0) text += fmt::format(", {:.3g} GB/s", static_cast<double>(record->bytes) / seconds / 1e9);
  }
  return text + "</p>\n";
}

}  // namespace

std::string attribute_text(const Attribute& attribute) {
  if (!attribute.ref_attr_name.empty()) return "as the caller's " + attribute.ref_attr_name;
  switch (attribute.type()) {
    case AttributeType::kFloat: return fmt::format("{}", attribute.f);
    case AttributeType::kInt: return fmt::format("{}", attribute.i);
    case AttributeType::kString: return fmt::format("'{}'", attribute.s);
    case AttributeType::kFloats: return list_text(attribute.floats);
    case AttributeType::kInts: return list_text(attribute.ints);
    case AttributeType::kStrings: return list_text(attribute.strings);
    case AttributeType::kTensor: return attribute.t ? stored_text(*attribute.t) : "a tensor";
    case AttributeType::kGraph: return attribute.g ? fmt::format("graph '{}' of {} nodes", attribute.g->name, attribute.g->nodes.size()) : "a graph";
    default: return fmt::format("{}", name(attribute.type()));
  }
}

std::string tensor_html(const TensorPicture& p) {
  std::string text = fmt::format("<div class=\"tensor\"><code>{}</code> <span class=\"sub\">{}{}{}, {}</span>\n", escape(p.name), escape(p.type), p.shape.empty() ? "" : " ",
                                 escape(p.shape), bytes_text(static_cast<double>(p.bytes)));
  if (p.numbers) {
    text += "<dl class=\"stats\">";
    const auto add = [&](std::string_view label, const std::string& value, bool bad = false) {
      text += fmt::format("<div{}><dt>{}</dt> <dd>{}</dd></div>", bad ? " class=\"bad\"" : "", label, value);
    };
    const Statistics& s = p.statistics;
    if (s.min) {
      add("min", number_text(*s.min, 7));
      add("max", number_text(*s.max, 7));
      add("mean", number_text(*s.mean, 7));
    }
    add("zeros", p.elements > 0 ? fmt::format("{} ({:.3g} %)", s.zero, 100.0 * static_cast<double>(s.zero) / static_cast<double>(p.elements)) : "0");
    if (s.subnormal > 0) add("subnormal", fmt::format("{}", s.subnormal));
    add("NaN", fmt::format("{}", s.nan), s.nan > 0);
    add("Inf", fmt::format("{}", s.inf), s.inf > 0);
    text += "</dl>\n<div class=\"charts\">";
    if (p.histogram) text += histogram_html(p.name, *p.histogram);
    if (p.heat_map) text += heat_map_html(p.name, *p.heat_map);
    text += "</div>";
  }
  return text + "</div>\n";
}

std::string search_html() {
  return "<div class=\"tools\" id=\"tools\" hidden><input id=\"search\" type=\"search\" placeholder=\"Search nodes and tensors\" aria-label=\"Search nodes and tensors\">"
         "<span class=\"sub\" id=\"count\" role=\"status\"></span><button type=\"button\" id=\"open\">Open all</button><button type=\"button\" id=\"close\">Close all</button>"
         "<span class=\"sub\">/ to search, Enter opens the first, Esc clears</span></div>\n";
}

std::string nodes_html(const PageContents& page, bool folded) {
  std::string text;
  Makers makers;
  for (std::size_t i = 0; i < page.graph->nodes.size(); ++i) {
    for (const std::string& output : page.graph->nodes[i].node.outputs) {
      if (!output.empty()) makers.emplace(output, i);
    }
  }
  for (std::size_t i = 0; i < std::min(page.graph->nodes.size(), kMaxNodes); ++i) {
    const BoundNode& node = page.graph->nodes[i];
    const NodeRecord* record = page.run != nullptr && page.run->nodes[i].ran ? &page.run->nodes[i] : nullptr;
    if ((record != nullptr && record->folded) != folded) continue;
    text += fmt::format("<details class=\"node\" id=\"n{}\">{}<div>\n", i, summary_html(page, node, i, record));
    text += facts_html(node, record) + attributes_html(node.node) + inputs_html(page, makers, node.node) + outputs_html(page, node, record) + formulas_html(page, node.node);
    if (record != nullptr && record->window) text += window_html(*record->window);
    text += "</div></details>\n";
  }
  return text;
}

}  // namespace lppool::report
