#include "options.h"

#include <charconv>

#include "lppool/base/error.h"

namespace lppool::app {

std::pair<std::string, std::string> split_assignment(const std::string& text, std::string_view option) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    fail(ErrorKind::kUsage, "{} is '{}', expected NAME=VALUE", option, text);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void ShapeOptions::declare(CLI::App& verb) {
  verb.add_option("--dim", dims, "Bind a symbolic dimension (repeatable)")->type_name("NAME=N");
  verb.add_option("--input-shape", input_shapes, "Use this shape for a graph input, as in x=1x3xHxW (repeatable)")->type_name("NAME=SHAPE");
}

InferOptions ShapeOptions::resolve() const {
  InferOptions options;
  for (const std::string& text : dims) {
    const auto [name, value] = split_assignment(text, "--dim");
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < 0) {
      fail(ErrorKind::kUsage, "--dim is '{}', expected NAME=N with N a whole number >= 0", text);
    }
    options.dims[name] = number;
  }
  for (const std::string& text : input_shapes) {
    const auto [name, value] = split_assignment(text, "--input-shape");
    std::vector<Dim> shape;
    // "scalar" is rank 0; sizes are parted by 'x', so a symbol may not contain one unless it stands in parentheses.
    std::string rest = value == "scalar" ? "" : value;
    int depth = 0;
    std::string part;
    const auto flush = [&] {
      if (part.empty()) fail(ErrorKind::kUsage, "--input-shape is '{}', expected NAME=SHAPE as in x=1x3xHxW", text);
      const Dim dim = parse_dim(part);
      if (dim.value() && *dim.value() < 0) fail(ErrorKind::kUsage, "--input-shape is '{}': a size is negative", text);
      shape.push_back(dim);
      part.clear();
    };
    for (const char c : rest) {
      if (c == '(') ++depth;
      if (c == ')') --depth;
      if ((c == 'x' || c == ',') && depth == 0) flush();
      else part += c;
    }
    if (!rest.empty()) flush();
    options.input_shapes[name] = std::move(shape);
  }
  return options;
}

}  // namespace lppool::app
