#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "lppool/npy/npy.h"
#include "lppool/tensor/value.h"

namespace lppool {

enum class FolderFormat { kNpy, kPb, kNpz };
std::optional<FolderFormat> parse_folder_format(std::string_view name);

struct TensorFolderOptions {
  std::string model;  // for index.json
  FolderFormat format = FolderFormat::kNpy;
  NpyForm npy_form = NpyForm::kVoid;
};

// A folder of tensors with an index.json that says which is which. Tensors are written as they come; the index is renewed
// at least every second and when the folder is closed or destroyed, so that a run that fails midway leaves a readable one.
// With kNpz the tensors are members of one tensors.npz, which appears when the folder is closed or destroyed: after a run that
// failed, too, and on a disk that is full with as many tensors as it has room for. Strings and sequences,
// which .npy cannot hold, are written as .pb. Not thread safe.
class TensorFolder {
 public:
  // Makes the folder where it does not exist. Throws kIo.
  TensorFolder(const std::filesystem::path& folder, TensorFolderOptions options);
  ~TensorFolder();

  struct Source {
    std::string kind, producer, op_type;  // empty producer: null in the index
  };
  // Throws kIo. An empty value is listed without a file.
  void add(const std::string& name, const Value& value, const Source& source);
  // Writes what is still to be written. Throws kIo.
  void close();

  std::size_t count() const;
  std::size_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lppool
