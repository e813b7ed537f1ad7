#pragma once

// Internal to this folder: it names protobuf.

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace lppool::onnx_io {

// How deep messages may lie in one another; the bound protobuf sets by default.
inline constexpr int kMaxDepth = 100;

// Parses `bytes` as `message`, which must be empty. Before protobuf sees them the bytes are walked once without
// allocating, so that a file too deep, or one that would take far more memory than its size (a 2-byte record becomes an
// object of hundreds), is refused first, and damage is reported with its position.
//
// Throws kParse ("<shown>: not <what>: ...") where the bytes are no such message, kLimit where they are too deep, above
// 2 GiB, or would not fit into memory.
void parse_message(google::protobuf::Message& message, std::string_view bytes, const std::string& shown,
                   std::string_view what);

}  // namespace lppool::onnx_io
