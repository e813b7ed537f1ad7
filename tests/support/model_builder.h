#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lppool/graph/model.h"
#include "support/run_op.h"

// Models in a few lines, for tests and for the generator of testdata. The results are plain structs: a test that needs
// a fault no call here makes edits the struct.
namespace lppool::test {

// "float32 1xCx?x8", "float32" (no shape), "float32 scalar", "" (no type). Symbols are words, ? is unknown.
Type type_of_text(std::string_view text);

// A stored tensor without fault.
StoredTensor stored(std::string name, Tensor value);

Attribute attr_graph(std::string name, Graph graph);
// An attribute of `type` that refers to one of the enclosing function.
Attribute attr_ref(std::string name, AttributeType type, std::string refers_to);

// `inputs` and `outputs` are names separated by blanks; "-" is one left out.
Node make_node(std::string op_type, std::string_view inputs, std::string_view outputs,
               std::vector<Attribute> attributes = {}, std::string domain = "");

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = "g") { graph.name = std::move(name); }
  GraphBuilder& input(std::string name, std::string_view type = "float32 1x1x5x5");
  GraphBuilder& output(std::string name, std::string_view type = "");
  GraphBuilder& value_info(std::string name, std::string_view type);
  GraphBuilder& initializer(std::string name, Tensor value);
  GraphBuilder& node(std::string op_type, std::string_view inputs, std::string_view outputs,
                     std::vector<Attribute> attributes = {}, std::string domain = "");
  Graph graph;
};

// An IR 8 model that imports the default domain.
Model make_model(Graph graph, std::int64_t opset = 18, std::int64_t ir_version = 8);

// x (1x1x5x5) -> LpPool -> y, valid in every version. `attributes` come on top of kernel_shape [2, 2].
Model lp_pool_model(std::int64_t opset, std::vector<Attribute> attributes = {}, std::string_view x = "float32 1x1x5x5",
                    std::string_view y = "float32 ?x?x?x?");

// domain "local", imports of opset 18.
Function make_function(std::string name, std::vector<std::string> inputs, std::vector<std::string> outputs,
                       std::vector<Node> nodes, std::vector<std::string> attributes = {});

}  // namespace lppool::test
