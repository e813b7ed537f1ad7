#include "lppool/npy/npz.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "lppool/base/error.h"
#include "lppool/npy/deflate.h"
#include "lppool/tensor/memory.h"

namespace lppool {
namespace {

// Records of the format, by signature, with the size of their fixed part.
constexpr std::uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr std::size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
constexpr std::uint16_t kZip64Extra = 1, kAlignmentExtra = 0xd935;  // the latter: padding, as Android's zipalign writes it
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint16_t kEncrypted = 1, kUtf8 = 1u << 11;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the true number is in the zip64 record
// No deflate stream grows more than this (zlib's technical notes give 1032 as the limit).
constexpr std::uint64_t kMaxRatio = 1032;

std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}
std::uint16_t number16(std::string_view bytes, std::size_t at) { return static_cast<std::uint16_t>(number(bytes, at, 2)); }
std::uint32_t number32(std::string_view bytes, std::size_t at) { return static_cast<std::uint32_t>(number(bytes, at, 4)); }

bool has_record(std::string_view bytes, std::uint64_t at, std::size_t size, std::uint32_t signature) {
  return at <= bytes.size() && bytes.size() - at >= size && number32(bytes, static_cast<std::size_t>(at)) == signature;
}

// Little-endian numbers one after the other.
class Record {
 public:
  Record& u16(std::uint64_t v) { return put(v, 2); }
  Record& u32(std::uint64_t v) { return put(v, 4); }
  Record& u64(std::uint64_t v) { return put(v, 8); }
  Record& text(std::string_view s) {
    bytes_ += s;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& put(std::uint64_t v, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes_ += static_cast<char>(v >> (8 * i) & 0xff);
    return *this;
  }
  std::string bytes_;
};

constexpr std::string_view kSuffix = ".npy";

bool is_ascii(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

bool looks_like_zip(std::string_view bytes) {
  return has_record(bytes, 0, 4, kLocalHeader) || has_record(bytes, 0, 4, kEnd);
}

NpzReader::NpzReader(const std::filesystem::path& path) : NpzReader(FileBytes::open(path), shown_name(path)) {}

NpzReader::NpzReader(std::shared_ptr<const FileBytes> bytes, std::string shown)
    : bytes_(std::move(bytes)), shown_(std::move(shown)) {
  read_directory();
}

void NpzReader::damaged(const std::string& what) const {
  fail(ErrorKind::kParse, "{}: not a .npz file: {}", shown_, what);
}

void NpzReader::read_directory() {
  const std::string_view bytes = bytes_->view();
  // The end record is the last thing in the file, but for a comment of up to 65535 bytes whose length it states.
  if (bytes.size() < kEndSize) damaged("it is shorter than an empty archive");
  std::size_t end = bytes.size() - kEndSize;
  const std::size_t stop = end > 0xffff ? end - 0xffff : 0;
  while (!has_record(bytes, end, kEndSize, kEnd) || number16(bytes, end + 20) != bytes.size() - end - kEndSize) {
    if (end == stop) damaged("it has no directory (cut short?)");
    --end;
  }
  std::uint64_t count = number16(bytes, end + 10), size = number32(bytes, end + 12), start = number32(bytes, end + 16);
  std::uint64_t disk = number16(bytes, end + 4);
  if (end >= kLocatorSize && has_record(bytes, end - kLocatorSize, kLocatorSize, kEnd64Locator)) {
    const std::uint64_t end64 = number(bytes, end - kLocatorSize + 8, 8);
    if (!has_record(bytes, end64, kEnd64Size, kEnd64)) damaged("its zip64 directory is not where it says");
    disk = number32(bytes, static_cast<std::size_t>(end64) + 16);
    count = number(bytes, static_cast<std::size_t>(end64) + 32, 8);
    size = number(bytes, static_cast<std::size_t>(end64) + 40, 8);
    start = number(bytes, static_cast<std::size_t>(end64) + 48, 8);
  }
  if (disk != 0) fail(ErrorKind::kUnsupported, "{}: an archive in several volumes; single files are supported", shown_);
  if (start > end || size > end - start) damaged("its directory passes the end of the file");
  if (count > size / kCentralSize) damaged("its directory is too small for the members it counts");

  std::unordered_set<std::string> seen;
  std::string_view directory = bytes.substr(static_cast<std::size_t>(start), static_cast<std::size_t>(size));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!has_record(directory, 0, kCentralSize, kCentralHeader)) damaged("a directory entry is damaged");
    const std::size_t name_size = number16(directory, 28), extra_size = number16(directory, 30);
    const std::size_t entry_size = kCentralSize + name_size + extra_size + number16(directory, 32);
    if (entry_size > directory.size()) damaged("a directory entry is damaged");
    Member member;
    member.flags = number16(directory, 8);
    member.method = number16(directory, 10);
    member.crc = number32(directory, 16);
    member.compressed = number32(directory, 20);
    member.size = number32(directory, 24);
    member.offset = number32(directory, 42);
    const std::string_view name = directory.substr(kCentralSize, name_size);
    std::string_view extra = directory.substr(kCentralSize + name_size, extra_size);
    while (extra.size() >= 4) {
      const std::size_t field_size = number16(extra, 2);
      if (field_size > extra.size() - 4) break;  // other tools pad with bytes that are no field
      if (number16(extra, 0) == kZip64Extra) {
        // It holds those of the three whose 32-bit form says to look here, in this order.
        std::string_view values = extra.substr(4, field_size);
        for (std::uint64_t* value : {&member.size, &member.compressed, &member.offset}) {
          if (*value != kIn64) continue;
          if (values.size() < 8) damaged("a zip64 entry is damaged");
          *value = number(values, 0, 8);
          values.remove_prefix(8);
        }
      }
      extra.remove_prefix(4 + field_size);
    }
    if (!seen.emplace(name).second) damaged(fmt::format("the member '{}' is there twice", name));
    if (name.ends_with(kSuffix)) {
      names_.emplace_back(name.substr(0, name.size() - kSuffix.size()));
      members_.push_back(member);
    }
    directory.remove_prefix(entry_size);
  }
}

bool NpzReader::contains(std::string_view name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }

Tensor NpzReader::read(std::string_view name, const NpyReadOptions& options) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    fail(ErrorKind::kRuntime, "{}: no array '{}', it holds {}", shown_, name, fmt::join(names_, ", "));
  }
  const Member& member = members_[static_cast<std::size_t>(found - names_.begin())];
  const std::string shown = fmt::format("{}[{}]", shown_, name);
  if ((member.flags & kEncrypted) != 0) fail(ErrorKind::kUnsupported, "{}: encrypted; plain members are supported", shown);
  if (member.method != kStored && member.method != kDeflated) {
    fail(ErrorKind::kUnsupported, "{}: compression method {}; stored (0) and deflated (8) are supported", shown, member.method);
  }
  const std::string_view bytes = bytes_->view();
  if (!has_record(bytes, member.offset, kLocalSize, kLocalHeader)) damaged(fmt::format("the member '{}' has no header", name));
  const auto offset = static_cast<std::size_t>(member.offset);
  // Name and extra field may be of other lengths here than in the directory.
  const std::size_t begin = offset + kLocalSize + number16(bytes, offset + 26) + number16(bytes, offset + 28);
  if (begin > bytes.size() || member.compressed > bytes.size() - begin) {
    damaged(fmt::format("the member '{}' passes the end of the file", name));
  }
  const std::string_view packed = bytes.substr(begin, static_cast<std::size_t>(member.compressed));
  if (member.method == kStored) {
    if (member.size != member.compressed) damaged(fmt::format("the member '{}' states two sizes", name));
    if (npy::crc32(0, packed) != member.crc) damaged(fmt::format("the member '{}' is damaged: its CRC differs", name));
    return parse_npy(packed, bytes_, shown, options);
  }
  if (member.size / kMaxRatio > member.compressed) {
    damaged(fmt::format("the member '{}' claims {} bytes from {} compressed ones", name, member.size, member.compressed));
  }
  const auto size = static_cast<std::size_t>(member.size);
  const std::shared_ptr<std::byte> buffer = memory::allocate(size);
  if (!npy::inflate(packed, {buffer.get(), size})) damaged(fmt::format("the member '{}' does not inflate to {} bytes", name, size));
  const std::string_view plain(reinterpret_cast<const char*>(buffer.get()), size);
  if (npy::crc32(0, plain) != member.crc) damaged(fmt::format("the member '{}' is damaged: its CRC differs", name));
  return parse_npy(plain, buffer, shown, options);
}

