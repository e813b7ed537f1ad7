#include "lppool/check/code_tables.h"

namespace lppool {
namespace {

using enum Severity;

constexpr CodeInfo kCodes[] = {
    {"LP001", kWarning, "kernel_shape is missing in opset 1",
     "The schema of opset 1 does not require it, so the model is valid; but without a window there is nothing to "
     "compute: "
     "sizes stay unknown and the node cannot be run. From opset 2 on kernel_shape is required.",
     "opset 1: LpPool { p: 2.0 }", "opset 1: LpPool { p: 2.0  kernel_shape: [3, 3] }"},
    {"LP002", kError, "pads has an odd number of values",
     "It lists the beginnings of all axes first, then all the ends: two values for each spatial axis.",
     "pads: [1, 1, 1]", "pads: [1, 1, 1, 1]"},
    {"LP003", kError, "p is not a finite number above 0",
     "The result is the p-th root of a sum of p-th powers. There is no 0-th root, and for p below 0, NaN or infinity "
     "the "
     "formula is no Lp norm. ONNX states no range; engines return infinity or numbers without meaning.",
     "p: 0", "p: 2"},
    {"LP004", kWarning, "p is below 1",
     "The formula is computed as it stands (opset 1 only: p is a float there), but below 1 it is no norm; the triangle "
     "inequality fails. Usually p was meant to be 1 or more.",
     "opset 1: p: 0.5", "opset 1: p: 1.0"},
    {"LP005", kWarning, "p is so large that the maximum is meant",
     "As p grows the norm approaches the largest magnitude: for 9 equal values it is 2.2 % above at p = 100. Engines "
     "that sum "
     "plain powers overflow to infinity long before.",
     "p: 1000", "MaxPool(Abs(X))"},
    {"LP006", kError, "kernel_shape is not positive", "A window has at least one element along each axis.",
     "kernel_shape: [3, 0]", "kernel_shape: [3, 1]"},
    {"LP007", kError, "strides is not positive",
     "A window that does not move would give infinitely many results. Some releases of ONNX die of a division by zero "
     "here.",
     "strides: [0, 1]", "strides: [1, 1]"},
    {"LP008", kError, "dilations is not positive",
     "1 means neighbouring elements; 0 would read one element many times.", "dilations: [0, 0]", "dilations: [1, 1]"},
    {"LP009", kError, "pads is negative", "ONNX allows values of 0 or more. To leave elements out use Slice.",
     "pads: [-1, 0]", "pads: [0, 0]"},
    {"LP010", kError, "auto_pad is none of its four words",
     "NOTSET, VALID, SAME_UPPER or SAME_LOWER, in capitals. SAME alone is TensorFlow's spelling of SAME_UPPER.",
     "auto_pad: \"SAME\"", "auto_pad: \"SAME_UPPER\""},
    {"LP011", kWarning, "auto_pad is empty",
     "The empty string is none of the four words; it is taken as NOTSET, the default, as other engines do.",
     "auto_pad: \"\"", "auto_pad: \"NOTSET\""},
    {"LP012", kError, "auto_pad and pads are both given",
     "The text of the operator forbids the pair unless auto_pad is NOTSET. Engines differ: some let pads win, some "
     "auto_pad.",
     "auto_pad: \"SAME_UPPER\"  pads: [1, 1]", "auto_pad: \"SAME_UPPER\""},
    {"LP013", kError, "ceil_mode is neither 0 nor 1",
     "ONNX gives no meaning to other values; its own code treats them now as true, now as false.", "ceil_mode: 2",
     "ceil_mode: 1"},
    {"LP014", kError, "a window or padding size leaves 64 bits",
     "(kernel - 1) * dilation + 1 and the sum of two pads must fit in 64 bits. They would wrap around and look "
     "harmless.",
     "kernel_shape: [3]  dilations: [9223372036854775807]", "kernel_shape: [3]  dilations: [2]"},
    {"LP015", kWarning, "auto_pad VALID with ceil_mode is not settled",
     "The text of LpPool gives a formula for VALID that rounds down; ONNX's shape inference and ONNX Runtime round up. "
     "Rounded "
     "up here.",
     "auto_pad: \"VALID\"  ceil_mode: 1", "ceil_mode: 1  (without padding)"},
    {"LP016", kWarning, "the output is empty",
     "The size formula gives exactly 0 along an axis. That is valid, and seldom meant.", "x: 1x1x5, kernel_shape: [6]",
     "x: 1x1x6, kernel_shape: [6]"},
    {"LP017", kWarning, "the last window of ceil_mode starts in the end padding (opset 18 to 21)",
     "By the rule of LpPool 18 that window is kept and gives 0; LpPool 22 leaves it out, and so do PyTorch and ONNX "
     "Runtime "
     "for every opset. The output is one larger here than there. ONNX 1.16.0 to 1.16.2 left it out for 18 as well.",
     "opset 18: x: 1x1x5, kernel_shape: [2], strides: [2], pads: [1, 1], ceil_mode: 1",
     "the same with opset 22, or with pads: [1, 0]"},
    {"LP018", kWarning, "the window does not fit, and dividing toward zero hides it",
     "The padded input is smaller than the window, so floor(room / stride) is negative and the size is 0 or less. Code "
     "that "
     "divides toward zero gives one output more, of a window that does not fit.",
     "x: 1x1x5, kernel_shape: [6], strides: [2]", "x: 1x1x5, kernel_shape: [5], strides: [2]"},
    {"LP019", kWarning, "windows lie wholly in the padding",
     "They see no element of the input and give 0. Padding of a whole window or more is allowed, and seldom meant; "
     "ONNX "
     "Runtime refuses padding that is not smaller than the kernel.",
     "kernel_shape: [2]  pads: [2, 0]", "kernel_shape: [2]  pads: [1, 0]"},
    {"LP020", kNote, "a part of the input is never read",
     "Elements at the end are in no window, or the stride is larger than the window and steps over some.",
     "x: 1x1x8, kernel_shape: [3], strides: [3]", "x: 1x1x9, kernel_shape: [3], strides: [3]"},
    {"LP021", kError, "the lists of a node have different lengths",
     "kernel_shape, strides and dilations have one value for each spatial axis, pads has two.",
     "kernel_shape: [3, 3]  strides: [2]", "kernel_shape: [3, 3]  strides: [2, 2]"},

    {"PO001", kNote, "an engine has no implementation of this node",
     "Reported with --portability. The engine and its version are named; so is what it lacks: the operator version, "
     "the "
     "element type or the number of spatial axes.",
     "LpPool in float64 for ONNX Runtime", "LpPool in float32"},
    {"PO002", kNote, "an engine gives other values for this node",
     "Reported with --portability. The engine computes the node, but its numbers are not those of the formula.",
     "ceil_mode in ONNX's reference evaluator", "the node as it is, run elsewhere"},
    {"PO003", kNote, "an engine gives another shape for this node",
     "Reported with --portability. Both shapes are shown.", "opset 18, ceil_mode, a last window in the end padding",
     "opset 22"},
    {"PO004", kNote, "an engine refuses the attributes of this node",
     "Reported with --portability. They are valid ONNX, but the engine does not load the model.",
     "kernel_shape: [2]  pads: [2, 0] in ONNX Runtime", "kernel_shape: [2]  pads: [1, 0]"},

    {"WI001", kWarning, "the output of a convolution or pooling is empty",
     "The size formula gives exactly 0 along an axis. That is valid, and seldom meant. LpPool has LP016 for it.",
     "MaxPool(x: 1x1x5, kernel_shape = [6])", "MaxPool(x: 1x1x6, kernel_shape = [6])"},
    {"WI002", kWarning, "the last window of a pooling with ceil_mode starts in the end padding (before opset 22)",
     "The versions before 22 keep that window, version 22 leaves it out, and so do PyTorch and ONNX Runtime for every "
     "opset. The output is one larger here than there. LpPool has LP017 for it.",
     "opset 12: MaxPool(x: 1x1x5, kernel_shape = [2], strides = [2], pads = [1, 1], ceil_mode = 1)",
     "the same with opset 22, or with pads = [1, 0]"},
    {"WI003", kWarning, "the window of a convolution or pooling does not fit, and dividing toward zero hides it",
     "The formula gives a size of 0 or less; ONNX's inference and ONNX Runtime round the quotient toward zero and give "
     "one more: a window that does not fit. LpPool has LP018 for it.",
     "AveragePool(x: 1x1x5, kernel_shape = [6], strides = [2])", "AveragePool(x: 1x1x5, kernel_shape = [5], strides = [2])"},
    {"WI004", kWarning, "windows of a convolution or pooling lie wholly in the padding",
     "They see no element of the input: MaxPool has no maximum there, AveragePool divides 0 by 0 unless it counts the "
     "padding, a convolution gives its bias. ONNX Runtime refuses poolings whose padding is not smaller than the kernel. "
     "LpPool has LP019 for it.",
     "MaxPool { kernel_shape: [2]  pads: [2, 0] }", "MaxPool { kernel_shape: [2]  pads: [1, 0] }"},
    {"WI005", kNote, "a pooling never reads a part of its input",
     "Elements at the end are in no window, or the stride is larger than the window and steps over some. Convolutions "
     "often mean it and are not reported. LpPool has LP020 for it.",
     "MaxPool(x: 1x1x8, kernel_shape = [3], strides = [3])", "MaxPool(x: 1x1x9, kernel_shape = [3], strides = [3])"},
};

}  // namespace

std::span<const CodeInfo> pool_codes() {
  return kCodes;
}

}  // namespace lppool
