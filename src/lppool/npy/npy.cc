#include "lppool/npy/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "lppool/base/atomic_file.h"
#include "lppool/base/checked.h"
#include "lppool/base/error.h"
#include "lppool/base/file_bytes.h"
#include "lppool/npy/header.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written in native order and labelled '<'");

constexpr std::string_view kMagic("\x93NUMPY", 6);

// The kind and size of a descr such as <f4, and what ONNX calls it. numpy's names for types ONNX also has.
struct NumpyType {
  char kind;
  std::size_t size;
  DataType dtype;
};
constexpr NumpyType kTypes[] = {
    {'b', 1, DataType::kBool},       {'i', 1, DataType::kInt8},      {'i', 2, DataType::kInt16},
    {'i', 4, DataType::kInt32},      {'i', 8, DataType::kInt64},     {'u', 1, DataType::kUInt8},
    {'u', 2, DataType::kUInt16},     {'u', 4, DataType::kUInt32},    {'u', 8, DataType::kUInt64},
    {'f', 2, DataType::kFloat16},    {'f', 4, DataType::kFloat32},   {'f', 8, DataType::kFloat64},
    {'c', 8, DataType::kComplex64},  {'c', 16, DataType::kComplex128},
};

const NumpyType* numpy_type(DataType dtype) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& t) { return t.dtype == dtype; });
  return found == std::end(kTypes) ? nullptr : found;
}

struct Element {
  DataType dtype;
  bool swapped;  // the file has the most significant byte first
};

[[noreturn]] void refuse_descr(const std::string& shown, const std::string& descr, std::string_view what) {
  fail(ErrorKind::kUnsupported, "{}: elements of type '{}' ({}); bool, integers, floats and complex numbers are supported",
       shown, descr, what);
}

Element parse_descr(const std::string& descr, const std::string& shown, const NpyReadOptions& options) {
  std::string_view rest = descr;
  char order = '=';
  if (!rest.empty() && std::string_view("<>=|").find(rest.front()) != std::string_view::npos) {
    order = rest.front();
    rest.remove_prefix(1);
  }
  if (rest.empty()) fail(ErrorKind::kParse, "{}: not a .npy file: an empty element type", shown);
  const char kind = rest.front() == '?' ? 'b' : rest.front();
  const std::string_view digits = rest.front() == '?' ? "1" : rest.substr(1);
  std::size_t size = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9' || size > 1000000) refuse_descr(shown, descr, "not a plain type");
    size = size * 10 + static_cast<std::size_t>(c - '0');
  }

  const bool foreign = options.expected != DataType::kUndefined && numpy_type(options.expected) == nullptr;
  if (foreign && (kind == 'u' || (kind == 'V' && order != '>')) && size == element_size(options.expected)) {
    return {options.expected, order == '>' && size > 1};
  }
  const auto* type =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& t) { return t.kind == kind && t.size == size; });
  if (type != std::end(kTypes)) return {type->dtype, order == '>' && size > 1};
  switch (kind) {
    case 'V':
      refuse_descr(shown, descr, size == 2 ? "void: if they are bfloat16, say --dtype bfloat16" : "void: raw bytes of no stated type");
    case 'O': refuse_descr(shown, descr, "pickled objects");
    case 'S':
    case 'a':
    case 'U': refuse_descr(shown, descr, "text");
    case 'M':
    case 'm': refuse_descr(shown, descr, "dates or time spans");
    default: refuse_descr(shown, descr, "not a type of ONNX");
  }
}

void swap_bytes(Tensor& tensor) {
  // Each part of a complex number is swapped by itself.
  const bool complex = tensor.dtype() == DataType::kComplex64 || tensor.dtype() == DataType::kComplex128;
  const std::size_t size = element_size(tensor.dtype()) / (complex ? 2 : 1);
  std::byte* bytes = tensor.mutable_raw();
  for (std::size_t i = 0; i < tensor.bytes(); i += size) std::reverse(bytes + i, bytes + i + size);
}

