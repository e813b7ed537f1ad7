#pragma once

#include <string_view>
#include <vector>

#include "lppool/ops/op.h"

// What the classifiers of ai.onnx.ml share.
namespace lppool {

// The labels of the classes: `int_name` or classlabels_strings, of which one is given. A list of int64 or string.
Tensor class_labels(const AttributeView& attributes, std::string_view int_name);

// Outputs 0 (a label for each row) and 1 (the scores, rows x classes).
void infer_classifier(InferContext& ctx, const Tensor& labels);

// Sets both outputs from raw scores: the label of the largest score of each row (the first of equal ones), and the scores
// after post_transform NONE, SOFTMAX or LOGISTIC. Throws kUnsupported for other transforms.
void finish_classifier(KernelContext& ctx, const Tensor& labels, std::vector<double> scores, std::int64_t rows);

}  // namespace lppool
