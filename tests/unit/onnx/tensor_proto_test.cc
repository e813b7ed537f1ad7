#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <fstream>
#include <limits>

#include "lppool/onnx/model_file.h"
#include "lppool/onnx/tensor_file.h"
#include "lppool/tensor/memory.h"
#include "support/scratch.h"
#include "support/wire.h"

using namespace lppool;

namespace {

// The tensor of a model that has it as its only initializer.
StoredTensor stored(const std::string& tensor_bytes, const std::filesystem::path& folder = ".",
                    const LoadOptions& options = {}) {
  const std::string graph = wire::bytes(2, "g") + wire::bytes(5, tensor_bytes);
  return ModelFile::parse(wire::model(graph), folder, options).model().graph->initializers.at(0);
}

std::string code_of(const StoredTensor& tensor) { return tensor.problem ? tensor.problem->code : "none"; }

template <typename T>
std::vector<T> values(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

std::string external(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out = wire::number(14, 1);
  for (const auto& [key, value] : entries) out += wire::bytes(13, wire::entry(key, value));
  return out;
}

}  // namespace

TEST_CASE("Every typed field of a TensorProto gives its elements", "[onnx][TensorProto]") {
  SECTION("float_data, packed and unpacked") {
    const std::string packed = wire::bytes(4, wire::raw(std::vector<float>{1.5f, -2.0f}));
    CHECK(values<float>(stored(wire::tensor(1, {2}) + packed).value) == std::vector<float>{1.5f, -2.0f});
    const std::string unpacked = wire::float32(4, 1.5f) + wire::float32(4, -2.0f);
    CHECK(values<float>(stored(wire::tensor(1, {2}) + unpacked).value) == std::vector<float>{1.5f, -2.0f});
  }
  SECTION("double_data") {
    const auto t = stored(wire::tensor(11, {1, 2}) + wire::bytes(10, wire::raw(std::vector<double>{0.1, -0.0})));
    CHECK(t.value.shape() == Shape{1, 2});
    CHECK(t.value.data<double>()[0] == 0.1);
    CHECK(std::signbit(t.value.data<double>()[1]));
  }
  SECTION("complex values are pairs") {
    const auto t = stored(wire::tensor(14, {2}) + wire::bytes(4, wire::raw(std::vector<float>{1, 2, 3, 4})));
    CHECK(values<std::complex<float>>(t.value) == std::vector<std::complex<float>>{{1, 2}, {3, 4}});
    const auto d = stored(wire::tensor(15, {1}) + wire::bytes(10, wire::raw(std::vector<double>{5, 6})));
    CHECK(values<std::complex<double>>(d.value) == std::vector<std::complex<double>>{{5, 6}});
  }
  SECTION("int64_data, uint64_data for both unsigned types") {
    CHECK(values<std::int64_t>(stored(wire::tensor(7, {2}) + wire::packed(7, {-1, 5})).value) ==
          std::vector<std::int64_t>{-1, 5});
    CHECK(values<std::uint64_t>(stored(wire::tensor(13, {1}) + wire::packed(11, {-1})).value) ==
          std::vector<std::uint64_t>{UINT64_MAX});
    CHECK(values<std::uint32_t>(stored(wire::tensor(12, {1}) + wire::packed(11, {4000000000})).value) ==
          std::vector<std::uint32_t>{4000000000u});
  }
  SECTION("int32_data carries small integers, bool and the bits of small floats") {
    CHECK(values<std::int32_t>(stored(wire::tensor(6, {2}) + wire::packed(5, {-7, 7})).value) ==
          std::vector<std::int32_t>{-7, 7});
    CHECK(values<std::int8_t>(stored(wire::tensor(3, {2}) + wire::packed(5, {-128, 127})).value) ==
          std::vector<std::int8_t>{-128, 127});
    CHECK(values<std::uint16_t>(stored(wire::tensor(4, {1}) + wire::packed(5, {65535})).value) ==
          std::vector<std::uint16_t>{65535});
    CHECK(values<std::uint8_t>(stored(wire::tensor(9, {3}) + wire::packed(5, {0, 1, 2})).value) ==
          std::vector<std::uint8_t>{0, 1, 1});
    const auto half = stored(wire::tensor(10, {2}) + wire::packed(5, {0x3c00, 0xc000}));
    CHECK(half.value.dtype() == DataType::kFloat16);
    CHECK(static_cast<float>(half.value.data<Float16>()[0]) == 1.0f);
    CHECK(static_cast<float>(half.value.data<Float16>()[1]) == -2.0f);
    const auto brain = stored(wire::tensor(16, {1}) + wire::packed(5, {0x4049}));
    CHECK(static_cast<float>(brain.value.data<BFloat16>()[0]) == 3.140625f);
    CHECK(values<std::uint8_t>(stored(wire::tensor(17, {1}) + wire::packed(5, {0x7f})).value) ==
          std::vector<std::uint8_t>{0x7f});
  }
  SECTION("int32_data holds several elements of types below a byte") {
    // First element in the low bits: 0x21 is 1 then 2; 0x0f is 15 (uint4) or -1 (int4).
    CHECK(values<std::uint8_t>(stored(wire::tensor(21, {3}) + wire::packed(5, {0x21, 0x0f})).value) ==
          std::vector<std::uint8_t>{1, 2, 15});
    CHECK(values<std::int8_t>(stored(wire::tensor(22, {3}) + wire::packed(5, {0x87, 0x0f})).value) ==
          std::vector<std::int8_t>{7, -8, -1});
    // 0b11'10'01'00
    CHECK(values<std::uint8_t>(stored(wire::tensor(25, {4}) + wire::packed(5, {0xe4})).value) ==
          std::vector<std::uint8_t>{0, 1, 2, 3});
    CHECK(values<std::int8_t>(stored(wire::tensor(26, {4}) + wire::packed(5, {0xe4})).value) ==
          std::vector<std::int8_t>{0, 1, -2, -1});
  }
  SECTION("string_data") {
    const auto t = stored(wire::tensor(8, {2}) + wire::bytes(6, "a") + wire::bytes(6, ""));
    REQUIRE(t.value.dtype() == DataType::kString);
    CHECK(t.value.strings()[0] == "a");
    CHECK(t.value.strings()[1].empty());
  }
}

TEST_CASE("raw_data of every element size is little-endian", "[onnx][TensorProto]") {
  const auto raw = [](int dtype, const std::vector<std::int64_t>& dims, const std::string& data) {
    return stored(wire::tensor(dtype, dims) + wire::bytes(9, data));
  };
  CHECK(values<float>(raw(1, {1}, std::string("\x00\x00\xc0\x3f", 4)).value) == std::vector<float>{1.5f});
  CHECK(values<std::int16_t>(raw(5, {2}, std::string("\x01\x00\xff\xff", 4)).value) == std::vector<std::int16_t>{1, -1});
  CHECK(values<std::int8_t>(raw(22, {3}, "\x87\x0f").value) == std::vector<std::int8_t>{7, -8, -1});
  CHECK(values<std::uint8_t>(raw(9, {3}, std::string("\x00\x01\x02", 3)).value) == std::vector<std::uint8_t>{0, 1, 1});
  CHECK(values<double>(raw(11, {}, wire::raw(2.5)).value) == std::vector<double>{2.5});
  CHECK(raw(1, {0, 7}, "").value.shape() == Shape{0, 7});
  CHECK(raw(1, {0}, "").value.defined());
}

TEST_CASE("A faulty tensor is reported by code and does not stop the load", "[onnx][TensorProto]") {
  struct Case {
    const char* name;
    const char* code;
    std::string tensor;
  };
  const std::string four = wire::raw(1.0f);
  const Case cases[] = {
      {"raw_data too short", "TD001", wire::tensor(1, {2}) + wire::bytes(9, four)},
      {"raw_data too long", "TD001", wire::tensor(1, {1}) + wire::bytes(9, four + four)},
      {"raw_data not whole elements", "TD001", wire::tensor(1, {1}) + wire::bytes(9, "abc")},
      {"float_data short", "TD002", wire::tensor(1, {2}) + wire::float32(4, 1)},
      {"no data at all", "TD002", wire::tensor(1, {2})},
      {"a million million elements in no bytes", "TD002", wire::tensor(1, {1000000, 1000000})},
      {"a million million elements in 4 bytes", "TD001", wire::tensor(1, {1000000, 1000000}) + wire::bytes(9, four)},
      {"odd count of complex parts", "TD002", wire::tensor(14, {1}) + wire::float32(4, 1)},
      {"int4 not packed", "TD002", wire::tensor(22, {3}) + wire::packed(5, {1, 2, 3})},
      {"two data fields", "TD003", wire::tensor(1, {1}) + wire::float32(4, 1) + wire::bytes(9, four)},
      {"negative dim", "TD004", wire::tensor(1, {-1})},
      {"too many elements", "TD005", wire::tensor(1, {INT64_MAX, 2})},
      {"too many bytes", "TD005", wire::tensor(11, {INT64_MAX})},
      {"no element type", "TD006", wire::tensor(0, {1}) + wire::float32(4, 1)},
      {"unknown element type", "TD006", wire::tensor(99, {1}) + wire::float32(4, 1)},
      {"data for no elements", "TD007", wire::tensor(1, {0}) + wire::float32(4, 1)},
      {"raw_data for no elements", "TD007", wire::tensor(1, {0}) + wire::bytes(9, four)},
      {"wrong field", "TD008", wire::tensor(1, {1}) + wire::packed(5, {1})},
      {"strings in raw_data", "TD009", wire::tensor(8, {1}) + wire::bytes(9, "a")},
      {"a segment", "TD010", wire::tensor(1, {1}) + wire::bytes(3, wire::number(1, 0)) + wire::float32(4, 1)},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const StoredTensor t = stored(c.tensor);
      CHECK(code_of(t) == c.code);
      CHECK_FALSE(t.value.defined());
      REQUIRE(t.problem);
      CHECK(t.problem->tensor == "t");
      CHECK(t.problem->message.find("tensor 't'") == 0);
    }
  }
}

