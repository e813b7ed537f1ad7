// Models that are annotated and written with all other bytes as they were. Every record is written by hand, in forms
// that protobuf reads and would not write: the test says what each byte is afterwards.
#include <catch2/catch.hpp>

#include "lppool/onnx/model_file.h"
#include "support/scratch.h"
#include "support/wire.h"

using namespace lppool;

namespace {

constexpr int kInput = 11, kOutput = 12, kValueInfo = 13;

// A number in `width` bytes, more than it needs.
std::string wide(std::uint64_t value, int width) {
  std::string out;
  for (int i = 0; i + 1 < width; ++i, value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}

std::string tag(int field, int wire_type) {
  return wire::varint(static_cast<std::uint64_t>(field) << 3 | static_cast<unsigned>(wire_type));
}

// The type of a tensor of floats with `dims` sizes; -1 is one that is not stated.
std::string float_type(const std::vector<std::int64_t>& dims) {
  std::string shape;
  for (const std::int64_t d : dims) shape += wire::bytes(1, d < 0 ? std::string() : wire::number(1, d));
  return wire::bytes(1, wire::number(1, 1) + wire::bytes(2, shape));
}

std::string info(std::string_view name, const std::string& type) {
  return wire::bytes(1, name) + wire::bytes(2, type);
}

Type floats(const std::vector<std::int64_t>& dims) {
  Type type;
  type.kind = Type::Kind::kTensor;
  type.dtype = DataType::kFloat32;
  type.dtype_number = 1;
  type.shape.emplace();
  for (const std::int64_t d : dims) type.shape->push_back({d, ""});
  return type;
}

using Annotations = std::vector<std::pair<std::string, Type>>;

// The bytes of the annotated model; they must say what the model says that protobuf itself writes.
std::string annotated(const std::string& model, const Annotations& annotations) {
  const auto serialized = [&](bool keep_bytes) {
    LoadOptions options;
    options.keep_bytes = keep_bytes;
    ModelFile file = ModelFile::parse(model, ".", options);
    for (const auto& [name, type] : annotations) file.annotate(name, type);
    return file.serialize();
  };
  const std::string kept = serialized(true);
  CHECK(ModelFile::parse(kept, ".").serialize() == serialized(false));
  return kept;
}

// What protobuf moves or rewrites, in a message of the model: fields out of order, unknown ones, long numbers, a group.
const std::string kOddities = tag(1000, 3) + wire::number(7, 5) + tag(9, 3) + tag(9, 4) + wire::bytes(7, "in a group") +
                              tag(1000, 4) + tag(999, 0) + wide(3, 4) + wire::bytes(998, "unknown") + tag(997, 1) +
                              wire::raw(1.5);
const std::string kNode =
    wire::bytes(4, "Abs") + wire::bytes(2, "y") + wire::bytes(1, "x") + wire::bytes(9, wire::entry("k", "v"));

// The whole model around a graph whose length takes `width` bytes.
std::string odd_model(const std::string& graph, int width = 1) {
  return kOddities + wire::bytes(8, wire::number(2, 18)) + tag(7, 2) +
         (width == 1 ? wire::varint(graph.size()) : wide(graph.size(), width)) + graph + wire::bytes(999, "after") +
         wire::number(1, 8);
}

}  // namespace

TEST_CASE("Kept bytes: a value without a description gets one at the end of the graph", "[onnx][ModelFile]") {
  const std::string graph = wire::bytes(kValueInfo, info("a", float_type({1}))) + kOddities + wire::bytes(1, kNode) +
                            wire::bytes(2, "g") + tag(kValueInfo, 0) + wide(1, 3) +
                            wire::bytes(kInput, info("x", float_type({1})));
  const std::string inner = wire::bytes(kValueInfo, info("inner", float_type({4, 5})));
  CHECK(annotated(odd_model(graph), {{"inner", floats({4, 5})}}) == odd_model(graph + inner));
  CHECK(annotated(odd_model(graph), {{"inner", floats({9})}, {"more", floats({})}, {"inner", floats({4, 5})}}) ==
        odd_model(graph + inner + wire::bytes(kValueInfo, info("more", float_type({})))));
}

TEST_CASE("Kept bytes: nothing changes where the declared type is the one annotated", "[onnx][ModelFile]") {
  // The type, too, is written as protobuf would not: the shape before the element type, a dimension's denotation first,
  // one with a name that is empty.
  const std::string dims =
      wire::bytes(1, wire::bytes(3, "BATCH") + wire::number(1, 4)) + wire::bytes(1, wire::bytes(2, ""));
  const std::string type = wire::bytes(1, wire::bytes(2, dims) + tag(1, 0) + wide(1, 2));
  const std::string graph = wire::bytes(kOutput, wire::bytes(2, type) + wire::bytes(1, "y")) + wire::bytes(1, kNode);
  Type same = floats({4});
  same.shape->emplace_back();
  CHECK(annotated(odd_model(graph, 5), {{"y", same}}) == odd_model(graph, 5));
  CHECK(annotated(odd_model(graph, 5), {}) == odd_model(graph, 5));
}

TEST_CASE("Kept bytes: of a refined description only the type is replaced", "[onnx][ModelFile]") {
  const std::string doc = wire::bytes(3, "about"), metadata = wire::bytes(4, wire::entry("k", "v"));
  const auto graph = [&](const std::string& x, const std::string& y, const std::string& z) {
    return wire::bytes(kOutput, doc + wire::bytes(2, y) + kOddities + wire::bytes(1, "y") + metadata) +
           wire::bytes(1, kNode) + wire::bytes(kValueInfo, info("z", z)) + tag(kInput, 2) +
           wide(info("x", x).size() + doc.size(), 3) + info("x", x) + doc +
           wire::bytes(kOutput, info("w", float_type({7})));
  };
  const std::string before = odd_model(graph(float_type({-1, 2}), float_type({-1}), float_type({3})));
  const Annotations changes = {{"x", floats({1, 2})}, {"y", floats({1})}, {"z", floats({3})}, {"w", floats({7})}};
  CHECK(annotated(before, changes) == odd_model(graph(float_type({1, 2}), float_type({1}), float_type({3}))));
}

TEST_CASE("Kept bytes: a description without a type gets one, one with two gets what they say together",
          "[onnx][ModelFile]") {
  const std::string bare = wire::bytes(1, "y");
  CHECK(annotated(odd_model(wire::bytes(kOutput, bare)), {{"y", floats({2})}}) ==
        odd_model(wire::bytes(kOutput, bare + wire::bytes(2, float_type({2})))));
  const std::string twice = wire::bytes(2, wire::bytes(6, "DENOTED")) + info("y", float_type({-1}));
  CHECK(annotated(odd_model(wire::bytes(kOutput, twice)), {{"y", floats({2})}}) ==
        odd_model(wire::bytes(kOutput, info("y", float_type({2}) + wire::bytes(6, "DENOTED")))));
}

TEST_CASE("Kept bytes: the length of the graph keeps its width where it fits, and grows where not",
          "[onnx][ModelFile]") {
  const std::string graph = wire::bytes(1, kNode) + wire::bytes(10, std::string(90, 'd'));
  const std::string inner = wire::bytes(kValueInfo, info("inner", float_type({4})));
  REQUIRE(graph.size() < 128);
  REQUIRE(graph.size() + inner.size() >= 128);
  const Annotations add = {{"inner", floats({4})}};
  CHECK(annotated(odd_model(graph), add) == odd_model(graph + inner));
  CHECK(annotated(odd_model(graph, 5), add) == odd_model(graph + inner, 5));
}

TEST_CASE("Kept bytes: a graph in several parts is annotated part by part", "[onnx][ModelFile]") {
  const auto model = [](const std::string& y, const std::string& z, const std::string& last) {
    return wire::bytes(7, wire::bytes(kOutput, info("y", y)) + kOddities) + wire::number(1, 8) + wire::bytes(7, "") +
           wire::bytes(7, wire::bytes(kOutput, info("z", z)) + wire::bytes(2, "g") + last) +
           wire::bytes(8, wire::number(2, 18));
  };
  const std::string before = model(float_type({-1}), float_type({-1}), "");
  CHECK(annotated(before, {{"z", floats({2})}}) == model(float_type({-1}), float_type({2}), ""));
  CHECK(annotated(before, {{"z", floats({2})}, {"inner", floats({3})}, {"y", floats({1})}}) ==
        model(float_type({1}), float_type({2}), wire::bytes(kValueInfo, info("inner", float_type({3})))));
}

TEST_CASE("Kept bytes: other edits are written by protobuf", "[onnx][ModelFile]") {
  LoadOptions options;
  options.keep_bytes = true;
  const std::string bytes =
      wire::bytes(7, wire::bytes(1, kNode)) + wire::bytes(8, wire::number(2, 18)) + wire::number(1, 8);
  ModelFile file = ModelFile::parse(bytes, ".", options);
  file.set_opset("", 22);
  CHECK(ModelFile::parse(file.serialize(), ".").model().opset_imports.at(0).version == 22);
}

TEST_CASE("Kept bytes: a file can be written over itself", "[onnx][ModelFile]") {
  const Scratch scratch;
  const std::string graph = wire::bytes(1, kNode);
  const auto path = scratch.put("m.onnx", odd_model(graph));
  LoadOptions options;
  options.keep_bytes = true;
  ModelFile file = ModelFile::read(path, options);
  file.annotate("inner", floats({4}));
  file.write(path);
  CHECK(slurp(path) == odd_model(graph + wire::bytes(kValueInfo, info("inner", float_type({4})))));
}
