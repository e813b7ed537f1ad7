#pragma once

#include "lppool/graph/model.h"

namespace lppool {

// The dense form of a stored sparse tensor (onnx.proto, SparseTensorProto): indices of shape [NNZ] (linear) or [NNZ, rank],
// sorted. Throws kParse where parts are faulty or an index is out of range, kLimit where the dense form does not fit.
Tensor to_dense(const StoredSparseTensor& sparse);

}  // namespace lppool
