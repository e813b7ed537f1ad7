#include "lppool/npy/npy.h"

#include <catch2/catch.hpp>
#include <complex>

#include "lppool/tensor/memory.h"
#include "support/scratch.h"
#include "support/wire.h"

using namespace lppool;

namespace {

// A .npy file by hand: version, dict, data.
std::string npy(const std::string& dict, const std::string& data, int major = 1) {
  std::string length;
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) length += static_cast<char>(dict.size() >> (8 * i) & 0xff);
  return "\x93NUMPY" + std::string(1, static_cast<char>(major)) + std::string(1, '\0') + length + dict + data;
}

std::string dict(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }\n";
}

Tensor parse(const std::string& bytes, DataType expected = DataType::kUndefined) {
  const auto kept = std::make_shared<const std::string>(bytes);
  return parse_npy(*kept, kept, "f.npy", {expected});
}

template <typename T>
std::vector<T> values(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

}  // namespace

TEST_CASE("The three .npy versions are read", "[npy]") {
  for (const int major : {1, 2, 3}) {
    const Tensor t = parse(npy(dict("<f4", "(2, 1)"), wire::raw(std::vector<float>{1.5f, -2}), major));
    CHECK(t.dtype() == DataType::kFloat32);
    CHECK(t.shape() == Shape{2, 1});
    CHECK(values<float>(t) == std::vector<float>{1.5f, -2});
  }
}

TEST_CASE("A .npy header is a Python dict in any order, quoting and spacing", "[npy]") {
  const std::string data = wire::raw(std::vector<std::int16_t>{1, 2, 3});
  for (const char* header : {
           "{'shape': (3,), 'fortran_order': False, 'descr': '<i2'}",
           "{\"descr\":\"<i2\",\"fortran_order\":False,\"shape\":(3,)}",
           "{ 'fortran_order' : False ,\n 'shape' : ( 3 , ) , 'descr' : \"<i2\" , }   \n",
           "{u'descr': '<i2', 'fortran_order': False, 'shape': (3L,)}",
           "{'descr': 'i2', 'fortran_order': True, 'shape': (3,)}",
           "{'descr': '=i2', 'fortran_order': False, 'shape': (3,)}",
       }) {
    CAPTURE(header);
    CHECK(values<std::int16_t>(parse(npy(header, data))) == std::vector<std::int16_t>{1, 2, 3});
  }
}

TEST_CASE("Every numpy type that ONNX has is read", "[npy]") {
  struct Case {
    const char* descr;
    DataType dtype;
    std::string data;  // one element
  };
  const Case cases[] = {
      {"|b1", DataType::kBool, "\1"},
      {"?", DataType::kBool, "\1"},
      {"|i1", DataType::kInt8, "\xff"},
      {"<i2", DataType::kInt16, wire::raw<std::int16_t>(-2)},
      {"<i4", DataType::kInt32, wire::raw<std::int32_t>(-3)},
      {"<i8", DataType::kInt64, wire::raw<std::int64_t>(-4)},
      {"|u1", DataType::kUInt8, "\xff"},
      {"<u2", DataType::kUInt16, wire::raw<std::uint16_t>(65535)},
      {"<u4", DataType::kUInt32, wire::raw<std::uint32_t>(7)},
      {"<u8", DataType::kUInt64, wire::raw<std::uint64_t>(8)},
      {"<f2", DataType::kFloat16, wire::raw<std::uint16_t>(0x3c00)},
      {"<f4", DataType::kFloat32, wire::raw(0.1f)},
      {"<f8", DataType::kFloat64, wire::raw(0.1)},
      {"<c8", DataType::kComplex64, wire::raw(std::complex<float>(1, 2))},
      {"<c16", DataType::kComplex128, wire::raw(std::complex<double>(3, 4))},
  };
  for (const Case& c : cases) {
    CAPTURE(c.descr);
    const Tensor t = parse(npy(dict(c.descr, "()"), c.data));
    CHECK(t.dtype() == c.dtype);
    CHECK(t.rank() == 0);
    REQUIRE(t.bytes() == c.data.size());
    CHECK(std::string(reinterpret_cast<const char*>(t.raw()), t.bytes()) == c.data);
    // The same big-endian.
    if (c.data.size() == 1) continue;
    const std::size_t parts = c.descr[1] == 'c' ? 2 : 1, size = c.data.size() / parts;
    std::string swapped;
    for (std::size_t p = 0; p < parts; ++p) {
      for (std::size_t i = size; i-- > 0;) swapped += c.data[p * size + i];
    }
    const Tensor big = parse(npy(dict(">" + std::string(c.descr + 1), "()"), swapped));
    CHECK(std::string(reinterpret_cast<const char*>(big.raw()), big.bytes()) == c.data);
  }
}

