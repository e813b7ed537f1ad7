#pragma once

#include <string>
#include <vector>

#include "lppool/onnx/model_file.h"

namespace lppool {

// Moving a model's LpPool and GlobalLpPool nodes, and with them the default domain, to another opset, up or down.

struct UpgradeNote {
  bool blocking = false;   // the move is impossible because of this
  std::string node;        // "node 'pool1' (LpPool)"; "" for the model
  std::string message;     // what changes, or why it cannot
};

struct UpgradePlan {
  std::int64_t old_opset = 0, new_opset = 0;
  std::vector<UpgradeNote> notes;
  bool possible() const;
};

// Judges the move without making it. Of the Lp nodes: p has to be representable in the other type, attributes that the
// target lacks must have no effect, kernel_shape must be there from 2 on, ceil_mode may not meet the rule about the dropped
// window that parts 18 from 22 (where shapes are known, each axis is worked out; where not, it counts as met), and the
// element type must be allowed. Of the other nodes of the default domain: the schemas in force before and after are
// compared; a breaking difference blocks, another one is noted; an operator the registry does not know blocks.
// Throws kRuntime where the model is invalid or does not use the default domain, kUsage for an opset below 1 or above the
// newest known.
UpgradePlan plan_upgrade(const Model& model, std::int64_t new_opset);

// Makes the move on the file: attributes of the Lp nodes, opset imports. Everything else stays byte for byte where protobuf
// allows. Call only with a possible plan of the same file.
void apply_upgrade(ModelFile& file, const UpgradePlan& plan);

}  // namespace lppool
