#include "lppool/onnx/wire.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <array>
#include <limits>
#include <unordered_map>

#include "lppool/base/error.h"
#include "lppool/tensor/memory.h"

namespace lppool::onnx_io {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kStartGroup = 3, kEndGroup = 4, kFixed32 = 5 };

// Bytes an object of the program's own takes for each message beside protobuf's (a node, an attribute, a dimension).
constexpr std::size_t kOwnCost = 256;

class Scanner {
 public:
  Scanner(std::string_view bytes, const std::string& shown, std::string_view what)
      : bytes_(bytes), shown_(shown), what_(what) {}

  // Returns an upper bound of the memory that parsing needs, in bytes.
  std::size_t scan(const Descriptor* root) {
    levels_[0] = {bytes_.size(), root, 0};
    depth_ = 0;
    while (true) {
      while (depth_ > 0 && levels_[depth_].group == 0 && position_ == levels_[depth_].end) --depth_;
      if (position_ == levels_[depth_].end) {
        if (levels_[depth_].group == 0) return memory_;  // depth_ is 0 here
        damaged("a group is not closed");
      }
      field();
    }
  }

 private:
  struct Level {
    std::size_t end = 0;
    const Descriptor* type = nullptr;  // none: inside a field that is not known
    std::uint32_t group = 0;           // number of the group field that opened this level; 0: not a group
  };

  void field() {
    const std::uint64_t tag = varint();
    const std::uint64_t number = tag >> 3;
    if (number == 0 || number > 536870911) damaged("a field has the number {}", number);
    const Level& level = levels_[depth_];
    const FieldDescriptor* known =
        level.type == nullptr ? nullptr : level.type->FindFieldByNumber(static_cast<int>(number));
    switch (static_cast<WireType>(tag & 7)) {
      case kVarint: varint(); break;
      case kFixed64: skip(8); break;
      case kFixed32: skip(4); break;
      case kStartGroup: enter({level.end, nullptr, static_cast<std::uint32_t>(number)}); break;
      case kEndGroup:
        if (level.group != number) damaged("a group ends that was not begun");
        --depth_;
        return;
      case kBytes: {
        const std::uint64_t length = varint();
        if (length > level.end - position_) {
          damaged("a field of {} bytes, where {} are left", length, level.end - position_);
        }
        const auto size = static_cast<std::size_t>(length);
        if (known != nullptr && known->type() == FieldDescriptor::TYPE_MESSAGE) {
          charge(message_cost(known->message_type()));
          enter({position_ + size, known->message_type(), 0});
          return;
        }
        // Packed numbers take at most 8 bytes for each byte in the file.
        const bool packed = known != nullptr && known->is_packable();
        charge(packed ? 8 * size : size + 96);
        position_ += size;
        return;
      }
      default: damaged("a field of wire type {}", tag & 7);
    }
    charge(known != nullptr ? (known->is_repeated() ? 32 : 0) : 48);
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (position_ == levels_[depth_].end) damaged("it ends inside a number");
      const auto byte = static_cast<unsigned char>(bytes_[position_++]);
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    damaged("a number of more than 10 bytes");
  }

  void skip(std::size_t n) {
    if (n > levels_[depth_].end - position_) damaged("it ends inside a number");
    position_ += n;
  }

  void enter(Level level) {
    if (depth_ == kMaxDepth) {
      fail(ErrorKind::kLimit, "{}: messages nested more than {} deep at byte {}", shown_, kMaxDepth, position_);
    }
    levels_[++depth_] = level;
  }

  std::size_t message_cost(const Descriptor* type) {
    const auto found = costs_.find(type);
    if (found != costs_.end()) return found->second;
    const auto* prototype = google::protobuf::MessageFactory::generated_factory()->GetPrototype(type);
    const std::size_t cost = prototype->SpaceUsedLong() + kOwnCost;
    costs_.emplace(type, cost);
    return cost;
  }

  void charge(std::size_t bytes) { memory_ += bytes; }  // at most 300 times 2 GiB: no wrap

  template <typename... Args>
  [[noreturn]] void damaged(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorKind::kParse, "{}: not {}: {} at byte {} of {}", shown_, what_,
         fmt::format(format, std::forward<Args>(args)...), position_, bytes_.size());
  }

  std::string_view bytes_;
  const std::string& shown_;
  std::string_view what_;
  std::size_t position_ = 0;
  std::size_t memory_ = 0;
  std::array<Level, kMaxDepth + 1> levels_;
  int depth_ = 0;
  std::unordered_map<const Descriptor*, std::size_t> costs_;
};

}  // namespace

void parse_message(google::protobuf::Message& message, std::string_view bytes, const std::string& shown,
                   std::string_view what) {
  if (bytes.empty()) fail(ErrorKind::kParse, "{}: not {}: it is empty", shown, what);
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    fail(ErrorKind::kLimit, "{}: {} bytes, protobuf files may have at most {}", shown, bytes.size(),
         std::numeric_limits<int>::max());
  }
  const std::size_t memory = Scanner(bytes, shown, what).scan(message.GetDescriptor());
  if (memory > memory::limit()) {
    fail(ErrorKind::kLimit, "{}: loading it may take {} bytes of memory, {} are allowed", shown, memory, memory::limit());
  }
  google::protobuf::io::ArrayInputStream array(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetRecursionLimit(kMaxDepth + 10);
  if (!message.MergePartialFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    fail(ErrorKind::kParse, "{}: not {}: a list of numbers in it is damaged", shown, what);
  }
}

}  // namespace lppool::onnx_io
