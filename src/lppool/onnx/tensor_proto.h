#pragma once

// Internal to this folder: it names protobuf.

#include <onnx/onnx_pb.h>

#include <memory>

#include "lppool/graph/model.h"
#include "lppool/onnx/external_data.h"

namespace lppool::onnx_io {

// What importing needs beside the message itself.
struct ImportContext {
  std::shared_ptr<const void> owner;  // keeps the messages alive: tensors share their raw_data
  ExternalFiles& files;
};

// The tensor in whichever form it is stored (onnx.proto3, TensorProto). A fault becomes StoredTensor::problem with code TD...
// or EX...; nothing is allocated before the stored data are known to be as large as the dims say. Throws kLimit only.
StoredTensor import_tensor(const onnx::TensorProto& proto, const ImportContext& context);
StoredSparseTensor import_sparse_tensor(const onnx::SparseTensorProto& proto, const ImportContext& context);

// Name, element type and dims.
void export_tensor_header(const std::string& name, const Tensor& tensor, onnx::TensorProto& proto);
// The header and raw_data (strings: string_data; types below a byte: packed).
void export_tensor(const std::string& name, const Tensor& tensor, onnx::TensorProto& proto);

}  // namespace lppool::onnx_io
