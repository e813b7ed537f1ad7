#include "lppool/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lppool/report/markup.h"
#include "lppool/report/png.h"

namespace lppool::report {
namespace {

Colour between(const Colour& a, const Colour& b, double t) {
  Colour c{};
  for (std::size_t i = 0; i < 3; ++i) c[i] = static_cast<std::uint8_t>(std::lround(a[i] + t * (static_cast<double>(b[i]) - a[i])));
  return c;
}

// Colours of a heat map's indices. Sequential: dark to light through equal steps of lightness; signed: blue, near white, red.
std::vector<Colour> palette(bool signed_values) {
  const std::vector<Colour> anchors = signed_values ? std::vector<Colour>{{5, 48, 97}, {67, 147, 195}, {247, 247, 247}, {214, 96, 77}, {103, 0, 31}}
                                                    : std::vector<Colour>{{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
  std::vector<Colour> colours;
  for (int i = 0; i < HeatMap::kColours; ++i) {
    const double at = static_cast<double>(i) / (HeatMap::kColours - 1) * static_cast<double>(anchors.size() - 1);
    const auto k = std::min(static_cast<std::size_t>(at), anchors.size() - 2);
    colours.push_back(between(anchors[k], anchors[k + 1], at - static_cast<double>(k)));
  }
  colours.push_back({255, 0, 200});  // NaN
  colours.push_back({255, 140, 0});  // infinite
  colours.push_back({0, 0, 0});      // gap, transparent
  return colours;
}

std::string exact_text(double value, DataType dtype) {
  if (!std::isfinite(value)) return number_text(value);
  // float32 and the smaller types as float32 prints them; the rest as double does.
  return dtype == DataType::kFloat64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

std::string superscript(const std::string& p) {
  return p == "2" ? "²" : p == "3" ? "³" : p == "1" ? "" : fmt::format("<sup>{}</sup>", escape(p));
}

std::string formula_html(const WindowPicture& picture) {
  std::string terms;
  const std::string power = superscript(picture.p);
  for (std::size_t i = 0; i < picture.values.size(); ++i) terms += fmt::format("{}|{}|{}", i > 0 ? " + " : "", number_text(picture.values[i]), power);
  if (static_cast<std::int64_t>(picture.values.size()) < picture.inputs) terms += fmt::format(" + … ({} more)", picture.inputs - static_cast<std::int64_t>(picture.values.size()));
  if (terms.empty()) terms = "0";
  const std::string result = fmt::format("<b>{}</b>", escape(exact_text(picture.result, picture.dtype)));
  if (picture.p == "1") return fmt::format("{} = {}", terms, result);
  if (picture.p == "2") return fmt::format("√({}) = {}", terms, result);
  return fmt::format("({})<sup>1/{}</sup> = {}", terms, escape(picture.p), result);
}

std::string cell_html(const WindowPicture::Cell& cell, DataType dtype) {
  using Kind = WindowPicture::Cell::Kind;
  switch (cell.kind) {
    case Kind::kInput: return fmt::format("<td class=\"in\" title=\"[{}] = {}\">{}</td>", escape(cell.at), exact_text(cell.value, dtype), number_text(cell.value, 4));
    case Kind::kPadding: return fmt::format("<td class=\"pad\" title=\"[{}] is padding\">pad</td>", escape(cell.at));
    case Kind::kSkipped: return fmt::format("<td class=\"skip\" title=\"[{}] is skipped by the dilation\">·</td>", escape(cell.at));
    case Kind::kMore: return "<td class=\"skip\">…</td>";
  }
  return "";
}

}  // namespace

std::string histogram_html(const std::string& tensor, const Histogram& histogram) {
  constexpr double kWidth = 240, kHeight = 64;
  const std::int64_t most = *std::ranges::max_element(histogram.counts);
  if (histogram.counts.size() == 1) {
    return fmt::format("<p class=\"note\">{} {}</p>\n", most == 1 ? "the only finite element is" : fmt::format("all {} finite elements are", most), number_text(histogram.low));
  }
  const double step = kWidth / static_cast<double>(histogram.counts.size());
  std::string d;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    const auto count = static_cast<double>(histogram.counts[i]);
    if (count == 0) continue;
    const double height = std::max(1.5, kHeight * std::log1p(count) / std::log1p(static_cast<double>(most)));
    d += fmt::format("M{:g} {:g}v-{:.1f}h{:g}v{:.1f}z", static_cast<double>(i) * step, kHeight, height, step - 0.5, height);
  }
  return fmt::format(
      "<figure class=\"hist\"><svg viewBox=\"0 0 {0:g} {1:g}\" role=\"img\" aria-label=\"Histogram of {2}: {3} bins from {4} to {5}, the fullest has {6}\">"
      "<path d=\"{7}\"/></svg><figcaption><span>{4}</span><span>up to {6}, log scale</span><span>{5}</span></figcaption></figure>\n",
      kWidth, kHeight, escape(tensor), histogram.counts.size(), number_text(histogram.low, 4), number_text(histogram.high, 4), most, d);
}

std::string heat_map_html(const std::string& tensor, const HeatMap& map) {
  const std::string png = encode_png(map.width, map.height, map.pixels, palette(map.signed_values), HeatMap::kGap);
  const std::size_t scale = std::clamp<std::size_t>(320 / std::max<std::size_t>(map.width, 1), 1, 16);
  const auto has = [&](std::uint8_t index) { return std::ranges::find(map.pixels, index) != map.pixels.end(); };
  std::string legend = fmt::format("<span class=\"key {}\"></span> {} to {}", map.signed_values ? "signed" : "ramp", number_text(map.low), number_text(map.high));
  if (has(HeatMap::kNan)) legend += ", <span class=\"dot nan\"></span> NaN";
  if (has(HeatMap::kInfinite)) legend += ", <span class=\"dot inf\"></span> infinite";
  return fmt::format(
      "<figure class=\"heat\"><img width=\"{}\" height=\"{}\" alt=\"Heat map of {}: {}, values from {} to {}\" src=\"data:image/png;base64,{}\">"
      "<figcaption>{}<br>{}</figcaption></figure>\n",
      map.width * scale, map.height * scale, escape(tensor), escape(map.about), number_text(map.low), number_text(map.high), base64(png),
      escape(map.about), legend);
}

std::string window_html(const WindowPicture& picture) {
  std::string text = fmt::format("<div class=\"window\"><h4>One output and its window</h4>\n<p><code>{}[{}]</code> is the norm (p = {}) of {} element{} of <code>{}</code>",
                                 escape(picture.output), escape(picture.output_at), escape(picture.p), picture.inputs, picture.inputs == 1 ? "" : "s", escape(picture.input));
  if (picture.padding > 0) text += fmt::format("; {} more of its window {} padding and add{} nothing", picture.padding, picture.padding == 1 ? "is" : "are", picture.padding == 1 ? "s" : "");
  text += ".</p>\n";
  text += "<div class=\"scroll slices\" tabindex=\"0\" role=\"region\" aria-label=\"The window's elements\">";
  for (const WindowPicture::Slice& slice : picture.slices) {
    text += "<table class=\"cells\">";
    if (!slice.caption.empty()) text += fmt::format("<caption>{}</caption>", escape(slice.caption));
    for (std::size_t i = 0; i < slice.cells.size(); ++i) {
      if (i % slice.columns == 0) text += i > 0 ? "</tr><tr>" : "<tr>";
      text += cell_html(slice.cells[i], picture.dtype);
    }
    text += "</tr></table>";
  }
  return text + fmt::format("</div><p class=\"formula\">{}</p></div>\n", formula_html(picture));
}

}  // namespace lppool::report
