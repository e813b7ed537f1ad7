#pragma once

// Internal to this folder: it names protobuf.

#include <onnx/onnx_pb.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "lppool/base/file_bytes.h"
#include "lppool/onnx/model_file.h"
#include "lppool/onnx/splice.h"

namespace lppool {

struct ModelFile::Impl {
  std::shared_ptr<onnx::ModelProto> proto = std::make_shared<onnx::ModelProto>();
  Model model;
  // The file as it was read, where it was kept and all edits since are `edits`; else nothing, and `proto` is written.
  std::shared_ptr<const FileBytes> bytes;
  onnx_io::ValueInfoEdits edits;
  // Where annotate() finds a name: field of GraphProto and place in that list; filled when first needed.
  std::unordered_map<std::string, std::pair<int, int>> infos;

  void index_infos();
  onnx::ValueInfoProto& info_at(std::pair<int, int> place);
  // The file with its edits put between its bytes; nothing where they cannot be.
  std::optional<onnx_io::Splice> splice() const;
};

}  // namespace lppool