TEST_CASE("External data are read where they are allowed to lie", "[onnx][ExternalData]") {
  const Scratch scratch;
  scratch.put("m/data.bin", wire::raw(std::vector<float>{1, 2, 3, 4}) + "x" + wire::raw(9.0f));
  scratch.put("m/sub/inner.bin", wire::raw(7.0f));
  scratch.put("secret.bin", wire::raw(6.0f));
  scratch.put("store/blob", wire::raw(8.0f));
  std::filesystem::create_symlink("sub/inner.bin", scratch / "m/inside");
  std::filesystem::create_symlink("../secret.bin", scratch / "m/outside");
  std::filesystem::create_symlink("../store/blob", scratch / "m/linked");
  std::filesystem::create_symlink("nowhere", scratch / "m/dangling");
  const auto folder = scratch / "m";
  using Entries = std::vector<std::pair<std::string, std::string>>;

  SECTION("accepted") {
    struct Case {
      Entries entries;
      std::int64_t elements;
      std::vector<float> expected;
    };
    const Case cases[] = {
        {{{"location", "data.bin"}, {"offset", "4"}, {"length", "8"}}, 2, {2, 3}},
        {{{"location", "data.bin"}, {"length", "16"}}, 4, {1, 2, 3, 4}},
        {{{"location", "data.bin"}, {"offset", "17"}}, 1, {9}},  // not aligned
        {{{"location", "data.bin"}, {"checksum", "?"}, {"colour", "red"}}, 1, {1}},
        {{{"location", "sub/../sub/inner.bin"}}, 1, {7}},
        {{{"location", "./inside"}}, 1, {7}},
        {{{"location", "data.bin"}, {"offset", "21"}, {"length", "0"}}, 0, {}},
    };
    for (const Case& c : cases) {
      const auto t = stored(wire::tensor(1, {c.elements}) + external(c.entries), folder);
      CHECK(code_of(t) == "none");
      CHECK(t.external);
      if (t.value.defined()) CHECK(values<float>(t.value) == c.expected);
    }
  }
  SECTION("an allowed folder") {
    const auto bytes = wire::tensor(1, {1}) + external({{"location", "linked"}});
    CHECK(code_of(stored(bytes, folder)) == "EX003");
    CHECK(values<float>(stored(bytes, folder, {{scratch / "store"}}).value) == std::vector<float>{8});
  }
  SECTION("refused") {
    struct Case {
      const char* name;
      const char* code;
      Entries entries;
    };
    const Case cases[] = {
        {"no location", "EX001", {{"offset", "0"}}},
        {"empty location", "EX001", {{"location", ""}}},
        {"absolute", "EX002", {{"location", (scratch / "m/data.bin").string()}}},
        {"parent", "EX003", {{"location", "../secret.bin"}}},
        {"a link out", "EX003", {{"location", "outside"}}},
        {"deep parent", "EX003", {{"location", "sub/../../secret.bin"}}},
        {"a parent that is not there", "EX003", {{"location", "../none.bin"}}},
        {"missing", "EX004", {{"location", "none.bin"}}},
        {"dangling", "EX004", {{"location", "dangling"}}},
        {"a folder", "EX004", {{"location", "sub"}}},
        {"the folder itself", "EX004", {{"location", "."}}},
        {"a NUL byte", "EX004", {{"location", std::string("data.bin\0x", 10)}}},
        {"offset negative", "EX005", {{"location", "data.bin"}, {"offset", "-4"}}},
        {"offset a word", "EX005", {{"location", "data.bin"}, {"offset", "4x"}}},
        {"offset empty", "EX005", {{"location", "data.bin"}, {"offset", ""}}},
        {"offset with sign", "EX005", {{"location", "data.bin"}, {"offset", "+4"}}},
        {"offset beyond 63 bits", "EX005", {{"location", "data.bin"}, {"offset", "9223372036854775808"}}},
        {"past the end", "EX006", {{"location", "data.bin"}, {"offset", "18"}}},
        {"offset near 2^63", "EX006", {{"location", "data.bin"}, {"offset", "9223372036854775807"}}},
        {"length differs", "EX007", {{"location", "data.bin"}, {"length", "8"}}},
    };
    for (const Case& c : cases) {
      DYNAMIC_SECTION(c.name) {
        CHECK(code_of(stored(wire::tensor(1, {1}) + external(c.entries), folder)) == c.code);
      }
    }
  }
  SECTION("claims are checked before anything is allocated") {
    const std::size_t before = memory::in_use();
    memory::reset_peak();
    const auto t = stored(wire::tensor(1, {1000000, 1000000}) + external({{"location", "data.bin"}}), folder);
    CHECK(code_of(t) == "EX006");
    CHECK(memory::peak() == before);
  }
  SECTION("data in two places") {
    CHECK(code_of(stored(wire::tensor(1, {1}) + wire::float32(4, 1) + external({{"location", "data.bin"}}), folder)) ==
          "TD003");
  }
}

