// Inference walks the nodes in order with a table of what is known of each value: its type, and for small integer
// tensors its contents as expressions. Contents come from three places: constants in the model, rules that set them
// (Shape, Gather, Concat...), and running a node whose inputs are all constant - which covers every operator without a
// word in its rule.
#include "lppool/infer/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lppool/infer/rule_context.h"
#include "lppool/infer/type_rules.h"

namespace lppool {
namespace {

constexpr int kMaxDepth = 100;            // of subgraphs in subgraphs
constexpr std::size_t kMaxContents = 64;  // more than a list of sizes or axes ever has

}  // namespace

Engine::Engine(const InferOptions& options, InferResult& result, Belief believes)
    : options_(options), result_(result), believes_(std::move(believes)), pool_(1) {
  for (const auto& [symbol, number] : options.dims) substitution_.emplace(symbol, Dim(number));
}

void Engine::main_graph(const BoundGraph& graph) {
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
    if (info.kind != TensorKind::kOutput)
      compare(output.name, info.type, bind_dims(declared_type(output.type)), nullptr, graph);
  }
}

void Engine::report(Severity severity, std::string code, const BoundNode* node, const std::string& tensor,
                    std::string message, const std::string& path) {
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

void Engine::check_options(const BoundGraph& graph) const {
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

ValueType Engine::bind_dims(ValueType type) const {
  if (!type.shape || substitution_.empty()) return type;
  for (Dim& dim : *type.shape) {
    if (dim.known()) dim = dim.substitute(substitution_);
  }
  return type;
}

ValueType Engine::override_shape(const std::string& name, ValueType type, const std::vector<Dim>& shape) const {
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

void Engine::add_initializers(const BoundGraph& graph, const std::set<std::string>& inputs, Scope& scope, bool record) {
  // An initializer that is also an input is a default (every weight of a model of IR 3 is): its contents count unless
  // the caller states the input. The declaration stays the type, so that names of dimensions are kept.
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

Engine::Declarations Engine::declarations(const BoundGraph& graph) {
  Declarations result;
  for (const auto* list : {&graph.value_infos, &graph.outputs}) {
    for (const ValueInfo& info : *list) result[info.name] = &info.type;
  }
  return result;
}

void Engine::add_tensor(const std::string& name, TensorKind kind, const ValueType& type, const std::string& producer,
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

ValueType Engine::compare(const std::string& tensor, const ValueType& inferred, const ValueType& declared,
                          const BoundNode* node, const BoundGraph& graph) {
  bool type_problem = false, shape_problem = false;
  ValueType merged = merge_types(inferred, declared, type_problem, shape_problem);
  if (type_problem || shape_problem) {
    report(
        Severity::kError, type_problem ? "TY002" : "SH001", node, tensor,
        fmt::format("tensor '{}' is declared {}, but inferred as {}", tensor, to_string(declared), to_string(inferred)),
        graph.path);
  }
  if (to_string(merged) == to_string(inferred)) return merged;
  if (believes_ && !believes_(tensor)) return inferred;
  if (node != nullptr && assumed_.insert(tensor).second) assumptions_.push_back({tensor, node, declared, inferred});
  return merged;
}

bool Engine::all_fed(const Node& node) const {
  if (options_.fed.empty() || node.outputs.empty()) return false;
  return std::ranges::all_of(node.outputs, [&](const std::string& o) { return o.empty() || options_.fed.contains(o); });
}

void Engine::run_nodes(const BoundGraph& graph, Scope& scope, const std::set<std::string>& outputs, bool record) {
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
void Engine::keep_formulas(const std::string& tensor, std::size_t output,
                           const std::optional<std::vector<Dim>>& inferred, bool declared) {
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

void Engine::keep_contents(const std::string& tensor, const Known& known) {
  if (known.elements && known.elements->size() <= kMaxContents)
    result_.tensors[result_.index[tensor]].contents = known.elements;
}

std::vector<Known> Engine::infer_node(const BoundGraph& graph, const BoundNode& node, const Scope& scope) {
  std::vector<Known> made(node.node.outputs.size());
  formulas_.clear();
  bool sound = true;  // all inputs have types that the operator takes
  if (node.schema == nullptr || node.op->infer == nullptr) {
    const std::string op =
        node.node.domain.empty() ? node.node.op_type : fmt::format("{}:{}", node.node.domain, node.node.op_type);
    if (warned_.insert(op).second) {
      report(Severity::kWarning, "SH003", &node, "",
             fmt::format("no shape rule for operator {}: its outputs stay unknown", op), graph.path);
    }
  } else {
    const auto infer_subgraph = [&](const Graph& inner, const std::vector<ValueType>& arguments) {
      const auto found = graph.subgraphs.find(&inner);
      return found == graph.subgraphs.end() ? std::vector<ValueType>() : subgraph(*found->second, arguments, scope);
    };
    RuleContext context(node, scope, infer_subgraph, explaining());
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
  folded_ = node.schema != nullptr && sound && fold(node, scope, pool_, made);
  return made;
}

std::vector<ValueType> Engine::subgraph(const BoundGraph& graph, const std::vector<ValueType>& arguments,
                                        const Scope& outer) {
  std::vector<ValueType> result(graph.outputs.size());
  if (depth_ >= kMaxDepth) return result;
  ++depth_;
  Scope scope = outer;
  std::set<std::string> inputs;
  bool ignored = false;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueType declared = bind_dims(declared_type(graph.inputs[i].type));
    inputs.insert(graph.inputs[i].name);
    scope[graph.inputs[i].name] = Known{
        i < arguments.size() ? merge_types(arguments[i], declared, ignored, ignored) : declared, {}, std::nullopt};
    if (options_.inner) result_.inner[graph.inputs[i].name] = scope[graph.inputs[i].name].type;
  }
  add_initializers(graph, inputs, scope, false);
  auto saved_formulas = std::move(formulas_);
  auto saved_declared = std::exchange(declared_, declarations(graph));
  run_nodes(graph, scope, {}, false);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const auto found = scope.find(graph.outputs[i].name);
    const ValueType declared = bind_dims(declared_type(graph.outputs[i].type));
    result[i] = found == scope.end() ? declared : merge_types(found->second.type, declared, ignored, ignored);
  }
  declared_ = std::move(saved_declared);
  formulas_ = std::move(saved_formulas);
  --depth_;
  return result;
}

}  // namespace lppool
