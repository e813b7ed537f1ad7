#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace lppool {

// The bytes of a file for as long as the object lives: mapped where it is a regular file (nothing is read until it is
// touched), read otherwise ("-" is standard input; pipes). A mapped file that someone else shortens meanwhile ends the
// program with SIGBUS; files are expected to be replaced, not overwritten in place, as AtomicFile does.
class FileBytes {
 public:
  // Throws kIo where the file is missing, a directory or unreadable, kLimit where it holds more than max_bytes.
  static std::shared_ptr<const FileBytes> open(const std::filesystem::path& path, std::size_t max_bytes = SIZE_MAX);
  // Bytes in memory, for callers that have no file.
  static std::shared_ptr<const FileBytes> of(std::string bytes);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::string_view view() const { return {data_, size_}; }
  std::size_t size() const { return size_; }

 private:
  FileBytes() = default;
  const char* data_ = "";
  std::size_t size_ = 0;
  bool mapped_ = false;
  std::string read_;  // what was read rather than mapped
};

// "standard input" for "-", the path otherwise: how messages name an input.
std::string shown_name(const std::filesystem::path& path);

}  // namespace lppool
