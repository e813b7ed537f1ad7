// Inference walks the nodes in order with a table of what is known of each value: its type, and for small integer tensors
// its contents as expressions. Contents come from three places: constants in the model, rules that set them (Shape, Gather,
// Concat...), and running a node whose inputs are all constant - which covers every operator without a word in its rule.
#include "lppool/infer/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

#include "lppool/base/thread_pool.h"
#include "lppool/infer/type_rules.h"
#include "lppool/ops/node_context.h"

namespace lppool {
namespace {

constexpr std::int64_t kMaxFoldedElements = 4096;
constexpr int kMaxDepth = 100;

struct Known {
  ValueType type;
  Tensor constant;  // defined: the whole contents
  std::optional<std::vector<Dim>> elements;
};

using Scope = std::unordered_map<std::string, Known>;
using Declarations = std::unordered_map<std::string, const Type*>;

// Elements of an integer tensor of rank 0 or 1 as dims; empty for other tensors and large ones.
std::optional<std::vector<Dim>> elements_of(const Tensor& tensor) {
  if (tensor.rank() > 1 || tensor.size() > kMaxFoldedElements) return std::nullopt;
  std::vector<Dim> result;
  const auto take = [&](auto values) {
    for (const auto v : values) result.emplace_back(static_cast<std::int64_t>(v));
  };
  switch (tensor.dtype()) {
    case DataType::kInt64: take(tensor.data<std::int64_t>()); break;
    case DataType::kInt32: take(tensor.data<std::int32_t>()); break;
    case DataType::kBool: take(tensor.data<std::uint8_t>()); break;
    default: return std::nullopt;
  }
  return result;
}

Known known_tensor(const Tensor& tensor) { return {type_of(tensor), tensor, elements_of(tensor)}; }

// What two statements about one value give together; `problem` is set where they contradict each other.
ValueType merge(const ValueType& inferred, const ValueType& declared, bool& type_problem, bool& shape_problem) {
  if (declared.kind == Type::Kind::kUnset) return inferred;
  if (inferred.kind == Type::Kind::kUnset) return declared;
  if (inferred.kind != declared.kind) {
    // An optional holds its contents: a plain value may stand where an optional is declared, and the other way round.
    const bool optional = inferred.kind == Type::Kind::kOptional || declared.kind == Type::Kind::kOptional;
    if (!optional) type_problem = true;
    return inferred;
  }
  ValueType result = inferred;
  if (inferred.dtype == DataType::kUndefined) {
    result.dtype = declared.dtype;
  } else if (declared.dtype != DataType::kUndefined && declared.dtype != inferred.dtype) {
    type_problem = true;
  }
  if (inferred.element && declared.element) {
    result.element =
        std::make_shared<const ValueType>(merge(*inferred.element, *declared.element, type_problem, shape_problem));
  } else if (declared.element) {
    result.element = declared.element;
  }
  if (!inferred.shape) {
    result.shape = declared.shape;
    return result;
  }
  if (!declared.shape) return result;
  if (declared.shape->size() != inferred.shape->size()) {
    shape_problem = true;
    return result;
  }
  for (std::size_t i = 0; i < declared.shape->size(); ++i) {
    const Dim& mine = (*inferred.shape)[i];
    const Dim& theirs = (*declared.shape)[i];
    if (mine.value() && theirs.value() && mine.value() != theirs.value()) shape_problem = true;
    if (!mine.known() || (theirs.value() && !mine.value())) (*result.shape)[i] = theirs;
  }
  return result;
}

// A declaration that filled in what the rule of the node left open.
struct Assumption {
  std::string tensor;
  const BoundNode* node;
  ValueType declared, inferred;
};

// Whether the declaration of a tensor may fill in what a rule leaves open. Empty: every one may.
using Belief = std::function<bool(const std::string& tensor)>;

class Engine {
 public:
  Engine(const InferOptions& options, InferResult& result, Belief believes = {})
      : options_(options), result_(result), believes_(std::move(believes)), pool_(1) {
    for (const auto& [symbol, number] : options.dims) substitution_.emplace(symbol, Dim(number));
  }

