// TD and EX: stored tensors. The initializer is added byte by byte to a finished model: protobuf merges the two graphs.
#include "support/code_models_parts.h"
#include "support/model_builder.h"
#include "support/wire.h"

namespace lppool::test {
namespace {

// Fields of TensorProto and GraphProto.
constexpr int kSegment = 3, kFloatData = 4, kRawData = 9, kExternalData = 13, kDataLocation = 14;
constexpr int kGraph = 7, kInitializer = 5, kSparseInitializer = 15;
constexpr std::int32_t kFloat = 1, kInt64 = 7, kString = 8, kFloat16 = 10;

Model reader(std::string_view type) {
  GraphBuilder g;
  g.node("Identity", "w", "y").output("y", type);
  return make_model(std::move(g.graph));
}

CodeModel with(std::string code, std::string about, const std::string& tensor, std::string_view type = "float32 ?") {
  return {std::move(code),
          std::move(about),
          serialized(reader(type)) + wire::bytes(kGraph, wire::bytes(kInitializer, tensor)),
          {},
          {},
          false};
}

std::string external(const std::vector<std::pair<std::string, std::string>>& entries,
                     std::vector<std::int64_t> dims = {4}) {
  std::string tensor = wire::tensor(kFloat, dims, "w");
  for (const auto& [key, value] : entries) tensor += wire::bytes(kExternalData, wire::entry(key, value));
  return tensor + wire::number(kDataLocation, 1);
}

std::string raw_floats(int count) {
  return std::string(static_cast<std::size_t>(count) * 4, '\0');
}

std::vector<CodeModel> tensor_models() {
  const std::string big = wire::number(1, std::int64_t{1} << 32);
  const std::string values = wire::tensor(kFloat, {2}, "w") + wire::bytes(kRawData, raw_floats(2));
  const std::string indices = wire::tensor(kInt64, {2}, "") + wire::bytes(kRawData, wire::raw<std::int64_t>({3, 3}));
  const std::string sparse = wire::bytes(1, values) + wire::bytes(2, indices) + wire::number(3, 4);
  return {
      with("TD001", "12 bytes for 4 floats", wire::tensor(kFloat, {4}, "w") + wire::bytes(kRawData, raw_floats(3))),
      with("TD002", "3 values for 4 elements", wire::tensor(kFloat, {4}, "w") + wire::bytes(kFloatData, raw_floats(3))),
      with("TD003", "float_data and raw_data",
           wire::tensor(kFloat, {1}, "w") + wire::bytes(kFloatData, raw_floats(1)) +
               wire::bytes(kRawData, raw_floats(1))),
      with("TD004", "a dim of -4", wire::tensor(kFloat, {-4}, "w") + wire::bytes(kRawData, raw_floats(4))),
      with("TD005", "2^64 elements", big + big + wire::tensor(kFloat, {}, "w") + wire::bytes(kRawData, raw_floats(1)),
           "float32 ?x?"),
      with("TD006", "element type 99", wire::tensor(99, {1}, "w") + wire::bytes(kRawData, raw_floats(1))),
      with("TD007", "data for no elements", wire::tensor(kFloat, {0}, "w") + wire::bytes(kRawData, raw_floats(1))),
      with("TD008", "float16 in float_data", wire::tensor(kFloat16, {1}, "w") + wire::bytes(kFloatData, raw_floats(1)),
           "float16 ?"),
      with("TD009", "a string in raw_data", wire::tensor(kString, {1}, "w") + wire::bytes(kRawData, "abc"), "string ?"),
      with("TD010", "a segment",
           wire::tensor(kFloat, {1}, "w") + wire::bytes(kSegment, wire::number(1, 0) + wire::number(2, 1)) +
               wire::bytes(kRawData, raw_floats(1))),
      {"TD011",
       "an index twice",
       serialized(reader("float32 ?")) + wire::bytes(kGraph, wire::bytes(kSparseInitializer, sparse)),
       {},
       {},
       false},
  };
}

std::vector<CodeModel> external_models() {
  const std::pair<std::string, std::string> weights{"weights.bin", raw_floats(4)};
  CodeModel past = with("EX006", "offset 8 and 16 bytes in a file of 16",
                        external({{"location", "weights.bin"}, {"offset", "8"}, {"length", "16"}}));
  CodeModel length = with("EX007", "length 12 for 4 floats", external({{"location", "weights.bin"}, {"length", "12"}}));
  CodeModel offset = with("EX005", "offset '4x'", external({{"location", "weights.bin"}, {"offset", "4x"}}));
  for (CodeModel* model : {&past, &length, &offset}) model->files = {weights};
  return {
      with("EX001", "no location", external({{"offset", "0"}})),
      with("EX002", "an absolute path", external({{"location", "/nowhere/weights.bin"}})),
      with("EX003", "a path that leaves the folder", external({{"location", "../README.md"}})),
      with("EX004", "a file that does not exist", external({{"location", "missing.bin"}})),
      offset,
      past,
      length,
  };
}

}  // namespace

std::vector<CodeModel> data_code_models() {
  auto models = tensor_models();
  for (CodeModel& model : external_models()) models.push_back(std::move(model));
  return models;
}

}  // namespace lppool::test
