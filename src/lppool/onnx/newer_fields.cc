#include "lppool/onnx/newer_fields.h"

#include <google/protobuf/unknown_field_set.h>

namespace lppool::onnx_io {
namespace {

using google::protobuf::Message;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

const UnknownFieldSet& unknown_fields(const Message& message) {
  return message.GetReflection()->GetUnknownFields(message);
}

}  // namespace

std::vector<const std::string*> unknown_bytes(const Message& message, int field) {
  std::vector<const std::string*> found;
  const UnknownFieldSet& fields = unknown_fields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& candidate = fields.field(i);
    if (candidate.number() == field && candidate.type() == UnknownField::TYPE_LENGTH_DELIMITED) {
      found.push_back(&candidate.length_delimited());
    }
  }
  return found;
}

std::string unknown_string(const Message& message, int field) {
  const auto all = unknown_bytes(message, field);
  return all.empty() ? std::string() : *all.back();
}

std::optional<std::uint64_t> unknown_number(const Message& message, int field) {
  std::optional<std::uint64_t> found;
  const UnknownFieldSet& fields = unknown_fields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& candidate = fields.field(i);
    if (candidate.number() == field && candidate.type() == UnknownField::TYPE_VARINT) found = candidate.varint();
  }
  return found;
}

void add_unknown_bytes(Message& message, int field, const std::string& bytes) {
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(field, bytes);
}

void add_unknown_number(Message& message, int field, std::uint64_t number) {
  message.GetReflection()->MutableUnknownFields(&message)->AddVarint(field, number);
}

}  // namespace lppool::onnx_io