  void main_graph(const BoundGraph& graph) {
    Scope scope;
    std::set<std::string> outputs, inputs;
    for (const ValueInfo& output : graph.outputs) outputs.insert(output.name);
    for (const ValueInfo& input : graph.inputs) inputs.insert(input.name);
    check_options(graph);

    for (const ValueInfo& input : graph.inputs) {
      Known known;
      known.type = bind_dims(declared_type(input.type));
      if (const auto shape = options_.input_shapes.find(input.name); shape != options_.input_shapes.end()) {
        known.type = override_shape(input.name, known.type, shape->second);
      }
      add_tensor(input.name, TensorKind::kInput, known.type, "", -1, declared_type(input.type));
      scope[input.name] = std::move(known);
    }
    add_initializers(graph, inputs, scope, true);
    if (options_.explain) {
      for (const TensorInfo& info : result_.tensors) keep_contents(info.name, scope[info.name]);
    }
    for (const auto& [name, type] : options_.fed) scope[name] = Known{type, {}, std::nullopt};
    declared_ = declarations(graph);
    run_nodes(graph, scope, outputs, true);
    for (const ValueInfo& output : graph.outputs) {
      const auto found = result_.index.find(output.name);
      if (found == result_.index.end()) continue;
      const TensorInfo& info = result_.tensors[found->second];
      // An output that is itself an input or initializer is declared twice; the two must agree.
      if (info.kind != TensorKind::kOutput) compare(output.name, info.type, bind_dims(declared_type(output.type)), nullptr, graph);
    }
  }

  const std::vector<Assumption>& assumptions() const { return assumptions_; }

  void report(Severity severity, std::string code, const BoundNode* node, const std::string& tensor, std::string message,
              const std::string& path) {
    Diagnostic finding;
    finding.severity = severity;
    finding.code = std::move(code);
    finding.message = std::move(message);
    finding.tensor = tensor;
    finding.graph = path;
    if (node != nullptr) {
      finding.graph = node->origin;
      // Inside a function the place alone does not say which call it is about.
      if (node->origin.starts_with("function ")) finding.message += fmt::format(" (in {})", node->where);
      finding.node = node->node.name;
      finding.node_index = node->index;
      finding.op_type = node->node.op_type;
      if (node->schema != nullptr) finding.since_version = node->schema->since_version;
    }
    result_.findings.push_back(std::move(finding));
  }

 private:
  class Context final : public InferContext {
   public:
    Context(Engine& engine, const BoundGraph& graph, const BoundNode& node, const Scope& scope)
        : InferContext(node.node, *node.schema), engine_(engine), graph_(graph), scope_(scope) {
      opset = node.opset;
      explaining = engine.explaining();
      for (const std::string& input : node.node.inputs) {
        const auto found = scope.find(input);
        present.push_back(!input.empty());
        known_.push_back(input.empty() || found == scope.end() ? nullptr : &found->second);
        inputs.push_back(known_.back() ? known_.back()->type : ValueType());
        if (explaining) mark(known_.back());
      }
      outputs.resize(node.node.outputs.size());
      output_elements.resize(node.node.outputs.size());
    }
    // Rules and kernels read contents as the types the schema promises: not where an input breaks the promise.
    void forget_constants() { constants_ = false; }
    const Tensor* constant(std::size_t i) const override {
      return constants_ && i < known_.size() && known_[i] && known_[i]->constant.defined() ? &known_[i]->constant : nullptr;
    }
    const std::vector<Dim>* elements(std::size_t i) const override {
      if (explaining) return i < elements_.size() && elements_[i] ? &*elements_[i] : nullptr;
      return i < known_.size() && known_[i] && known_[i]->elements ? &*known_[i]->elements : nullptr;
    }
    std::vector<ValueType> infer_subgraph(const Graph& graph, const std::vector<ValueType>& arguments) override {
      const auto found = graph_.subgraphs.find(&graph);
      if (found == graph_.subgraphs.end()) return {};
      return engine_.subgraph(*found->second, arguments, scope_);
    }
    // Formulas for the sizes that the rule took over as they were from a size or an element of an input and said no more
    // about. A rule that states its own formula knows better.
    void explain_copies() {
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        if (!outputs[k].is_tensor() || !outputs[k].shape) continue;
        for (std::size_t axis = 0; axis < outputs[k].shape->size(); ++axis) {
          const bool explained = std::ranges::any_of(formulas, [&](const Formula& f) { return f.output == k && f.axis == axis; });
          if (!explained) explain(k, axis, origin((*outputs[k].shape)[axis]));
        }
      }
    }

