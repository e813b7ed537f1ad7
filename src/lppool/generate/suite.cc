// Cases are written as a table of rows: which versions and types each applies to, the geometry, the input. A row becomes one
// case per version and type.
#include "lppool/generate/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lppool/ops/op.h"
#include "lppool/run/random_input.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();


struct Row {
  std::string name, explanation;
  std::string op = "LpPool";
  int first_version = 1, last_version = 22;
  std::vector<std::int64_t> shape;
  double p = 2;  // whole numbers only from version 2 on
  std::vector<std::int64_t> kernel = {}, strides = {}, pads = {}, dilations = {};
  std::string auto_pad = {};
  bool ceil_mode = false;
  std::vector<double> values = {};         // the input; empty: random in [-1, 1)
  std::vector<DataType> types = {};        // empty: all of the version
};

Attribute make(std::string name, AttributeType type) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.type_number = static_cast<std::int32_t>(type);
  attribute.fields = 1u << static_cast<int>(type);
  return attribute;
}

void add_ints(Node& node, const char* name, const std::vector<std::int64_t>& values) {
  if (values.empty()) return;
  Attribute attribute = make(name, AttributeType::kInts);
  attribute.ints = values;
  node.attributes.push_back(std::move(attribute));
}

Node node_of(const Row& row, int version) {
  Node node;
  node.name = "pool";
  node.op_type = row.op;
  node.inputs = {"x"};
  node.outputs = {"y"};
  add_ints(node, "kernel_shape", row.kernel);
  add_ints(node, "strides", row.strides);
  add_ints(node, "pads", row.pads);
  add_ints(node, "dilations", row.dilations);
  if (!row.auto_pad.empty()) {
    node.attributes.push_back(make("auto_pad", AttributeType::kString));
    node.attributes.back().s = row.auto_pad;
  }
  if (row.ceil_mode) {
    node.attributes.push_back(make("ceil_mode", AttributeType::kInt));
    node.attributes.back().i = 1;
  }
  node.attributes.push_back(make("p", version == 1 ? AttributeType::kFloat : AttributeType::kInt));
  node.attributes.back().f = static_cast<float>(row.p);
  node.attributes.back().i = static_cast<std::int64_t>(row.p);
  return node;
}

ValueInfo info(std::string name, DataType dtype, const std::vector<Dimension>& dims) {
  ValueInfo value{std::move(name), {}};
  value.type.kind = Type::Kind::kTensor;
  value.type.dtype = dtype;
  value.type.dtype_number = static_cast<std::int32_t>(dtype);
  value.type.shape = dims;
  return value;
}

Model model_of(const Row& row, int version, DataType dtype) {
  Graph graph;
  graph.name = "lp_pool";
  graph.nodes.push_back(node_of(row, version));
  std::vector<Dimension> x;
  for (const std::int64_t dim : row.shape) x.push_back({dim, ""});
  graph.inputs.push_back(info("x", dtype, x));
  graph.outputs.push_back(info("y", dtype, std::vector<Dimension>(row.shape.size())));
  Model model;
  model.ir_version = version >= 22 ? 10 : version >= 18 ? 8 : 3;
  model.opset_imports.push_back({"", version});
  model.producer_name = "lppool";
  model.graph = std::move(graph);
  return model;
}

Tensor input_of(const Row& row, DataType dtype, const std::string& name) {
  const Shape shape(row.shape);
  if (row.values.empty()) return random_tensor(dtype, shape, 1, name);
  Tensor wide = Tensor::allocate(DataType::kFloat64, shape);
  for (std::int64_t i = 0; i < wide.size(); ++i) {
    wide.mutable_data<double>()[static_cast<std::size_t>(i)] = row.values[static_cast<std::size_t>(i) % row.values.size()];
  }
  return convert(wide, dtype);
}

