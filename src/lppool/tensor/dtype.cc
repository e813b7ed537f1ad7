#include "lppool/tensor/dtype.h"

#include <array>

namespace lppool {
namespace {

struct Row {
  std::string_view name;
  std::uint8_t bits;
  char kind;  // f float, i signed, u unsigned, b bool, c complex, s string, - none
};

// One row per DataType, in its order.
constexpr std::array<Row, kLastDataType + 1> kRows = {{
    {"undefined", 0, '-'},      {"float32", 32, 'f'},     {"uint8", 8, 'u'},          {"int8", 8, 'i'},
    {"uint16", 16, 'u'},        {"int16", 16, 'i'},       {"int32", 32, 'i'},         {"int64", 64, 'i'},
    {"string", 0, 's'},         {"bool", 8, 'b'},         {"float16", 16, 'f'},       {"float64", 64, 'f'},
    {"uint32", 32, 'u'},        {"uint64", 64, 'u'},      {"complex64", 64, 'c'},     {"complex128", 128, 'c'},
    {"bfloat16", 16, 'f'},      {"float8e4m3fn", 8, 'f'}, {"float8e4m3fnuz", 8, 'f'}, {"float8e5m2", 8, 'f'},
    {"float8e5m2fnuz", 8, 'f'}, {"uint4", 4, 'u'},        {"int4", 4, 'i'},           {"float4e2m1", 4, 'f'},
    {"float8e8m0", 8, 'f'},     {"uint2", 2, 'u'},        {"int2", 2, 'i'},
}};

const Row& row(DataType type) {
  const auto number = static_cast<std::int32_t>(type);
  return kRows[number >= 0 && number <= kLastDataType ? static_cast<std::size_t>(number) : 0];
}

}  // namespace

bool is_known(std::int32_t number) { return number >= 1 && number <= kLastDataType; }

std::string_view name(DataType type) { return row(type).name; }

std::optional<DataType> parse_dtype(std::string_view name) {
  for (std::int32_t i = 1; i <= kLastDataType; ++i) {
    if (kRows[static_cast<std::size_t>(i)].name == name) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

std::size_t element_size(DataType type) { return (static_cast<std::size_t>(row(type).bits) + 7) / 8; }
int storage_bits(DataType type) { return row(type).bits; }
bool is_float(DataType type) { return row(type).kind == 'f'; }
bool is_integer(DataType type) { return row(type).kind == 'i' || row(type).kind == 'u'; }
bool is_signed_integer(DataType type) { return row(type).kind == 'i'; }

}  // namespace lppool