   private:
    // Gives every size and element of the newest input an identity of its own.
    void mark(const Known* known) {
      if (inputs.back().shape) {
        for (Dim& dim : *inputs.back().shape) dim = dim.with_own_identity();
      }
      elements_.push_back(known != nullptr ? known->elements : std::nullopt);
      if (!elements_.back()) return;
      for (Dim& element : *elements_.back()) element = element.with_own_identity();
    }

    std::string origin(const Dim& dim) const {
      const auto place = [&](const std::vector<Dim>& list) {
        return std::ranges::find_if(list, [&](const Dim& other) { return dim.is_copy_of(other); }) - list.begin();
      };
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = attributes.node().inputs[i];
        if (inputs[i].shape) {
          const auto k = place(*inputs[i].shape);
          if (k < std::ssize(*inputs[i].shape)) return fmt::format("{}.shape[{}]", name, k);
        }
        if (elements_[i]) {
          const auto k = place(*elements_[i]);
          if (k < std::ssize(*elements_[i])) return elements_[i]->size() == 1 ? name : fmt::format("{}[{}]", name, k);
        }
      }
      return {};
    }

    Engine& engine_;
    const BoundGraph& graph_;
    const Scope& scope_;
    std::vector<const Known*> known_;
    bool constants_ = true;
    std::vector<std::optional<std::vector<Dim>>> elements_;  // with explain: those of known_, each with its own identity
  };

  // Formulas are kept for the main graph only.
  bool explaining() const { return options_.explain && depth_ == 0; }

  void check_options(const BoundGraph& graph) const {
    std::set<std::string> symbols, inputs;
    const auto add_symbols = [&](const std::vector<Dim>& shape) {
      for (const Dim& dim : shape) {
        for (auto& symbol : dim.symbols()) symbols.insert(symbol);
      }
    };
    for (const ValueInfo& input : graph.inputs) {
      inputs.insert(input.name);
      if (const ValueType type = declared_type(input.type); type.shape) add_symbols(*type.shape);
    }
    for (const auto& [name, shape] : options_.input_shapes) {
      if (!inputs.contains(name)) {
        fail(ErrorKind::kUsage, "no graph input '{}', expected one of: {}", name, fmt::join(inputs, ", "));
      }
      add_symbols(shape);
    }
    for (const auto& [name, number] : options_.dims) {
      if (symbols.contains(name)) continue;
      fail(ErrorKind::kUsage, "no symbolic dimension '{}' in the inputs, expected {}", name,
           symbols.empty() ? std::string("none: all are fixed") : fmt::format("one of: {}", fmt::join(symbols, ", ")));
    }
  }

  ValueType bind_dims(ValueType type) const {
    if (!type.shape || substitution_.empty()) return type;
    for (Dim& dim : *type.shape) {
      if (dim.known()) dim = dim.substitute(substitution_);
    }
    return type;
  }

  ValueType override_shape(const std::string& name, ValueType type, const std::vector<Dim>& shape) const {
    if (type.shape && type.shape->size() != shape.size()) {
      fail(ErrorKind::kUsage, "shape {} given for input '{}' has rank {}, expected {} as in {}", to_string(shape), name,
           shape.size(), type.shape->size(), to_string(*type.shape));
    }
    for (std::size_t i = 0; type.shape && i < shape.size(); ++i) {
      const auto declared = (*type.shape)[i].value();
      if (declared && shape[i].value() && declared != shape[i].value()) {
        fail(ErrorKind::kUsage, "shape {} given for input '{}' contradicts the declared {}", to_string(shape), name,
             to_string(*type.shape));
      }
    }
    type.kind = Type::Kind::kTensor;
    type.shape = shape;
    return bind_dims(std::move(type));
  }

