#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lppool/run/executor.h"

namespace lppool {

// What a trap watches for in the outputs of a node whose inputs are free of it.
struct TrapKinds {
  bool nan = false, inf = false, subnormal = false;
  bool overflow16 = false;  // a finite value that float16 would turn into infinity (magnitude of 65520 or more)
  bool any() const { return nan || inf || subnormal || overflow16; }
};

// "nan,inf,subnormal,overflow16" or some of them; empty where a word is none of these.
std::optional<TrapKinds> parse_trap_kinds(std::string_view text);

struct TrapElement {
  std::string tensor;
  std::vector<std::int64_t> index;
  double value = 0;
};

struct TrapReport {
  std::string kind;                     // "nan", "inf", "subnormal", "overflow16"
  std::string node, op_type, label;     // where; label is the node's name or first output
  std::string tensor;                   // the output
  std::vector<std::int64_t> index;      // its first such element
  double value = 0;
  std::int64_t count = 0;               // how many such elements the output has
  std::string window;                   // LpPool: the input range each axis reads, "[2:5, 0:3]"; "" elsewhere
  std::vector<TrapElement> inputs;      // the elements responsible, largest magnitude first, at most eight
  std::vector<std::string> chain;       // labels from the node back to a graph input, along its first inputs
};

// Thrown out of a run to end it where the trap fired. Not an Error: the run is not at fault.
struct TrapFired {
  TrapReport report;
};

// Watches a run. For LpPool, GlobalLpPool, reductions and elementwise operators the input elements that made the value are
// named; for others the report ends with node and coordinate. Keeps inputs alive one node longer, changes nothing.
class Trap final : public RunObserver {
 public:
  Trap(TrapKinds kinds, const BoundGraph& graph, RunObserver* next = nullptr) : kinds_(kinds), graph_(graph), next_(next) {}
  bool keep_inputs() const override { return true; }
  void on_node(const NodeEvent& event) override;

 private:
  TrapKinds kinds_;
  const BoundGraph& graph_;
  RunObserver* next_;
};

// The report as lines of text.
std::string to_string(const TrapReport& report);

}  // namespace lppool
