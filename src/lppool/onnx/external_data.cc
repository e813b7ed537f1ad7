#include "lppool/onnx/external_data.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "lppool/base/error.h"

namespace lppool::onnx_io {
namespace fs = std::filesystem;
namespace {

bool lies_in(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  if (error) return false;
  return std::mismatch(real.begin(), real.end(), path.begin(), path.end()).first == real.end();
}

// A whole number >= 0 in decimal digits that fits 63 bits.
std::size_t parse_number(const char* key, const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw TensorFault{"EX005", fmt::format("external data {} is '{}', expected a whole number from 0 to 2^63-1", key, text)};
  }
  return static_cast<std::size_t>(value);
}

}  // namespace

ExternalFiles::ExternalFiles(std::optional<fs::path> folder, std::vector<fs::path> more)
    : folder_(std::move(folder)), more_(std::move(more)) {}

std::shared_ptr<const FileBytes> ExternalFiles::open(const std::string& location) {
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;

  if (!folder_ && more_.empty()) {
    throw TensorFault{"EX004", fmt::format("external data in '{}', but the model did not come from a file, so no folder is "
                                           "known to hold it", location)};
  }
  if (location.find('\0') != std::string::npos) throw TensorFault{"EX004", "external data location holds a NUL byte"};
  std::error_code error;
  const fs::path path = fs::weakly_canonical(fs::absolute((folder_ ? *folder_ : more_.front()) / location, error), error);
  if (error) {
    throw TensorFault{"EX004", fmt::format("external data file '{}' cannot be read: {}", location, error.message())};
  }
  const bool inside = (folder_ && lies_in(path, *folder_)) ||
                      std::any_of(more_.begin(), more_.end(), [&](const fs::path& f) { return lies_in(path, f); });
  if (!inside) {
    throw TensorFault{"EX003", fmt::format("external data location '{}' leads out of the model's folder", location)};
  }
  // Only regular files: a pipe or a device could keep the program waiting.
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    throw TensorFault{"EX004", fmt::format("external data file '{}' does not exist", location)};
  }
  if (!S_ISREG(info.st_mode)) {
    throw TensorFault{"EX004", fmt::format("external data file '{}' is not a regular file", location)};
  }
  try {
    return files_.emplace(location, FileBytes::open(path)).first->second;
  } catch (const Error& problem) {
    if (problem.kind() != ErrorKind::kIo) throw;
    throw TensorFault{"EX004", fmt::format("external data file '{}': {}", location, problem.what())};
  }
}

std::shared_ptr<const std::byte> ExternalFiles::find(const ExternalReference& reference, std::size_t bytes) {
  if (!reference.location || reference.location->empty()) {
    throw TensorFault{"EX001", "external data without a location"};
  }
  if (reference.location->front() == '/') {
    throw TensorFault{"EX002", fmt::format("external data location '{}' is absolute, expected a path relative to the model",
                                           *reference.location)};
  }
  const std::size_t offset = reference.offset ? parse_number("offset", *reference.offset) : 0;
  const std::size_t length = reference.length ? parse_number("length", *reference.length) : bytes;
  if (length != bytes) {
    throw TensorFault{"EX007", fmt::format("external data length is {}, expected {} from dims and element type", length,
                                           bytes)};
  }
  const auto file = open(*reference.location);
  if (offset > file->size() || bytes > file->size() - offset) {
    throw TensorFault{"EX006", fmt::format("external data of {} bytes at offset {} passes the end of '{}' ({} bytes)", bytes,
                                           offset, *reference.location, file->size())};
  }
  return {file, reinterpret_cast<const std::byte*>(file->view().data()) + offset};
}

}  // namespace lppool::onnx_io
