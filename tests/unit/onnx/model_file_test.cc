#include "lppool/onnx/model_file.h"

#include <catch2/catch.hpp>

#include "lppool/tensor/memory.h"
#include "support/scratch.h"
#include "support/wire.h"

using namespace lppool;

namespace {

// AttributeProto: name 1, type 20.
std::string attribute(std::string_view name, int type, const std::string& value) {
  return wire::bytes(1, name) + value + wire::number(20, type);
}

// TypeProto of a float tensor.
std::string float_type(const std::string& dims) { return wire::bytes(1, wire::number(1, 1) + wire::bytes(2, dims)); }

std::string value_info(std::string_view name, const std::string& type) { return wire::bytes(1, name) + wire::bytes(2, type); }

Model parse(const std::string& bytes) { return ModelFile::parse(bytes, ".").model(); }

Dimension dim(std::int64_t value) { return {value, ""}; }

}  // namespace

TEST_CASE("A model is imported with every fact it states", "[onnx][ModelFile]") {
  const std::string node = wire::bytes(1, "x") + wire::bytes(1, "") + wire::bytes(2, "y") + wire::bytes(3, "pool") +
                           wire::bytes(4, "LpPool") + wire::bytes(7, "ai.onnx") + wire::bytes(8, "fast") +
                           wire::bytes(5, attribute("p", 2, wire::number(3, 3))) +
                           wire::bytes(5, attribute("kernel_shape", 7, wire::number(8, 2) + wire::number(8, 4))) +
                           wire::bytes(5, attribute("future", 77, wire::bytes(4, "s")));
  const std::string dims = wire::bytes(1, wire::bytes(2, "N")) + wire::bytes(1, wire::number(1, 3)) + wire::bytes(1, "");
  const std::string graph = wire::bytes(1, node) + wire::bytes(2, "g") + wire::bytes(11, value_info("x", float_type(dims))) +
                            wire::bytes(12, value_info("y", wire::bytes(1, wire::number(1, 99))));
  const std::string model = wire::number(1, 10) + wire::bytes(2, "producer") + wire::bytes(8, wire::number(2, 22)) +
                            wire::bytes(8, wire::bytes(1, "my.domain") + wire::number(2, 1)) + wire::bytes(7, graph) +
                            wire::bytes(14, wire::entry("k", "v"));
  const Model m = parse(model);
  CHECK(m.ir_version == 10);
  CHECK(m.producer_name == "producer");
  REQUIRE(m.opset_imports.size() == 2);
  CHECK(m.opset_imports[0].version == 22);
  CHECK(m.opset_imports[1].domain == "my.domain");
  CHECK(m.metadata.at("k") == "v");
  REQUIRE(m.graph);
  CHECK(m.graph->name == "g");
  const Node& n = m.graph->nodes.at(0);
  CHECK(n.name == "pool");
  CHECK(n.op_type == "LpPool");
  CHECK(n.domain == "ai.onnx");
  CHECK(n.overload == "fast");
  CHECK(n.inputs == std::vector<std::string>{"x", ""});
  CHECK(n.attributes.at(0).type() == AttributeType::kInt);
  CHECK(n.attributes[0].i == 3);
  CHECK(n.attributes.at(1).ints == std::vector<std::int64_t>{2, 4});
  CHECK(n.attributes.at(2).type_number == 77);
  CHECK(n.attributes[2].has_field(AttributeType::kString));
  const Type& x = m.graph->inputs.at(0).type;
  CHECK(x.dtype == DataType::kFloat32);
  CHECK(x.shape == std::vector<Dimension>{{std::nullopt, "N"}, dim(3), {}});
  CHECK(m.graph->outputs.at(0).type.dtype == DataType::kUndefined);
  CHECK(m.graph->outputs[0].type.dtype_number == 99);
  CHECK_FALSE(m.graph->outputs[0].type.shape);
}

