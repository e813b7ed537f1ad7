#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lppool/graph/model.h"

namespace lppool {

// The conformance suite for LpPool and GlobalLpPool: one-node models with inputs chosen to part right implementations from
// wrong ones.
struct SuiteCase {
  std::string name;         // of the folder: test_lppool_22_float32_ceil_dropped
  std::string explanation;  // one sentence: what the case is about, and what wrong implementations do
  Model model;
  Tensor input;
};

// All cases, in the order of their names. The outputs are to be computed by running the models: the kernels are correctly
// rounded for whole p and 32 bits and fewer.
std::vector<SuiteCase> conformance_suite();

}  // namespace lppool
