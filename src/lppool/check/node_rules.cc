// OP and SC: which operator a node names, and whether its inputs and outputs fit the schema.
#include <fmt/format.h>

#include "lppool/base/text.h"
#include "lppool/check/known_ops.h"
#include "lppool/check/rules.h"

namespace lppool {
namespace {

std::string op_name(const Node& node) {
  return canonical_domain(node.domain).empty() ? node.op_type : fmt::format("{}:{}", node.domain, node.op_type);
}

// An operator without an entry in the registry: what ONNX's own list says of it.
void check_unregistered(CheckState& state, const Place& place, std::int64_t opset) {
  const Node& node = *place.node;
  const std::string op = op_name(node);
  const auto once = [&](const char* code, std::string message) {
    if (state.reported_once.insert(code + op).second) state.findings.add(place, code, std::move(message));
  };
  if (!is_onnx_domain(node.domain)) {
    return once("OP007", fmt::format("operator {} is of a domain unknown here: nothing can be said of it", quoted(op)));
  }
  if (const auto known = known_op(node.domain, node.op_type)) {
    if (opset < known->first) {
      state.findings.add(
          place, "OP009",
          fmt::format("operator {} exists from operator set {} on, imported is {}", op, known->first, opset));
    } else if (known->deprecated != 0 && opset >= known->deprecated) {
      state.findings.add(
          place, "OP010",
          fmt::format("operator {} is deprecated since operator set {}, imported is {}", op, known->deprecated, opset));
    } else {
      once("OP012", fmt::format("operator {} is not known to this program: only names are checked", op));
    }
  } else if (is_experimental_op(node.domain, node.op_type)) {
    once("OP013", fmt::format("operator {} was experimental and was removed from ONNX: it has no fixed meaning", op));
  } else if (opset > newest_opset(node.domain)) {
    once("OP011", fmt::format("operator {} is unknown; the imported operator set {} is newer than this program",
                              quoted(op), opset));
  } else {
    const auto names = known_op_names(node.domain);
    const auto near = nearest(node.op_type, names);
    state.findings.add(place, "OP008", fmt::format("there is no operator {} in operator set {}", quoted(op), opset),
                       near ? fmt::format("did you mean {}?", *near) : "");
  }
}

void check_arity(CheckState& state, const Place& place) {
  const Node& node = *place.node;
  const OpSchema& schema = *place.schema;
  const auto count = [&](const char* what, std::size_t given, std::size_t least, std::size_t most, const char* few,
                         const char* many) {
    const auto says = [&](std::size_t bound, const char* more) {
      return fmt::format("{} {} has {} {}, expected {}{}", schema.name, schema.since_version, given, what, bound,
                         least == most ? "" : more);
    };
    if (given < least) state.findings.add(place, few, says(least, " or more"));
    if (given > most) state.findings.add(place, many, says(most, " at most"));
  };
  count("inputs", node.inputs.size(), schema.min_inputs(), schema.max_inputs(), "SC001", "SC002");
  count("outputs", node.outputs.size(), schema.min_outputs(), schema.max_outputs(), "SC003", "SC004");
  const auto left_out = [&](const std::vector<std::string>& given, const std::vector<ParameterSchema>& declared,
                            const char* code, const char* what) {
    for (std::size_t i = 0; i < given.size() && i < declared.size(); ++i) {
      if (!given[i].empty() || declared[i].kind != ParameterSchema::Kind::kSingle) continue;
      state.findings.add(place, code, fmt::format("{} {} ({}) is left out, but required", what, i, declared[i].name));
    }
  };
  left_out(node.inputs, schema.inputs, "SC005", "input");
  left_out(node.outputs, schema.outputs, "SC006", "output");
}

}  // namespace

void check_node(CheckState& state, const Body& body, const Node& node, std::int64_t index, const std::string& path) {
  Place place{.graph = path, .node = &node, .index = index};
  if (node.op_type.empty()) state.findings.add(place, "GR015", "the node has no op_type");
  if (node.inputs.empty() && node.outputs.empty()) {
    state.findings.add(place, "GR016", "the node has neither inputs nor outputs");
  }
  // The form of attributes is judged without a schema, but a finding should name the schema where there is one.
  const std::int64_t ir = body.function == nullptr ? state.ir_version : std::max<std::int64_t>(state.ir_version, 3);
  const auto opset = opset_of(*body.imports, node.domain, ir);
  const OpDef* op = find_op(node.domain, node.op_type);
  const Function* called = state.functions.called_by(node);
  if (op != nullptr && called == nullptr && opset && *opset >= 1) place.schema = schema_for(*op, *opset);
  check_attribute_form(state, body, place);
  if (node.op_type.empty()) return;
  if (!opset && body.function == nullptr && body.imports->empty()) return;  // OP001 has said it
  if (!opset) {
    const std::string domain(canonical_domain(node.domain));
    if (state.reported_once.insert(fmt::format("OP006 {}\n{}", fmt::ptr(body.imports), domain)).second) {
      state.findings.add(place, "OP006",
                         fmt::format("{} is not imported by the {}",
                                     domain.empty() ? "the default domain" : fmt::format("domain {}", quoted(domain)),
                                     body.function == nullptr ? "model" : "function"),
                         "add an opset_import of it");
    }
    return;
  }
  if (called != nullptr) return check_call(state, place, *called);
  if (*opset < 1) return;  // OP002 has said it
  if (op == nullptr) return check_unregistered(state, place, *opset);
  if (place.schema == nullptr) {
    state.findings.add(place, "OP009",
                       fmt::format("operator {} exists from operator set {} on, imported is {}", op_name(node),
                                   op->versions.front().since, *opset));
    return;
  }
  if (place.schema->deprecated) {
    state.findings.add(place, "OP010",
                       fmt::format("operator {} is deprecated since operator set {}, imported is {}", op_name(node),
                                   place.schema->since_version, *opset));
    return;
  }
  if (body.function != nullptr) {
    const auto outside = opset_of(state.model.opset_imports, node.domain, state.ir_version);
    const OpSchema* other = outside && *outside >= 1 ? schema_for(*op, *outside) : place.schema;
    const std::string key = fmt::format("FN007 {} {}", path, op_name(node));
    if (other != place.schema && state.reported_once.insert(key).second) {
      state.findings.add(
          place, "FN007",
          fmt::format("{} is version {} inside the function and {} outside", op_name(node), place.schema->since_version,
                      other == nullptr ? std::string("absent") : fmt::format("version {}", other->since_version)));
    }
  }
  check_arity(state, place);
  if (canonical_domain(node.domain).empty()) check_bodies(state, place);
  check_attributes(state, place);
}

}  // namespace lppool
