#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lppool/onnx/tensor_file.h"

// A tensor as text, for people and for version control: lossless in both directions.
//
//   # lppool tensor
//   name: "y"
//   dtype: float32
//   shape: 2x3
//   1 2.5 -inf
//   nan 1e-45 0.1
//
// Values in row-major order, one line for each innermost row, any white space between them when read; lines that begin with
// '#' are comments. Floats have as few digits as name them uniquely, a NaN other than the usual one gives its bits:
// nan(0x7fc00001). Complex numbers are (1,2), bools true and false, strings quoted as in JSON. A scalar's shape is "scalar".
namespace lppool {

bool looks_like_text_tensor(std::string_view bytes);

std::string to_text(std::string_view name, const Tensor& tensor);

// One element as it is written there.
std::string element_text(const Tensor& tensor, std::int64_t index);

// `shown` names the file in messages. Throws kParse, kLimit.
NamedTensor parse_text_tensor(std::string_view text, const std::string& shown);

// The shape a text such as "1x3x224", "scalar" or "2x0" means; empty where it means none.
std::optional<Shape> parse_shape(std::string_view text);

}  // namespace lppool
