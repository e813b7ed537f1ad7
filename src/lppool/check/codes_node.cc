#include "lppool/check/code_tables.h"

namespace lppool {
namespace {

using enum Severity;

constexpr CodeInfo kCodes[] = {
    {"AT001", kError, "an attribute has no name", "Attributes are matched by name. Rule of onnx/checker.cc.",
     "attribute { type: INT  i: 2 }", "attribute { name: \"p\"  type: INT  i: 2 }"},
    {"AT002", kError, "a node has an attribute twice", "It cannot have two values. Rule of onnx/checker.cc.",
     "attribute { name: \"p\" i: 1 }  attribute { name: \"p\" i: 2 }", "attribute { name: \"p\" i: 2 }"},
    {"AT003", kError, "an attribute has a value the operator does not take",
     "The type is right, but the operator's text gives this value no meaning: a word that is none of its words, a size "
     "below "
     "1, a list of the wrong length. The rules of LpPool and GlobalLpPool have codes of their own (LP).",
     "Conv { group: 0 }", "Conv { group: 1 }"},
    {"AT004", kError, "an attribute has more than one value",
     "One of the value fields (f, i, s, t, g, floats, ints, ...) is set, never two. Rule of onnx/checker.cc.",
     "attribute { name: \"p\"  type: INT  i: 2  f: 2.0 }", "attribute { name: \"p\"  type: INT  i: 2 }"},
    {"AT005", kError, "the type of an attribute and its value disagree",
     "The type names the field that holds the value, but another one is set. Rule of onnx/checker.cc.",
     "attribute { name: \"p\"  type: INT  f: 2.0 }", "attribute { name: \"p\"  type: INT  i: 2 }"},
    {"AT006", kError, "the operator has no such attribute",
     "The schema of the operator, in the version that the import selects, does not list it. Attributes whose names "
     "start with "
     "two underscores are the writer's own and pass. A frequent cause is an attribute of a later version, or of a "
     "sister "
     "operator (count_include_pad is AveragePool's).",
     "opset 11: LpPool { dilations: [2, 2] }", "opset 18: LpPool { dilations: [2, 2] }"},
    {"AT007", kError, "an attribute has the wrong type",
     "The schema fixes the type, and no conversion is made: LpPool's p is a float in opset 1 and an int from 2 on.",
     "opset 18: LpPool { p: 2.0 }", "opset 18: LpPool { p: 2 }"},
    {"AT008", kError, "a required attribute is missing", "The operator has no default for it.",
     "opset 18: LpPool { p: 2 }", "opset 18: LpPool { p: 2  kernel_shape: [3, 3] }"},
    {"AT009", kError, "an attribute of the main graph refers to a function's attribute",
     "ref_attr_name has a meaning only inside a function (onnx.proto: \"invalid to be used in main graph\").",
     "graph { node { attribute { name: \"p\" ref_attr_name: \"power\" } } }",
     "graph { node { attribute { name: \"p\" type: INT i: 2 } } }"},
    {"AT010", kError, "an attribute has both a value and a reference",
     "With ref_attr_name set the value comes from the call, so a value of its own is lost. Rule of onnx/checker.cc.",
     "attribute { name: \"p\"  type: INT  i: 2  ref_attr_name: \"power\" }",
     "attribute { name: \"p\"  type: INT  ref_attr_name: \"power\" }"},
    {"AT011", kWarning, "an attribute refers to one the function does not declare",
     "No call can give it, so the operator's default counts, if it has one.",
     "functions { attribute: \"power\"  node { attribute { name: \"p\" ref_attr_name: \"pow\" } } }",
     "functions { attribute: \"power\"  node { attribute { name: \"p\" ref_attr_name: \"power\" } } }"},
    {"AT012", kError, "the type of an attribute is a number without meaning", "ONNX defines the types 1 to 14.",
     "attribute { name: \"p\"  type: 99 }", "attribute { name: \"p\"  type: INT }"},
    {"AT013", kError, "an attribute has no value",
     "A number or string left out is 0 or empty, as protobuf has it; a tensor, graph or type left out is nothing at "
     "all.",
     "attribute { name: \"then_branch\"  type: GRAPH }", "attribute { name: \"then_branch\"  type: GRAPH  g { ... } }"},
    {"AT014", kError, "an attribute has no type",
     "From IR version 2 on each attribute states its type; before that it follows from the field that is set. Rule of "
     "onnx/checker.cc.",
     "ir_version: 8  attribute { name: \"p\"  i: 2 }", "ir_version: 8  attribute { name: \"p\"  type: INT  i: 2 }"},

    {"SC001", kError, "a node has too few inputs", "The schema requires more.", "LpPool()", "LpPool(x)"},
    {"SC002", kError, "a node has too many inputs",
     "Inputs are matched by position; the schema has no place for the last ones.", "LpPool(x, w)", "LpPool(x)"},
    {"SC003", kError, "a node has too few outputs", "The schema requires more.", " = LpPool(x)", "y = LpPool(x)"},
    {"SC004", kError, "a node has too many outputs", "The schema has no place for the last ones.",
     "y, indices = LpPool(x)", "y = LpPool(x)"},
    {"SC005", kError, "a required input is left out",
     "An empty name stands for an input left out; the schema allows that for optional inputs only.", "y = LpPool(\"\")",
     "y = LpPool(x)"},
    {"SC006", kError, "a required output is left out",
     "An empty name stands for an output that is not wanted; the schema allows that for optional outputs only.",
     "\"\" = LpPool(x)", "y = LpPool(x)"},

    {"TY001", kError, "an input has a type the operator does not take",
     "The schema lists the types of each input in the version that the import selects. LpPool takes float16, float32 "
     "and "
     "float64, and bfloat16 from opset 22 on.",
     "opset 18: LpPool(bfloat16 x)", "opset 22: LpPool(bfloat16 x)"},
    {"TY002", kError, "a declared type contradicts the inferred one",
     "What the model states about a tensor (as output, value_info, or input with a default) is not what its producer "
     "gives.",
     "float32 x; float64 y = LpPool(x)", "float32 x; float32 y = LpPool(x)"},
    {"TY003", kError, "inputs that must have one type differ",
     "They share a type variable of the schema. ONNX converts nothing by itself: a Cast is needed.",
     "Add(float32 a, float64 b)", "Add(float32 a, Cast(b, to = FLOAT))"},
    {"TY004", kError, "an element type is a number without meaning", "ONNX 1.22 defines the element types 1 to 26.",
     "tensor_type { elem_type: 99 }", "tensor_type { elem_type: 1 }"},

    {"SH001", kError, "a declared shape contradicts the inferred one",
     "Rank or sizes that the model states are not what its operators give. The first wrong declaration is named; what "
     "follows "
     "from it is not repeated.",
     "x: 1x1x5x5; y declared 1x1x5x5 = LpPool(x, kernel_shape = [3, 3])",
     "x: 1x1x5x5; y declared 1x1x3x3 = LpPool(x, kernel_shape = [3, 3])"},
    {"SH002", kError, "the shapes or values of the inputs cannot be right",
     "The shape rule of the operator refuses them: a rank it does not take, a list that does not fit the rank, a "
     "window that "
     "does not fit the input.",
     "LpPool(x: 2x3, kernel_shape = [2])", "LpPool(x: 2x3x8, kernel_shape = [2])"},
    {"SH003", kWarning, "the operator has no shape rule here",
     "The types and shapes of its outputs stay unknown, and so does whatever depends on them. Reported once for each "
     "operator.",
     "node { domain: \"com.acme\"  op_type: \"Thing\" }", "nothing to mend"},
    {"SH004", kError, "a declared size is negative",
     "Sizes are 0 or more; a size that is not known is left out or given a symbol. Some exporters write -1 for it.",
     "dim { dim_value: -1 }", "dim { dim_param: \"N\" }"},
    {"SH005", kNote, "types and shapes were not checked",
     "With every function put in place of its calls the model has more nodes, or nests deeper, than a check follows. "
     "All "
     "other rules were applied.",
     "functions that call each other so often that a few lines stand for millions of nodes", "fewer levels of calls"},
};

}  // namespace

std::span<const CodeInfo> node_codes() {
  return kCodes;
}

}  // namespace lppool