NpzWriter::NpzWriter(const std::filesystem::path& path, bool deflate) : file_(path), deflate_(deflate) {}

void NpzWriter::write(std::string_view bytes) {
  file_.write(bytes);
  position_ += bytes.size();
}

void NpzWriter::add(std::string_view name, const Tensor& tensor, NpyForm form) {
  const std::string full = std::string(name) + std::string(kSuffix);
  if (full.size() > 0xffff) fail(ErrorKind::kRuntime, "an array name of {} bytes, zip files hold at most 65531", name.size());
  if (!names_.insert(full).second) fail(ErrorKind::kRuntime, "the array '{}' was written before", name);

  const NpyParts parts = npy_parts(tensor, form);
  const std::array<std::string_view, 2> pieces = {
      std::string_view(parts.header),
      std::string_view(reinterpret_cast<const char*>(parts.elements.raw()), parts.elements.bytes())};
  Member member;
  member.name = full;
  member.offset = position_;
  member.size = pieces[0].size() + pieces[1].size();
  member.crc = npy::crc32(npy::crc32(0, pieces[0]), pieces[1]);
  std::string compressed;
  if (deflate_) compressed = npy::deflate(pieces);
  member.method = deflate_ && compressed.size() < member.size ? kDeflated : kStored;
  member.compressed = member.method == kDeflated ? compressed.size() : member.size;

  const bool large = member.size >= kIn64 || member.compressed >= kIn64;
  Record extra;
  if (large) extra.u16(kZip64Extra).u16(16).u64(member.size).u64(member.compressed);
  if (member.method == kStored) {
    // The member begins at a multiple of 64, and the elements do so within it.
    constexpr std::size_t kFieldSize = 6;  // id, size, and the alignment itself
    const std::size_t end = static_cast<std::size_t>(position_ % 64) + kLocalSize + full.size() + extra.bytes().size() + kFieldSize;
    const std::size_t padding = (64 - end % 64) % 64;
    extra.u16(kAlignmentExtra).u16(2 + padding).u16(64).text(std::string(padding, '\0'));
  }
  Record header;
  header.u32(kLocalHeader).u16(large ? 45 : 20).u16(is_ascii(full) ? 0 : kUtf8).u16(member.method);
  header.u16(0).u16(0x21);  // no time: midnight of 1 January 1980, so that equal contents give equal files
  header.u32(member.crc).u32(large ? kIn64 : member.compressed).u32(large ? kIn64 : member.size);
  header.u16(full.size()).u16(extra.bytes().size()).text(full).text(extra.bytes());
  try {
    write(header.bytes());
    if (member.method == kDeflated) {
      write(compressed);
    } else {
      for (const std::string_view piece : pieces) write(piece);
    }
  } catch (const Error&) {
    names_.erase(full);
    rewind(member.offset);
    throw;
  }
  members_.push_back(std::move(member));
}

