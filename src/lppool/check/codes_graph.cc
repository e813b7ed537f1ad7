#include "lppool/check/code_tables.h"

namespace lppool {
namespace {

using enum Severity;

constexpr CodeInfo kCodes[] = {
    {"GR001", kError, "a graph has no name", "Each graph must be named (docs/IR.md, \"Graphs\"); so must each branch.",
     "graph { node { ... } }", "graph { name: \"net\"  node { ... } }"},
    {"GR002", kError, "a value is defined twice",
     "Within a graph each name has one definition: an input, an initializer or one node output. Only an input and its "
     "default "
     "(an initializer of the same name) share one.",
     "node { output: \"y\" }  node { output: \"y\" }", "node { output: \"y\" }  node { output: \"z\" }"},
    {"GR003", kError, "a branch reuses the name of an outer value",
     "Values of the outer graph are visible inside a branch, so a second definition there would hide the first. ONNX "
     "forbids "
     "that (docs/IR.md, \"Nodes\").",
     "graph { input: \"x\"  node If { then_branch { node { output: \"x\" } } } }",
     "graph { input: \"x\"  node If { then_branch { node { output: \"t\" } } } }"},
    {"GR004", kError, "an input of a node is defined nowhere",
     "It is no graph input, no initializer and no output of any node that is visible there.",
     "graph { input: \"x\"  node { input: \"X\" } }", "graph { input: \"x\"  node { input: \"x\" } }"},
    {"GR005", kError, "a value is used before it is defined",
     "Nodes stand in topological order: whatever a node reads is defined before it. Tools that edit a graph tend to "
     "append "
     "nodes at the end.",
     "node { input: \"m\" output: \"y\" }  node { input: \"x\" output: \"m\" }",
     "node { input: \"x\" output: \"m\" }  node { input: \"m\" output: \"y\" }"},
    {"GR006", kError, "nodes depend on each other in a circle",
     "No order can compute them. A loop is written with the operators Loop and Scan.",
     "node { input: \"b\" output: \"a\" }  node { input: \"a\" output: \"b\" }",
     "node { input: \"x\" output: \"a\" }  node { input: \"a\" output: \"b\" }"},
    {"GR007", kError, "an output of the graph is not produced",
     "No node of this graph gives it, and it is neither an input nor an initializer of this graph. A branch may read "
     "outer "
     "values, but to return one it needs an Identity node.",
     "graph { output: \"z\"  node { output: \"y\" } }", "graph { output: \"y\"  node { output: \"y\" } }"},
    {"GR008", kError, "an input or output of a graph has no name", "Nothing can refer to it. Rule of onnx/checker.cc.",
     "graph { input { type { ... } } }", "graph { input { name: \"x\"  type { ... } } }"},
    {"GR009", kWarning, "an output of the graph is listed twice",
     "Both entries are the same value; many tools return results by name and give only one.",
     "graph { output: \"y\"  output: \"y\" }", "graph { output: \"y\" }"},
    {"GR010", kError, "an initializer has no name", "Nothing can refer to it. Rule of onnx/checker.cc.",
     "initializer { dims: 1  data_type: 1 }", "initializer { name: \"w\"  dims: 1  data_type: 1 }"},
    {"GR011", kError, "two initializers have the same name",
     "Dense and sparse initializers share one set of names. Rule of onnx/checker.cc.",
     "initializer { name: \"w\" }  initializer { name: \"w\" }",
     "initializer { name: \"w\" }  initializer { name: \"v\" }"},
    {"GR012", kError, "an initializer is not a graph input, which IR versions up to 3 demand",
     "Before IR version 4 an initializer is the default of an input of the same name. Rule of onnx/checker.cc.",
     "ir_version: 3  graph { initializer { name: \"w\" } }",
     "ir_version: 3  graph { input { name: \"w\" }  initializer { name: \"w\" } }"},
    {"GR013", kError, "an input or output of the main graph has no type",
     "The main graph is the model's interface: name, type and shape of each input and output are stated (docs/IR.md, "
     "\"Graphs\"). Branches may leave them out.",
     "input { name: \"x\" }", "input { name: \"x\"  type { tensor_type { elem_type: FLOAT  shape { ... } } } }"},
    {"GR014", kError, "an input or output of the main graph has no shape",
     "At least the rank is stated; a size may be a symbol or left open (docs/IR.md, \"Static tensor shapes\"). No "
     "shape at "
     "all means any rank.",
     "tensor_type { elem_type: FLOAT }", "tensor_type { elem_type: FLOAT  shape { dim {} dim { dim_param: \"W\" } } }"},
    {"GR015", kError, "a node has no op_type", "Nothing says what the node computes. Rule of onnx/checker.cc.",
     "node { input: \"x\"  output: \"y\" }", "node { input: \"x\"  output: \"y\"  op_type: \"LpPool\" }"},
    {"GR016", kError, "a node has neither inputs nor outputs", "It cannot do anything. Rule of onnx/checker.cc.",
     "node { op_type: \"Constant\" }", "node { op_type: \"Constant\"  output: \"c\" }"},
    {"GR017", kNote, "a node has no effect",
     "No output of the graph depends on what it gives. It costs time and often shows that an edit left something "
     "behind.",
     "graph { output: \"y\"  node { output: \"y\" }  node { output: \"unused\" } }",
     "graph { output: \"y\"  node { output: \"y\" } }"},
    {"GR018", kNote, "an initializer is never used", "It only makes the file larger.",
     "graph { initializer { name: \"w\" } }  (no node reads w)", "graph without that initializer"},
    {"GR019", kNote, "an input of the main graph is never used",
     "Callers must still provide it. No node and no output reads it.",
     "graph { input: \"x\"  input: \"mask\" }  (no node reads mask)", "graph { input: \"x\" }"},
    {"GR020", kNote, "value_info describes a value that does not exist",
     "Nothing is wrong with the graph itself; a rename or removal left the entry behind.",
     "graph { value_info { name: \"old_name\" } }", "graph without that entry"},
    {"GR021", kWarning, "two nodes have the same name",
     "Node names are for people and tools; within a graph they are unique (docs/IR.md, \"Names Within a Graph\"). "
     "Profiles and "
     "error messages cannot tell the two apart.",
     "node { name: \"pool\" }  node { name: \"pool\" }", "node { name: \"pool\" }  node { name: \"pool_1\" }"},
    {"GR022", kError, "graphs nest too deeply", "Branches inside branches more than 100 deep are not followed.",
     "If in If in If ... 101 times", "the same with fewer levels"},
    {"GR023", kWarning, "an input of a branch is also an initializer of it",
     "From IR version 4 on a branch may not have both under one name: its inputs come from the operator, which would "
     "overwrite the initializer (docs/IR.md, \"Nodes\").",
     "body { input: \"i\"  initializer { name: \"i\" } }", "body { input: \"i\"  initializer { name: \"c\" } }"},
    {"GR024", kError, "a body takes or gives another number of values than its node",
     "A branch of If takes none and gives the node's outputs. The body of Loop takes the round, the condition and each "
     "carried value, and gives the condition, each carried value and what is stacked up. The bodies of Scan and "
     "SequenceMap take the node's inputs (without sequence_lens, in Scan 8) and give its outputs.",
     "Loop(M, cond, x) -> y  with  body(round, cond) -> (cond, x)", "Loop(M, cond, x) -> y  with  body(round, cond, x) -> (cond, x)"},
};

}  // namespace

std::span<const CodeInfo> graph_codes() {
  return kCodes;
}

}  // namespace lppool
