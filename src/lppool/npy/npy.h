#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lppool/tensor/tensor.h"

// numpy's array files (.npy format versions 1.0, 2.0 and 3.0; numpy's lib/format.py states it).
namespace lppool {

// How a type that numpy lacks - bfloat16, float8, 4-bit and 2-bit types - is written. Never changes a value.
enum class NpyForm {
  kVoid,     // the bits as void: descr <V2 (or |V1), what ml_dtypes writes and views back
  kBits,     // the bits as uint16 (or uint8)
  kFloat32,  // widened: floats to float32, integers to int8 or uint8
};
std::optional<NpyForm> parse_npy_form(std::string_view name);  // "v2", "u16", "f32"

struct NpyReadOptions {
  // The type the reader knows the file to hold. It matters only where numpy has no such type: then void or unsigned numbers
  // of its size are taken as its bits. A void is refused otherwise.
  DataType expected = DataType::kUndefined;
};

// The array in row-major order and native byte order, with the type the file states (see NpyReadOptions). Bytes that lie as
// they are needed are shared with `owner`, not copied; nothing is allocated before the size is known to be there. Bytes after
// the array are left alone, as numpy does. `shown` names the file in messages.
//
// Throws kParse (no .npy file, damaged header, short data, negative or overflowing shape), kUnsupported (format version, or an
// element type ONNX lacks: structured, object, text, date, void, long double), kLimit.
Tensor parse_npy(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& shown,
                 const NpyReadOptions& options = {});
// "-" is standard input. Throws kIo as well.
Tensor read_npy(const std::filesystem::path& path, const NpyReadOptions& options = {});

// True if `bytes` begin as a .npy file does.
bool looks_like_npy(std::string_view bytes);

// What write_npy writes before the elements, and the elements it writes: `tensor` itself, or a widened copy.
// Throws kUnsupported for strings.
struct NpyParts {
  std::string header;
  Tensor elements;
};
NpyParts npy_parts(const Tensor& tensor, NpyForm form);

// Writes whole or not at all; "-" is standard output. Throws kIo, kUnsupported for strings.
void write_npy(const std::filesystem::path& path, const Tensor& tensor, NpyForm form = NpyForm::kVoid);

}  // namespace lppool
