#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lppool/base/file_bytes.h"
#include "lppool/npy/npy.h"
#include "lppool/onnx/tensor_file.h"

// Tensors in files of any form this program knows. "-" is standard input or output.
namespace lppool {

enum class TensorFileFormat { kPb, kNpy, kNpz, kText };
std::optional<TensorFileFormat> parse_tensor_file_format(std::string_view name);  // "pb", "npy", "npz", "text"
std::string_view name(TensorFileFormat format);
// The form a file name's ending stands for: .pb, .npy, .npz, .txt.
std::optional<TensorFileFormat> format_of(const std::filesystem::path& path);

struct ReadTensorOptions {
  DataType expected = DataType::kUndefined;  // see NpyReadOptions
  std::string member;  // of an archive: the array wanted; not needed where there is only one
};

// Reads what the bytes are, whatever the file is called. The name is the one in the file, for an archive the array's, else "".
// Throws kIo, kParse, kUnsupported, kLimit as the readers of each form do; kUsage where an archive holds several arrays and
// `member` names none of them.
NamedTensor read_any_tensor(const std::filesystem::path& path, const ReadTensorOptions& options = {});
// The same for a file that is open already.
NamedTensor read_any_tensor(const std::shared_ptr<const FileBytes>& bytes, const std::filesystem::path& path,
                            const ReadTensorOptions& options = {});

// All tensors of a file: of an archive every array, else the one.
std::vector<NamedTensor> read_all_tensors(const std::filesystem::path& path, const ReadTensorOptions& options = {});
std::vector<NamedTensor> read_all_tensors(const std::shared_ptr<const FileBytes>& bytes, const std::filesystem::path& path,
                                          const ReadTensorOptions& options = {});

struct WriteTensorOptions {
  NpyForm npy_form = NpyForm::kVoid;
  bool deflate = false;  // compress the members of an archive
};

// Several tensors need an archive (kUsage otherwise); a tensor without name is arr_0, arr_1 ... there, as numpy has it.
void write_tensors(const std::filesystem::path& path, TensorFileFormat format, const std::vector<NamedTensor>& tensors,
                   const WriteTensorOptions& options = {});

}  // namespace lppool