TEST_CASE("Fortran order is undone", "[npy]") {
  // numpy: np.arange(24).reshape(2, 3, 4) saved column first.
  std::vector<std::int32_t> columns;
  for (std::int32_t k = 0; k < 4; ++k) {
    for (std::int32_t j = 0; j < 3; ++j) {
      for (std::int32_t i = 0; i < 2; ++i) columns.push_back(i * 12 + j * 4 + k);
    }
  }
  const Tensor t = parse(npy(dict("<i4", "(2, 3, 4)", true), wire::raw(columns)));
  std::vector<std::int32_t> rows(24);
  for (std::int32_t i = 0; i < 24; ++i) rows[static_cast<std::size_t>(i)] = i;
  CHECK(values<std::int32_t>(t) == rows);
  const std::vector<std::uint8_t> bytes = {0, 2, 4, 1, 3, 5};
  CHECK(values<std::uint8_t>(parse(npy(dict("|u1", "(3, 2)", true), wire::raw(bytes)))) ==
        std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5});
  CHECK(parse(npy(dict("<c16", "(0, 3)", true), "")).shape() == Shape{0, 3});
}

TEST_CASE("Bytes are shared where they lie as needed and copied where they do not", "[npy]") {
  const auto kept = std::make_shared<const std::string>(npy(dict("<f4", "(1,)") + std::string(3, ' '), wire::raw(2.0f)));
  const auto* data = reinterpret_cast<const std::byte*>(kept->data() + kept->size() - 4);
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % 4 == 0;
  const Tensor t = parse_npy(*kept, kept, "f.npy");
  CHECK((t.raw() == data) == aligned);
  CHECK(values<float>(t) == std::vector<float>{2});
}

TEST_CASE("bfloat16 is read only where the caller says so", "[npy]") {
  const std::string bits = wire::raw(std::vector<std::uint16_t>{0x3f80, 0xc000});
  for (const char* descr : {"<V2", "|V2", "V2", "<u2"}) {
    const Tensor t = parse(npy(dict(descr, "(2,)"), bits), DataType::kBFloat16);
    CHECK(t.dtype() == DataType::kBFloat16);
    CHECK(static_cast<float>(t.data<BFloat16>()[1]) == -2.0f);
  }
  CHECK(error_of([&] { parse(npy(dict("<V2", "(2,)"), bits)); }).first == ErrorKind::kUnsupported);
  CHECK(error_of([&] { parse(npy(dict("|V4", "(1,)"), bits), DataType::kBFloat16); }).first == ErrorKind::kUnsupported);
  // A type numpy has is never reinterpreted.
  CHECK(error_of([&] { parse(npy(dict("<V2", "(2,)"), bits), DataType::kFloat16); }).first == ErrorKind::kUnsupported);
  CHECK(parse(npy(dict("<u2", "(2,)"), bits), DataType::kFloat16).dtype() == DataType::kUInt16);
  CHECK(parse(npy(dict("<f4", "(1,)"), bits), DataType::kBFloat16).dtype() == DataType::kFloat32);
  // One-byte types.
  CHECK(parse(npy(dict("|V1", "(2,)"), "ab"), DataType::kFloat8E4M3FN).dtype() == DataType::kFloat8E4M3FN);
  CHECK(values<std::int8_t>(parse(npy(dict("|u1", "(3,)"), "\x0f\x01\x08"), DataType::kInt4)) ==
        std::vector<std::int8_t>{-1, 1, -8});
  CHECK(error_of([&] { parse(npy(dict("|u1", "(1,)"), "\x10"), DataType::kUInt4); }).first == ErrorKind::kParse);
}

TEST_CASE("bool bytes other than 0 and 1 count as true", "[npy]") {
  CHECK(values<std::uint8_t>(parse(npy(dict("|b1", "(3,)"), std::string("\0\1\x80", 3)))) ==
        std::vector<std::uint8_t>{0, 1, 1});
}

