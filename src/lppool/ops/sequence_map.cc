// SequenceMap: runs a body for each element of a sequence, and gives sequences of what it made. Source: ONNX
// SequenceMap-17.
#include "lppool/ops/op.h"
#include "lppool/ops/value_types.h"

namespace lppool {
namespace {

constexpr OpVersion kSequenceMapVersions[] = {{17, "input_sequence:S additional_inputs**:V", "out_sequence**:S",
                                               "body!:graph", "S=seq(all15); V=all15|seq(all15)"}};

const Graph& map_body(const AttributeView& attributes, std::size_t outputs) {
  const Graph* body = attributes.graph("body");
  if (body == nullptr) fail(ErrorKind::kRuntime, "attribute 'body' is missing");
  if (body->outputs.size() != outputs) {
    fail(ErrorKind::kRuntime, "the body has {} outputs, the node {}", body->outputs.size(), outputs);
  }
  return *body;
}

void infer_sequence_map(InferContext& ctx) {
  const Graph& body = map_body(ctx.attributes, ctx.output_count());
  std::vector<ValueType> arguments = {sequence_element(ctx, 0)};
  for (std::size_t i = 1; i < ctx.input_count(); ++i) {
    const ValueType& type = ctx.input(i);
    arguments.push_back(type.kind == Type::Kind::kSequence ? sequence_element(ctx, i) : type);
  }
  auto results = ctx.infer_subgraph(body, arguments);
  for (std::size_t i = 0; i < results.size(); ++i) ctx.set_output(i, ValueType::sequence(std::move(results[i])));
}

void run_sequence_map(KernelContext& ctx) {
  const Graph& body = map_body(ctx.attributes, ctx.output_count());
  const std::size_t length = sequence_input(ctx, 0).elements.size();
  for (std::size_t i = 1; i < ctx.input_count(); ++i) {
    if (ctx.input_value(i).is_sequence() && ctx.input_value(i).sequence().elements.size() != length) {
      fail(ErrorKind::kRuntime, "input {} is a sequence of {}, expected {} as input 0", i,
           ctx.input_value(i).sequence().elements.size(), length);
    }
  }
  std::vector<std::vector<Value>> collected(ctx.output_count());
  for (std::size_t k = 0; k < length; ++k) {
    std::vector<Value> arguments;
    for (std::size_t i = 0; i < ctx.input_count(); ++i) {
      const Value& value = ctx.input_value(i);
      arguments.push_back(value.is_sequence() ? value.sequence().elements[k] : value);
    }
    auto results = ctx.run_subgraph(body, std::move(arguments));
    if (results.size() != collected.size()) fail(ErrorKind::kRuntime, "the body made {} outputs", results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].is_tensor()) fail(ErrorKind::kRuntime, "output {} of the body is no tensor", i);
      if (k > 0 && results[i].tensor().dtype() != collected[i][0].tensor().dtype()) {
        fail(ErrorKind::kRuntime, "output {} of the body changes its element type", i);
      }
      collected[i].push_back(std::move(results[i]));
    }
  }
  for (std::size_t i = 0; i < collected.size(); ++i) {
    const DataType dtype = collected[i].empty() ? body.outputs[i].type.dtype : collected[i][0].tensor().dtype();
    ctx.set_output(i, make_sequence(dtype, std::move(collected[i])));
  }
}

}  // namespace

extern const OpDef kSequenceMap;
const OpDef kSequenceMap = {
    .domain = "",
    .type = "SequenceMap",
    .summary = "Runs its body for each element of a sequence and collects what it gives.",
    .versions = kSequenceMapVersions,
    .infer = infer_sequence_map,
    .run = run_sequence_map,
    .constant_foldable = false,
    .facts = {.function = true},
};

}  // namespace lppool
