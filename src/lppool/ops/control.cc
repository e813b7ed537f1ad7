// If and Loop. Every round of a body passes through KernelContext::run_subgraph(), which is where interruption and the
// limits of time and rounds are checked; what rounds leave behind (scan outputs) is memory that counts.
#include <algorithm>
#include <limits>

#include "lppool/ops/contents.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/op.h"
#include "lppool/ops/stack.h"
#include "lppool/ops/value_types.h"

namespace lppool {
namespace {

bool condition(const Tensor& tensor, std::string_view what) {
  if (tensor.dtype() != DataType::kBool || tensor.size() != 1) {
    fail(ErrorKind::kRuntime, "{} is {} {}, expected one bool", what, name(tensor.dtype()), to_string(tensor.shape()));
  }
  return tensor.data<std::uint8_t>()[0] != 0;
}

const Graph& body_of(const AttributeView& attributes, std::string_view name) {
  const Graph* graph = attributes.graph(name);
  if (graph == nullptr) fail(ErrorKind::kRuntime, "attribute '{}' is missing", name);
  return *graph;
}

// ---- If ----

constexpr std::string_view kBranches = "else_branch!:graph then_branch!:graph";

constexpr OpVersion kIfVersions[] = {
    {1, "cond:B", "outputs**:V", kBranches, "V=all15; B=bool"},
    {11, "cond:B", "outputs**:V", kBranches, "V=all15; B=bool"},
    {13, "cond:B", "outputs**:V", kBranches, "V=all15|seq(all15); B=bool"},
    {16, "cond:B", "outputs**:V", kBranches, "V=all16|seq(all16)|optional(all16|seq(all16)); B=bool"},
    {19, "cond:B", "outputs**:V", kBranches, "V=all20|seq(all20)|optional(all20|seq(all16)); B=bool"},
    {21, "cond:B", "outputs**:V", kBranches, "V=all22|seq(all22)|optional(all22|seq(all16)); B=bool"},
    {23, "cond:B", "outputs**:V", kBranches, "V=all23|seq(all23)|optional(all23|seq(all16)); B=bool"},
    {24, "cond:B", "outputs**:V", kBranches, "V=all24|seq(all24)|optional(all24|seq(all16)); B=bool"},
    {25, "cond:B", "outputs**:V", kBranches, "V=all26|seq(all26)|optional(all26|seq(all16)); B=bool"},
};

void explain_branches(InferContext& ctx, std::size_t output, const ValueType& a, const ValueType& b) {
  if (!ctx.explaining || output >= ctx.outputs.size() || !ctx.outputs[output].shape) return;
  for (std::size_t axis = 0; axis < ctx.outputs[output].shape->size(); ++axis) {
    const Dim x = (*a.shape)[axis], y = (*b.shape)[axis];
    ctx.explain(output, axis, same(x, y) ? fmt::format("{} (in both branches)", x.to_string())
                                         : fmt::format("? ({} in then_branch, {} in else_branch)", x.to_string(), y.to_string()));
  }
}

void infer_if(InferContext& ctx) {
  const Graph& then_branch = body_of(ctx.attributes, "then_branch");
  const Graph& else_branch = body_of(ctx.attributes, "else_branch");
  for (const auto& [name, branch] : {std::pair("then_branch", &then_branch), std::pair("else_branch", &else_branch)}) {
    if (!branch->inputs.empty()) fail(ErrorKind::kRuntime, "{} takes {} inputs, expected none", name, branch->inputs.size());
    if (branch->outputs.size() != ctx.output_count()) {
      fail(ErrorKind::kRuntime, "{} has {} outputs, the node {}", name, branch->outputs.size(), ctx.output_count());
    }
  }
  if (const std::vector<Dim>* shape = ctx.shape(0)) {
    const auto elements = product(*shape).value();
    if (elements && *elements != 1) fail(ErrorKind::kRuntime, "the condition has shape {}, expected one element", to_string(*shape));
  }
  // Where the condition is constant only one branch counts: the other may well not fit at all.
  if (const Tensor* constant = ctx.constant(0)) {
    auto types = ctx.infer_subgraph(condition(*constant, "the condition") ? then_branch : else_branch, {});
    for (std::size_t i = 0; i < types.size(); ++i) {
      ctx.set_output(i, std::move(types[i]));
      explain_each(ctx, i, "as the branch that the constant condition takes gives it");
    }
    return;
  }
  const auto a = ctx.infer_subgraph(then_branch, {}), b = ctx.infer_subgraph(else_branch, {});
  if (a.size() != b.size()) {
    fail(ErrorKind::kRuntime, "then_branch has {} outputs, else_branch {}", a.size(), b.size());
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    ctx.set_output(i, union_of(a[i], b[i]));
    explain_branches(ctx, i, a[i], b[i]);
  }
}

void run_if(KernelContext& ctx) {
  const Graph& branch = body_of(ctx.attributes, condition(ctx.input(0), "the condition") ? "then_branch" : "else_branch");
  std::vector<Value> outputs = ctx.run_subgraph(branch, {});
  if (outputs.size() != ctx.output_count()) {
    fail(ErrorKind::kRuntime, "the branch has {} outputs, expected {}", outputs.size(), ctx.output_count());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) ctx.set_output(i, std::move(outputs[i]));
}

// ---- Loop ----

constexpr std::string_view kLoopInputs = "M?:I cond?:B v_initial**:V";
constexpr std::string_view kLoopOutputs = "v_final_and_scan_outputs**:V";

constexpr OpVersion kLoopVersions[] = {
    {1, kLoopInputs, kLoopOutputs, "body!:graph", "V=all15; I=int64; B=bool"},
    {11, kLoopInputs, kLoopOutputs, "body!:graph", "V=all15; I=int64; B=bool"},
    {13, kLoopInputs, kLoopOutputs, "body!:graph", "V=all15|seq(all15); I=int64; B=bool"},
    {16, kLoopInputs, kLoopOutputs, "body!:graph",
     "V=all16|seq(all16)|optional(all16|seq(all16)); I=int64; B=bool"},
    {19, kLoopInputs, kLoopOutputs, "body!:graph",
     "V=all20|seq(all20)|optional(all20|seq(all16)); I=int64; B=bool"},
    {21, kLoopInputs, kLoopOutputs, "body!:graph",
     "V=all22|seq(all22)|optional(all22|seq(all16)); I=int64; B=bool"},
    {23, kLoopInputs, kLoopOutputs, "body!:graph",
     "V=all23|seq(all23)|optional(all23|seq(all16)); I=int64; B=bool"},
    {24, kLoopInputs, kLoopOutputs, "body!:graph",
     "V=all24|seq(all24)|optional(all24|seq(all16)); I=int64; B=bool"},
    {25, kLoopInputs, kLoopOutputs, "body!:graph",
     "V=all26|seq(all26)|optional(all26|seq(all16)); I=int64; B=bool"},
};

// Values carried from round to round: the inputs after M and cond.
std::size_t carried_count(std::size_t inputs) { return inputs > 2 ? inputs - 2 : 0; }

void check_body(const Graph& body, std::size_t carried, std::size_t outputs) {
  if (body.inputs.size() != carried + 2) {
    fail(ErrorKind::kRuntime, "the body takes {} inputs, expected {}: round, condition and {} carried values",
         body.inputs.size(), carried + 2, carried);
  }
  if (body.outputs.size() != outputs + 1 || outputs < carried) {
    fail(ErrorKind::kRuntime, "the body has {} outputs and the node {}, expected one more: the condition",
         body.outputs.size(), outputs);
  }
}

// The text says scalar, some exporters' bodies declare a list of one: they get what they declare.
Shape one_element(const ValueInfo& input) {
  return input.type.shape && input.type.shape->size() == 1 ? Shape{1} : Shape{};
}

std::vector<Dim> dims_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

// True where the body hands its condition through, or says true, so that only the trip count ends the loop.
bool condition_never_changes(const Graph& body) {
  const std::string& result = body.outputs[0].name;
  if (result == body.inputs[1].name) return true;
  for (const StoredTensor& initializer : body.initializers) {
    if (initializer.name == result) return initializer.value.size() == 1 && condition(initializer.value, "the condition");
  }
  for (const Node& node : body.nodes) {
    if (std::ranges::find(node.outputs, result) == node.outputs.end()) continue;
    if (node.op_type == "Identity") return node.inputs.size() == 1 && node.inputs[0] == body.inputs[1].name;
    if (node.op_type != "Constant") return false;
    const Attribute* value = node.find_attribute("value");
    return value != nullptr && value->t && value->t->value.size() == 1 && value->t->value.dtype() == DataType::kBool &&
           condition(value->t->value, "the condition");
  }
  return false;
}

// The number of rounds, where the trip count alone decides it.
Dim rounds(const InferContext& ctx, const Graph& body) {
  const std::vector<Dim>* count = ctx.has_input(0) ? ctx.elements(0) : nullptr;
  if (count == nullptr || count->size() != 1) return {};
  if (ctx.has_input(1)) {
    const Tensor* start = ctx.constant(1);
    if (start == nullptr) return {};
    if (!condition(*start, "the condition")) return Dim(0);
    if (!condition_never_changes(body)) return {};
  }
  return nonnegative((*count)[0]) ? (*count)[0] : max(Dim(0), (*count)[0]);
}

// A type with nothing left in it that rounds may change: shapes go, element types stay.
ValueType without_shape(const ValueType& type) {
  ValueType result = type;
  result.shape.reset();
  if (type.element) result.element = std::make_shared<const ValueType>(without_shape(*type.element));
  return result;
}

// Levels of Loop being inferred on this thread. Each may ask for its body a few times, nested ones multiply that: past a
// few levels shapes of carried values are given up at once.
thread_local int loop_depth = 0;
struct LoopLevel {
  LoopLevel() { ++loop_depth; }
  ~LoopLevel() { --loop_depth; }
};

// A carried value has, before every round, its initial type or the one the body left. Types are widened until the body
// gives back what it got; that ends, for the third attempt leaves no shapes.
void check_condition(const ValueType& type) {
  const bool known = type.kind != Type::Kind::kUnset && (type.kind != Type::Kind::kTensor || type.dtype != DataType::kUndefined);
  if (!known) return;
  const bool fits = type.kind == Type::Kind::kTensor && type.dtype == DataType::kBool;
  if (!fits) fail(ErrorKind::kRuntime, "the body's first output, the condition, is {}, expected bool", to_string(type));
  const auto elements = type.shape ? product(*type.shape).value() : std::optional<std::int64_t>(1);
  if (elements && *elements != 1) {
    fail(ErrorKind::kRuntime, "the body's first output, the condition, is {}, expected one element", to_string(type));
  }
}

void infer_loop(InferContext& ctx) {
  const Graph& body = body_of(ctx.attributes, "body");
  const std::size_t carried = carried_count(ctx.input_count());
  check_body(body, carried, ctx.output_count());
  const LoopLevel level;
  constexpr int kAttempts = 3, kPreciseLevels = 4;
  std::vector<ValueType> before(ctx.inputs.begin() + static_cast<std::ptrdiff_t>(ctx.input_count() - carried), ctx.inputs.end());
  std::vector<ValueType> after;
  for (int attempt = loop_depth > kPreciseLevels ? kAttempts - 1 : 0;; ++attempt) {
    if (attempt == kAttempts - 1) std::ranges::transform(before, before.begin(), without_shape);
    std::vector<ValueType> arguments = {ValueType::tensor(DataType::kInt64, dims_of(one_element(body.inputs[0]))),
                                        ValueType::tensor(DataType::kBool, dims_of(one_element(body.inputs[1])))};
    arguments.insert(arguments.end(), before.begin(), before.end());
    after = ctx.infer_subgraph(body, arguments);
    if (after.size() != body.outputs.size()) return;
    if (ctx.has_input(1)) check_condition(after[0]);
    bool stable = true;
    for (std::size_t i = 0; i < carried; ++i) {
      const ValueType both = union_of(before[i], after[i + 1]);
      stable = stable && to_string(both) == to_string(before[i]);
      before[i] = both;
    }
    if (stable || attempt == kAttempts - 1) break;
  }
  for (std::size_t i = 0; i < carried; ++i) {
    ctx.set_output(i, before[i]);
    explain_each(ctx, i, "the same before and after each round");
  }
  const Dim count = rounds(ctx, body);
  for (std::size_t i = carried; i < ctx.output_count(); ++i) {
    ValueType type = after[i + 1];
    if (type.kind != Type::Kind::kTensor) continue;
    if (type.shape) type.shape->insert(type.shape->begin(), count);
    ctx.set_output(i, std::move(type));
    explain_each(ctx, i, "as the body gives it");
    ctx.explain(i, 0, fmt::format("{} (rounds)", count.to_string()));
  }
}

void run_loop(KernelContext& ctx) {
  const Graph& body = body_of(ctx.attributes, "body");
  const std::size_t carried = carried_count(ctx.input_count()), outputs = ctx.output_count();
  check_body(body, carried, outputs);
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (ctx.has_input(0)) most = int_value(ctx.input(0), "the trip count");
  // Without an initial condition the body's is ignored, as the operator's text has it.
  const bool conditional = ctx.has_input(1);
  bool go_on = !conditional || condition(ctx.input(1), "the condition");
  std::vector<Value> state(std::make_move_iterator(ctx.inputs.end() - static_cast<std::ptrdiff_t>(carried)),
                           std::make_move_iterator(ctx.inputs.end()));
  std::vector<Stack> stacks(outputs - carried);
  for (Stack& stack : stacks) stack.expect(ctx.has_input(0) ? most : 0);
  const Shape round_shape = one_element(body.inputs[0]), condition_shape = one_element(body.inputs[1]);

  for (std::int64_t round = 0; round < most && go_on; ++round) {
    std::vector<Value> arguments;
    arguments.reserve(carried + 2);
    arguments.emplace_back(Tensor::of<std::int64_t>(round_shape, {round}));
    arguments.emplace_back(Tensor::of<bool>(condition_shape, {true}));
    for (Value& value : state) arguments.push_back(std::move(value));
    std::vector<Value> results = ctx.run_subgraph(body, std::move(arguments));
    if (results.size() != outputs + 1) fail(ErrorKind::kRuntime, "the body made {} outputs", results.size());
    if (conditional) {
      if (!results[0].is_tensor()) fail(ErrorKind::kRuntime, "the body's condition is no tensor");
      go_on = condition(results[0].tensor(), "the body's condition");
    }
    for (std::size_t i = 0; i < carried; ++i) state[i] = std::move(results[i + 1]);
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      const std::string what = fmt::format("scan output '{}'", body.outputs[carried + 1 + i].name);
      const Value& result = results[carried + 1 + i];
      if (!result.is_tensor()) fail(ErrorKind::kRuntime, "{} is no tensor", what);
      if (ctx.wants_output(carried + i)) stacks[i].append(result.tensor(), what, ctx.threads());
    }
  }

  for (std::size_t i = 0; i < carried; ++i) ctx.set_output(i, std::move(state[i]));
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (!ctx.wants_output(carried + i)) continue;
    const ValueInfo& declared = body.outputs[carried + 1 + i];
    ctx.set_output(carried + i, stacks[i].count() > 0 ? Value(stacks[i].finish(0, false, ctx.threads()))
                                                      : Value(empty_stack(declared.type, 0, declared.name)));
  }
}

}  // namespace

extern const OpDef kIf;
const OpDef kIf = {
    .domain = "",
    .type = "If",
    .summary = "Runs one of two subgraphs, as the condition says.",
    .versions = kIfVersions,
    .infer = infer_if,
    .run = run_if,
    .constant_foldable = false,
};

extern const OpDef kLoop;
const OpDef kLoop = {
    .domain = "",
    .type = "Loop",
    .summary = "Runs its body again and again, up to a trip count and while a condition holds; carries values from round to "
               "round and stacks up others.",
    .versions = kLoopVersions,
    .infer = infer_loop,
    .run = run_loop,
    .constant_foldable = false,
};

}  // namespace lppool