TEST_CASE("What is no array of numbers is refused in one line that names the file", "[npy]") {
  struct Case {
    const char* name;
    ErrorKind kind;
    std::string bytes;
  };
  const std::string f = wire::raw(1.0f);
  const Case cases[] = {
      {"empty", ErrorKind::kParse, ""},
      {"text", ErrorKind::kParse, "1 2 3\n"},
      {"magic only", ErrorKind::kParse, "\x93NUMPY"},
      {"cut in the length", ErrorKind::kParse, std::string("\x93NUMPY\1\0\x10", 9)},
      {"header longer than the file", ErrorKind::kParse, npy(dict("<f4", "()"), "").substr(0, 20)},
      {"version 9", ErrorKind::kUnsupported, npy(dict("<f4", "()"), f, 9)},
      {"version 1.1", ErrorKind::kUnsupported, std::string("\x93NUMPY\1\1", 8) + "xxxxxxxx"},
      {"short data", ErrorKind::kParse, npy(dict("<f4", "(2,)"), f)},
      {"no data", ErrorKind::kParse, npy(dict("<f4", "(2,)"), "")},
      {"negative", ErrorKind::kParse, npy(dict("<f4", "(-1,)"), f)},
      {"overflow", ErrorKind::kParse, npy(dict("<f4", "(4611686018427387904, 4)"), f)},
      {"overflow beside 0", ErrorKind::kParse, npy(dict("<f4", "(4294967296, 4294967296, 0)"), "")},
      {"byte overflow", ErrorKind::kParse, npy(dict("<f8", "(4611686018427387904,)"), f)},
      {"70 bits", ErrorKind::kParse, npy(dict("<f4", "(999999999999999999999,)"), f)},
      {"a shape that is a number", ErrorKind::kParse, npy(dict("<f4", "(1)"), f)},
      {"a shape that is a list", ErrorKind::kParse, npy(dict("<f4", "[1]"), f)},
      {"a shape of floats", ErrorKind::kParse, npy(dict("<f4", "(1.0,)"), f)},
      {"missing key", ErrorKind::kParse, npy("{'descr': '<f4', 'shape': ()}", f)},
      {"unknown key", ErrorKind::kParse, npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 'y'}", f)},
      {"key twice", ErrorKind::kParse, npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", f)},
      {"no dict", ErrorKind::kParse, npy("'descr'", f)},
      {"open dict", ErrorKind::kParse, npy("{'descr': '<f4'", f)},
      {"text after", ErrorKind::kParse, npy(dict("<f4", "()") + "x", f)},
      {"order a number", ErrorKind::kParse, npy("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", f)},
      {"structured", ErrorKind::kUnsupported,
       npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", f)},
      {"objects", ErrorKind::kUnsupported, npy(dict("|O", "()"), f)},
      {"bytes", ErrorKind::kUnsupported, npy(dict("|S4", "()"), f)},
      {"unicode", ErrorKind::kUnsupported, npy(dict("<U1", "()"), f)},
      {"dates", ErrorKind::kUnsupported, npy(dict("<M8[ns]", "()"), f + f)},
      {"long double", ErrorKind::kUnsupported, npy(dict("<f16", "()"), f + f + f + f)},
      {"void", ErrorKind::kUnsupported, npy(dict("|V4", "()"), f)},
      {"nonsense", ErrorKind::kUnsupported, npy(dict("<q7", "()"), f)},
      {"empty descr", ErrorKind::kParse, npy(dict("", "()"), f)},
      {"only an order", ErrorKind::kParse, npy(dict("<", "()"), f)},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const auto [kind, message] = error_of([&] { parse(c.bytes); });
      CAPTURE(message);
      CHECK(static_cast<int>(kind) == static_cast<int>(c.kind));
      CHECK(message.find("f.npy: ") == 0);
      CHECK(message.find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("A claim of terabytes allocates nothing", "[npy]") {
  memory::reset_peak();
  const std::size_t before = memory::peak();
  CHECK(error_of([] { parse(npy(dict(">f8", "(1000000, 1000000)"), "x")); }).first == ErrorKind::kParse);
  CHECK(memory::peak() == before);
}

TEST_CASE("An array is written as numpy writes it", "[npy]") {
  const Scratch scratch;
  write_npy(scratch / "x.npy", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  // np.save of np.arange(1, 7, dtype=np.float32).reshape(2, 3)
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.append(128 - 10 - 1 - header.size(), ' ');
  CHECK(slurp(scratch / "x.npy") ==
        std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + wire::raw(std::vector<float>{1, 2, 3, 4, 5, 6}));

  const auto dict_of = [](const Tensor& t, NpyForm form = NpyForm::kVoid) {
    const std::string h = npy_parts(t, form).header;
    CHECK(h.size() % 64 == 0);
    return h.substr(10, h.find('}') - 9);
  };
  CHECK(dict_of(Tensor::scalar<std::int64_t>(1)) == "{'descr': '<i8', 'fortran_order': False, 'shape': (), }");
  CHECK(dict_of(Tensor::allocate(DataType::kBool, {0})) == "{'descr': '|b1', 'fortran_order': False, 'shape': (0,), }");
  const Tensor brain = Tensor::of<BFloat16>({2}, {BFloat16(1.0f), BFloat16(-2.0f)});
  CHECK(dict_of(brain) == "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }");
  CHECK(dict_of(brain, NpyForm::kBits) == "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }");
  CHECK(dict_of(brain, NpyForm::kFloat32) == "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }");
  CHECK(values<float>(npy_parts(brain, NpyForm::kFloat32).elements) == std::vector<float>{1, -2});
  CHECK(error_of([] { npy_parts(Tensor::of<std::string>({1}, {"a"}), NpyForm::kVoid); }).first == ErrorKind::kUnsupported);
}

TEST_CASE("A header of more than 64 KiB needs version 2", "[npy]") {
  const Tensor t = Tensor::allocate(DataType::kFloat32, Shape(std::vector<std::int64_t>(30000, 1)));
  const NpyParts parts = npy_parts(t, NpyForm::kVoid);
  CHECK(parts.header[6] == 2);
  CHECK(parts.header.size() % 64 == 0);
  CHECK(parse(parts.header + std::string(4, '\0')).rank() == 30000);
}