std::vector<Row> rows() {
  using enum DataType;
  std::vector<Row> list = {
      {.name = "1d", .explanation = "A window of 3 over one spatial axis.", .shape = {2, 3, 9}, .kernel = {3}},
      {.name = "2d", .explanation = "A window of 2x3 over two spatial axes.", .shape = {1, 2, 5, 7}, .kernel = {2, 3}},
      {.name = "3d", .explanation = "A window of 2x2x2 over three spatial axes.", .shape = {1, 2, 4, 4, 4}, .kernel = {2, 2, 2}},
      {.name = "4d", .explanation = "Four spatial axes: nothing in the operator stops at three.", .shape = {1, 1, 3, 3, 3, 3}, .kernel = {2, 1, 2, 1}},
      {.name = "default_p", .explanation = "p = 2 is the Euclidean norm: 3 4 gives 5.", .shape = {1, 1, 4}, .kernel = {2}, .strides = {2}, .values = {3, -4, 5, 12}},
      {.name = "p1_negative", .explanation = "The norm takes magnitudes: a signed sum gives 0 here.", .shape = {1, 1, 4}, .p = 1, .kernel = {2}, .values = {1, -1, 2, -2}},
      {.name = "p3_negative", .explanation = "Magnitudes count for odd p, too: a signed sum of cubes is wrong.", .shape = {1, 1, 2, 4}, .p = 3, .kernel = {2, 2}, .values = {-3, 4, -5, 6, 1, -2, 2, 1}},
      {.name = "p7", .explanation = "A large odd p.", .shape = {1, 1, 8}, .p = 7, .kernel = {3}},
      {.name = "strides", .explanation = "Strides larger than the window skip elements.", .shape = {1, 1, 9, 9}, .kernel = {2, 2}, .strides = {3, 4}},
      {.name = "pads", .explanation = "Padding adds 0 and divides nothing.", .shape = {1, 1, 4, 4}, .kernel = {3, 3}, .pads = {1, 0, 1, 2}},
      {.name = "pads_over_kernel", .explanation = "Padding may be as large as the window and larger: windows wholly in it give 0.", .shape = {1, 1, 3}, .kernel = {2}, .pads = {3, 2}},
      {.name = "same_upper", .explanation = "SAME_UPPER puts the odd padding element at the end.", .shape = {1, 1, 5, 6}, .kernel = {2, 3}, .strides = {2, 2}, .auto_pad = "SAME_UPPER"},
      {.name = "same_lower", .explanation = "SAME_LOWER puts the odd padding element at the beginning.", .shape = {1, 1, 5, 6}, .kernel = {2, 3}, .strides = {2, 2}, .auto_pad = "SAME_LOWER"},
      {.name = "valid", .explanation = "VALID pads nothing.", .shape = {1, 1, 5, 6}, .kernel = {2, 3}, .strides = {2, 2}, .auto_pad = "VALID"},
      {.name = "same_dilations", .explanation = "SAME counts the dilated extent, not the kernel.", .first_version = 18, .shape = {1, 1, 5}, .kernel = {2}, .dilations = {2}, .auto_pad = "SAME_UPPER"},
      {.name = "dilations", .explanation = "Dilated windows read every other element.", .first_version = 18, .shape = {1, 1, 6, 6}, .kernel = {2, 2}, .dilations = {2, 3}},
      {.name = "ceil_hanging", .explanation = "A window that hangs over the end counts only what is inside: no rescaling.", .first_version = 18, .shape = {1, 1, 8}, .p = 1, .kernel = {4}, .strides = {3}, .ceil_mode = true, .values = {1, 2, 3, 4, 5, 6, 7, 8}},
      {.name = "ceil_last_window", .explanation = "A last window in the end padding: version 18 keeps it (its value is 0), version 22 drops it.", .first_version = 18, .shape = {1, 1, 5}, .kernel = {2}, .strides = {2}, .pads = {1, 2}, .ceil_mode = true},
      {.name = "ceil_fewer_than_floor", .explanation = "Only begin padding decides what is dropped: from version 22 on ceil_mode gives one output less than floor here.", .first_version = 18, .shape = {1, 1, 4}, .kernel = {2}, .strides = {2}, .pads = {0, 2}, .ceil_mode = true},
      {.name = "ceil_over_input", .explanation = "A window larger than the input, under ceil_mode: the norm of all four.", .first_version = 18, .shape = {1, 1, 4}, .kernel = {6}, .strides = {4}, .ceil_mode = true},
      {.name = "nan", .explanation = "A NaN spoils the windows it is in and no others.", .shape = {1, 1, 6}, .kernel = {2}, .values = {1, 2, kNan, 3, 4, 5}},
      {.name = "inf", .explanation = "An infinity of either sign gives +infinity; with a NaN beside it, NaN.", .shape = {1, 1, 6}, .kernel = {2}, .values = {1, -kInf, 2, 3, kInf, kNan}},
      {.name = "zeros", .explanation = "The norm of zeros is +0, also of negative ones.", .shape = {1, 1, 4}, .kernel = {2}, .values = {0.0, -0.0, -0.0, -0.0}},
      {.name = "empty_batch", .explanation = "An empty batch gives an empty output of the right shape.", .shape = {0, 2, 4}, .kernel = {2}},
      {.name = "huge", .explanation = "Squares overflow float32, the norm does not.", .shape = {1, 1, 4}, .kernel = {2}, .values = {3e30, 4e30, -1e38, 2e38}, .types = {kFloat32, kBFloat16}},
      {.name = "tiny", .explanation = "Fourth powers underflow float32, the norm does not.", .shape = {1, 1, 4}, .p = 4, .kernel = {2}, .values = {1e-20, 1e-20, 3e-30, 1e-38}, .types = {kFloat32, kBFloat16}},
      {.name = "huge", .explanation = "Squares overflow float16, the norm does not.", .shape = {1, 1, 4}, .kernel = {2}, .values = {300, 400, 3000, -4000}, .types = {kFloat16}},
      {.name = "huge", .explanation = "Squares overflow float64, the norm does not.", .shape = {1, 1, 4}, .kernel = {2}, .values = {3e200, 4e200, -1e300, 1e300}, .types = {kFloat64}},
      {.name = "overflow", .explanation = "The norm itself is above the largest value: infinity.", .shape = {1, 1, 2}, .kernel = {2}, .values = {60000, 60000}, .types = {kFloat16}},
      {.name = "p100", .explanation = "p = 100: powers leave every range, the norm is close to the maximum.", .shape = {1, 1, 4}, .p = 100, .kernel = {3}, .values = {0.5, 2, 3, -3}},
      {.name = "fractional_p", .explanation = "Version 1 takes any positive float as p.", .last_version = 1, .shape = {1, 1, 6}, .p = 2.5, .kernel = {3}},
      {.name = "p_below_1", .explanation = "Version 1 with p = 0.5: a quasi-norm, by the same formula.", .last_version = 1, .shape = {1, 1, 4}, .p = 0.5, .kernel = {2}, .values = {1, 4, 9, 16}},
  };
  const auto global = [&](Row row) {
    row.op = "GlobalLpPool";
    list.push_back(std::move(row));
  };
  global({.name = "2d", .explanation = "The norm of each channel.", .shape = {2, 3, 4, 5}});
  global({.name = "1d", .explanation = "One spatial axis.", .shape = {2, 3, 7}});
  global({.name = "3d", .explanation = "Three spatial axes: the output has as many, all of size 1.", .shape = {1, 2, 3, 4, 5}});
  global({.name = "rank2", .explanation = "No spatial axis: the magnitudes themselves.", .shape = {2, 3}});
  global({.name = "p1", .explanation = "p = 1 adds magnitudes.", .shape = {1, 2, 3}, .p = 1, .values = {1, -2, 3}});
  global({.name = "p3_negative", .explanation = "Magnitudes count for odd p, too.", .shape = {1, 1, 2, 2}, .p = 3, .values = {-3, -4, -5, 0}});
  global({.name = "empty_spatial", .explanation = "The norm of nothing is 0.", .shape = {1, 2, 0}});
  global({.name = "nan", .explanation = "A NaN anywhere gives NaN.", .shape = {1, 2, 2}, .values = {1, kNan, 2, 3}});
  global({.name = "inf", .explanation = "An infinity gives +infinity.", .shape = {1, 2, 2}, .values = {1, -kInf, 2, 3}});
  global({.name = "large_plane", .explanation = "Long sums must not drift: a float32 sum of squares is off in many digits.", .shape = {1, 1, 128, 128}, .types = {kFloat32}});
  global({.name = "huge", .explanation = "Squares overflow, the norm does not.", .shape = {1, 1, 4}, .values = {3e30, 4e30, 0, 0}, .types = {kFloat32}});
  global({.name = "fractional_p", .explanation = "Version 1 takes any positive float as p.", .last_version = 1, .shape = {1, 1, 6}, .p = 2.5});
  return list;
}

}  // namespace

std::vector<SuiteCase> conformance_suite() {
  std::vector<SuiteCase> cases;
  for (const Row& row : rows()) {
    const OpDef& op = *find_op("", row.op);
    for (const OpVersion& version : op.versions) {
      if (version.since < row.first_version || version.since > row.last_version) continue;
      const OpSchema& schema = *schema_for(op, version.since);
      for (const std::string& type : schema.allowed_types(schema.inputs[0])) {
        const DataType dtype = *parse_dtype(type);
        if (!row.types.empty() && std::ranges::find(row.types, dtype) == row.types.end()) continue;
        SuiteCase entry;
        entry.name = fmt::format("test_{}_{}_{}_{}", row.op == "LpPool" ? "lppool" : "globallppool", version.since, type, row.name);
        entry.explanation = row.explanation;
        entry.model = model_of(row, version.since, dtype);
        entry.input = input_of(row, dtype, row.name);
        cases.push_back(std::move(entry));
      }
    }
  }
  std::ranges::sort(cases, {}, &SuiteCase::name);
  return cases;
}

}  // namespace lppool
