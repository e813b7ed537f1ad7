#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "lppool/graph/model.h"
#include "lppool/tensor/value.h"

// Values in protobuf files of their own: TensorProto, SequenceProto, OptionalProto, as the input_N.pb and output_N.pb of ONNX
// test folders are. "-" is standard input or output.
namespace lppool {

struct NamedTensor {
  std::string name;  // "" where the file names none
  Tensor tensor;
};

struct NamedValue {
  std::string name;
  Value value;
};

// Throws kIo, kParse (not a tensor, or its data do not fit its dims: the message gives the code), kLimit.
NamedTensor read_tensor(const std::filesystem::path& path);
// The same for bytes in memory; external data are refused unless `folder` says where they lie. `shown` is for messages.
NamedTensor parse_tensor(std::string_view bytes, const std::filesystem::path& folder, std::string_view shown);

// Reads what a graph input of type `declared` is stored as: the file itself does not say which message it holds. An unset
// type is a tensor. Throws as read_tensor, and kUnsupported for maps and sparse tensors.
NamedValue read_value(const std::filesystem::path& path, const Type& declared);

// Throws kIo, kLimit above 2 GiB.
void write_tensor(const std::filesystem::path& path, std::string_view name, const Tensor& tensor);
std::string serialize_tensor(std::string_view name, const Tensor& tensor);
// `declared` says which message to write, as for read_value; a value that does not fit it is kRuntime.
void write_value(const std::filesystem::path& path, std::string_view name, const Value& value, const Type& declared);

}  // namespace lppool
