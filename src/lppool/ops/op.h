#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lppool/base/diagnostic.h"
#include "lppool/base/error.h"
#include "lppool/graph/dim.h"
#include "lppool/graph/model.h"
#include "lppool/ops/schema.h"
#include "lppool/tensor/value.h"

// What an operator is to this program: a row of schemas (one per since-version whose schema differs), a rule that checks
// attribute values, a rule that infers output types and shapes, and a kernel. "Add an operator" in src/README.md walks
// through it; ops/lp_pool.cc is the worked example.
namespace lppool {

class ThreadPool;

// The attributes of one node, with the defaults of its schema. A getter throws kRuntime where the node's attribute has
// another type than asked for, and kDefect where neither the node nor the schema gives a value.
class AttributeView {
 public:
  AttributeView(const Node& node, const OpSchema& schema) : node_(&node), schema_(&schema) {}

  bool has(std::string_view name) const { return node_->find_attribute(name) != nullptr; }  // given on the node itself
  std::int64_t i(std::string_view name) const;
  std::int64_t i(std::string_view name, std::int64_t fallback) const;  // where neither node nor schema has it
  float f(std::string_view name) const;
  float f(std::string_view name, float fallback) const;
  std::string s(std::string_view name) const;
  std::string s(std::string_view name, std::string_view fallback) const;
  // Empty where neither the node nor the schema gives the list.
  std::vector<std::int64_t> ints(std::string_view name) const;
  std::vector<float> floats(std::string_view name) const;
  std::vector<std::string> strings(std::string_view name) const;
  // nullptr where absent. Throws kParse where the stored tensor is faulty.
  const Tensor* tensor(std::string_view name) const;
  const Graph* graph(std::string_view name) const;
  const StoredSparseTensor* sparse_tensor(std::string_view name) const;
  const Type* type_proto(std::string_view name) const;
  const Node& node() const { return *node_; }
  const OpSchema& schema() const { return *schema_; }

 private:
  const Attribute* find(std::string_view name, AttributeType type) const;
  const Node* node_;
  const OpSchema* schema_;
};

// What inference knows of a value. A default-constructed one knows nothing.
struct ValueType {
  Type::Kind kind = Type::Kind::kUnset;
  DataType dtype = DataType::kUndefined;           // of a tensor
  std::optional<std::vector<Dim>> shape;           // of a tensor; empty: rank unknown
  std::shared_ptr<const ValueType> element;        // of a sequence or optional

  static ValueType tensor(DataType dtype, std::optional<std::vector<Dim>> shape = std::nullopt);
  static ValueType sequence(ValueType element);
  static ValueType optional(ValueType element);
  bool is_tensor() const { return kind == Type::Kind::kTensor; }
  bool has_rank() const { return shape.has_value(); }
};

// A type as a model declares it: symbols for named dimensions.
ValueType declared_type(const Type& type);

// "float32 1xCx56x56"
std::string to_string(const ValueType& type);
std::string to_string(const std::vector<Dim>& shape);

// A node as a shape rule sees it. Rules set what they know and leave the rest unknown; they throw Error(kRuntime) with the
// problem (value seen, value expected) where the node cannot be right. They never look at other nodes.
class InferContext {
 public:
  virtual ~InferContext() = default;
  const AttributeView attributes;
  int since_version() const { return attributes.schema().since_version; }
  // The opset the node's domain is bound to (>= since_version()).
  std::int64_t opset = 0;

  std::size_t input_count() const { return inputs.size(); }
  std::size_t output_count() const { return outputs.size(); }
  // Present on the node (not left out with ""). True for an input whose type is unknown, too.
  bool has_input(std::size_t i) const { return i < inputs.size() && present[i]; }
  // Knows nothing for an absent input.
  const ValueType& input(std::size_t i) const;
  // The shape of input i if its rank is known, else nullptr.
  const std::vector<Dim>* shape(std::size_t i) const;
  // The whole contents of input i where they are constant, else nullptr.
  virtual const Tensor* constant(std::size_t i) const = 0;
  // The elements of an integer tensor of rank 0 or 1 as expressions (single ones may be unknown), else nullptr. Covers
  // constants and what set_elements() of earlier nodes said: this is how Shape -> Gather -> Concat -> Reshape is followed.
  virtual const std::vector<Dim>* elements(std::size_t i) const = 0;

