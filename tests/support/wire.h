#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// Protobuf records written by hand, so that tests decide every byte (and need no protobuf themselves).
namespace wire {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}

inline std::string number(int field, std::int64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(static_cast<std::uint64_t>(value));
}

inline std::string bytes(int field, std::string_view value) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(value.size()) + std::string(value);
}

// The bytes of a number as they lie in memory, little-endian.
template <typename T>
std::string raw(T value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}

template <typename T>
std::string raw(const std::vector<T>& values) {
  std::string out;
  for (const T v : values) out += raw(v);
  return out;
}

inline std::string float32(int field, float value) { return varint(static_cast<std::uint64_t>(field) << 3 | 5) + raw(value); }

inline std::string packed(int field, const std::vector<std::int64_t>& values) {
  std::string out;
  for (const std::int64_t v : values) out += varint(static_cast<std::uint64_t>(v));
  return bytes(field, out);
}

// TensorProto up to its data: dims, data_type, name.
inline std::string tensor(std::int32_t dtype, const std::vector<std::int64_t>& dims, std::string_view name = "t") {
  std::string out;
  for (const std::int64_t d : dims) out += number(1, d);
  return out + number(2, dtype) + bytes(8, name);
}

// A ModelProto of IR 8 and opset 18 around a GraphProto.
inline std::string model(std::string_view graph) { return number(1, 8) + bytes(8, number(2, 18)) + bytes(7, graph); }

inline std::string entry(std::string_view key, std::string_view value) { return bytes(1, key) + bytes(2, value); }

}  // namespace wire