  void add_initializers(const BoundGraph& graph, const std::set<std::string>& inputs, Scope& scope, bool record) {
    // An initializer that is also an input is a default (every weight of a model of IR 3 is): its contents count unless the
    // caller states the input. The declaration stays the type, so that names of dimensions are kept.
    const auto add = [&](const std::string& name, Known known) {
      if (inputs.contains(name)) {
        if (!record || options_.input_shapes.contains(name)) return;
        Known& input = scope[name];
        if (input.type.kind == Type::Kind::kUnset || !input.type.shape) input.type = known.type;
        input.constant = std::move(known.constant);
        input.elements = std::move(known.elements);
        return;
      }
      if (record) add_tensor(name, TensorKind::kInitializer, known.type, "", -1, std::nullopt);
      scope[name] = std::move(known);
    };
    for (const StoredTensor& tensor : graph.initializers) {
      add(tensor.name, tensor.value.defined() ? known_tensor(tensor.value)
                                              : Known{ValueType::tensor(tensor.dtype()), {}, std::nullopt});
    }
    for (const StoredSparseTensor& tensor : graph.sparse_initializers) {
      std::vector<Dim> dims(tensor.dims.begin(), tensor.dims.end());
      add(tensor.values.name, Known{ValueType::tensor(tensor.values.dtype(), std::move(dims)), {}, std::nullopt});
    }
  }

  static Declarations declarations(const BoundGraph& graph) {
    Declarations result;
    for (const auto* list : {&graph.value_infos, &graph.outputs}) {
      for (const ValueInfo& info : *list) result[info.name] = &info.type;
    }
    return result;
  }

  void add_tensor(const std::string& name, TensorKind kind, const ValueType& type, const std::string& producer,
                  std::int64_t node_index, std::optional<ValueType> declared) {
    if (name.empty() || !result_.index.emplace(name, result_.tensors.size()).second) return;
    TensorInfo info;
    info.name = name;
    info.kind = kind;
    info.type = type;
    info.producer = producer;
    info.node_index = node_index;
    info.declared = std::move(declared);
    result_.tensors.push_back(std::move(info));
  }

  ValueType compare(const std::string& tensor, const ValueType& inferred, const ValueType& declared, const BoundNode* node,
                    const BoundGraph& graph) {
    bool type_problem = false, shape_problem = false;
    ValueType merged = merge(inferred, declared, type_problem, shape_problem);
    if (type_problem || shape_problem) {
      report(Severity::kError, type_problem ? "TY002" : "SH001", node, tensor,
             fmt::format("tensor '{}' is declared {}, but inferred as {}", tensor, to_string(declared), to_string(inferred)),
             graph.path);
    }
    if (to_string(merged) == to_string(inferred)) return merged;
    if (believes_ && !believes_(tensor)) return inferred;
    if (node != nullptr && assumed_.insert(tensor).second) assumptions_.push_back({tensor, node, declared, inferred});
    return merged;
  }

  bool all_fed(const Node& node) const {
    if (options_.fed.empty() || node.outputs.empty()) return false;
    return std::ranges::all_of(node.outputs, [&](const std::string& o) { return o.empty() || options_.fed.contains(o); });
  }

