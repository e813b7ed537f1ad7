#include "lppool/onnx/tensor_proto.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "lppool/base/checked.h"
#include "lppool/base/error.h"
#include "lppool/onnx/packed.h"

namespace lppool::onnx_io {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian and is used as it stands");

enum class DataField { kNone, kFloat, kInt32, kString, kInt64, kDouble, kUInt64, kRaw };

const char* name_of(DataField field) {
  switch (field) {
    case DataField::kNone: break;
    case DataField::kFloat: return "float_data";
    case DataField::kInt32: return "int32_data";
    case DataField::kString: return "string_data";
    case DataField::kInt64: return "int64_data";
    case DataField::kDouble: return "double_data";
    case DataField::kUInt64: return "uint64_data";
    case DataField::kRaw: return "raw_data";
  }
  return "no data field";
}

// The typed field that may hold the elements of the type.
DataField field_for(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat32:
    case DataType::kComplex64: return DataField::kFloat;
    case DataType::kFloat64:
    case DataType::kComplex128: return DataField::kDouble;
    case DataType::kInt64: return DataField::kInt64;
    case DataType::kUInt32:
    case DataType::kUInt64: return DataField::kUInt64;
    case DataType::kString: return DataField::kString;
    default: return DataField::kInt32;
  }
}

// How many values of its typed field the elements take.
std::size_t values_for(DataType dtype, std::int64_t elements) {
  if (dtype == DataType::kComplex64 || dtype == DataType::kComplex128) return 2 * static_cast<std::size_t>(elements);
  const int bits = storage_bits(dtype);
  return bits != 0 && bits < 8 ? packed_bytes(dtype, elements) : static_cast<std::size_t>(elements);
}

template <typename... Args>
[[noreturn]] void fault(const char* code, fmt::format_string<Args...> format, Args&&... args) {
  throw TensorFault{code, fmt::format(format, std::forward<Args>(args)...)};
}

// The one data field that is filled. An empty one counts as absent: many exporters leave raw_data empty rather than out.
DataField filled_field(const onnx::TensorProto& proto) {
  const struct {
    DataField field;
    bool filled;
  } fields[] = {{DataField::kFloat, proto.float_data_size() > 0},   {DataField::kInt32, proto.int32_data_size() > 0},
                {DataField::kString, proto.string_data_size() > 0}, {DataField::kInt64, proto.int64_data_size() > 0},
                {DataField::kDouble, proto.double_data_size() > 0}, {DataField::kUInt64, proto.uint64_data_size() > 0},
                {DataField::kRaw, !proto.raw_data().empty()}};
  DataField found = DataField::kNone;
  for (const auto& candidate : fields) {
    if (!candidate.filled) continue;
    if (found != DataField::kNone) {
      fault("TD003", "data in both {} and {}, expected one data field", name_of(found), name_of(candidate.field));
    }
    found = candidate.field;
  }
  return found;
}

template <typename To, typename From>
void narrow(const From& values, Tensor& tensor) {
  const auto out = tensor.mutable_data<To>();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<To>(values[static_cast<int>(i)]);
}

// int32_data carries types of up to 32 bits in the low bits of each number.
void from_int32_data(const onnx::TensorProto& proto, Tensor& tensor) {
  const auto& values = proto.int32_data();
  if (storage_bits(tensor.dtype()) < 8) {
    std::string packed(static_cast<std::size_t>(values.size()), '\0');
    std::transform(values.begin(), values.end(), packed.begin(), [](std::int32_t v) { return static_cast<char>(v); });
    unpack(packed, tensor);
  } else if (tensor.dtype() == DataType::kBool) {
    std::transform(values.begin(), values.end(), tensor.mutable_data<std::uint8_t>().begin(),
                   [](std::int32_t v) { return static_cast<std::uint8_t>(v != 0); });
  } else {
    switch (element_size(tensor.dtype())) {
      case 1: narrow<std::uint8_t>(values, tensor); break;
      case 2: narrow<std::uint16_t>(values, tensor); break;
      default: narrow<std::int32_t>(values, tensor); break;
    }
  }
}

