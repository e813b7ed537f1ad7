#include "lppool/dump/tensor_folder.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "lppool/base/atomic_file.h"
#include "lppool/base/error.h"
#include "lppool/dump/file_names.h"
#include "lppool/dump/statistics.h"
#include "lppool/npy/npz.h"
#include "lppool/onnx/tensor_file.h"

namespace lppool {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// JSON has no infinities; values that are none are null.
Json number(const std::optional<double>& value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

Type declared_as(const Value& value) {
  Type type;
  if (value.is_tensor()) {
    type.kind = Type::Kind::kTensor;
    type.dtype = value.tensor().dtype();
    type.dtype_number = static_cast<std::int32_t>(type.dtype);
    return type;
  }
  type.kind = Type::Kind::kSequence;
  Type element;
  element.kind = Type::Kind::kTensor;
  element.dtype = value.sequence().dtype;
  if (!value.sequence().elements.empty()) element = declared_as(value.sequence().elements.front());
  type.element = std::make_shared<const Type>(std::move(element));
  return type;
}

}  // namespace

std::optional<FolderFormat> parse_folder_format(std::string_view name) {
  if (name == "npy") return FolderFormat::kNpy;
  if (name == "pb") return FolderFormat::kPb;
  if (name == "npz") return FolderFormat::kNpz;
  return std::nullopt;
}

struct TensorFolder::Impl {
  std::filesystem::path folder;
  TensorFolderOptions options;
  FileNames names;
  Json tensors = Json::array();
  std::optional<NpzWriter> archive;
  std::size_t bytes = 0, listed = 0;
  Clock::time_point last_index = Clock::now();
  bool closed = false;

  void write_index() {
    const Json document = {{"schema_version", 1}, {"model", options.model}, {"tensors", tensors}};
    write_file(folder / "index.json", document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    listed = tensors.size();
    last_index = Clock::now();
  }

  // On a full disk an archive may lack room for its directory, and the folder for its index: the last tensors then give way,
  // more of them each time.
  void salvage() {
    for (std::size_t give_way = 0;; give_way = give_way * 2 + 1) {
      for (std::size_t i = 0; i < give_way; ++i) {
        if (!archive || !drop_last()) return;
      }
      try {
        write_index();
        if (archive) archive->finish();
        return;
      } catch (const Error&) {
        if (!archive) return;  // every tensor is a file of its own, and the index of a second ago is still there
      }
    }
  }

  bool drop_last() {
    if (!archive->drop_last()) return false;
    for (std::size_t i = tensors.size(); i-- > 0;) {
      if (!tensors[i].contains("member")) continue;
      tensors.erase(i);
      break;
    }
    return true;
  }
};

TensorFolder::TensorFolder(const std::filesystem::path& folder, TensorFolderOptions options) : impl_(std::make_unique<Impl>()) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder)) {
    fail(ErrorKind::kIo, "{}: the folder cannot be made: {}", folder.string(), error ? error.message() : "a file is in the way");
  }
  impl_->folder = folder;
  impl_->options = std::move(options);
  impl_->names.reserve("index.json");
  if (impl_->options.format == FolderFormat::kNpz) {
    impl_->names.reserve("tensors.npz");
    impl_->archive.emplace(folder / "tensors.npz");
  }
  impl_->write_index();
}

TensorFolder::~TensorFolder() {
  if (impl_->closed) return;
  try {
    close();  // a run that failed keeps what it has written
  } catch (const std::exception&) {
  }
}

void TensorFolder::add(const std::string& name, const Value& value, const Source& source) {
  Impl& impl = *impl_;
  Json entry = {{"name", name}, {"file", nullptr}, {"kind", source.kind},
                {"producer", source.producer.empty() ? Json(nullptr) : Json(source.producer)},
                {"op_type", source.op_type.empty() ? Json(nullptr) : Json(source.op_type)}};
  const bool text = value.is_tensor() && value.tensor().dtype() == DataType::kString;
  const bool as_pb = impl.options.format == FolderFormat::kPb || text || value.is_sequence();
  if (value.is_tensor()) {
    const Tensor& tensor = value.tensor();
    entry["dtype"] = lppool::name(tensor.dtype());
    entry["shape"] = tensor.shape().dims();
    const Statistics s = statistics_of(tensor);
    entry["min"] = number(s.min);
    entry["max"] = number(s.max);
    entry["mean"] = number(s.mean);
    entry["nan"] = s.nan;
    entry["inf"] = s.inf;
    if (as_pb) {
      const std::string file = impl.names.unique(name, ".pb");
      write_tensor(impl.folder / file, name, tensor);
      entry["file"] = file;
    } else if (impl.archive) {
      const std::string member = impl.names.unique(name, "");
      impl.archive->add(member, tensor, impl.options.npy_form);
      entry["file"] = "tensors.npz";
      entry["member"] = member;
    } else {
      const std::string file = impl.names.unique(name, ".npy");
      write_npy(impl.folder / file, tensor, impl.options.npy_form);
      entry["file"] = file;
    }
    impl.bytes += tensor.bytes();
  } else if (value.is_sequence()) {
    entry["dtype"] = fmt::format("seq({})", lppool::name(value.sequence().dtype));
    entry["length"] = value.sequence().elements.size();
    const std::string file = impl.names.unique(name, ".pb");
    write_value(impl.folder / file, name, value, declared_as(value));
    entry["file"] = file;
  }
  impl.tensors.push_back(std::move(entry));
  if (Clock::now() - impl.last_index > std::chrono::seconds(1)) impl.write_index();
}

void TensorFolder::close() {
  Impl& impl = *impl_;
  if (impl.closed) return;
  impl.closed = true;
  try {
    // The index first: once it is finished, an archive gives no room back.
    if (impl.listed != impl.tensors.size() || impl.tensors.empty()) impl.write_index();
    if (impl.archive) impl.archive->finish();
  } catch (const Error&) {
    impl.salvage();
    throw;
  }
}

std::size_t TensorFolder::count() const { return impl_->tensors.size(); }
std::size_t TensorFolder::bytes() const { return impl_->bytes; }

}  // namespace lppool
