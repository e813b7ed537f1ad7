#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lppool/base/atomic_file.h"
#include "lppool/base/file_bytes.h"
#include "lppool/npy/npy.h"

// numpy's archives: zip files (PKWARE APPNOTE 6.3) of .npy members, stored or deflated, with zip64 where sizes ask for it.
namespace lppool {

// True if `bytes` begin as a zip file does.
bool looks_like_zip(std::string_view bytes);

// An open archive. Members are read when asked for; the archive's own claims are checked against the file before anything is
// allocated for them. Reading from many threads is fine.
class NpzReader {
 public:
  // Throws kIo, kParse (no zip file, damaged, a name twice), kUnsupported (encrypted, several volumes).
  explicit NpzReader(const std::filesystem::path& path);
  NpzReader(std::shared_ptr<const FileBytes> bytes, std::string shown);

  // Names of the arrays, in file order, without ".npy". Members that are no .npy files are left out.
  const std::vector<std::string>& names() const { return names_; }
  bool contains(std::string_view name) const;

  // Throws kRuntime where there is no such array, kParse (damaged, wrong CRC), kUnsupported (compression other than deflate,
  // and what parse_npy refuses), kLimit.
  Tensor read(std::string_view name, const NpyReadOptions& options = {}) const;

 private:
  struct Member {
    std::uint64_t offset = 0;  // of its local header
    std::uint64_t compressed = 0, size = 0;
    std::uint32_t crc = 0;
    std::uint16_t method = 0, flags = 0;
  };

  void read_directory();
  [[noreturn]] void damaged(const std::string& what) const;

  std::shared_ptr<const FileBytes> bytes_;
  std::string shown_;
  std::vector<std::string> names_;
  std::vector<Member> members_;
};

// Writes an archive member by member; it appears when finished, as AtomicFile does. Not thread safe.
class NpzWriter {
 public:
  // `deflate`: compressed, as numpy.savez_compressed; else stored so that members can be mapped.
  explicit NpzWriter(const std::filesystem::path& path, bool deflate = false);

  // `name` without ".npy". Throws kRuntime where the name was added before, kUnsupported for strings, kIo. After a failure
  // the archive is as it was before the call, and may be finished with what it holds.
  void add(std::string_view name, const Tensor& tensor, NpyForm form = NpyForm::kVoid);
  // Throws kIo; after that, too, the archive may be finished once there is room.
  void finish();
  // Takes the last member out again; false where there is none.
  bool drop_last();

 private:
  struct Member {
    std::string name;
    std::uint64_t offset, compressed, size;
    std::uint32_t crc;
    std::uint16_t method;
  };

  void write(std::string_view bytes);
  void rewind(std::uint64_t position);
  void write_directory();

  AtomicFile file_;
  bool deflate_;
  std::uint64_t position_ = 0;
  std::vector<Member> members_;
  std::unordered_set<std::string> names_;
};

}  // namespace lppool