Tensor from_typed_field(const onnx::TensorProto& proto, DataType dtype, Shape shape, DataField field) {
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  switch (field) {
    case DataField::kFloat: std::memcpy(tensor.mutable_raw(), proto.float_data().data(), tensor.bytes()); break;
    case DataField::kDouble: std::memcpy(tensor.mutable_raw(), proto.double_data().data(), tensor.bytes()); break;
    case DataField::kInt64: std::memcpy(tensor.mutable_raw(), proto.int64_data().data(), tensor.bytes()); break;
    case DataField::kUInt64:
      if (dtype == DataType::kUInt32) narrow<std::uint32_t>(proto.uint64_data(), tensor);
      else std::memcpy(tensor.mutable_raw(), proto.uint64_data().data(), tensor.bytes());
      break;
    case DataField::kString:
      std::copy(proto.string_data().begin(), proto.string_data().end(), tensor.mutable_strings().begin());
      break;
    default: from_int32_data(proto, tensor); break;
  }
  return tensor;
}

// From the form raw_data and external files share. The bytes are used where they lie wherever they can be.
Tensor from_raw(DataType dtype, Shape shape, std::shared_ptr<const std::byte> bytes) {
  const std::int64_t elements = shape.elements();
  const std::size_t size = packed_bytes(dtype, elements);
  if (storage_bits(dtype) < 8) {
    Tensor tensor = Tensor::allocate(dtype, std::move(shape));
    unpack({reinterpret_cast<const char*>(bytes.get()), size}, tensor);
    return tensor;
  }
  const bool odd_bool =
      dtype == DataType::kBool && std::any_of(bytes.get(), bytes.get() + size, [](std::byte b) { return b > std::byte{1}; });
  const std::size_t alignment = std::min<std::size_t>(element_size(dtype), 8);
  if (!odd_bool && reinterpret_cast<std::uintptr_t>(bytes.get()) % alignment == 0) {
    return Tensor::wrap(dtype, std::move(shape), std::move(bytes));
  }
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  if (size != 0) std::memcpy(tensor.mutable_raw(), bytes.get(), size);
  if (odd_bool) {
    for (std::uint8_t& b : tensor.mutable_data<std::uint8_t>()) b = b != 0;
  }
  return tensor;
}

Tensor from_external(const onnx::TensorProto& proto, DataType dtype, Shape shape, const ImportContext& context) {
  if (dtype == DataType::kString) fault("TD009", "strings in external data, expected string_data");
  ExternalReference reference;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") reference.location = entry.value();
    if (entry.key() == "offset") reference.offset = entry.value();
    if (entry.key() == "length") reference.length = entry.value();
  }
  auto bytes = context.files.find(reference, packed_bytes(dtype, shape.elements()));
  return from_raw(dtype, std::move(shape), std::move(bytes));
}

