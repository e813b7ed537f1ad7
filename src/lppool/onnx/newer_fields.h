#pragma once

// Internal to this folder: it names protobuf.

#include <google/protobuf/message.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Fields that onnx.proto gained after the release this program is built with (1.12). Protobuf keeps them aside, uninterpreted.
namespace lppool::onnx_io {

inline constexpr int kNodeOverload = 8;              // string, IR 10
inline constexpr int kFunctionAttributeProto = 11;   // repeated AttributeProto, IR 9
inline constexpr int kFunctionValueInfo = 12;        // repeated ValueInfoProto, IR 10
inline constexpr int kFunctionOverload = 13;         // string, IR 10
inline constexpr int kAttributeTypeField = 20;       // AttributeProto.type: a value the enumeration does not have

std::vector<const std::string*> unknown_bytes(const google::protobuf::Message& message, int field);
std::string unknown_string(const google::protobuf::Message& message, int field);  // the last one; "" if none
std::optional<std::uint64_t> unknown_number(const google::protobuf::Message& message, int field);
void add_unknown_bytes(google::protobuf::Message& message, int field, const std::string& bytes);
void add_unknown_number(google::protobuf::Message& message, int field, std::uint64_t number);

}  // namespace lppool::onnx_io
