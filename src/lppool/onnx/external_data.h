#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lppool/base/file_bytes.h"

// Tensor data kept in files beside the model (docs/ExternalData.md).
namespace lppool::onnx_io {

// What is wrong with a tensor's stored form: `code` as in check/codes. Thrown inside this folder only, and turned into
// StoredTensor::problem.
struct TensorFault {
  const char* code;
  std::string message;
};

struct ExternalReference {
  std::optional<std::string> location, offset, length;  // as text, as in the file
};

// The files one model refers to: each is mapped once. Not thread-safe.
class ExternalFiles {
 public:
  // `folder` is where the model lies; none for a model from standard input. A location is looked up there, or in the first
  // of `more` where there is no folder, and must lie in it or in one of `more` after links are resolved.
  ExternalFiles(std::optional<std::filesystem::path> folder, std::vector<std::filesystem::path> more);

  // The `bytes` bytes that `reference` names; the pointer keeps the mapping alive. Throws TensorFault EX001 to EX007.
  std::shared_ptr<const std::byte> find(const ExternalReference& reference, std::size_t bytes);

 private:
  std::shared_ptr<const FileBytes> open(const std::string& location);

  std::optional<std::filesystem::path> folder_;
  std::vector<std::filesystem::path> more_;
  std::map<std::string, std::shared_ptr<const FileBytes>> files_;  // by location
};

}  // namespace lppool::onnx_io
