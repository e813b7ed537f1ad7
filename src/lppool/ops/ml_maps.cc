// The operators of ai.onnx.ml whose values are maps: CastMap, DictVectorizer and ZipMap. Values here are tensors,
// sequences and optionals, so these are checked and inferred, but not run.
#include "lppool/ops/explain.h"
#include "lppool/ops/op.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kCastMapVersions[] = {{1, "X:T1", "Y:T2",
                                           "cast_to:string=TO_FLOAT map_form:string=DENSE max_map:int=1",
                                           "T1=map(int64,string)|map(int64,float32); T2=string|float32|int64"}};
constexpr OpVersion kDictVectorizerVersions[] = {{1, "X:T1", "Y:T2", "int64_vocabulary:ints string_vocabulary:strings",
                                                  "T1=map(string,int64)|map(int64,string)|map(int64,float32)|map(int64,"
                                                  "float64)|map(string,float32)|map(string,float64); "
                                                  "T2=int64|float32|float64|string"}};
constexpr OpVersion kZipMapVersions[] = {{1, "X:float32", "Z:T", "classlabels_int64s:ints classlabels_strings:strings",
                                          "T=seq(map(string,float32)|map(int64,float32))"}};

void infer_cast_map(InferContext& ctx) {
  const std::string to = ctx.attributes.s("cast_to");
  const DataType type = to == "TO_STRING"  ? DataType::kString
                        : to == "TO_INT64" ? DataType::kInt64
                        : to == "TO_FLOAT" ? DataType::kFloat32
                                           : DataType::kUndefined;
  ctx.set_output(0, type, std::nullopt);
}

void check_cast_map(CheckContext& ctx) {
  const std::string to = ctx.attributes.s("cast_to"), form = ctx.attributes.s("map_form");
  if (to != "TO_FLOAT" && to != "TO_STRING" && to != "TO_INT64") {
    ctx.error(kBadValue, "cast_to",
              fmt::format("attribute 'cast_to' is '{}', expected TO_FLOAT, TO_STRING or TO_INT64", to));
  }
  if (form != "DENSE" && form != "SPARSE") {
    ctx.error(kBadValue, "map_form", fmt::format("attribute 'map_form' is '{}', expected DENSE or SPARSE", form));
  }
}

// 1 x size of the vocabulary, of the map's values.
void infer_dict_vectorizer(InferContext& ctx) {
  const ValueType& map = ctx.input(0);
  const DataType type = map.kind == Type::Kind::kMap && map.element ? map.element->dtype : DataType::kUndefined;
  const std::size_t words =
      ctx.attributes.ints("int64_vocabulary").size() + ctx.attributes.strings("string_vocabulary").size();
  ctx.set_output(0, type, std::vector<Dim>{1, Dim(static_cast<std::int64_t>(words))});
  if (ctx.explaining) ctx.explain(0, 1, fmt::format("{} (words of the vocabulary)", words));
}

void infer_zip_map(InferContext& ctx) {
  if (const std::vector<Dim>* x = ctx.shape(0); x != nullptr && x->size() != 1 && x->size() != 2) {
    fail(ErrorKind::kRuntime, "input X has rank {}, expected 1 or 2", x->size());
  }
  ValueType map;
  map.kind = Type::Kind::kMap;
  map.dtype = ctx.attributes.strings("classlabels_strings").empty() ? DataType::kInt64 : DataType::kString;
  map.element = std::make_shared<const ValueType>(ValueType::tensor(DataType::kFloat32, std::vector<Dim>{}));
  ctx.set_output(0, ValueType::sequence(std::move(map)));
}

}  // namespace

extern const OpDef kCastMap;
const OpDef kCastMap = {
    .domain = "ai.onnx.ml",
    .type = "CastMap",
    .summary = "Turns a map into a tensor, in the order of its keys.",
    .versions = kCastMapVersions,
    .infer = infer_cast_map,
    .check = check_cast_map,
};

extern const OpDef kDictVectorizer;
const OpDef kDictVectorizer = {
    .domain = "ai.onnx.ml",
    .type = "DictVectorizer",
    .summary = "Turns a map into a tensor, in the order of a vocabulary.",
    .versions = kDictVectorizerVersions,
    .infer = infer_dict_vectorizer,
};

extern const OpDef kZipMap;
const OpDef kZipMap = {
    .domain = "ai.onnx.ml",
    .type = "ZipMap",
    .summary = "Turns each row of scores into a map from class label to score.",
    .versions = kZipMapVersions,
    .infer = infer_zip_map,
};

}  // namespace lppool
