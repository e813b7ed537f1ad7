#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lppool/ops/lp_window.h"
#include "lppool/ops/op.h"

// What other engines do with LpPool and GlobalLpPool nodes: one table of engines and facts, each measured or read in
// the engine's source for the version it names.
namespace lppool {

struct Engine {
  std::string_view name, version;
};

// A node as the facts judge it; what is not known is empty.
struct PoolFacts {
  bool global = false;
  int since = 0;
  std::int64_t opset = 0;
  DataType dtype = DataType::kUndefined;
  std::optional<std::vector<Dim>> x;  // shape of the input
  std::optional<LpWindow> window;     // LpPool only
  double p = 2;
};

struct PortabilityRule {
  const Engine& engine;
  std::string_view code;    // PO001 to PO004
  bool whole_operator;      // true of every node of the operator: reported once for a model
  std::string_view source;  // "measured", "source"
  // What the engine does with this node, to follow its name; empty where nothing is to be said.
  std::string (*says)(const PoolFacts&);
};

std::span<const PortabilityRule> portability_rules();

// Facts of a node whose attributes are valid; nothing for other operators.
std::optional<PoolFacts> pool_facts(const OpDef& op, const AttributeView& attributes, std::int64_t opset,
                                    const ValueType& x);

// "ONNX Runtime 1.30 (CPU)"
std::string to_string(const Engine& engine);

}  // namespace lppool