TEST_CASE("Attributes keep what a checker must see", "[onnx][ModelFile]") {
  const std::string both = wire::bytes(5, wire::bytes(1, "p") + wire::number(3, 2) + wire::float32(2, 2.5f));
  const std::string twice = wire::bytes(5, attribute("q", 2, wire::number(3, 1) + wire::number(3, 2)));
  const std::string ref = wire::bytes(5, wire::bytes(1, "r") + wire::bytes(21, "outer") + wire::number(20, 1));
  const auto m = parse(wire::model(wire::bytes(1, wire::bytes(4, "LpPool") + both + twice + ref)));
  const auto& attributes = m.graph->nodes.at(0).attributes;
  CHECK(attributes.at(0).type_number == 0);
  CHECK(attributes[0].has_field(AttributeType::kInt));
  CHECK(attributes[0].has_field(AttributeType::kFloat));
  CHECK(attributes[0].type() == AttributeType::kUndefined);
  CHECK(attributes.at(1).i == 2);  // the last value of a single field counts
  CHECK(attributes.at(2).ref_attr_name == "outer");
  CHECK(attributes[2].fields == 0);
}

TEST_CASE("Messages given twice merge, unknown fields are skipped", "[onnx][ModelFile]") {
  const std::string unknown = wire::number(99, 7) + wire::bytes(98, "zzz") + wire::float32(97, 1) +
                              wire::varint(96 << 3 | 1) + std::string(8, 'd') + wire::varint(95 << 3 | 3) +
                              wire::number(1, 1) + wire::varint(95 << 3 | 4);
  const std::string bytes = wire::model(wire::bytes(2, "first")) + unknown + wire::bytes(7, wire::bytes(1, unknown)) +
                            wire::bytes(7, wire::bytes(2, "g"));
  const Model m = parse(bytes);
  CHECK(m.graph->name == "g");
  CHECK(m.graph->nodes.size() == 1);
  // Written back, the unknown fields are still there.
  const std::string out = ModelFile::parse(bytes, ".").serialize();
  CHECK(out.find(wire::bytes(98, "zzz")) != std::string::npos);
  CHECK(out.find(wire::number(99, 7)) != std::string::npos);
  CHECK(parse(out).graph->nodes.size() == 1);
}

TEST_CASE("Functions keep the fields that came after ONNX 1.12", "[onnx][ModelFile]") {
  const std::string function =
      wire::bytes(1, "f") + wire::bytes(10, "my") + wire::bytes(13, "v2") + wire::bytes(6, "alpha") +
      wire::bytes(11, attribute("beta", 1, wire::float32(2, 0.5f))) +
      wire::bytes(11, attribute("gamma", 4, wire::bytes(5, wire::tensor(1, {1}) + wire::bytes(9, wire::raw(3.0f))))) +
      wire::bytes(12, value_info("inner", float_type(wire::bytes(1, wire::number(1, 5))))) + wire::bytes(4, "x") +
      wire::bytes(5, "y") + wire::bytes(7, wire::bytes(4, "Abs")) + wire::bytes(9, wire::number(2, 18));
  const auto check = [](const Model& m) {
    const Function& f = m.functions.at(0);
    CHECK(f.name == "f");
    CHECK(f.domain == "my");
    CHECK(f.overload == "v2");
    CHECK(f.attributes == std::vector<std::string>{"alpha"});
    REQUIRE(f.attribute_defaults.size() == 2);
    CHECK(f.attribute_defaults[0].name == "beta");
    CHECK(f.attribute_defaults[0].f == 0.5f);
    CHECK(f.attribute_defaults[1].t->value.data<float>()[0] == 3.0f);
    CHECK(f.value_infos.at(0).type.shape == std::vector<Dimension>{dim(5)});
    CHECK(f.nodes.at(0).op_type == "Abs");
    CHECK(f.opset_imports.at(0).version == 18);
  };
  const Model m = parse(wire::model(wire::bytes(2, "g")) + wire::bytes(25, function));
  check(m);
  check(parse(ModelFile::from(m).serialize()));
}

