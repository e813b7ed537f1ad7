#include "lppool/onnx/splice.h"

#include <array>
#include <limits>

#include "lppool/onnx/wire.h"

namespace lppool::onnx_io {
namespace {

constexpr int kModelGraph = 7, kGraphInput = 11, kGraphOutput = 12, kGraphValueInfo = 13, kValueInfoType = 2;
constexpr int kBytesWireType = 2;

// One field of a message: offsets into the message's bytes.
struct Record {
  int field = 0;
  int wire_type = 0;
  std::size_t begin = 0;   // of the tag
  std::size_t length = 0;  // of the length, where the field has one
  std::size_t payload = 0;
  std::size_t end = 0;
  bool is(int number) const { return field == number && wire_type == kBytesWireType; }
};

// Walks the fields of a message. A group, whose fields mean nothing here, is one record.
class Records {
 public:
  explicit Records(std::string_view bytes) : bytes_(bytes) {}

  // False at the end, and where the bytes are no message: then damaged() is true.
  bool next(Record& record) {
    if (damaged_ || at_ == bytes_.size()) return false;
    record = {};
    damaged_ = !read(record) || record.wire_type == kEndGroup;
    if (!damaged_ && record.wire_type == kStartGroup) damaged_ = !skip_group(record.field);
    record.end = at_;
    return !damaged_;
  }
  bool damaged() const { return damaged_; }

 private:
  static constexpr int kStartGroup = 3, kEndGroup = 4;

  bool varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (at_ == bytes_.size()) return false;
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool skip(std::uint64_t count) {
    if (count > bytes_.size() - at_) return false;
    at_ += static_cast<std::size_t>(count);
    return true;
  }

  bool read(Record& record) {
    record.begin = at_;
    std::uint64_t number = 0;
    if (!varint(number) || number > std::numeric_limits<std::uint32_t>::max()) return false;
    record.field = static_cast<int>(number >> 3);
    record.wire_type = static_cast<int>(number & 7);
    record.length = record.payload = at_;
    switch (record.wire_type) {
      case 0:
        return varint(number);
      case 1:
        return skip(8);
      case kBytesWireType:
        if (!varint(number)) return false;
        record.payload = at_;
        return skip(number);
      case kStartGroup:
      case kEndGroup:
        return true;
      case 5:
        return skip(4);
      default:
        return false;
    }
  }

  bool skip_group(int number) {
    std::vector<int> open = {number};
    Record inner;
    while (!open.empty()) {
      if (at_ == bytes_.size() || !read(inner)) return false;
      if (inner.wire_type == kStartGroup) {
        if (open.size() == static_cast<std::size_t>(kMaxDepth)) return false;
        open.push_back(inner.field);
      } else if (inner.wire_type == kEndGroup) {
        if (open.back() != inner.field) return false;
        open.pop_back();
      }
    }
    return true;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool damaged_ = false;
};

// A length in `width` bytes or, where that is too few, as few as it takes.
std::string length_bytes(std::size_t value, std::size_t width) {
  std::string bytes;
  for (; value >= 0x80 || bytes.size() + 1 < width; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

std::string field_bytes(int field, const std::string& payload) {
  return static_cast<char>(field << 3 | kBytesWireType) + length_bytes(payload.size(), 1) + payload;
}

// The tag and the new length of a record whose payload will have `size` bytes.
std::string head(std::string_view bytes, const Record& record, std::size_t size) {
  return std::string(bytes.substr(record.begin, record.length - record.begin)) +
         length_bytes(size, record.payload - record.length);
}

// A value description with the type that `edited` has. One with several types, which protobuf merges, is written anew.
std::string with_type(std::string_view bytes, const onnx::ValueInfoProto& edited) {
  const std::string type = edited.type().SerializePartialAsString();
  Records records(bytes);
  Record record, found;
  int count = 0;
  while (records.next(record)) {
    if (!record.is(kValueInfoType)) continue;
    found = record;
    ++count;
  }
  if (records.damaged() || count > 1) return edited.SerializePartialAsString();
  if (count == 0) return std::string(bytes) + field_bytes(kValueInfoType, type);
  return std::string(bytes.substr(0, found.begin)) + head(bytes, found, type.size()) + type +
         std::string(bytes.substr(found.end));
}

// Goes through the parts of the graph in the order of the file, counting what each list has.
class Splicer {
 public:
  Splicer(const onnx::GraphProto& edited, const ValueInfoEdits& edits) : edited_(edited), edits_(edits) {}

  // False where the bytes are no graph, or have more than was read.
  bool part(std::string_view bytes, bool last, Splice& out) {
    Records records(bytes);
    Record record;
    std::size_t kept = 0;
    while (records.next(record)) {
      if (!record.is(kGraphInput) && !record.is(kGraphOutput) && !record.is(kGraphValueInfo)) continue;
      const int place = seen_[static_cast<std::size_t>(record.field - kGraphInput)]++;
      if (!edits_.changed.contains({record.field, place})) continue;
      const auto& list = record.field == kGraphInput    ? edited_.input()
                         : record.field == kGraphOutput ? edited_.output()
                                                        : edited_.value_info();
      if (place >= list.size()) return false;
      const std::string info = with_type(bytes.substr(record.payload, record.end - record.payload), list[place]);
      out.keep(bytes.substr(kept, record.begin - kept));
      out.add(head(bytes, record, info.size()) + info);
      kept = record.end;
    }
    if (records.damaged()) return false;
    out.keep(bytes.substr(kept));
    if (!last) return true;
    for (int i = edits_.value_infos; i < edited_.value_info_size(); ++i) {
      out.add(field_bytes(kGraphValueInfo, edited_.value_info(i).SerializePartialAsString()));
    }
    return seen_ == std::array{edits_.inputs, edits_.outputs, edits_.value_infos};
  }

 private:
  const onnx::GraphProto& edited_;
  const ValueInfoEdits& edits_;
  std::array<int, 3> seen_ = {};
};

}  // namespace

void Splice::keep(std::string_view part) {
  if (part.empty()) return;
  parts_.push_back(part);
  size_ += part.size();
}

void Splice::add(std::string part) {
  own_.push_back(std::move(part));
  keep(own_.back());
}

void Splice::append(Splice other) {
  for (const std::string_view part : other.parts_) keep(part);
  own_.splice(own_.end(), other.own_);
}

std::optional<Splice> splice_value_infos(std::string_view original, const onnx::GraphProto& edited,
                                         const ValueInfoEdits& edits) {
  std::vector<Record> graphs;
  Records records(original);
  Record record;
  while (records.next(record)) {
    if (record.is(kModelGraph)) graphs.push_back(record);
  }
  if (records.damaged() || graphs.empty()) return std::nullopt;
  Splice result;
  Splicer splicer(edited, edits);
  std::size_t kept = 0;
  for (const Record& graph : graphs) {
    const std::string_view bytes = original.substr(graph.payload, graph.end - graph.payload);
    Splice part;
    if (!splicer.part(bytes, &graph == &graphs.back(), part)) return std::nullopt;
    result.keep(original.substr(kept, graph.begin - kept));
    result.add(head(original, graph, part.size()));
    result.append(std::move(part));
    kept = graph.end;
  }
  result.keep(original.substr(kept));
  return result;
}

}  // namespace lppool::onnx_io