// Elements of kSize bytes from column-major to row-major order.
template <std::size_t kSize>
void transpose(const std::byte* from, std::byte* to, const Shape& shape) {
  struct Chunk {
    std::byte bytes[kSize];
  };
  const std::size_t rank = shape.rank();
  std::vector<std::int64_t> strides(rank), index(rank);  // of the source, in elements
  for (std::int64_t axis = 0, stride = 1; axis < static_cast<std::int64_t>(rank); ++axis) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= shape[static_cast<std::size_t>(axis)];
  }
  const std::int64_t rows = shape.elements() / shape[rank - 1];
  std::int64_t offset = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < shape[rank - 1]; ++i, to += kSize) {
      std::memcpy(to, from + static_cast<std::size_t>(offset + i * strides[rank - 1]) * kSize, sizeof(Chunk));
    }
    for (std::size_t axis = rank - 1; axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

Tensor to_row_major(const Tensor& columns) {
  Tensor rows = Tensor::allocate(columns.dtype(), columns.shape());
  switch (element_size(columns.dtype())) {
    case 1: transpose<1>(columns.raw(), rows.mutable_raw(), columns.shape()); break;
    case 2: transpose<2>(columns.raw(), rows.mutable_raw(), columns.shape()); break;
    case 4: transpose<4>(columns.raw(), rows.mutable_raw(), columns.shape()); break;
    case 8: transpose<8>(columns.raw(), rows.mutable_raw(), columns.shape()); break;
    default: transpose<16>(columns.raw(), rows.mutable_raw(), columns.shape()); break;
  }
  return rows;
}

// bool holds 0 and 1 only; codes of types below a byte hold nothing above them, signed ones their sign.
void check_bytes(Tensor& tensor, const std::string& shown) {
  const int bits = storage_bits(tensor.dtype());
  if (tensor.dtype() != DataType::kBool && bits >= 8) return;
  const unsigned mask = (1u << bits) - 1;
  const unsigned sign = is_signed_integer(tensor.dtype()) ? 1u << (bits - 1) : 0;
  const auto normal = [&](std::uint8_t byte) {
    return tensor.dtype() == DataType::kBool ? static_cast<std::uint8_t>(byte != 0)
                                             : static_cast<std::uint8_t>(((byte & mask) ^ sign) - sign);
  };
  const auto data = tensor.data<std::uint8_t>();
  if (std::all_of(data.begin(), data.end(), [&](std::uint8_t b) { return normal(b) == b; })) return;
  Tensor copy = Tensor::allocate(tensor.dtype(), tensor.shape());
  std::transform(data.begin(), data.end(), copy.mutable_data<std::uint8_t>().begin(), [&](std::uint8_t b) {
    if (tensor.dtype() != DataType::kBool && b > mask) {
      fail(ErrorKind::kParse, "{}: a byte of value {}, expected at most {} for {}", shown, b, mask, name(tensor.dtype()));
    }
    return normal(b);
  });
  tensor = std::move(copy);
}

std::string little_endian(std::size_t value, std::size_t size) {
  std::string out;
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

}  // namespace

std::optional<NpyForm> parse_npy_form(std::string_view name) {
  if (name == "v2") return NpyForm::kVoid;
  if (name == "u16") return NpyForm::kBits;
  if (name == "f32") return NpyForm::kFloat32;
  return std::nullopt;
}

bool looks_like_npy(std::string_view bytes) { return bytes.starts_with(kMagic); }

Tensor parse_npy(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& shown,
                 const NpyReadOptions& options) {
  if (!looks_like_npy(bytes)) fail(ErrorKind::kParse, "{}: not a .npy file: it does not begin with \\x93NUMPY", shown);
  constexpr std::size_t kVersionEnd = kMagic.size() + 2;
  if (bytes.size() < kVersionEnd) fail(ErrorKind::kParse, "{}: not a .npy file: it ends inside its header", shown);
  const int major = static_cast<unsigned char>(bytes[6]), minor = static_cast<unsigned char>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0) {
    fail(ErrorKind::kUnsupported, "{}: .npy format version {}.{}; 1.0, 2.0 and 3.0 are supported", shown, major, minor);
  }
  const std::size_t length_size = major == 1 ? 2 : 4;
  if (bytes.size() - kVersionEnd < length_size) fail(ErrorKind::kParse, "{}: not a .npy file: it ends inside its header", shown);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_size; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[kVersionEnd + i])) << (8 * i);
  }
  const std::size_t begin = kVersionEnd + length_size;
  if (length > bytes.size() - begin) {
    fail(ErrorKind::kParse, "{}: not a .npy file: a header of {} bytes, where {} are left", shown, length,
         bytes.size() - begin);
  }
  const npy::Header header = npy::parse_header(bytes.substr(begin, length), shown);
  const Element element = parse_descr(header.descr, shown, options);

  const std::string_view data = bytes.substr(begin + length);
  for (const std::int64_t dim : header.shape) {
    if (dim < 0) fail(ErrorKind::kParse, "{}: not a .npy file: dimension {}, expected 0 or more", shown, dim);
  }
  // As numpy has it, a size of 0 does not excuse others whose product overflows.
  std::vector<std::int64_t> sizes = header.shape;
  std::ranges::replace(sizes, 0, 1);
  const bool countable = checked_elements(sizes).has_value();
  const auto elements = countable ? checked_elements(header.shape) : std::nullopt;
  const auto size = elements ? checked_mul(*elements, static_cast<std::int64_t>(element_size(element.dtype))) : elements;
  if (!size) fail(ErrorKind::kParse, "{}: not a .npy file: its shape has more bytes than 63 bits can count", shown);
  if (static_cast<std::size_t>(*size) > data.size()) {
    fail(ErrorKind::kParse, "{}: {} bytes of data, expected {} for {} of shape {}", shown, data.size(), *size,
         name(element.dtype), to_string(Shape(header.shape)));
  }

  const auto* first = reinterpret_cast<const std::byte*>(data.data());
  const std::size_t alignment = std::min<std::size_t>(element_size(element.dtype), 8);
  Tensor tensor;
  if (reinterpret_cast<std::uintptr_t>(first) % alignment == 0 && !element.swapped) {
    tensor = Tensor::wrap(element.dtype, Shape(header.shape), {std::move(owner), first});
  } else {
    tensor = Tensor::allocate(element.dtype, Shape(header.shape));
    if (*size != 0) std::memcpy(tensor.mutable_raw(), first, static_cast<std::size_t>(*size));
    if (element.swapped) swap_bytes(tensor);
  }
  check_bytes(tensor, shown);
  return header.fortran_order && tensor.rank() > 1 && tensor.size() > 0 ? to_row_major(tensor) : tensor;
}

