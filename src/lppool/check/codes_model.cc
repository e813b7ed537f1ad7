#include "lppool/check/code_tables.h"

namespace lppool {
namespace {

using enum Severity;

constexpr CodeInfo kCodes[] = {
    {"IR001", kError, "the model has no graph",
     "A model without a graph computes nothing. Often the file is something else: a tensor, a training checkpoint, or "
     "a "
     "model whose export was cut short.",
     "ModelProto { ir_version: 8 }", "ModelProto { ir_version: 8  graph { name: \"net\" ... } }"},
    {"IR002", kError, "ir_version is missing",
     "Every model states the version of the IR (the file format) that it follows; rules differ by it: whether an "
     "attribute "
     "needs a type, whether an initializer must be an input. Rule of onnx/checker.cc.",
     "ModelProto { graph { ... } }", "ModelProto { ir_version: 8  graph { ... } }"},
    {"IR003", kWarning, "ir_version is newer than this program knows",
     "Fields and rules that came later are skipped, so a fault in them goes unseen. The newest version known here is "
     "14.",
     "ir_version: 99", "ir_version: 14"},
    {"IR004", kWarning, "a model of IR version 1 or 2 imports operator sets",
     "Imports came with IR version 3; before that operator set 1 is meant. The imports are used as they stand; ONNX's "
     "own "
     "checker refuses such a file.",
     "ir_version: 2  opset_import { version: 7 }", "ir_version: 3  opset_import { version: 7 }"},
    {"IR005", kNote, "training information is ignored",
     "The model carries training_info. Nothing of it takes part in inference and none of it is checked.",
     "ModelProto { training_info { ... } }", "ModelProto without training_info"},
    {"IR006", kNote, "more findings were left out",
     "The list of findings of one model is limited so that a hostile file cannot fill the memory. Mend what is shown "
     "and "
     "check again. The verdict counts those left out too.",
     "a graph of a million nodes, each without op_type", "the same with the nodes mended"},
    {"IR007", kError, "the file cannot be read as an ONNX model",
     "Missing, unreadable, cut short, too deeply nested, or not a protobuf message of the ONNX schema. Nothing in it "
     "can be "
     "checked.",
     "model.onnx holds text, or ends in the middle of a tensor", "export or download the file again"},

    {"OP001", kError, "no operator set is imported",
     "From IR version 3 on a model says which operator sets it relies on (docs/IR.md, \"Operator Sets\"); without an "
     "import "
     "no node has a meaning. IR versions 1 and 2 mean operator set 1.",
     "ir_version: 8  (no opset_import)", "ir_version: 8  opset_import { domain: \"\"  version: 18 }"},
    {"OP002", kError, "the version of an imported operator set is below 1",
     "Operator sets are numbered from 1. A 0 is what a writer leaves behind that never set the number.",
     "opset_import { domain: \"\"  version: 0 }", "opset_import { domain: \"\"  version: 18 }"},
    {"OP003", kError, "a domain is imported twice, in two versions",
     "A model uses one version of each domain (docs/IR.md). \"ai.onnx\" and the empty domain are the same one.",
     "opset_import { domain: \"\"  version: 11 }\nopset_import { domain: \"ai.onnx\"  version: 18 }",
     "opset_import { domain: \"\"  version: 18 }"},
    {"OP004", kWarning, "a domain is imported twice",
     "Both imports give the same version, so nothing is unclear; some readers refuse it all the same.",
     "opset_import { version: 18 }\nopset_import { version: 18 }", "opset_import { version: 18 }"},
    {"OP005", kWarning, "the imported operator set is newer than this program knows",
     "Each operator is taken in its newest known version. If a later version changed its meaning, the result would be "
     "that "
     "of the older one.",
     "opset_import { domain: \"\"  version: 99 }", "opset_import { domain: \"\"  version: 22 }"},
    {"OP006", kError, "the domain of a node is not imported",
     "The version of an operator comes from the import of its domain; without one the node has no meaning. A "
     "function's "
     "nodes need the imports of the function. Rule of onnx/checker.cc.",
     "opset_import { domain: \"ai.onnx.ml\" version: 3 }\nnode { op_type: \"LpPool\" }",
     "opset_import { domain: \"\" version: 18 }\nnode { op_type: \"LpPool\" }"},
    {"OP007", kWarning, "the operator belongs to a domain this program does not know",
     "Nothing can be said of its inputs, outputs and attributes, and it cannot be run. The name alone means nothing: "
     "an "
     "LpPool of another domain is not ONNX's LpPool. Reported once for each operator.",
     "node { domain: \"com.acme\"  op_type: \"LpPool\" }", "node { domain: \"\"  op_type: \"LpPool\" }"},
    {"OP008", kError, "the operator does not exist",
     "The domain is one that ONNX defines, and no version of it up to the imported one has an operator of this name. "
     "Case "
     "matters.",
     "node { op_type: \"lppool\" }", "node { op_type: \"LpPool\" }"},
    {"OP009", kError, "the operator does not exist yet in the imported operator set",
     "It came with a later version. Import that version, after checking that the other operators still mean the same "
     "there.",
     "opset_import { version: 9 }  node { op_type: \"Celu\" }",
     "opset_import { version: 12 }  node { op_type: \"Celu\" }"},
    {"OP010", kError, "the operator is deprecated in the imported operator set",
     "It was taken out of ONNX at this version; a model may use it only with an older import. Rule of onnx/checker.cc.",
     "opset_import { version: 10 }  node { op_type: \"Upsample\" }",
     "opset_import { version: 10 }  node { op_type: \"Resize\" }"},
    {"OP011", kWarning, "the operator is unknown, and the operator set newer than this program",
     "It may be an operator added since, or a misspelt one. Nothing can be said of it.",
     "opset_import { version: 99 }  node { op_type: \"NewThing\" }", "opset_import { version: 22 }  ..."},
    {"OP012", kNote, "the operator is ONNX's, but not known to this program",
     "Its inputs, outputs and attributes are not checked against a schema, and it cannot be run here. Reported once "
     "for each "
     "operator.",
     "node { op_type: \"...\" }", "nothing to mend"},
    {"OP013", kWarning, "the operator was experimental and was removed from ONNX",
     "Early releases let some operators be used at the user's risk, without a fixed meaning. Reported once for each "
     "operator.",
     "node { op_type: \"ParametricSoftplus\" }", "the same written with Exp, Log, Mul and Add"},

    {"FN001", kError, "a function calls itself",
     "Functions are put in place of their calls, so one that reaches itself, directly or through others, never ends. "
     "Rule of "
     "onnx/checker.cc.",
     "function f { node { op_type: \"g\" } }  function g { node { op_type: \"f\" } }",
     "function f { node { op_type: \"g\" } }  function g { node { op_type: \"LpPool\" } }"},
    {"FN002", kError, "two functions have the same domain, name and overload",
     "A call could mean either. The three together identify a function (docs/IR.md, \"Functions\"); overload counts "
     "from IR "
     "version 10 on.",
     "functions { domain: \"d\" name: \"f\" }  functions { domain: \"d\" name: \"f\" }",
     "functions { domain: \"d\" name: \"f\" }  functions { domain: \"d\" name: \"g\" }"},
    {"FN003", kError, "a function has no name", "Nothing can call it. Rule of onnx/checker.cc.",
     "functions { domain: \"d\" }", "functions { domain: \"d\"  name: \"f\" }"},
    {"FN004", kWarning, "the model's IR version knows no functions",
     "Functions came with IR version 8; a reader that follows the older version takes the calls for unknown operators.",
     "ir_version: 7  functions { ... }", "ir_version: 8  functions { ... }"},
    {"FN005", kError, "a function declares an input, output or attribute twice",
     "The names of a function's parameters are distinct; an attribute stands either in the list without or in the list "
     "with "
     "defaults, not in both.",
     "functions { input: \"a\"  input: \"a\" }", "functions { input: \"a\"  input: \"b\" }"},
    {"FN006", kError, "an output of a function is not produced",
     "No node of the body gives it and it is no input of the function.",
     "functions { output: \"b\"  node { output: \"c\" } }", "functions { output: \"b\"  node { output: \"b\" } }"},
    {"FN007", kWarning, "a function imports another version of an operator than the model",
     "Inside the function the operator has another meaning than outside. That is well defined, yet ONNX's own checker "
     "refuses it.",
     "model imports 18, function imports 11; the body uses LpPool", "both import 18"},
    {"FN008", kWarning, "a function uses a field that is newer than the model's IR version",
     "overload and value_info came with IR version 10, defaults of attributes with 9. A reader that follows the stated "
     "version skips them.",
     "ir_version: 8  functions { overload: \"a\" }", "ir_version: 10  functions { overload: \"a\" }"},
    {"FN009", kError, "function calls nest too deeply",
     "A chain of calls more than 100 deep is refused, here as in onnx/checker.cc: put in place, such functions can "
     "grow "
     "without bound.",
     "f1 calls f2 calls f3 ... calls f101", "the same with some bodies merged"},
    {"FN010", kWarning, "a call passes an attribute that the function does not declare",
     "Nothing in the body can refer to it, so it has no effect.",
     "functions { name: \"f\" attribute: \"k\" }  node { op_type: \"f\" attribute { name: \"size\" } }",
     "functions { name: \"f\" attribute: \"k\" }  node { op_type: \"f\" attribute { name: \"k\" } }"},
    {"FN011", kError, "a call passes more inputs or takes more outputs than the function has",
     "Inputs and outputs are matched by position; the extra ones belong to nothing.",
     "functions { name: \"f\" input: \"a\" }  node { op_type: \"f\" input: \"x\" input: \"y\" }",
     "functions { name: \"f\" input: \"a\" }  node { op_type: \"f\" input: \"x\" }"},
    {"FN012", kNote, "a function stands in for an operator of ONNX",
     "It has the domain and name of a standard operator. The function's body is what counts here; an engine may use "
     "its own "
     "implementation instead.",
     "functions { domain: \"\"  name: \"LpPool\" }", "functions { domain: \"my.domain\"  name: \"LpPool\" }"},
};

}  // namespace

std::span<const CodeInfo> model_codes() {
  return kCodes;
}

}  // namespace lppool