  void set_output(std::size_t i, ValueType type);            // ignored where the node has no output i
  void set_output(std::size_t i, DataType dtype, std::optional<std::vector<Dim>> shape);
  void set_elements(std::size_t i, std::vector<Dim> values);  // contents of an integer output of rank 0 or 1
  void warn(std::string code, std::string message);
  void note(std::string code, std::string message);
  // A formula for `--explain`: how output i's dimension `axis` came about, e.g. "floor((H + 2 - 3)/2) + 1" or "x.shape[1]".
  // It states what the rule used and nothing else; a later one for the same axis takes the place of an earlier one.
  // ops/explain.h has the common forms. Rules that build long texts ask `explaining` first: false, and nobody listens.
  void explain(std::size_t i, std::size_t axis, std::string formula);
  bool explaining = false;
  // Types of the outputs of a subgraph attribute when its inputs have these types.
  virtual std::vector<ValueType> infer_subgraph(const Graph& graph, const std::vector<ValueType>& inputs) = 0;

  std::vector<ValueType> inputs;
  std::vector<bool> present;
  std::vector<ValueType> outputs;
  std::vector<std::optional<std::vector<Dim>>> output_elements;
  struct Formula {
    std::size_t output, axis;
    std::string text;
  };
  std::vector<Formula> formulas;
  Diagnostics warnings;

 protected:
  InferContext(const Node& node, const OpSchema& schema) : attributes(node, schema) {}
};

// A node as a kernel sees it. Inputs are valid for the schema's types and the shape rule (so far as it could know);
// shapes that only run time shows are checked by the kernel. Kernels throw Error(kRuntime) for impossible data,
// Error(kUnsupported) for what they do not implement. Kernels keep no state but in state().
class KernelContext {
 public:
  virtual ~KernelContext() = default;
  const AttributeView attributes;
  int since_version() const { return attributes.schema().since_version; }
  std::int64_t opset = 0;

  std::size_t input_count() const { return inputs.size(); }
  std::size_t output_count() const { return output_wanted.size(); }
  bool has_input(std::size_t i) const { return i < inputs.size() && !inputs[i].empty(); }
  // The tensor at input i. Throws kRuntime where it is absent or no tensor.
  const Tensor& input(std::size_t i) const;
  const Tensor* optional_input(std::size_t i) const { return has_input(i) ? &input(i) : nullptr; }
  const Value& input_value(std::size_t i) const { return inputs[i]; }
  bool wants_output(std::size_t i) const { return i < output_wanted.size() && output_wanted[i]; }

  // Allocates output i; contents unspecified. The reference stays valid until the kernel returns.
  Tensor& output(std::size_t i, DataType dtype, Shape shape);
  // As output(), but takes over the storage of input `from` where this node is its last reader and type size and element
  // count agree: for elementwise kernels that read element k before they write element k.
  Tensor& output_in_place(std::size_t i, std::size_t from, DataType dtype, Shape shape);
  void set_output(std::size_t i, Value value);

  // A float32 input in blocks of channels; nullptr where it is a plain tensor or absent. Only with OpDef::packed kOwn.
  const PackedTensor* packed_input(std::size_t i) const {
    return i < inputs.size() && inputs[i].is_packed() ? &inputs[i].packed() : nullptr;
  }
  const Shape& input_shape(std::size_t i) const { return packed_input(i) != nullptr ? inputs[i].packed().shape : input(i).shape(); }
  // Turns a packed input into a plain tensor.
  void unpack_input(std::size_t i);
  // Whether an output may be packed: what reads it is then unpacked for where need be.
  virtual bool may_pack() const { return false; }
  // Allocates output i in blocks of channels; contents unspecified. The number of channels must be a multiple of `block`.
  PackedTensor& packed_output(std::size_t i, Shape shape, std::int64_t block);

