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

// Whether two types state the same.
bool agree(const Type& a, const Type& b) {
  onnx::TypeProto first, second;
  onnx_io::export_type(a, first);
  onnx_io::export_type(b, second);
  return first.SerializePartialAsString() == second.SerializePartialAsString();
}

}  // namespace

ModelFile::ModelFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ModelFile::ModelFile(ModelFile&&) noexcept = default;
ModelFile& ModelFile::operator=(ModelFile&&) noexcept = default;
ModelFile::~ModelFile() = default;

void ModelFile::Impl::index_infos() {
  const onnx::GraphProto& graph = proto->graph();
  edits = {{}, graph.input_size(), graph.output_size(), graph.value_info_size()};
  using onnx::GraphProto;
  for (const int field : {GraphProto::kOutputFieldNumber, GraphProto::kInputFieldNumber, GraphProto::kValueInfoFieldNumber}) {
    const auto& list = field == GraphProto::kOutputFieldNumber  ? graph.output()
                       : field == GraphProto::kInputFieldNumber ? graph.input()
                                                                : graph.value_info();
    for (int i = 0; i < list.size(); ++i) infos.emplace(list[i].name(), std::pair(field, i));  // the first one counts
  }
}

onnx::ValueInfoProto& ModelFile::Impl::info_at(std::pair<int, int> place) {
  onnx::GraphProto& graph = *proto->mutable_graph();
  const auto [field, i] = place;
  if (field == onnx::GraphProto::kOutputFieldNumber) return *graph.mutable_output(i);
  return field == onnx::GraphProto::kInputFieldNumber ? *graph.mutable_input(i) : *graph.mutable_value_info(i);
}

std::optional<onnx_io::Splice> ModelFile::Impl::splice() const {
  if (!bytes) return std::nullopt;
  if (infos.empty()) {  // nothing was annotated
    onnx_io::Splice whole;
    whole.keep(bytes->view());
    return whole;
  }
  return onnx_io::splice_value_infos(bytes->view(), proto->graph(), edits);
}

ModelFile ModelFile::read(const fs::path& path, const LoadOptions& options) {
  const auto bytes = FileBytes::open(path, static_cast<std::size_t>(std::numeric_limits<int>::max()));
  auto impl = std::make_unique<Impl>();
  load(bytes->view(), shown_name(path), path == "-" ? std::nullopt : std::optional(path.parent_path()), options, impl->proto,
       impl->model);
  if (options.keep_bytes) impl->bytes = bytes;
  return ModelFile(std::move(impl));
}

ModelFile ModelFile::parse(std::string_view bytes, const fs::path& base_dir, const LoadOptions& options,
                           std::string_view shown) {
  auto impl = std::make_unique<Impl>();
  load(bytes, std::string(shown), base_dir, options, impl->proto, impl->model);
  if (options.keep_bytes) impl->bytes = FileBytes::of(std::string(bytes));
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
  const int next = impl_->proto->graph().value_info_size();
  const auto [found, added] = impl_->infos.emplace(name, std::pair(onnx::GraphProto::kValueInfoFieldNumber, next));
  if (added) impl_->proto->mutable_graph()->add_value_info()->set_name(std::string(name));
  onnx::ValueInfoProto& info = impl_->info_at(found->second);
  if (info.has_type() && agree(onnx_io::import_type(info.type()), type)) return;
  onnx_io::export_type(type, *info.mutable_type());
  if (!added) impl_->edits.changed.insert(found->second);
}

void ModelFile::write(const fs::path& path) const {
  const std::optional<onnx_io::Splice> splice = impl_->splice();
  const std::size_t size = splice ? splice->size() : impl_->proto->ByteSizeLong();
  if (size > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    fail(ErrorKind::kLimit, "{}: the model takes {} bytes, protobuf files may have at most {}", path.string(), size,
         std::numeric_limits<int>::max());
  }
  AtomicFile file(path);
  if (splice) {
    for (const std::string_view part : splice->parts()) file.write(part);
    return file.commit();
  }
  google::protobuf::io::FileOutputStream stream(file.fd());
  if (!impl_->proto->SerializePartialToZeroCopyStream(&stream) || !stream.Flush()) {
    fail(ErrorKind::kIo, "{}: cannot be written: {}", path.string(), std::strerror(stream.GetErrno()));
  }
  file.commit();
}

std::string ModelFile::serialize() const {
  const std::optional<onnx_io::Splice> splice = impl_->splice();
  if (!splice) return impl_->proto->SerializePartialAsString();
  std::string bytes;
  bytes.reserve(splice->size());
  for (const std::string_view part : splice->parts()) bytes += part;
  return bytes;
}

}  // namespace lppool