  // `record`: the main graph, whose tensors go into the result.
  void run_nodes(const BoundGraph& graph, Scope& scope, const std::set<std::string>& outputs, bool record) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const BoundNode& node = graph.nodes[i];
      std::vector<Known> made(node.node.outputs.size());
      if (!(record && all_fed(node.node))) made = infer_node(graph, node, scope);
      for (std::size_t k = 0; k < node.node.outputs.size(); ++k) {
        const std::string& output = node.node.outputs[k];
        if (output.empty()) continue;
        std::optional<ValueType> declared;
        const std::optional<std::vector<Dim>> inferred = options_.explain ? made[k].type.shape : std::nullopt;
        if (record && options_.fed.contains(output)) {
          made[k] = scope[output];
        } else if (const auto found = declared_.find(output); found != declared_.end()) {
          declared = bind_dims(declared_type(*found->second));
          made[k].type = compare(output, made[k].type, *declared, &node, graph);
        }
        if (record) {
          const bool known_before = result_.index.contains(output);  // made twice: the first stays
          const bool is_declared = declared.has_value();
          add_tensor(output, outputs.contains(output) ? TensorKind::kOutput : TensorKind::kIntermediate, made[k].type,
                     node.label, static_cast<std::int64_t>(i), std::move(declared));
          if (options_.explain && !known_before) {
            keep_formulas(output, k, inferred, is_declared);
            keep_contents(output, made[k]);
          }
        } else if (options_.inner) {
          result_.inner[output] = made[k].type;
        }
        scope[output] = std::move(made[k]);
      }
    }
  }

  // The formulas of the node's output number `output`, `inferred` before its declaration was looked at.
  void keep_formulas(const std::string& tensor, std::size_t output, const std::optional<std::vector<Dim>>& inferred,
                     bool declared) {
    TensorInfo& info = result_.tensors[result_.index[tensor]];
    if (!info.type.shape) return;
    info.formulas.resize(info.type.shape->size());
    for (const auto& formula : formulas_) {
      if (formula.output == output && formula.axis < info.formulas.size()) info.formulas[formula.axis] = formula.text;
    }
    for (std::size_t axis = 0; axis < info.formulas.size(); ++axis) {
      const Dim& dim = (*info.type.shape)[axis];
      const Dim rule = inferred && axis < inferred->size() ? (*inferred)[axis] : Dim();
      std::string& formula = info.formulas[axis];
      const auto remark = [&](std::string_view text) { formula = fmt::format("{} ({})", dim.to_string(), text); };
      if (declared && dim.known() && !same(dim, rule)) {
        remark(rule.known() ? "as declared in the model; the rule gives " + (formula.empty() ? rule.to_string() : formula)
                            : "as declared in the model; the rule leaves it open");
      } else if (!dim.known() && formula.empty()) {
        remark("not known before the model runs");
      } else if (formula.empty() && folded_) {
        remark("worked out from constants");
      }
    }
  }

  static constexpr std::size_t kMaxContents = 64;  // more than a list of sizes or axes ever has

  void keep_contents(const std::string& tensor, const Known& known) {
    if (known.elements && known.elements->size() <= kMaxContents) result_.tensors[result_.index[tensor]].contents = known.elements;
  }

  std::vector<Known> infer_node(const BoundGraph& graph, const BoundNode& node, const Scope& scope) {
    std::vector<Known> made(node.node.outputs.size());
    formulas_.clear();
    folded_ = false;
    bool sound = true;  // all inputs have types that the operator takes
    if (node.schema == nullptr || node.op->infer == nullptr) {
      const std::string op = node.node.domain.empty() ? node.node.op_type
                                                      : fmt::format("{}:{}", node.node.domain, node.node.op_type);
      if (warned_.insert(op).second) {
        report(Severity::kWarning, "SH003", &node, "",
               fmt::format("no shape rule for operator {}: its outputs stay unknown", op), graph.path);
      }
    } else {
      Context context(*this, graph, node, scope);
      const auto problems = check_input_types(*node.schema, context.inputs);
      for (const TypeProblem& problem : problems) {
        report(Severity::kError, problem.code, &node, node.node.inputs[problem.input], problem.message, graph.path);
        result_.findings.back().hint = problem.hint;
      }
      sound = problems.empty();
      if (!sound) context.forget_constants();
      try {
        node.op->infer(context);
        if (context.explaining) context.explain_copies();
        for (std::size_t k = 0; k < made.size(); ++k) {
          made[k].type = std::move(context.outputs[k]);
          made[k].elements = std::move(context.output_elements[k]);
        }
      } catch (const Error& error) {
        report(Severity::kError, "SH002", &node, "", error.what(), graph.path);
      }
      for (Diagnostic& warning : context.warnings) {
        report(warning.severity, warning.code, &node, warning.tensor, warning.message, graph.path);
      }
      formulas_ = std::move(context.formulas);
    }
    if (node.schema != nullptr && sound) fold(node, scope, made);
    return made;
  }

  // Runs the node where all inputs are constant and the outputs known to be small.
  void fold(const BoundNode& node, const Scope& scope, std::vector<Known>& made) {
    if (node.op->run == nullptr || !node.op->constant_foldable) return;
    for (const Known& known : made) {
      if (!known.type.shape) {
        if (node.node.inputs.empty()) continue;  // Constant: as large as its attribute
        return;
      }
      std::int64_t elements = 1;
      for (const Dim& dim : *known.type.shape) {
        if (!dim.value() || __builtin_mul_overflow(elements, *dim.value(), &elements)) return;
      }
      if (elements > kMaxFoldedElements) return;
    }
    NodeContext context(node.node, *node.schema, node.opset, pool_);
    for (const std::string& input : node.node.inputs) {
      const auto found = scope.find(input);
      if (input.empty()) {
        context.inputs.emplace_back();
      } else if (found != scope.end() && found->second.constant.defined() &&
                 found->second.constant.size() <= kMaxFoldedElements) {
        context.inputs.emplace_back(found->second.constant);
      } else {
        return;
      }
    }
    try {
      node.op->run(context);
    } catch (const Error&) {
      return;  // whoever runs the model will say it
    }
    folded_ = true;
    for (std::size_t k = 0; k < made.size() && k < context.outputs.size(); ++k) {
      if (context.outputs[k].is_tensor()) made[k] = known_tensor(context.outputs[k].tensor());
    }
  }

  std::vector<ValueType> subgraph(const BoundGraph& graph, const std::vector<ValueType>& arguments, const Scope& outer) {
    std::vector<ValueType> result(graph.outputs.size());
    if (depth_ >= kMaxDepth) return result;
    ++depth_;
    Scope scope = outer;
    std::set<std::string> inputs;
    bool ignored = false;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const ValueType declared = bind_dims(declared_type(graph.inputs[i].type));
      inputs.insert(graph.inputs[i].name);
      scope[graph.inputs[i].name] =
          Known{i < arguments.size() ? merge(arguments[i], declared, ignored, ignored) : declared, {}, std::nullopt};
      if (options_.inner) result_.inner[graph.inputs[i].name] = scope[graph.inputs[i].name].type;
    }
    add_initializers(graph, inputs, scope, false);
    auto saved_formulas = std::move(formulas_);
    auto saved_declared = std::exchange(declared_, declarations(graph));
    run_nodes(graph, scope, {}, false);
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      const auto found = scope.find(graph.outputs[i].name);
      const ValueType declared = bind_dims(declared_type(graph.outputs[i].type));
      result[i] = found == scope.end() ? declared : merge(found->second.type, declared, ignored, ignored);
    }
    declared_ = std::move(saved_declared);
    formulas_ = std::move(saved_formulas);
    --depth_;
    return result;
  }

  const InferOptions& options_;
  InferResult& result_;
  Belief believes_;
  std::vector<Assumption> assumptions_;
  std::set<std::string> assumed_;
  ThreadPool pool_;
  std::map<std::string, Dim> substitution_;
  Declarations declared_;  // of the graph being walked
  std::set<std::string> warned_;
  std::vector<InferContext::Formula> formulas_;  // of the node at hand
  bool folded_ = false;                          // the node at hand was run on constants
  int depth_ = 0;
};

}  // namespace