TEST_CASE("A tensor file comes back as it was written", "[onnx][TensorProto]") {
  const Scratch scratch;
  const auto round_trip = [&](const Tensor& tensor) {
    write_tensor(scratch / "t.pb", "some name", tensor);
    NamedTensor read = read_tensor(scratch / "t.pb");
    CHECK(read.name == "some name");
    CHECK(read.tensor.dtype() == tensor.dtype());
    CHECK(read.tensor.shape() == tensor.shape());
    return read.tensor;
  };
  CHECK(values<float>(round_trip(Tensor::of<float>({2, 1}, {1.25f, -3}))) == std::vector<float>{1.25f, -3});
  CHECK(values<std::int64_t>(round_trip(Tensor::scalar<std::int64_t>(-5))) == std::vector<std::int64_t>{-5});
  CHECK(round_trip(Tensor::allocate(DataType::kFloat16, {0, 3})).size() == 0);
  CHECK(round_trip(Tensor::of<std::string>({2}, {"x", std::string("\0y", 2)})).strings()[1] == std::string("\0y", 2));
  Tensor int4 = Tensor::allocate(DataType::kInt4, {3});
  int4.mutable_data<std::int8_t>()[0] = -8;
  int4.mutable_data<std::int8_t>()[1] = 7;
  int4.mutable_data<std::int8_t>()[2] = -1;
  CHECK(values<std::int8_t>(round_trip(int4)) == std::vector<std::int8_t>{-8, 7, -1});
  CHECK(slurp(scratch / "t.pb").find("\x78\x0f") != std::string::npos);  // -8 and 7 in one byte, then -1
  // The file is what protobuf would write: dims, type, name, raw_data.
  write_tensor(scratch / "t.pb", "t", Tensor::of<float>({1}, {2.0f}));
  CHECK(slurp(scratch / "t.pb") == wire::tensor(1, {1}) + wire::bytes(9, wire::raw(2.0f)));
}

