#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lppool/base/diagnostic.h"
#include "lppool/tensor/tensor.h"

// A model as the file states it: the only form that later stages see, free of protobuf. It is faithful rather than clean -
// what a checker must report (an attribute given twice, a missing type) is still there - and nothing here is validated.
namespace lppool {

// A dimension as declared: a number, a symbol, or neither (unknown).
struct Dimension {
  std::optional<std::int64_t> value;
  std::string symbol;
  bool operator==(const Dimension&) const = default;
};

struct Type {
  enum class Kind { kUnset, kTensor, kSparseTensor, kSequence, kOptional, kMap };
  Kind kind = Kind::kUnset;
  DataType dtype = DataType::kUndefined;               // kTensor, kSparseTensor; of the key: kMap
  std::int32_t dtype_number = 0;                       // as in the file; may be a number this program does not know
  std::optional<std::vector<Dimension>> shape;         // empty: rank unknown
  std::shared_ptr<const Type> element;                 // kSequence, kOptional, kMap (the value)
};

struct ValueInfo {
  std::string name;
  Type type;
};

// A tensor stored in the model. Where the stored form is faulty, `value` is undefined and `problem` says why: a checker
// reports it, an executor refuses it.
struct StoredTensor {
  std::string name;
  std::int32_t dtype_number = 0;
  std::vector<std::int64_t> dims;
  Tensor value;
  std::optional<Diagnostic> problem;
  bool external = false;
  DataType dtype() const { return is_known(dtype_number) ? static_cast<DataType>(dtype_number) : DataType::kUndefined; }
};

struct StoredSparseTensor {
  StoredTensor values;   // its name is the tensor's name
  StoredTensor indices;
  std::vector<std::int64_t> dims;
};

struct Graph;

enum class AttributeType {
  kUndefined = 0, kFloat = 1, kInt = 2, kString = 3, kTensor = 4, kGraph = 5, kFloats = 6, kInts = 7, kStrings = 8,
  kTensors = 9, kGraphs = 10, kSparseTensor = 11, kSparseTensors = 12, kTypeProto = 13, kTypeProtos = 14,
};
inline constexpr int kLastAttributeType = 14;
std::string_view name(AttributeType type);  // "int", "floats", "type_proto", ...
std::optional<AttributeType> parse_attribute_type(std::string_view name);

struct Attribute {
  std::string name;
  std::int32_t type_number = 0;      // the declared type as in the file; 0: none declared
  std::uint32_t fields = 0;          // bit t set: the value field of AttributeType t is present (empty lists are absent)
  std::string ref_attr_name;         // refers to an attribute of the enclosing function

  float f = 0;
  std::int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  std::shared_ptr<const StoredTensor> t;
  std::vector<std::shared_ptr<const StoredTensor>> tensors;
  std::shared_ptr<const Graph> g;
  std::vector<std::shared_ptr<const Graph>> graphs;
  std::shared_ptr<const StoredSparseTensor> sparse_tensor;
  std::vector<std::shared_ptr<const StoredSparseTensor>> sparse_tensors;
  std::shared_ptr<const Type> tp;
  std::vector<std::shared_ptr<const Type>> type_protos;

  bool has_field(AttributeType type) const { return (fields >> static_cast<int>(type) & 1u) != 0; }
  // The declared type, else the type of the only field present, else kUndefined.
  AttributeType type() const;
};

struct Node {
  std::string name;
  std::string op_type;
  std::string domain;    // as in the file; see canonical_domain
  std::string overload;  // IR 10
  std::vector<std::string> inputs;   // "" = left out
  std::vector<std::string> outputs;  // "" = not wanted
  std::vector<Attribute> attributes;

  const Attribute* find_attribute(std::string_view attribute_name) const;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<StoredTensor> initializers;
  std::vector<StoredSparseTensor> sparse_initializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> value_infos;
};

struct OpsetImport {
  std::string domain;
  std::int64_t version = 0;
};

struct Function {
  std::string name;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;          // without default
  std::vector<Attribute> attribute_defaults;    // attribute_proto, IR 9
  std::vector<Node> nodes;
  std::vector<OpsetImport> opset_imports;
  std::vector<ValueInfo> value_infos;
};

struct Model {
  std::optional<std::int64_t> ir_version;
  std::vector<OpsetImport> opset_imports;
  std::string producer_name, producer_version, domain, doc_string;
  std::int64_t model_version = 0;
  std::map<std::string, std::string> metadata;
  std::optional<Graph> graph;
  std::vector<Function> functions;
  std::vector<OpsetImport> training_imports;  // unused by execution; kept for show
  bool has_training_info = false;
};

// "ai.onnx" and "" are the same domain (onnx/common/constants.h); everything else stands for itself.
std::string_view canonical_domain(std::string_view domain);

// The version `imports` binds `domain` to; empty where the domain is not imported. IR 1 and 2 know no imports: the default
// domain is then opset 1 (pass the model's ir_version).
std::optional<std::int64_t> opset_of(const std::vector<OpsetImport>& imports, std::string_view domain,
                                     std::int64_t ir_version);

// What identifies a function: "my.domain:Block", with ":overload" where it has one.
std::string label(const Function& function);

// A readable handle for a node in messages: node 'pool1' (LpPool), or node #3 (LpPool) where it has no name.
std::string describe(const Node& node, std::int64_t index);

}  // namespace lppool