TEST_CASE("What is no model is refused with its name", "[onnx][ModelFile]") {
  const Scratch scratch;
  scratch.put("empty.onnx", "");
  scratch.put("text.onnx", "This is not a model at all, it is a line of text.\n");
  scratch.put("cut.onnx", wire::model(wire::bytes(2, "graph")).substr(0, 10));
  scratch.put("tensor.onnx", wire::tensor(1, {2}) + wire::bytes(9, "abcdefgh"));
  scratch.put("length.onnx", wire::number(1, 8) + "\x3a\xff\xff\xff\xff\x7f");
  scratch.put("number.onnx", wire::number(1, 8) + std::string(11, '\xff'));
  scratch.put("group.onnx", wire::model("") + wire::varint(95 << 3 | 3));
  scratch.put("zero.onnx", std::string(100, '\0'));
  scratch.put("unknown.onnx", wire::bytes(1000, "abc"));
  for (const char* name : {"empty.onnx", "text.onnx", "cut.onnx", "tensor.onnx", "length.onnx", "number.onnx", "group.onnx",
                           "zero.onnx", "unknown.onnx"}) {
    const auto [kind, message] = error_of([&] { ModelFile::read(scratch / name); });
    CAPTURE(name, message);
    CHECK(kind == ErrorKind::kParse);
    CHECK(message.find(std::string(name) + ": not an ONNX model") != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
  CHECK(error_of([&] { ModelFile::read(scratch / "none.onnx"); }).first == ErrorKind::kIo);
  CHECK(error_of([&] { ModelFile::read(scratch.folder()); }).first == ErrorKind::kIo);
}

TEST_CASE("A model that states a version but no graph is left to the checker", "[onnx][ModelFile]") {
  const Model m = parse(wire::number(1, 8));
  CHECK(m.ir_version == 8);
  CHECK_FALSE(m.graph);
}

TEST_CASE("Nesting is bounded", "[onnx][ModelFile]") {
  // Model > graph > node > attribute > graph > node > ...: three messages for each level of graphs.
  const auto nested = [](int graphs) {
    std::string graph = wire::bytes(2, "g");
    for (int i = 1; i < graphs; ++i) {
      graph = wire::bytes(1, wire::bytes(5, wire::bytes(1, "body") + wire::bytes(6, graph)));
    }
    return wire::model(graph);
  };
  CHECK(parse(nested(34)).graph);  // 1 + 33 * 3 = 100
  CHECK(error_of([&] { parse(nested(35)); }).first == ErrorKind::kLimit);
  CHECK(error_of([&] { parse(nested(5000)); }).first == ErrorKind::kLimit);
  // Groups inside groups, which protobuf would keep as unknown fields.
  std::string groups;
  for (int i = 0; i < 100000; ++i) groups += wire::varint(95 << 3 | 3);
  CHECK(error_of([&] { parse(wire::model("") + groups); }).first == ErrorKind::kLimit);
}

TEST_CASE("Memory is bounded before a model is loaded", "[onnx][ModelFile]") {
  std::string nodes;
  for (int i = 0; i < 100000; ++i) nodes += wire::bytes(1, "");
  const std::size_t limit = memory::limit();
  memory::set_limit(std::size_t{10} << 20);
  const auto [kind, message] = error_of([&] { parse(wire::model(nodes)); });
  memory::set_limit(limit);
  CHECK(kind == ErrorKind::kLimit);
  CHECK(parse(wire::model(nodes)).graph->nodes.size() == 100000);
}

TEST_CASE("Types of every kind survive a round trip", "[onnx][ModelFile]") {
  const std::string tensor = float_type(wire::bytes(1, wire::bytes(2, "N")));
  const std::string sequence = wire::bytes(4, wire::bytes(1, tensor));
  const std::string optional = wire::bytes(9, wire::bytes(1, sequence));
  const std::string map = wire::bytes(5, wire::number(1, 7) + wire::bytes(2, tensor));
  const std::string sparse = wire::bytes(8, wire::number(1, 11));
  std::string graph = wire::bytes(2, "g");
  for (const auto& [name, type] : {std::pair{"o", optional}, {"m", map}, {"s", sparse}}) {
    graph += wire::bytes(11, value_info(name, type));
  }
  graph += wire::bytes(11, wire::bytes(1, "untyped"));
  const auto check = [](const Model& m) {
    const auto& in = m.graph->inputs;
    REQUIRE(in.size() == 4);
    CHECK(in[0].type.kind == Type::Kind::kOptional);
    CHECK(in[0].type.element->kind == Type::Kind::kSequence);
    CHECK(in[0].type.element->element->shape->at(0).symbol == "N");
    CHECK(in[1].type.kind == Type::Kind::kMap);
    CHECK(in[1].type.dtype == DataType::kInt64);
    CHECK(in[1].type.element->kind == Type::Kind::kTensor);
    CHECK(in[2].type.kind == Type::Kind::kSparseTensor);
    CHECK(in[2].type.dtype == DataType::kFloat64);
    CHECK(in[3].type.kind == Type::Kind::kUnset);
  };
  const Model m = parse(wire::model(graph));
  check(m);
  check(parse(ModelFile::from(m).serialize()));
}

TEST_CASE("A model made from its parts reads back the same", "[onnx][ModelFile]") {
  Model model;
  model.ir_version = 9;
  model.opset_imports = {{"", 18}};
  model.producer_name = "test";
  model.metadata["a"] = "b";
  Graph& graph = model.graph.emplace();
  graph.name = "g";
  Node& node = graph.nodes.emplace_back();
  node.op_type = "If";
  node.inputs = {"c"};
  node.outputs = {"y"};
  Attribute& branch = node.attributes.emplace_back();
  branch.name = "then_branch";
  branch.type_number = static_cast<int>(AttributeType::kGraph);
  branch.fields = 1u << branch.type_number;
  Graph inner;
  inner.name = "then";
  inner.outputs = {{"y", {}}};
  branch.g = std::make_shared<const Graph>(inner);
  Attribute& strings = node.attributes.emplace_back();
  strings.name = "names";
  strings.type_number = static_cast<int>(AttributeType::kStrings);
  strings.fields = 1u << strings.type_number;
  strings.strings = {"a", ""};
  StoredTensor& weight = graph.initializers.emplace_back();
  weight.name = "w";
  weight.dtype_number = 7;
  weight.dims = {2};
  weight.value = Tensor::of<std::int64_t>({2}, {4, 5});
  StoredSparseTensor& sparse = graph.sparse_initializers.emplace_back();
  sparse.values = weight;
  sparse.values.name = "sp";
  sparse.indices = weight;
  sparse.dims = {9};

  const Model read = parse(ModelFile::from(model).serialize());
  CHECK(read.ir_version == 9);
  CHECK(read.producer_name == "test");
  CHECK(read.graph->nodes.at(0).attributes.at(0).g->outputs.at(0).name == "y");
  CHECK(read.graph->nodes[0].attributes.at(1).strings == std::vector<std::string>{"a", ""});
  CHECK(read.graph->initializers.at(0).value.data<std::int64_t>()[1] == 5);
  CHECK(read.graph->sparse_initializers.at(0).values.name == "sp");
  CHECK(read.graph->sparse_initializers[0].dims == std::vector<std::int64_t>{9});
}

TEST_CASE("Annotating changes the named types and nothing else", "[onnx][ModelFile]") {
  const Scratch scratch;
  const std::string dims = wire::bytes(1, wire::bytes(2, "N") + wire::bytes(3, "BATCH"));
  const std::string graph = wire::bytes(1, wire::bytes(4, "Abs") + wire::bytes(9, wire::entry("k", "v"))) +
                            wire::bytes(2, "g") + wire::bytes(10, "doc") +
                            wire::bytes(12, value_info("y", float_type(dims)) + wire::bytes(3, "about y"));
  const auto path = scratch.put("m.onnx", wire::model(graph));
  ModelFile file = ModelFile::read(path);
  Type type;
  type.kind = Type::Kind::kTensor;
  type.dtype = DataType::kFloat32;
  type.dtype_number = 1;
  type.shape = {{4, ""}};
  file.annotate("y", type);
  type.shape = {{4, ""}, {std::nullopt, "M"}, {}};
  file.annotate("inner", type);
  file.write(scratch / "out.onnx");

  const std::string dims_after = wire::bytes(1, wire::number(1, 4) + wire::bytes(3, "BATCH"));
  const std::string inner = wire::bytes(1, wire::number(1, 4)) + wire::bytes(1, wire::bytes(2, "M")) + wire::bytes(1, "");
  const std::string graph_after = wire::bytes(1, wire::bytes(4, "Abs") + wire::bytes(9, wire::entry("k", "v"))) +
                                  wire::bytes(2, "g") + wire::bytes(10, "doc") +
                                  wire::bytes(12, value_info("y", float_type(dims_after)) + wire::bytes(3, "about y")) +
                                  wire::bytes(13, value_info("inner", float_type(inner)));
  // Protobuf writes fields in the order of their numbers: the graph (7) before the opset imports (8).
  CHECK(slurp(scratch / "out.onnx") ==
        wire::number(1, 8) + wire::bytes(7, graph_after) + wire::bytes(8, wire::number(2, 18)));
}
