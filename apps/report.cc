#include "report.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lppool/base/text.h"

namespace lppool::app {

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return;
  // Whoever reads has seen enough ('| head'): that is no failure to tell anybody of.
  if (errno == EPIPE) std::_Exit(exit_code(ErrorKind::kIo));
  fail(ErrorKind::kIo, "stdout cannot be written: {}", std::strerror(errno));
}

void print_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void print_json(const Json& document) { print(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"); }

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kError: return "error";
    case Severity::kWarning: return "warning";
    case Severity::kNote: return "note";
  }
  return "";
}

namespace {
Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
}  // namespace

Json finding_json(const Diagnostic& finding) {
  Json json = {{"code", finding.code},
               {"severity", severity_name(finding.severity)},
               {"node", or_null(finding.node)},
               {"node_index", finding.node_index ? Json(*finding.node_index) : Json(nullptr)},
               {"op_type", or_null(finding.op_type)},
               {"since_version", finding.since_version ? Json(*finding.since_version) : Json(nullptr)},
               {"attribute", or_null(finding.attribute)},
               {"tensor", or_null(finding.tensor)},
               {"message", finding.message}};
  if (!finding.graph.empty()) json["graph"] = finding.graph;
  if (!finding.hint.empty()) json["hint"] = finding.hint;
  return json;
}

std::string finding_text(const Diagnostic& given, bool color) {
  Diagnostic finding = given;  // names come from files
  for (std::string* text : {&finding.graph, &finding.node, &finding.op_type, &finding.attribute, &finding.tensor, &finding.message, &finding.hint}) {
    *text = printable(*text, std::size_t{1} << 16);
  }
  const std::string_view sgr =
      finding.severity == Severity::kError ? "31;1" : finding.severity == Severity::kWarning ? "33;1" : "36";
  std::string line = fmt::format("{} {}", paint(severity_name(finding.severity), sgr, color), finding.code);
  if (!finding.graph.empty()) line += fmt::format(" in {}", finding.graph);
  if (!finding.op_type.empty()) {
    line += finding.node.empty() ? fmt::format(" node #{} ({})", finding.node_index.value_or(0), finding.op_type)
                                 : fmt::format(" node '{}' ({})", finding.node, finding.op_type);
  }
  if (!finding.attribute.empty()) line += fmt::format(" attribute '{}'", finding.attribute);
  if (!finding.tensor.empty() && finding.message.find(finding.tensor) == std::string::npos) {
    line += fmt::format(" tensor '{}'", finding.tensor);
  }
  line += fmt::format(": {}\n", finding.message);
  if (!finding.hint.empty()) line += fmt::format("    {} {}\n", paint("hint:", "36", color), finding.hint);
  return line;
}

Json shape_json(const std::optional<std::vector<Dim>>& shape) {
  if (!shape) return nullptr;
  Json json = Json::array();
  for (const Dim& dim : *shape) {
    if (dim.value()) json.push_back(*dim.value());
    else if (dim.known()) json.push_back(dim.to_string());
    else json.push_back(nullptr);
  }
  return json;
}

Json shape_json(const Shape& shape) { return Json(shape.dims()); }

std::string dtype_name(const ValueType& type) {
  switch (type.kind) {
    case Type::Kind::kTensor: return type.dtype == DataType::kUndefined ? "?" : std::string(name(type.dtype));
    case Type::Kind::kSequence: return fmt::format("seq({})", type.element ? dtype_name(*type.element) : "?");
    case Type::Kind::kOptional: return fmt::format("optional({})", type.element ? dtype_name(*type.element) : "?");
    case Type::Kind::kSparseTensor: return fmt::format("sparse_tensor({})", name(type.dtype));
    case Type::Kind::kMap: return "map";
    case Type::Kind::kUnset: return "?";
  }
  return "?";
}

std::string shape_text(const ValueType& type) { return type.shape ? to_string(*type.shape) : "?"; }

Json number_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::string paint(std::string_view text, std::string_view code, bool color) {
  return color ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

}  // namespace lppool::app
