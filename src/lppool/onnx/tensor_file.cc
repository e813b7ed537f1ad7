#include "lppool/onnx/tensor_file.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx-data_pb.h>

#include <limits>
#include <optional>

#include "lppool/base/atomic_file.h"
#include "lppool/base/error.h"
#include "lppool/base/file_bytes.h"
#include "lppool/onnx/tensor_proto.h"
#include "lppool/onnx/wire.h"

namespace lppool {
namespace fs = std::filesystem;
namespace {

using onnx_io::ExternalFiles;

// One file of data: its message, kept alive by the tensors made from it.
template <typename Proto>
struct Parsed {
  std::shared_ptr<Proto> proto = std::make_shared<Proto>();
  std::string shown;
  ExternalFiles files;

  Parsed(std::string_view bytes, std::string shown_as, std::optional<fs::path> folder, std::string_view what)
      : shown(std::move(shown_as)), files(std::move(folder), {}) {
    onnx_io::parse_message(*proto, bytes, shown, what);
  }
  Parsed(const fs::path& path, std::string_view what)
      : Parsed(FileBytes::open(path, static_cast<std::size_t>(std::numeric_limits<int>::max()))->view(), shown_name(path),
               path == "-" ? std::nullopt : std::optional(path.parent_path()), what) {}

