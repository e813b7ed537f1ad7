#pragma once

// Internal to this folder: it names protobuf.

#include <onnx/onnx_pb.h>

#include "lppool/graph/model.h"
#include "lppool/onnx/tensor_proto.h"

// ModelProto and its parts to the types of graph/model.h (import.cc) and back (export.cc).
namespace lppool::onnx_io {

Model import_model(const onnx::ModelProto& proto, const ImportContext& context);
void export_model(const Model& model, onnx::ModelProto& proto);

Type import_type(const onnx::TypeProto& proto);
// Writes `type` over what `proto` holds. Dimensions that keep their place keep their denotation.
void export_type(const Type& type, onnx::TypeProto& proto);

}  // namespace lppool::onnx_io