Tensor read_npy(const std::filesystem::path& path, const NpyReadOptions& options) {
  const auto bytes = FileBytes::open(path);
  return parse_npy(bytes->view(), bytes, shown_name(path), options);
}

NpyParts npy_parts(const Tensor& tensor, NpyForm form) {
  if (tensor.dtype() == DataType::kString || !tensor.defined()) {
    fail(ErrorKind::kUnsupported, "a {} tensor has no .npy form; bool, integers, floats and complex numbers have one",
         name(tensor.dtype()));
  }
  NpyParts parts;
  parts.elements = tensor;
  std::string descr;
  const NumpyType* type = numpy_type(tensor.dtype());
  if (type == nullptr && form == NpyForm::kFloat32) {
    // Exact: float32 holds every value of the small floats, a byte every value of the smaller integers.
    if (is_float(tensor.dtype())) parts.elements = convert(tensor, DataType::kFloat32);
    type = numpy_type(is_float(tensor.dtype())            ? DataType::kFloat32
                      : is_signed_integer(tensor.dtype()) ? DataType::kInt8
                                                          : DataType::kUInt8);
  }
  if (type != nullptr) {
    descr = fmt::format("{}{}{}", type->size == 1 ? '|' : '<', type->kind, type->size);
  } else {
    const std::size_t size = element_size(tensor.dtype());
    descr = fmt::format("{}{}{}", size == 1 ? '|' : '<', form == NpyForm::kVoid ? 'V' : 'u', size);
  }

  std::string dims;
  for (const std::int64_t dim : tensor.shape()) dims += fmt::format("{}{}", dims.empty() ? "" : ", ", dim);
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr, dims,
                                 tensor.rank() == 1 ? "," : "");
  // The elements begin at a multiple of 64, so that readers can map them.
  const auto pad = [&dict](std::size_t prefix) {
    std::string padded = dict;
    padded.append((64 - (prefix + dict.size() + 1) % 64) % 64, ' ');
    return padded + '\n';
  };
  std::string text = pad(kMagic.size() + 4);
  const bool large = text.size() > 0xffff;
  if (large) text = pad(kMagic.size() + 6);
  parts.header = std::string(kMagic) + (large ? '\2' : '\1') + '\0' + little_endian(text.size(), large ? 4 : 2) + text;
  return parts;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor, NpyForm form) {
  const NpyParts parts = npy_parts(tensor, form);
  AtomicFile file(path);
  file.write(parts.header);
  file.write({reinterpret_cast<const char*>(parts.elements.raw()), parts.elements.bytes()});
  file.commit();
}

}  // namespace lppool
