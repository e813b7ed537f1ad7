#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lppool/graph/model.h"

// Which operators ONNX has, whether or not this program implements them: what tells a misspelt operator from one that
// is merely unknown here.
namespace lppool {

struct KnownOp {
  int first = 1;       // the operator set that brought it
  int deprecated = 0;  // the operator set that took it away; 0: none
};

// True for the domains whose operators ONNX itself defines. Either spelling of the default domain.
bool is_onnx_domain(std::string_view domain);

std::optional<KnownOp> known_op(std::string_view domain, std::string_view type);

// The experimental operators of ONNX 1.0 to 1.4, which never had a fixed meaning.
bool is_experimental_op(std::string_view domain, std::string_view type);

// Names of a domain's operators, sorted; empty for a domain that is not ONNX's.
std::vector<std::string_view> known_op_names(std::string_view domain);

}  // namespace lppool
