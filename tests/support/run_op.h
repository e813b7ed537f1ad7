#pragma once

#include <string>
#include <vector>

#include "lppool/ops/op.h"

// One node, run or inferred alone: what operator tests need and no more.
namespace lppool::test {

// Attributes: {"axis", i(1)}, {"pads", ints({1, 1})} ...
Attribute attr_i(std::string name, std::int64_t value);
Attribute attr_f(std::string name, float value);
Attribute attr_s(std::string name, std::string value);
Attribute attr_ints(std::string name, std::vector<std::int64_t> values);
Attribute attr_floats(std::string name, std::vector<float> values);
Attribute attr_strings(std::string name, std::vector<std::string> values);
Attribute attr_tensor(std::string name, Tensor value);

struct OpCall {
  std::string op_type;
  std::int64_t opset = 0;
  std::vector<Value> inputs = {};     // an empty Value is an input left out
  std::vector<Attribute> attributes = {};
  std::size_t outputs = 1;
  std::string domain = {};
  int threads = 1;
};

// Runs the registered kernel. Throws what the kernel throws; fails the test where operator or schema are unknown.
std::vector<Value> run_op(const OpCall& call);
// The single tensor output.
Tensor run_op1(const OpCall& call);

// Infers output types from the inputs' types alone. Give `constants` where contents matter (same order as inputs; an
// undefined Tensor: not constant).
std::vector<ValueType> infer_op(const OpCall& call, const std::vector<ValueType>& inputs,
                                const std::vector<Tensor>& constants = {});

// The elements of any numeric tensor as doubles (exact for all types but 64-bit integers past 2^53), for comparing.
std::vector<double> to_doubles(const Tensor& tensor);

}  // namespace lppool::test