  Tensor tensor(const onnx::TensorProto& tensor_proto) {
    StoredTensor stored = onnx_io::import_tensor(tensor_proto, {proto, files});
    if (stored.problem) fail(ErrorKind::kParse, "{}: {} [{}]", shown, stored.problem->message, stored.problem->code);
    return std::move(stored.value);
  }
};

constexpr std::string_view kTensorFile = "a tensor file (TensorProto)";

NamedTensor named_tensor(Parsed<onnx::TensorProto> parsed) {
  const onnx::TensorProto& proto = *parsed.proto;
  if (proto.data_type() == 0) fail(ErrorKind::kParse, "{}: not {}: it names no element type", parsed.shown, kTensorFile);
  return {proto.name(), parsed.tensor(proto)};
}

template <typename Proto>
Value sequence_value(const onnx::SequenceProto& proto, Parsed<Proto>& parsed);

template <typename Proto>
Value optional_value(const onnx::OptionalProto& proto, Parsed<Proto>& parsed) {
  if (proto.has_tensor_value()) return parsed.tensor(proto.tensor_value());
  if (proto.has_sequence_value()) return sequence_value(proto.sequence_value(), parsed);
  if (proto.has_optional_value()) return optional_value(proto.optional_value(), parsed);
  if (proto.has_map_value() || proto.has_sparse_tensor_value()) {
    fail(ErrorKind::kUnsupported, "{}: an optional map or sparse tensor; tensors and sequences are supported", parsed.shown);
  }
  return {};
}

template <typename Proto>
Value sequence_value(const onnx::SequenceProto& proto, Parsed<Proto>& parsed) {
  if (proto.map_values_size() > 0 || proto.sparse_tensor_values_size() > 0) {
    fail(ErrorKind::kUnsupported, "{}: a sequence of maps or sparse tensors; tensors and sequences are supported",
         parsed.shown);
  }
  auto sequence = std::make_shared<Sequence>();
  for (const auto& tensor : proto.tensor_values()) sequence->elements.emplace_back(parsed.tensor(tensor));
  for (const auto& inner : proto.sequence_values()) sequence->elements.push_back(sequence_value(inner, parsed));
  for (const auto& inner : proto.optional_values()) sequence->elements.push_back(optional_value(inner, parsed));
  if (!sequence->elements.empty() && sequence->elements.front().is_tensor()) {
    sequence->dtype = sequence->elements.front().tensor().dtype();
    for (const Value& element : sequence->elements) {
      if (!element.is_tensor() || element.tensor().dtype() != sequence->dtype) {
        fail(ErrorKind::kParse, "{}: a sequence of different types, expected all {}", parsed.shown, name(sequence->dtype));
      }
    }
  }
  return std::shared_ptr<const Sequence>(std::move(sequence));
}

// An empty sequence takes its element type from its declaration.
Value with_declared_dtype(Value value, const Type& declared) {
  if (!value.is_sequence() || !value.sequence().elements.empty()) return value;
  auto sequence = std::make_shared<Sequence>();
  if (declared.element != nullptr) sequence->dtype = declared.element->dtype;
  return std::shared_ptr<const Sequence>(std::move(sequence));
}

std::string serialize(const google::protobuf::Message& message, const std::string& shown) {
  std::string bytes;
  if (message.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !message.SerializePartialToString(&bytes)) {
    fail(ErrorKind::kLimit, "{}: the value takes {} bytes, protobuf files may have at most {}", shown, message.ByteSizeLong(),
         std::numeric_limits<int>::max());
  }
  return bytes;
}

[[noreturn]] void fail_misfit(std::string_view name, const char* expected) {
  fail(ErrorKind::kRuntime, "value '{}' is not the {} its declared type asks for", name, expected);
}

void export_sequence(const Value& value, onnx::SequenceProto& proto) {
  // A sequence of no elements says what it would hold; tensors are all that ONNX operators put there.
  proto.set_elem_type(onnx::SequenceProto::TENSOR);
  for (const Value& element : value.sequence().elements) {
    if (element.is_tensor()) {
      onnx_io::export_tensor("", element.tensor(), *proto.add_tensor_values());
    } else if (element.is_sequence()) {
      proto.set_elem_type(onnx::SequenceProto::SEQUENCE);
      export_sequence(element, *proto.add_sequence_values());
    } else {
      proto.set_elem_type(onnx::SequenceProto::OPTIONAL);
      proto.add_optional_values()->set_elem_type(onnx::OptionalProto::UNDEFINED);
    }
  }
}

void export_optional(const Value& value, onnx::OptionalProto& proto) {
  if (value.is_tensor()) {
    proto.set_elem_type(onnx::OptionalProto::TENSOR);
    onnx_io::export_tensor("", value.tensor(), *proto.mutable_tensor_value());
  } else if (value.is_sequence()) {
    proto.set_elem_type(onnx::OptionalProto::SEQUENCE);
    export_sequence(value, *proto.mutable_sequence_value());
  } else {
    proto.set_elem_type(onnx::OptionalProto::UNDEFINED);
  }
}

}  // namespace

NamedTensor read_tensor(const fs::path& path) { return named_tensor({path, kTensorFile}); }

NamedTensor parse_tensor(std::string_view bytes, const fs::path& folder, std::string_view shown) {
  return named_tensor({bytes, std::string(shown), folder.empty() ? std::nullopt : std::optional(folder), kTensorFile});
}

NamedValue read_value(const fs::path& path, const Type& declared) {
  switch (declared.kind) {
    case Type::Kind::kUnset:
    case Type::Kind::kTensor: {
      NamedTensor read = read_tensor(path);
      return {std::move(read.name), std::move(read.tensor)};
    }
    case Type::Kind::kSequence: {
      Parsed<onnx::SequenceProto> parsed(path, "a sequence file (SequenceProto)");
      return {parsed.proto->name(), with_declared_dtype(sequence_value(*parsed.proto, parsed), declared)};
    }
    case Type::Kind::kOptional: {
      Parsed<onnx::OptionalProto> parsed(path, "an optional file (OptionalProto)");
      Value value = optional_value(*parsed.proto, parsed);
      if (declared.element != nullptr) value = with_declared_dtype(std::move(value), *declared.element);
      return {parsed.proto->name(), std::move(value)};
    }
    case Type::Kind::kSparseTensor:
    case Type::Kind::kMap: break;
  }
  fail(ErrorKind::kUnsupported, "{}: a value of a map or sparse tensor type; tensors, sequences and optionals are supported",
       shown_name(path));
}

std::string serialize_tensor(std::string_view name, const Tensor& tensor) {
  onnx::TensorProto proto;
  onnx_io::export_tensor(std::string(name), tensor, proto);
  return serialize(proto, fmt::format("tensor '{}'", name));
}

void write_tensor(const fs::path& path, std::string_view name, const Tensor& tensor) {
  if (storage_bits(tensor.dtype()) < 8 || tensor.size() == 0 ||
      tensor.bytes() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    write_file(path, serialize_tensor(name, tensor));
    return;
  }
  // The elements go from the tensor straight into the file: a message of them would double the memory.
  onnx::TensorProto proto;
  onnx_io::export_tensor_header(std::string(name), tensor, proto);
  std::string header = serialize(proto, path.string());
  {
    google::protobuf::io::StringOutputStream stream(&header);  // appends
    google::protobuf::io::CodedOutputStream coded(&stream);
    constexpr std::uint32_t kLengthDelimited = 2;
    coded.WriteVarint32(onnx::TensorProto::kRawDataFieldNumber << 3 | kLengthDelimited);
    coded.WriteVarint64(tensor.bytes());
  }
  AtomicFile file(path);
  file.write(header);
  file.write({reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()});
  file.commit();
}

void write_value(const fs::path& path, std::string_view name, const Value& value, const Type& declared) {
  if (declared.kind == Type::Kind::kOptional) {
    onnx::OptionalProto proto;
    proto.set_name(std::string(name));
    export_optional(value, proto);
    write_file(path, serialize(proto, path.string()));
  } else if (declared.kind == Type::Kind::kSequence) {
    if (!value.is_sequence()) fail_misfit(name, "sequence");
    onnx::SequenceProto proto;
    proto.set_name(std::string(name));
    export_sequence(value, proto);
    write_file(path, serialize(proto, path.string()));
  } else {
    if (!value.is_tensor()) fail_misfit(name, "tensor");
    write_tensor(path, name, value.tensor());
  }
}

}  // namespace lppool