Tensor import_value(const onnx::TensorProto& proto, const ImportContext& context) {
  if (!is_known(proto.data_type())) {
    fault("TD006", "element type {}, expected one of 1 to {}", proto.data_type(), kLastDataType);
  }
  const auto dtype = static_cast<DataType>(proto.data_type());
  for (const std::int64_t dim : proto.dims()) {
    if (dim < 0) fault("TD004", "dimension {}, expected 0 or more", dim);
  }
  std::vector<std::int64_t> dims(proto.dims().begin(), proto.dims().end());
  const auto elements = checked_elements(dims);
  // 16 bytes is the largest element.
  if (!elements || !checked_mul(*elements, 16)) fault("TD005", "more elements than 63 bits can count");
  if (proto.has_segment()) fault("TD010", "stored as a segment of a tensor, which no ONNX tool supports");
  const DataField field = filled_field(proto);
  Shape shape(std::move(dims));

  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    if (field != DataField::kNone) fault("TD003", "data in both {} and an external file, expected one place", name_of(field));
    return from_external(proto, dtype, std::move(shape), context);
  }
  if (*elements == 0) {
    if (field != DataField::kNone) {
      fault("TD007", "{} holds data, expected none: shape {} has no elements", name_of(field), to_string(shape));
    }
    return Tensor::allocate(dtype, std::move(shape));
  }
  if (field == DataField::kRaw) {
    if (dtype == DataType::kString) fault("TD009", "strings in raw_data, expected string_data");
    const std::size_t expected = packed_bytes(dtype, *elements);
    if (proto.raw_data().size() != expected) {
      fault("TD001", "raw_data holds {} bytes, expected {} for {} of shape {}", proto.raw_data().size(), expected,
            name(dtype), to_string(shape));
    }
    return from_raw(dtype, std::move(shape),
                    {context.owner, reinterpret_cast<const std::byte*>(proto.raw_data().data())});
  }
  const DataField expected_field = field_for(dtype);
  if (field != DataField::kNone && field != expected_field) {
    fault("TD008", "data in {}, expected {} or raw_data for {}", name_of(field), name_of(expected_field), name(dtype));
  }
  const int count = expected_field == DataField::kFloat    ? proto.float_data_size()
                    : expected_field == DataField::kDouble ? proto.double_data_size()
                    : expected_field == DataField::kInt64  ? proto.int64_data_size()
                    : expected_field == DataField::kUInt64 ? proto.uint64_data_size()
                    : expected_field == DataField::kString ? proto.string_data_size()
                                                           : proto.int32_data_size();
  const std::size_t expected = values_for(dtype, *elements);
  if (static_cast<std::size_t>(count) != expected) {
    fault("TD002", "{} holds {} values, expected {} for {} of shape {}", name_of(expected_field), count, expected, name(dtype),
          to_string(shape));
  }
  return from_typed_field(proto, dtype, std::move(shape), expected_field);
}

}  // namespace

StoredTensor import_tensor(const onnx::TensorProto& proto, const ImportContext& context) {
  StoredTensor stored;
  stored.name = proto.name();
  stored.dtype_number = proto.data_type();
  stored.dims.assign(proto.dims().begin(), proto.dims().end());
  stored.external = proto.data_location() == onnx::TensorProto::EXTERNAL;
  try {
    stored.value = import_value(proto, context);
  } catch (const TensorFault& problem) {
    Diagnostic& diagnostic = stored.problem.emplace();
    diagnostic.code = problem.code;
    diagnostic.message =
        stored.name.empty() ? "tensor: " + problem.message : fmt::format("tensor '{}': {}", stored.name, problem.message);
    diagnostic.tensor = stored.name;
  }
  return stored;
}

StoredSparseTensor import_sparse_tensor(const onnx::SparseTensorProto& proto, const ImportContext& context) {
  StoredSparseTensor sparse;
  sparse.values = import_tensor(proto.values(), context);
  sparse.indices = import_tensor(proto.indices(), context);
  sparse.dims.assign(proto.dims().begin(), proto.dims().end());
  return sparse;
}

void export_tensor_header(const std::string& name, const Tensor& tensor, onnx::TensorProto& proto) {
  proto.Clear();
  if (!name.empty()) proto.set_name(name);
  proto.set_data_type(static_cast<std::int32_t>(tensor.dtype()));
  for (const std::int64_t dim : tensor.shape()) proto.add_dims(dim);
}

void export_tensor(const std::string& name, const Tensor& tensor, onnx::TensorProto& proto) {
  export_tensor_header(name, tensor, proto);
  if (tensor.size() == 0) return;
  if (tensor.dtype() == DataType::kString) {
    for (const std::string& s : tensor.strings()) proto.add_string_data(s);
  } else if (storage_bits(tensor.dtype()) < 8) {
    proto.set_raw_data(pack(tensor));
  } else {
    proto.set_raw_data(tensor.raw(), tensor.bytes());
  }
}

}  // namespace lppool::onnx_io