  ThreadPool& threads() const { return *thread_pool; }
  // Runs a subgraph attribute. `arguments` are bound to its inputs in order; outer values are visible to it.
  virtual std::vector<Value> run_subgraph(const Graph& graph, std::vector<Value> arguments) = 0;
  // For kernels whose number of steps comes from data (Loop, Scan): called once a step, at most ~1 ms of own work apart.
  // Throws kInterrupted where the user asked to stop, kLimit where the run's time or steps are used up.
  virtual void checkpoint() {}
  // Empty before the node's first run, then whatever the kernel left: packed weights, a library's compiled primitive.
  // Inputs may differ from run to run; is_constant() tells which never do.
  std::any& state() { return *state_slot; }
  virtual bool is_constant(std::size_t i) const = 0;

  std::vector<Value> inputs;        // moved in by the executor: dead values are held only here
  std::vector<bool> output_wanted;
  std::vector<Value> outputs;
  ThreadPool* thread_pool = nullptr;
  std::any* state_slot = nullptr;

 protected:
  KernelContext(const Node& node, const OpSchema& schema) : attributes(node, schema) {}
};

// Attribute values that the schema's types cannot rule out (p <= 0, a stride of 0): add findings, all of them.
// `code` names come from check/codes.h's table.
class CheckContext {
 public:
  const AttributeView attributes;
  int since_version() const { return attributes.schema().since_version; }
  void error(std::string code, std::string attribute, std::string message, std::string hint = "");
  void warning(std::string code, std::string attribute, std::string message, std::string hint = "");
  Diagnostics findings;
  CheckContext(const Node& node, const OpSchema& schema) : attributes(node, schema) {}
};

// What a kernel does with inputs in blocks of channels (tensor/packed.h). Whatever it takes, it must give the same bits for
// packed inputs as for plain ones.
enum class PackedUse {
  kNone,         // sees plain tensors only
  kElementwise,  // one output; sees blocks as plain tensors, since only elements at the same place of its inputs meet
  kJoin,         // the same, joining along the attribute `axis`
  kOwn,          // asks for packed_input() itself
};

// Facts about a since-version of an operator that only `schema` prints.
struct OpFacts {
  bool function = false;         // ONNX defines the operator by a function body
  bool onnx_infers = true;       // ONNX ships shape inference for it
  bool experimental = false;     // support level COMMON otherwise
  bool random = false;           // outputs are drawn: no two implementations give the same
};

struct OpDef {
  std::string_view domain;       // "" for ai.onnx
  std::string_view type;
  std::string_view summary;      // one or two sentences of ours
  std::span<const OpVersion> versions;                  // ascending
  void (*infer)(InferContext&) = nullptr;               // nullptr: outputs stay unknown, with a warning
  void (*run)(KernelContext&) = nullptr;                // nullptr: known to check and infer, refused by run
  void (*check)(CheckContext&) = nullptr;               // nullptr: nothing beyond the schema
  bool constant_foldable = true;                        // false: random, or has subgraphs
  OpFacts facts = {};
  PackedUse packed = PackedUse::kNone;
};

// The table of all operators (ops/registry.def), sorted by domain and type.
std::span<const OpDef* const> all_ops();
// nullptr where unknown. `domain` in either spelling of the default domain.
const OpDef* find_op(std::string_view domain, std::string_view type);
// The schema of the highest version not above `opset`; nullptr where the operator did not exist then. The reference stays
// valid for ever; safe from any thread.
const OpSchema* schema_for(const OpDef& op, std::int64_t opset);
// The newest opset version of a domain that this program knows; 0 for a domain it does not know.
std::int64_t newest_opset(std::string_view domain);

}  // namespace lppool
