#include "lppool/onnx/model_file.h"

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/unknown_field_set.h>

#include <cstring>
#include <limits>

#include "lppool/base/atomic_file.h"
#include "lppool/base/error.h"
#include "lppool/base/file_bytes.h"
#include "lppool/onnx/convert.h"
#include "lppool/onnx/external_data.h"
#include "lppool/onnx/model_file_impl.h"
#include "lppool/onnx/wire.h"

namespace lppool {
namespace fs = std::filesystem;
using onnx_io::ExternalFiles;

namespace {

constexpr std::string_view kWhat = "an ONNX model";

// Protobuf records carry no type: another message, or chance bytes, may parse as a model whose every field is unknown.
bool says_nothing(const onnx::ModelProto& proto) {
  if (proto.has_graph()) return false;
  const bool headed = proto.has_ir_version() || proto.opset_import_size() > 0;
  return !headed || !proto.GetReflection()->GetUnknownFields(proto).empty();
}

std::unique_ptr<onnx::ModelProto> parse_proto(std::string_view bytes, const std::string& shown) {
  auto proto = std::make_unique<onnx::ModelProto>();
  onnx_io::parse_message(*proto, bytes, shown, kWhat);
  if (says_nothing(*proto)) fail(ErrorKind::kParse, "{}: not {}: it holds no graph", shown, kWhat);
  return proto;
}

void load(std::string_view bytes, const std::string& shown, const std::optional<fs::path>& folder,
          const LoadOptions& options, std::shared_ptr<onnx::ModelProto>& proto, Model& model) {
  proto = parse_proto(bytes, shown);
  ExternalFiles files(folder, options.external_folders);
  try {
    model = onnx_io::import_model(*proto, {proto, files});
  } catch (const Error& error) {
    throw error.with_context(shown);
  }
}

}  // namespace

ModelFile::ModelFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ModelFile::ModelFile(ModelFile&&) noexcept = default;
ModelFile& ModelFile::operator=(ModelFile&&) noexcept = default;
ModelFile::~ModelFile() = default;

void ModelFile::Impl::index_infos() {
  onnx::GraphProto& graph = *proto->mutable_graph();
  for (auto* list : {graph.mutable_output(), graph.mutable_input(), graph.mutable_value_info()}) {
    for (onnx::ValueInfoProto& info : *list) infos.emplace(info.name(), &info);  // the first one counts
  }
}

ModelFile ModelFile::read(const fs::path& path, const LoadOptions& options) {
  const auto bytes = FileBytes::open(path, static_cast<std::size_t>(std::numeric_limits<int>::max()));
  auto impl = std::make_unique<Impl>();
  load(bytes->view(), shown_name(path), path == "-" ? std::nullopt : std::optional(path.parent_path()), options, impl->proto,
       impl->model);
  return ModelFile(std::move(impl));
}

ModelFile ModelFile::parse(std::string_view bytes, const fs::path& base_dir, const LoadOptions& options,
                           std::string_view shown) {
  auto impl = std::make_unique<Impl>();
  load(bytes, std::string(shown), base_dir, options, impl->proto, impl->model);
  return ModelFile(std::move(impl));
}

ModelFile ModelFile::from(const Model& model) {
  auto impl = std::make_unique<Impl>();
  onnx_io::export_model(model, *impl->proto);
  impl->model = model;
  return ModelFile(std::move(impl));
}

const Model& ModelFile::model() const { return impl_->model; }

void ModelFile::annotate(std::string_view name, const Type& type) {
  if (impl_->infos.empty()) impl_->index_infos();
  onnx::ValueInfoProto*& info = impl_->infos[std::string(name)];
  if (info == nullptr) {
    info = impl_->proto->mutable_graph()->add_value_info();
    info->set_name(std::string(name));
  }
  onnx_io::export_type(type, *info->mutable_type());
}

void ModelFile::write(const fs::path& path) const {
  if (impl_->proto->ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    fail(ErrorKind::kLimit, "{}: the model takes {} bytes, protobuf files may have at most {}", path.string(),
         impl_->proto->ByteSizeLong(), std::numeric_limits<int>::max());
  }
  AtomicFile file(path);
  google::protobuf::io::FileOutputStream stream(file.fd());
  if (!impl_->proto->SerializePartialToZeroCopyStream(&stream) || !stream.Flush()) {
    fail(ErrorKind::kIo, "{}: cannot be written: {}", path.string(), std::strerror(stream.GetErrno()));
  }
  file.commit();
}

std::string ModelFile::serialize() const { return impl_->proto->SerializePartialAsString(); }

}  // namespace lppool
