#include "lppool/npy/npz.h"

#include <catch2/catch.hpp>

#include "lppool/npy/deflate.h"
#include "lppool/tensor/memory.h"
#include "support/scratch.h"

using namespace lppool;

namespace {

std::string le(std::uint64_t value, int size) {
  std::string out;
  for (int i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

struct Entry {
  std::string name;
  std::string plain;               // what the member holds
  int method = 0;                  // 8: deflated
  std::uint64_t claimed_size = 0;  // 0: the true one
  std::uint32_t crc = 0;           // 0: the true one
  int flags = 0;
};

// A zip file by hand.
std::string zip(const std::vector<Entry>& entries, const std::string& comment = "") {
  std::string out, directory;
  for (const Entry& e : entries) {
    const std::string_view pieces[] = {e.plain};
    const std::string data = e.method == 8 ? npy::deflate(pieces) : e.plain;
    const std::uint32_t crc = e.crc != 0 ? e.crc : npy::crc32(0, e.plain);
    const std::uint64_t size = e.claimed_size != 0 ? e.claimed_size : e.plain.size();
    const std::string common = le(static_cast<std::uint64_t>(e.flags), 2) + le(static_cast<std::uint64_t>(e.method), 2) +
                               le(0, 4) + le(crc, 4) + le(data.size(), 4) + le(size, 4) + le(e.name.size(), 2);
    directory += le(0x02014b50, 4) + le(20, 2) + le(20, 2) + common + le(0, 2) + le(0, 2) + le(0, 2) + le(0, 2) + le(0, 4) +
                 le(out.size(), 4) + e.name;
    out += le(0x04034b50, 4) + le(20, 2) + common + le(3, 2) + e.name + "pad" + data;
  }
  const std::size_t start = out.size();
  return out + directory + le(0x06054b50, 4) + le(0, 4) + le(entries.size(), 2) + le(entries.size(), 2) +
         le(directory.size(), 4) + le(start, 4) + le(comment.size(), 2) + comment;
}

std::string array(float value) {
  const NpyParts parts = npy_parts(Tensor::scalar(value), NpyForm::kVoid);
  return parts.header + std::string(reinterpret_cast<const char*>(parts.elements.raw()), 4);
}

}  // namespace

TEST_CASE("Arrays of a .npz come back as they were written", "[npz]") {
  const Scratch scratch;
  for (const bool deflate : {false, true}) {
    NpzWriter writer(scratch / "x.npz", deflate);
    writer.add("a", Tensor::of<float>({2}, {1, 2}));
    writer.add("inner/b:0", Tensor::zeros(DataType::kInt64, {100, 100}));
    writer.add("\xc3\xa4", Tensor::of<BFloat16>({1}, {BFloat16(1.5f)}), NpyForm::kBits);
    CHECK(error_of([&] { writer.add("a", Tensor::scalar(1.0f)); }).first == ErrorKind::kRuntime);
    writer.finish();

    const NpzReader reader(scratch / "x.npz");
    CHECK(reader.names() == std::vector<std::string>{"a", "inner/b:0", "\xc3\xa4"});
    CHECK(reader.read("a").data<float>()[1] == 2.0f);
    CHECK(reader.read("inner/b:0").shape() == Shape{100, 100});
    CHECK(static_cast<float>(reader.read("\xc3\xa4", {DataType::kBFloat16}).data<BFloat16>()[0]) == 1.5f);
    CHECK(error_of([&] { reader.read("c"); }).first == ErrorKind::kRuntime);
    CHECK((slurp(scratch / "x.npz").size() < 80000) == deflate);
  }
}

TEST_CASE("Stored members are mapped, not copied", "[npz]") {
  const Scratch scratch;
  NpzWriter writer(scratch / "x.npz");
  writer.add("odd name", Tensor::zeros(DataType::kFloat64, {3}));
  writer.add("b", Tensor::zeros(DataType::kFloat64, {3}));
  writer.finish();
  const NpzReader reader(scratch / "x.npz");
  const std::size_t before = memory::in_use();
  const Tensor a = reader.read("odd name"), b = reader.read("b");
  CHECK(memory::in_use() == before);
  CHECK(reinterpret_cast<std::uintptr_t>(b.raw()) % 64 == 0);
}

TEST_CASE("Archives of other tools are read", "[npz]") {
  const Scratch scratch;
  const NpzReader reader(scratch.put(
      "x.npz", zip({{"a.npy", array(1)}, {"note.txt", "hello"}, {"b.npy", array(2), 8}}, "a comment PK\5\6 with a lure")));
  CHECK(reader.names() == std::vector<std::string>{"a", "b"});
  CHECK(reader.read("a").data<float>()[0] == 1.0f);
  CHECK(reader.read("b").data<float>()[0] == 2.0f);
  CHECK(NpzReader(scratch.put("e.npz", zip({}))).names().empty());
}

TEST_CASE("Damaged and hostile archives are refused", "[npz]") {
  const Scratch scratch;
  const std::string good = zip({{"a.npy", array(1)}});
  struct Case {
    const char* name;
    ErrorKind kind;
    std::string bytes;
  };
  const Case cases[] = {
      {"empty", ErrorKind::kParse, ""},
      {"cut", ErrorKind::kParse, good.substr(0, good.size() - 5)},
      {"cut in front", ErrorKind::kParse, good.substr(200)},
      {"a name twice", ErrorKind::kParse, zip({{"a.npy", array(1)}, {"a.npy", array(2)}})},
      {"wrong CRC, stored", ErrorKind::kParse, zip({{"a.npy", array(1), 0, 0, 12345}})},
      {"wrong CRC, deflated", ErrorKind::kParse, zip({{"a.npy", array(1), 8, 0, 12345}})},
      {"two sizes", ErrorKind::kParse, zip({{"a.npy", array(1), 0, 9999}})},
      {"inflates to more than it says", ErrorKind::kParse, zip({{"a.npy", array(1), 8, 100}})},
      {"inflates to less than it says", ErrorKind::kParse, zip({{"a.npy", array(1), 8, 1000}})},
      {"a bomb's claim", ErrorKind::kParse, zip({{"a.npy", array(1), 8, 4000000000}})},
      {"encrypted", ErrorKind::kUnsupported, zip({{"a.npy", array(1), 0, 0, 0, 1}})},
      {"another method", ErrorKind::kUnsupported, zip({{"a.npy", array(1), 12}})},
      {"not an array inside", ErrorKind::kParse, zip({{"a.npy", "hello"}})},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const auto path = scratch.put("x.npz", c.bytes);
      const auto [kind, message] = error_of([&] { NpzReader(path).read("a"); });
      CAPTURE(message);
      CHECK(static_cast<int>(kind) == static_cast<int>(c.kind));
      CHECK(message.find("x.npz") != std::string::npos);
    }
  }
  SECTION("every cut and every flipped byte is survived") {
    for (std::size_t i = 0; i < good.size(); ++i) {
      std::string flipped = good;
      flipped[i] = static_cast<char>(flipped[i] ^ 0x5a);
      for (const std::string& bytes : {flipped, good.substr(0, i)}) {
        try {
          const NpzReader reader(FileBytes::of(bytes), "x.npz");
          for (const std::string& name : reader.names()) reader.read(name);
        } catch (const Error& error) {
          CHECK(error.kind() != ErrorKind::kDefect);
        }
      }
    }
  }
}