void NpzWriter::rewind(std::uint64_t position) {
  file_.rewind(position);
  position_ = position;
}

bool NpzWriter::drop_last() {
  if (members_.empty()) return false;
  names_.erase(members_.back().name);
  rewind(members_.back().offset);
  members_.pop_back();
  return true;
}

void NpzWriter::finish() {
  const std::uint64_t start = position_;
  try {
    write_directory();
  } catch (const Error&) {
    rewind(start);
    throw;
  }
  file_.commit();
}

void NpzWriter::write_directory() {
  const std::uint64_t start = position_;
  for (const Member& m : members_) {
    Record extra;
    const bool large = m.size >= kIn64 || m.compressed >= kIn64;
    const bool far = m.offset >= kIn64;
    if (large || far) {
      extra.u16(kZip64Extra).u16((large ? 16 : 0) + (far ? 8 : 0));
      if (large) extra.u64(m.size).u64(m.compressed);
      if (far) extra.u64(m.offset);
    }
    Record entry;
    entry.u32(kCentralHeader).u16(large || far ? 45 : 20).u16(large || far ? 45 : 20).u16(is_ascii(m.name) ? 0 : kUtf8);
    entry.u16(m.method).u16(0).u16(0x21).u32(m.crc).u32(large ? kIn64 : m.compressed).u32(large ? kIn64 : m.size);
    entry.u16(m.name.size()).u16(extra.bytes().size()).u16(0).u16(0).u16(0).u32(0).u32(far ? kIn64 : m.offset);
    write(entry.text(m.name).text(extra.bytes()).bytes());
  }
  const std::uint64_t size = position_ - start;
  const std::uint64_t count = members_.size();
  const bool large = count >= 0xffff || size >= kIn64 || start >= kIn64;
  if (large) {
    const std::uint64_t end64 = position_;
    Record record;
    record.u32(kEnd64).u64(kEnd64Size - 12).u16(45).u16(45).u32(0).u32(0).u64(count).u64(count).u64(size).u64(start);
    record.u32(kEnd64Locator).u32(0).u64(end64).u32(1);
    write(record.bytes());
  }
  Record end;
  end.u32(kEnd).u16(0).u16(0).u16(large ? 0xffff : count).u16(large ? 0xffff : count);
  end.u32(large ? kIn64 : size).u32(large ? kIn64 : start).u16(0);
  write(end.bytes());
}

}  // namespace lppool
