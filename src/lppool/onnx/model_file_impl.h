#pragma once

// Internal to this folder: it names protobuf.

#include <onnx/onnx_pb.h>

#include <memory>
#include <unordered_map>

#include "lppool/onnx/model_file.h"

namespace lppool {

struct ModelFile::Impl {
  std::shared_ptr<onnx::ModelProto> proto = std::make_shared<onnx::ModelProto>();
  Model model;
  // Where annotate() finds a name; filled when first needed. Protobuf keeps the addresses of list elements.
  std::unordered_map<std::string, onnx::ValueInfoProto*> infos;

  void index_infos();
};

}  // namespace lppool
