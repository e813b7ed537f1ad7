#pragma once

#include "lppool/graph/model.h"

namespace lppool {

// The dense tensor that a SparseTensorProto stands for: zeros with `values` put at `indices` (shape [NNZ]: positions in
// row-major order; [NNZ, rank]: coordinates). Throws kParse for faulty parts or indices outside the shape, kLimit where the
// dense tensor is too large.
Tensor to_dense(const StoredSparseTensor& sparse);

}  // namespace lppool