TEST_CASE("Sequences and optionals come back as they were written", "[onnx][SequenceProto][OptionalProto]") {
  const Scratch scratch;
  const auto tensor_type = std::make_shared<Type>();
  tensor_type->kind = Type::Kind::kTensor;
  tensor_type->dtype = DataType::kFloat32;
  Type sequence_type, optional_type;
  sequence_type.kind = Type::Kind::kSequence;
  sequence_type.element = tensor_type;
  optional_type.kind = Type::Kind::kOptional;
  optional_type.element = tensor_type;

  auto sequence = std::make_shared<Sequence>();
  sequence->dtype = DataType::kFloat32;
  sequence->elements = {Tensor::of<float>({1}, {1}), Tensor::of<float>({2}, {2, 3})};
  write_value(scratch / "s.pb", "s", std::shared_ptr<const Sequence>(sequence), sequence_type);
  const NamedValue read = read_value(scratch / "s.pb", sequence_type);
  CHECK(read.name == "s");
  REQUIRE(read.value.is_sequence());
  REQUIRE(read.value.sequence().elements.size() == 2);
  CHECK(read.value.sequence().dtype == DataType::kFloat32);
  CHECK(values<float>(read.value.sequence().elements[1].tensor()) == std::vector<float>{2, 3});

  // SequenceProto by hand: name 1, elem_type 2, tensor_values 3.
  const std::string tensor_bytes = wire::tensor(1, {1}, "") + wire::float32(4, 4);
  scratch.put("hand.pb", wire::bytes(1, "h") + wire::number(2, 1) + wire::bytes(3, tensor_bytes));
  CHECK(values<float>(read_value(scratch / "hand.pb", sequence_type).value.sequence().elements.at(0).tensor()) ==
        std::vector<float>{4});

  write_value(scratch / "o.pb", "o", Value(), optional_type);
  CHECK(read_value(scratch / "o.pb", optional_type).value.empty());
  write_value(scratch / "o.pb", "o", Tensor::scalar(5.0f), optional_type);
  CHECK(values<float>(read_value(scratch / "o.pb", optional_type).value.tensor()) == std::vector<float>{5});
  CHECK(error_of([&] { write_value(scratch / "x.pb", "x", Value(), sequence_type); }).first == ErrorKind::kRuntime);
}

TEST_CASE("A file that is no tensor is refused", "[onnx][TensorProto]") {
  const Scratch scratch;
  scratch.put("empty.pb", "");
  scratch.put("text.pb", "hello, this is text\n");
  scratch.put("short.pb", wire::tensor(1, {2}) + wire::bytes(9, "abc"));
  scratch.put("cut.pb", (wire::tensor(1, {2}) + wire::bytes(9, "abcdefgh")).substr(0, 15));
  for (const char* name : {"empty.pb", "text.pb", "short.pb", "cut.pb"}) {
    const auto [kind, message] = error_of([&] { read_tensor(scratch / name); });
    CHECK(kind == ErrorKind::kParse);
    CHECK(message.find(name) != std::string::npos);
  }
  CHECK(error_of([&] { read_tensor(scratch / "none.pb"); }).first == ErrorKind::kIo);
  CHECK(error_of([&] { read_tensor(scratch.folder()); }).first == ErrorKind::kIo);
}
