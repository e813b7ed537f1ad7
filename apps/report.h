#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "lppool/base/diagnostic.h"
#include "lppool/base/error.h"
#include "lppool/graph/dim.h"
#include "lppool/infer/infer.h"
#include "lppool/tensor/tensor.h"

// The forms that more than one verb prints.
namespace lppool::app {

using Json = nlohmann::ordered_json;  // members stay in the order of the documented examples

inline constexpr int kSchemaVersion = 1;  // of every JSON document

// Writes a document and a newline to stdout. Bytes that are not UTF-8 are replaced.
void print_json(const Json& document);
// Writes text to stdout as it is. Throws kIo where stdout cannot be written (a full disk behind a redirection).
void print(std::string_view text);
// Writes text to stderr. Where that fails nothing is left to tell it to: the exit code still answers.
void print_error(std::string_view text);

std::string_view severity_name(Severity severity);
Json finding_json(const Diagnostic& finding);
// One line: "error LP003 node 'pool1' (LpPool) attribute 'p': message"; the hint on a line of its own, indented.
std::string finding_text(const Diagnostic& finding, bool color);

Json shape_json(const std::optional<std::vector<Dim>>& shape);  // null where the rank is unknown
Json shape_json(const Shape& shape);
std::string dtype_name(const ValueType& type);  // "float32", "seq(float32)", "?"
std::string shape_text(const ValueType& type);  // "1x3xHxW", "?"

// A double as JSON: NaN and infinities, which JSON lacks, as the strings "nan", "inf", "-inf".
Json number_json(double value);

// Colours: `code` is an SGR number ("31" red). Plain text where colour is off.
std::string paint(std::string_view text, std::string_view code, bool color);

}  // namespace lppool::app