std::string_view name(TensorKind kind) {
  switch (kind) {
    case TensorKind::kInput: return "input";
    case TensorKind::kInitializer: return "initializer";
    case TensorKind::kIntermediate: return "intermediate";
    case TensorKind::kOutput: return "output";
  }
  return "";
}

std::string explained_size(const TensorInfo& info, std::size_t axis) {
  const std::string value = info.type.shape->at(axis).to_string();
  const std::string formula = axis < info.formulas.size() ? info.formulas[axis] : std::string();
  if (formula.empty() || formula == value) return value;
  // A remark comes with the value, anything else is what the value is equal to.
  return formula.starts_with(value + " (") ? formula : fmt::format("{} = {}", value, formula);
}

bool InferResult::ok() const {
  return std::ranges::none_of(findings, [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

const TensorInfo* InferResult::find(const std::string& tensor) const {
  const auto found = index.find(tensor);
  return found == index.end() ? nullptr : &tensors[found->second];
}

ValueType type_of(const Tensor& tensor) {
  return ValueType::tensor(tensor.dtype(), std::vector<Dim>(tensor.shape().begin(), tensor.shape().end()));
}

namespace {

// What makes an error the same one in several inferences of a graph.
std::string identity(const Diagnostic& finding) {
  return fmt::format("{}|{}|{}|{}", finding.code, finding.graph, finding.node_index.value_or(-1), finding.tensor);
}

// The first error of `result` that is not among `known`; nullptr where there is none.
const Diagnostic* new_error(const InferResult& result, const std::set<std::string>& known) {
  const auto found = std::ranges::find_if(result.findings, [&](const Diagnostic& finding) {
    return finding.severity == Severity::kError && !known.contains(identity(finding));
  });
  return found == result.findings.end() ? nullptr : &*found;
}

std::string sentence(const Assumption& assumption, const Diagnostic& symptom) {
  const std::string place = symptom.node.empty() ? fmt::format("node #{}", symptom.node_index.value_or(0))
                                                 : fmt::format("node '{}'", symptom.node);
  return fmt::format("tensor '{}' is declared {}, where its operator {}; with that, {} ({}) is wrong: {}", assumption.tensor,
                     to_string(assumption.declared),
                     assumption.inferred.kind == Type::Kind::kUnset ? std::string("says nothing")
                                                                    : "gives " + to_string(assumption.inferred),
                     place, symptom.op_type, symptom.message);
}

// An error may be the symptom of a declaration far above it: one that filled in what a rule left open, and wrongly. The
// first declaration with which an error appears, and without which it does not, is the one to name; it is then believed no
// longer, and what followed from it is gone. `result` believed all `assumptions`, which are in the order of nodes.
void blame_declarations(const BoundGraph& graph, const InferOptions& options, std::vector<Assumption> assumptions,
                        InferResult& result) {
  constexpr std::size_t kMostBlamed = 8;
  std::set<std::string> unconditional;  // errors whatever the declarations fill in
  InferResult bare;
  Engine(options, bare, [](const std::string&) { return false; }).main_graph(graph);
  for (const Diagnostic& finding : bare.findings) unconditional.insert(identity(finding));

  std::set<std::string> disbelieved;
  Diagnostics blamed;
  while (blamed.size() < kMostBlamed && !assumptions.empty() && new_error(result, unconditional) != nullptr) {
    std::size_t fine = 0, wrong = assumptions.size();  // so many believed: without and with an error
    Diagnostic symptom = *new_error(result, unconditional);
    while (wrong - fine > 1) {
      const std::size_t middle = fine + (wrong - fine) / 2;
      std::set<std::string> believed;
      for (std::size_t k = 0; k < middle; ++k) believed.insert(assumptions[k].tensor);
      InferResult part;
      Engine(options, part, [&](const std::string& tensor) { return believed.contains(tensor); }).main_graph(graph);
      const Diagnostic* error = new_error(part, unconditional);
      if (error != nullptr) symptom = *error;
      (error != nullptr ? wrong : fine) = middle;
    }
    const Assumption& culprit = assumptions[wrong - 1];
    InferResult scratch;
    Engine(options, scratch).report(Severity::kError, "SH001", culprit.node, culprit.tensor, sentence(culprit, symptom), "");
    blamed.push_back(scratch.findings.front());
    disbelieved.insert(culprit.tensor);
    result = {};
    Engine engine(options, result, [&](const std::string& tensor) { return !disbelieved.contains(tensor); });
    engine.main_graph(graph);
    assumptions = engine.assumptions();
  }
  result.findings.insert(result.findings.begin(), std::make_move_iterator(blamed.begin()),
                         std::make_move_iterator(blamed.end()));
}

}  // namespace

InferResult infer_shapes(const BoundGraph& graph, const InferOptions& options) {
  InferResult result;
  Engine engine(options, result);
  engine.main_graph(graph);
  if (!result.ok() && !engine.assumptions().empty()) blame_declarations(graph, options, engine.assumptions(), result);
  return result;
}

}  // namespace lppool
